/* SPDX-License-Identifier: MIT */
/*
 * calls_until FILE PAUSE_US: rounds of an all-reduce and a barrier, each a marked iteration, until
 * the file exists. Then every rank writes its own counts, "RANK CALLS MARKS", to EXPECT.RANK; the
 * file STARTED exists once all ranks are under way.
 */
#include <mpi.h>
#include <unistd.h>

#include "agent/mark/chokepoint.h"
#include "tests/mpi/expect.h"

static void say_started(void) {
    const char *path = getenv("STARTED");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f)
        fclose(f);
}

int main(int argc, char **argv) {
    int rank, over = 0, all_over = 0;
    long rounds = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (; !all_over; rounds++) {
        over = rank == 0 && access(argv[1], F_OK) == 0;
        MPI_Allreduce(&over, &all_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        chokepoint_iteration(rounds);
        usleep((useconds_t)atoi(argv[2]));
        if (rounds == 200 && rank == 0)
            say_started();
    }
    FILE *f = expect_file(rank);
    if (!f || fprintf(f, "%d %ld %ld\n", rank, 2 * rounds + 2, rounds) < 0 || fclose(f) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Finalize();
    return 0;
}
