/* SPDX-License-Identifier: MIT */
/*
 * Two ranks, a ring of sends, some reductions, a file. With -DOWN_LAYER the program has its own
 * profiling layer. "forever": continues until it is killed.
 */
#include <mpi.h>
#include <string.h>

#include "tests/mpi/expect.h"

#ifdef OWN_LAYER
#include "tests/mpi/other_tool.c"
#endif

int main(int argc, char **argv) {
    int rank, size;
    double x[100] = {0}, y[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int forever = argc > 1 && strcmp(argv[1], "forever") == 0;
    for (long i = 0; i < 20 || forever; i++) {
        if (rank == 0)
            MPI_Send(x, 100, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(y, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(x, y, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (forever && i == 1000) {
            fclose(expect_file(rank));
            if (rank == 1) /* the other rank is left waiting */
                for (;;)
                    sleep_ms(1000);
        }
    }
    if (rank == 0)
        expect("Send", 20, 16000, 0);
    if (rank == 1)
        expect("Recv", 20, 0, 16000);
    expect("Allreduce", 20, 1600, 1600);
    expect("Init", 1, 0, 0);
    expect("Finalize", 1, 0, 0);
    if (expect_write(rank) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
