/* SPDX-License-Identifier: MIT */
/* The loop of one rank, searched in its MPI calls: how calls are looked at, where rounds end. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_SEARCH_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_ITERATION_SEARCH_H

#include "analysis/facts/iteration/iteration_loop.h"
#include "analysis/facts/iteration/iteration_private.h"

/* The parts of a call that are compared. */
struct call_view {
    bool bytes;       /* sizes may jump about a power of two */
    bool peer;        /* which one; else only its role: the order of peers may be any */
    bool one_peer;    /* only calls with the peer that most are with */
    bool collectives; /* only calls of groups */
};

struct rank_search {
    const struct mpi_rank *rank;
    int role;
    uint16_t thread;
    int peer; /* most calls are with it; MPI_NO_PEER */
    struct call_view view;
    struct loop_calls calls;
    struct loop loop;
    struct loop_anchor anchor;
    int64_t *ends;
    size_t n_ends;
    double period_ns; /* median; 0: none found */
};

struct call_search {
    const struct mpi_log *log;
    int *roles;
    struct rank_search *ranks; /* as the log's */
};

/* The rank's main thread, its busiest peer and its loop; role is set. -ENOMEM. */
int rank_search_begin(const struct call_search *search, struct rank_search *rank);
/* Its loop anew, in the first view that has one; target_ns > 0: only one whose round takes about
 * that long. -ENOMEM. */
int rank_search_loop(const struct call_search *search, struct rank_search *rank, double target_ns);
/* Its calls cut at that anchor: ends, n_ends, period_ns. -ENOMEM. */
int rank_search_cut(struct rank_search *rank, struct loop_anchor anchor);
void rank_search_release(struct rank_search *rank);

#endif
