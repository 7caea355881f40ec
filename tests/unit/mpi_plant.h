/* SPDX-License-Identifier: MIT */
/* Planted MPI events: one line for each call, as a rank's recorder would have written them. */
#ifndef CHOKEPOINT_TESTS_MPI_PLANT_H
#define CHOKEPOINT_TESTS_MPI_PLANT_H

#include <stdio.h>
#include <stdlib.h>

#include "analysis/facts/recording/mpi_event.h"

#define US INT64_C(1000)

struct plant_call {
    const char *name;
    int peer, tag;
    int64_t bytes;
    int64_t enter_ns, exit_ns;
    unsigned flags;
    int64_t cpu_ns, gap_cpu_ns; /* known if given: PLANT sets the flags */
    int64_t inside_ns;          /* folded */
    uint32_t calls;             /* folded */
    uint32_t comm;
    unsigned thread;
    int64_t sequence;
    int end; /* must be named in PLANT, so that members before it may be left out */
};

static inline void plant_call(struct mpi_log *log, int rank, int host, struct plant_call c) {
    int error;
    struct mpi_rank *r = mpi_log_rank(log, rank, host, 1000 + rank, &error);
    int function = mpi_log_function(log, c.name);
    if (!r || function < 0)
        abort();
    bool call = !(c.flags & (MPI_FLAG_PART | MPI_FLAG_REQUEST));
    struct mpi_event event = {.function = (uint16_t)function,
                              .flags = (uint16_t)c.flags,
                              .thread = (uint16_t)c.thread,
                              .comm = c.comm,
                              .peer = c.peer,
                              .tag = c.tag,
                              .bytes = c.bytes,
                              .calls = c.calls ? c.calls : call,
                              .enter_ns = c.enter_ns,
                              .exit_ns = c.exit_ns,
                              .inside_ns = c.flags & MPI_FLAG_FOLDED ? c.inside_ns
                                           : call                    ? c.exit_ns - c.enter_ns
                                                                     : 0,
                              .cpu_ns = c.cpu_ns,
                              .gap_cpu_ns = c.gap_cpu_ns};
    if (mpi_log_add(log, r, &event, c.sequence) < 0)
        abort();
}

/* PLANT(log, rank, host, "MPI_Send", peer, tag, bytes, enter, exit, .member = value...) */
#define PLANT(log, rank, host, ...)                                                                \
    plant_call(log, rank, host, (struct plant_call){__VA_ARGS__, .end = 0})

#endif
