/* SPDX-License-Identifier: MIT */
/* Eigenvalues and eigenvectors of a dense matrix by ELPA, in blocks that are dealt out to rows of
 * ranks: elpa SIZE BLOCK TIMES */
#include <elpa/elpa.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int me, ranks, error, n = atoi(argv[1]), block = atoi(argv[2]), times = atoi(argv[3]),
                          local = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *row = malloc(sizeof *row * (size_t)n);
    for (int i = 0; i < n; i++)
        if (i / block % ranks == me)
            row[local++] = i;
    double *a = malloc(sizeof *a * (size_t)local * (size_t)n),
           *z = malloc(sizeof *z * (size_t)local * (size_t)n),
           *value = malloc(sizeof *value * (size_t)n);
    if (elpa_init(20211125) != ELPA_OK)
        return 1;
    for (int t = 0; t < times; t++) {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < local; i++)
                a[i + (size_t)j * (size_t)local] =
                    1. / (1 + abs(row[i] - j)) + (row[i] == j ? row[i] % 13 + t : 0);
        elpa_t e = elpa_allocate(&error);
        elpa_set(e, "na", n, &error);
        elpa_set(e, "nev", n / 2, &error);
        elpa_set(e, "local_nrows", local, &error);
        elpa_set(e, "local_ncols", n, &error);
        elpa_set(e, "nblk", block, &error);
        elpa_set(e, "mpi_comm_parent", (int)MPI_Comm_c2f(MPI_COMM_WORLD), &error);
        elpa_set(e, "process_row", me, &error);
        elpa_set(e, "process_col", 0, &error);
        if (elpa_setup(e) != ELPA_OK)
            return 1;
        elpa_set(e, "solver", ELPA_SOLVER_1STAGE, &error);
        elpa_eigenvectors(e, a, value, z, &error);
        if (error != ELPA_OK)
            return 1;
        elpa_deallocate(e, &error);
    }
    if (me == 0)
        printf("lowest %g\n", value[0]);
    elpa_uninit(&error);
    MPI_Finalize();
    return 0;
}
