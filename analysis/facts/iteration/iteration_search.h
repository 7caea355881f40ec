/* SPDX-License-Identifier: MIT */
/* Searches the loop of one rank in its MPI calls: which parts of calls are compared, and where
 * rounds end.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_SEARCH_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_SEARCH_H

#include "analysis/facts/iteration/iteration_loop.h"
#include "analysis/facts/iteration/iteration_private.h"

/* The parts of a call that are compared. */
struct call_view {
    bool bytes;       /* false if sizes vary about a power of two */
    bool peer;        /* which peer; else only its role, since the order of peers may vary */
    bool one_peer;    /* only calls with the busiest peer */
    bool collectives; /* only group calls */
};

struct rank_search {
    const struct mpi_rank *rank;
    int role;
    uint16_t thread;
    int peer; /* the busiest peer: most calls are with it; MPI_NO_PEER */
    struct call_view view;
    struct loop_calls calls;
    bool sizes_tell;                /* some calls differ only in their sizes */
    struct key_table without_sizes; /* while calls are taken */
    struct loop loop;
    struct loop_anchor anchor;
    int64_t *ends;
    size_t n_ends;
    double period_ns; /* the median; 0: no loop found */
};

struct call_search {
    const struct mpi_log *log;
    int *roles;
    struct rank_search *ranks; /* in the order of the log */
};

/* Finds the rank's main thread, busiest peer and loop; role is set. -ENOMEM. */
int rank_search_begin(const struct call_search *search, struct rank_search *rank);
/* Searches its loop again, in the first view that has one; target_ns > 0: only for a loop with
 * about that period. -ENOMEM.
 */
int rank_search_loop(const struct call_search *search, struct rank_search *rank, double target_ns);
/* Cuts its calls at that anchor: fills ends, n_ends, period_ns. -ENOMEM. */
int rank_search_cut(struct rank_search *rank, struct loop_anchor anchor);
void rank_search_release(struct rank_search *rank);

#endif
