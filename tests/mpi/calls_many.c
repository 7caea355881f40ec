/* SPDX-License-Identifier: MIT */
/* calls_many N [threads]: N messages of a rank to itself without a pause, which make 2 N events;
 * with "threads" in a program whose threads may call at the same time. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int out = 1, in = 0, level;
    long n = argc > 1 ? atol(argv[1]) : 0;
    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    for (long i = 0; i < n; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    MPI_Finalize();
    return in != (n > 0);
}
