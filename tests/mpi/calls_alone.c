/* SPDX-License-Identifier: MIT */
/* A rank that needs no other rank. Argument: number of calls, twenty a second; default 30. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int one = 1, sum = 0, n = argc > 1 ? atoi(argv[1]) : 30;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < n; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        usleep(50000); /* longer than a few samples are apart */
    }
    MPI_Finalize();
    return n && sum != 1;
}
