/* SPDX-License-Identifier: MIT */
/*
 * Where ranks run freely: what each rank computes for an iteration beside its peers, and what a
 * server computes for all others. Shares of time show nothing there: no rank waits for a slow one,
 * so all of them compute all the time. CPU time of an iteration does.
 *
 * The server may train as well; its work for others (serving.h) is kept apart.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FREE_RANKS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FREE_RANKS_H

#include "analysis/evidence/cores.h"
#include "analysis/time/free_running.h"

/* A rank that progresses, or the server, which may have no iterations of its own. */
struct free_rank {
    size_t log_rank, budget;
    double done;     /* iterations in the group */
    double cpu_s;    /* in all its own iterations */
    double peers_s;  /* CPU time of its peers' iterations, median */
    double more_s;   /* CPU time of all its iterations beyond its peers' */
    double best_s;   /* CPU time that its fastest quarter of iterations does not exceed; NAN: not
                        known, or not requested (free_ranks_find_best()) */
    double served_s; /* CPU time of serving others */
};

struct free_ranks {
    struct free_rank items[FREE_RANKS_MAX + 1]; /* ranks that progress, then the server */
    size_t n, n_own;
    size_t server; /* index in items; SIZE_MAX: no rank takes part in all messages */
    double done;   /* iterations of all ranks */
};

/* Returns 1 if known, 0 if not for all ranks. */
int free_ranks_make(const struct run_model *model, size_t group, struct free_ranks *ret_ranks);
/* Fills in best_s. Sorts all iterations, so only callers that compare cores ask for it. */
void free_ranks_find_best(const struct run_model *model, struct free_ranks *ranks);
/* CPU time of an iteration, s. */
double free_rank_took(const struct free_rank *rank);
/* CPU time of an iteration beyond its peers', as on a core like theirs (NULL: as measured); at
 * least the time that its operators took for their additional output.
 */
double free_rank_beyond(const struct run_model *model, const struct free_rank *rank,
                        const struct core_speed *core);
/* The core of a rank. More work is in each of its iterations, but the load of others on a core
 * known to be slower comes and goes. So time that its fastest iterations do not need is due to the
 * core.
 */
struct core_speed free_rank_core(const struct run_model *model, const struct free_ranks *ranks,
                                 const struct free_rank *rank, const struct core_speed *cores);
/* Iterations per second that the server's work for them allows; INFINITY if there is no server. */
double free_ranks_limit(const struct run_model *model, size_t group);

#endif
