/* SPDX-License-Identifier: MIT */
/* A rank that needs no other. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 30; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        usleep(50000); /* as long as a few samples are apart */
    }
    MPI_Finalize();
    return sum != 1;
}
