/* SPDX-License-Identifier: MIT */
/*
 * Makes communicators in every way; on each its members broadcast a different number of bytes, so
 * that events can be told apart by bytes. Needs 4 ranks.
 */
#include <mpi.h>
#include <stdlib.h>

static int rank;
static char buffer[2000];

static void use(MPI_Comm comm, int bytes) {
    if (comm != MPI_COMM_NULL)
        MPI_Bcast(buffer, bytes, MPI_CHAR, 0, comm);
}

static void drop(MPI_Comm *comm) {
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_free(comm);
}

/* A group of some ranks of the world. */
static MPI_Group group_of(int n, const int *ranks) {
    MPI_Group world, some;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, n, ranks, &some);
    MPI_Group_free(&world);
    return some;
}

static void from_groups(void) {
    const int ends[] = {0, 3}, odd[] = {3, 1};
    MPI_Group some = group_of(2, ends);
    MPI_Comm a, b = MPI_COMM_NULL, c = MPI_COMM_NULL;
    MPI_Comm_create(MPI_COMM_WORLD, some, &a);
    use(a, 300);
    /* Only members make these calls: the other ranks must not lose count. */
    if (rank == 0 || rank == 3)
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &b);
    use(b, 301);
    MPI_Group_free(&some);
    some = group_of(2, odd);
    if (rank & 1)
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &c);
    use(c, 302); /* its root is rank 3 of the world */
    MPI_Group_free(&some);
    drop(&a);
    drop(&b);
    drop(&c);
}

/* Both sides of an intercommunicator must give it the same number. */
static void between_halves(void) {
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 60, &inter);
    MPI_Bcast(buffer, 310, MPI_CHAR, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Comm c[8], d;
    MPI_Request q;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    use(MPI_COMM_WORLD, 100);
    for (int i = 0; i < 3; i++) { /* the same members three times, alive and freed */
        MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
        use(c[i], 110 + i);
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank & 1, -rank, &c[3]);
    use(c[3], 200 + (rank & 1)); /* roots: 2 and 3 */
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &c[4]);
    use(c[4], 210);
    MPI_Comm_dup(c[3], &d);
    use(d, 220 + (rank & 1));
    from_groups();
    between_halves();
    for (int i = 0; i < 5; i++)
        drop(&c[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &c[0]); /* most likely at an address that another one had */
    use(c[0], 120);
    MPI_Comm_idup(MPI_COMM_WORLD, &c[1], &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    use(c[1], 121);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c[2]);
    use(c[2], 122);
    drop(&c[0]);
    drop(&c[1]);
    drop(&c[2]);
    drop(&d);
    MPI_Finalize();
    return 0;
}
