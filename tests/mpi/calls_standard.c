/* SPDX-License-Identifier: MIT */
/* Two ranks that use the standard binary interface: messages with every special rank, tag and
 * status, requests, a second communicator, a cancelled receive.
 */
#include "tests/mpi/standard/mpi.h"

#include "tests/mpi/expect.h"

static char out[1000], in[2][1000];

static void messages(int rank) {
    MPI_Status status;
    for (int i = 0; i < 5; i++) {
        if (rank == 0)
            MPI_Send(out, 100 + i, MPI_CHAR, 1, i, MPI_COMM_WORLD);
        else
            MPI_Recv(in[0], 1000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     i & 1 ? &status : MPI_STATUS_IGNORE);
    }
    MPI_Send(out, 70, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    expect("Send", rank == 0 ? 6 : 1, rank == 0 ? 510 : 0, 0);
    if (rank == 1)
        expect("Recv", 5, 0, 510);
}

static void requests(int rank, MPI_Comm comm) {
    MPI_Request q[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 4; i++) {
        /* Without a status the received size is not known: the requested size counts. */
        MPI_Irecv(in[0], i & 1 ? 1000 : 300 + i, MPI_CHAR, 1 - rank, 7, comm, &q[0]);
        MPI_Isend(out, 300 + i, MPI_CHAR, 1 - rank, 7, comm, &q[1]);
        MPI_Waitall(2, q, i & 1 ? statuses : MPI_STATUSES_IGNORE);
    }
    MPI_Irecv(in[1], 1000, MPI_CHAR, 1 - rank, 8, comm, &q[0]);
    MPI_Cancel(&q[0]);
    MPI_Wait(&q[0], &statuses[0]);
    expect("Irecv", 5, 0, 1206);
    expect("Isend", 4, 1206, 0);
    expect("Waitall", 4, 0, 0);
    expect("Cancel", 1, 0, 0);
    expect("Wait", 1, 0, 0);
}

int main(int argc, char **argv) {
    int rank, size, level;
    double x[10] = {0}, y[10];
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    messages(rank);
    requests(rank, comm);
    MPI_Allreduce(x, y, 10, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, x, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    expect("Allreduce", 2, 160, 160);
    expect("Barrier", 1, 0, 0);
    expect("Comm_dup", 1, 0, 0);
    expect("Comm_free", 1, 0, 0);
    expect("Init_thread", 1, 0, 0);
    expect("Finalize", 1, 0, 0);
    if (size != 2 || level != MPI_THREAD_MULTIPLE || expect_write(rank) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
