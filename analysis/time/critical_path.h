/* SPDX-License-Identifier: MIT */
/*
 * Where the run's time went along its critical path: from the last exit back, and whenever the rank
 * at hand was waiting for a peer, on with the peer it waited for, from when that one made it ready.
 * Each stretch is charged with what the budget of the rank says of it, so that the parts of a
 * window add up to its length as far as the job lived in it.
 *
 * Where ranks run freely (free_running.h) no rank waits for the slowest, and no such path tells
 * what slows the program: each rank then has a path of its own, with what others did while it
 * waited for them, and the run's is their mean, weighted by how many of the iterations are theirs.
 *
 * Without matched MPI calls wait clocks tell who waited for whom (wait_chain.h); without these
 * nothing does: the path of a window is then that of
 * the one process that was busy longest in it, and `source` says so.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_CRITICAL_PATH_H
#define CHOKEPOINT_ANALYSIS_TIME_CRITICAL_PATH_H

#include "analysis/facts/iteration/phase.h"
#include "analysis/time/budget.h"

struct run_model;
struct critical_own;

enum critical_source {
    CRITICAL_FROM_EVENTS, /* calls of all ranks were matched */
    CRITICAL_FROM_WAITS,  /* wait clocks tell who waited for whom (wait_chain.h) */
    CRITICAL_PER_PROCESS, /* nobody knows who waited for whom */
    CRITICAL_NONE,        /* no process of the job was seen */
};

/* The path within some windows. Arrays belong to the path. */
struct critical_part {
    double length_s; /* of the windows */
    double total_s;  /* the sum of all terms: length_s, less what lies outside the job's life */
    double *seconds; /* [host * BUDGET_TERMS + term] */
    double *rank_seconds; /* [index of rank_budgets * BUDGET_TERMS + term]; NULL in blocks */
    /* [index of rank_budgets]: asleep in moments in which it was some part of the path; only where
     * waits tell the path, NULL in blocks. */
    double *rank_asleep_s;
    double *transfers; /* [from * (n_hosts + 1) + to], n_hosts: several; NULL in blocks. The
                          transfer term by sender and receiver */
};

#define CRITICAL_BLOCKS_MAX 128

struct critical_path {
    enum critical_source source;
    size_t n_hosts, n_ranks;
    struct critical_part *groups; /* as the model's phase groups */
    size_t n_groups;
    /* The iterations of the reference rank in the main group (equal slices, where ranks run
     * freely), so many consecutive ones together that there are at most CRITICAL_BLOCKS_MAX blocks;
     * without iterations equal slices of the group. For resampling: draw blocks. None without
     * matched calls. */
    struct critical_part *blocks;
    struct window *block_windows;
    size_t n_blocks, iterations_per_block; /* 0: slices of time */
    struct critical_own *own; /* where ranks run freely: the path of each (critical_private.h) */
    size_t n_own;             /* else 0 */
    size_t server_rank;       /* of the log's ranks, where ranks run freely: see serving.h */
    double *served_s;         /* [group]: what it computed for others */
    double
        unmatched; /* share of the calls that needed somebody, of which nobody knows whom; 0..1 */
};

/* It is made with the model's budgets, as model->critical. */
void critical_path_release(struct critical_path *path);

static inline double critical_seconds(const struct critical_part *part, int host,
                                      enum budget_term term) {
    return part->seconds[(size_t)host * BUDGET_TERMS + (size_t)term];
}

/* As a share of the part's total; 0 for an empty one. */
double critical_share(const struct critical_part *part, int host, enum budget_term term);

/* Stretches of the path in each rank of the log: in time order, disjoint across all ranks, from
 * before everything to after everything. */
struct critical_walk {
    struct window **stretches; /* [rank of the log] */
    size_t *n, *capacity;
    size_t n_ranks;
};

/* One rank of a program whose ranks run freely, and its own path. */
struct critical_own {
    size_t log_rank;
    struct critical_walk walk;
    struct critical_path path; /* parts as those of the whole */
    double *done;              /* [group], then [block]: its iterations, in part too */
    double *served_s; /* likewise: of the path, what the server computed for others; of others'
                         paths also what it computed so for itself */
};

#endif
