/* SPDX-License-Identifier: MIT */
/* Cost of matching and budgeting MPI calls: EVENTS (1000000) of 8 ranks, half of them messages in a
 * ring, half collectives, beside a bare pass over the events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/time/budget.h"

#define RANKS 8

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add(struct mpi_log *log, int rank, const char *name, int peer, int64_t enter,
                int64_t leave) {
    int error;
    struct mpi_rank *r = mpi_log_rank(log, rank, rank, rank, &error);
    struct mpi_event e = {.function = (uint16_t)mpi_log_function(log, name),
                          .peer = peer,
                          .tag = 1,
                          .bytes = 8,
                          .enter_ns = enter,
                          .exit_ns = leave,
                          .inside_ns = leave - enter};
    if (!r || mpi_log_add(log, r, &e, 0) < 0)
        abort();
}

static int64_t make(struct mpi_log *log, long events) {
    int64_t t = 0;
    for (long i = 0; i < events / (RANKS * 4); i++, t += 400000)
        for (int rank = 0; rank < RANKS; rank++) {
            add(log, rank, "MPI_Send", (rank + 1) % RANKS, t, t + 10000);
            add(log, rank, "MPI_Recv", (rank + RANKS - 1) % RANKS, t + 20000, t + 90000);
            add(log, rank, "MPI_Allreduce", -1, t + 100000 + 1000 * rank, t + 190000);
            add(log, rank, "MPI_Barrier", -1, t + 200000, t + 290000);
        }
    return t;
}

int main(int argc, char **argv) {
    long events = argc > 1 ? atol(argv[1]) : 1000000;
    struct mpi_log log = {0};
    struct call_matches m;
    int64_t end = make(&log, events), sum = 0;
    double t0 = now_s();
    for (size_t r = 0; r < log.n; r++)
        for (size_t i = 0; i < log.ranks[r].n; i++)
            sum += log.ranks[r].events[i].exit_ns;
    double t1 = now_s();
    if (mpi_log_finish(&log) < 0 || call_match(&log, NULL, &m) < 0)
        return 1;
    double t2 = now_s();
    struct window all = {0, end};
    struct windows windows = {&all, 1};
    struct budget b;
    for (size_t r = 0; r < log.n; r++) {
        struct budget_subject s = {.end_ns = end, .log = &log, .matches = &m, .log_rank = r};
        if (budget_make(&s, &windows, 1, &b, NULL) < 0)
            return 1;
    }
    double t3 = now_s();
    printf(
        "%ld events: a pass %.3f s, matching %.3f s, budgets %.3f s (%llu unmatched, sum %lld)\n",
        events, t1 - t0, t2 - t1, t3 - t2,
        (unsigned long long)(m.unmatched_sends + m.unmatched_receives + m.unmatched_groups),
        (long long)sum);
    call_matches_release(&m);
    mpi_log_release(&log);
    return 0;
}
