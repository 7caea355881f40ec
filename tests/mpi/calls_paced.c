/* SPDX-License-Identifier: MIT */
/*
 * calls_paced N PAUSE_US: two ranks, N rounds of a message and a barrier with a pause between them,
 * so that a reader may come and go meanwhile. Writes its own counts to EXPECT.RANK, and makes the
 * file STARTED (if that is set) once it is under way. Before the last LAST rounds it waits for the
 * file GO (if that is set) and for the reader.
 */
#include <mpi.h>
#include <unistd.h>

#define LAST 100

#include "tests/mpi/expect.h"

static void say_started(void) {
    const char *path = getenv("STARTED");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f)
        fclose(f);
}

static void await_reader(void) {
    const char *path = getenv("GO");
    while (path && access(path, F_OK) != 0)
        usleep(10000);
}

int main(int argc, char **argv) {
    char message[100] = {0};
    int rank, n = argc > 1 ? atoi(argv[1]) : 100, pause_us = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        if (rank == 0)
            MPI_Send(message, 100, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(message, 100, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i == n - LAST && rank == 0)
            await_reader();
        MPI_Barrier(MPI_COMM_WORLD);
        if (pause_us)
            usleep((useconds_t)pause_us);
        if (i == 200 && rank == 0)
            say_started();
    }
    if (rank == 0)
        expect("Send", n, 100LL * n, 0);
    if (rank == 1)
        expect("Recv", n, 0, 100LL * n);
    expect("Barrier", n, 0, 0);
    expect("Init", 1, 0, 0);
    expect("Finalize", 1, 0, 0);
    if (expect_write(rank) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
