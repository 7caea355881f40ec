/* SPDX-License-Identifier: MIT */
/*
 * Where ranks run freely: what each computes for an iteration, beside its peers, and what a server
 * computes for all others. Shares of time do not tell: nobody waits for a slow rank, so all of them
 * compute all the time. CPU time an iteration does.
 *
 * The server may train as well: what it does for others (serving.h) is no part of that.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FREE_RANKS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FREE_RANKS_H

#include "analysis/evidence/cores.h"
#include "analysis/time/free_running.h"

/* A rank that makes progress, or the server, which may do nothing of its own. */
struct free_rank {
    size_t log_rank, budget;
    double done;     /* iterations in the group */
    double cpu_s;    /* in all, for its own iterations */
    double peers_s;  /* CPU time an iteration takes its peers, median */
    double more_s;   /* in all: beyond its peers, for its own iterations */
    double best_s;   /* CPU time of an iteration of its fastest quarter, at most; NAN: not known, or
                        not asked for (find_best()) */
    double served_s; /* in all: for those of others */
};

struct free_ranks {
    struct free_rank items[FREE_RANKS_MAX + 1]; /* those that make progress, then the server */
    size_t n, n_own;
    size_t server; /* in items; SIZE_MAX: no rank takes part in all messages */
    double done;   /* by all */
};

/* 1: known, 0: not of all ranks. */
int free_ranks_make(const struct run_model *model, size_t group, struct free_ranks *ret_ranks);
/* Fills best_s, by sorting all iterations: only for who compares cores. */
void free_ranks_find_best(const struct run_model *model, struct free_ranks *ranks);
/* CPU time of an iteration, s. */
double free_rank_took(const struct free_rank *rank);
/* CPU time of an iteration beyond that of its peers, as on a core like theirs (NULL: as it is); at
 * least what its operators took for what they give more than theirs. */
double free_rank_beyond(const struct free_rank *rank, const struct core_speed *core);
/* The core beneath a rank. More work is in each of its iterations; what others do to a core that is
 * known to be slower comes and goes: what its fastest iterations do not share is put down to it. */
struct core_speed free_rank_core(const struct run_model *model, const struct free_ranks *ranks,
                                 const struct free_rank *rank, const struct core_speed *cores);
/* Iterations a second that the server's own work for them allows; INFINITY. */
double free_ranks_limit(const struct run_model *model, size_t group);

#endif
