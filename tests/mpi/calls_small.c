/* SPDX-License-Identifier: MIT */
/*
 * Storms of small calls, as programs with global arrays make them: accesses to windows, calls that
 * complete them, probes in between; from a few places, then from more than are remembered. Needs 2
 * ranks. Writes its own counts to EXPECT.RANK.
 */
#include <mpi.h>

#include "tests/mpi/expect.h"

#define WINDOWS 6
#define ROUNDS 10000
#define PUTS 5
#define PLACES 12

static int rank;
static double x[PUTS];
static MPI_Win windows[WINDOWS];

static void accesses(void) {
    int found;
    for (int i = 0; i < ROUNDS; i++) {
        int to = i % 2;
        for (int k = 0; k < PUTS; k++)
            MPI_Accumulate(&x[k], 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM,
                           windows[i % WINDOWS]);
        for (int w = 0; w < WINDOWS; w++)
            MPI_Win_flush_local_all(windows[w]);
        MPI_Iprobe(!rank, 3, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    }
    expect("Accumulate", (long long)ROUNDS * PUTS, 8LL * ROUNDS * PUTS, 0);
    expect("Win_flush_local_all", (long long)ROUNDS * WINDOWS, 0, 0);
    expect("Iprobe", ROUNDS, 0, 0);
}

#define PUT MPI_Put(x, 2, MPI_DOUBLE, rank, 0, 2, MPI_DOUBLE, windows[0])

static void many_places(void) {
    for (int i = 0; i < ROUNDS; i++) {
        PUT, PUT, PUT, PUT, PUT, PUT, PUT, PUT, PUT, PUT, PUT, PUT;
        MPI_Win_flush(rank, windows[0]);
    }
    expect("Put", (long long)ROUNDS * PLACES, 16LL * ROUNDS * PLACES, 0);
    expect("Win_flush", ROUNDS, 0, 0);
}

int main(int argc, char **argv) {
    double *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int w = 0; w < WINDOWS; w++) {
        MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &windows[w]);
        MPI_Win_lock_all(0, windows[w]);
    }
    accesses();
    many_places();
    for (int w = 0; w < WINDOWS; w++) {
        MPI_Win_unlock_all(windows[w]);
        MPI_Win_free(&windows[w]);
    }
    expect("Win_allocate", WINDOWS, 0, 0);
    expect("Win_lock_all", WINDOWS, 0, 0);
    expect("Win_unlock_all", WINDOWS, 0, 0);
    expect("Win_free", WINDOWS, 0, 0);
    expect("Init", 1, 0, 0);
    expect("Finalize", 1, 0, 0);
    MPI_Finalize();
    return expect_write(rank) != 0;
}
