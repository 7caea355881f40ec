/* SPDX-License-Identifier: MIT */
/*
 * Where the run's time went along its critical path. The path is followed from the last exit back;
 * whenever its rank was waiting for a peer, the path continues in that peer, at the time when the
 * peer ended the wait. Each stretch is charged by the budget of its rank, so the parts of a window
 * add up to its length while the job lived.
 *
 * If ranks run freely (free_running.h), no rank waits for the slowest, and no such path shows what
 * slows the program. Then each rank has its own path, including what others did while it waited for
 * them. The run's path is their mean, weighted by each rank's iterations.
 *
 * Without matched MPI calls, wait clocks tell who waited for whom (wait_chain.h). Without these
 * nothing does: the path of a window is then that of the process that was busy longest in it, and
 * `source` says so.
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
    CRITICAL_PER_PROCESS, /* it is not known who waited for whom */
    CRITICAL_NONE,        /* no process of the job was seen */
};

/* The path within some windows. It owns its arrays. */
struct critical_part {
    double length_s; /* length of the windows */
    double total_s;  /* the sum of all terms: length_s without the time outside the job's life */
    double *seconds; /* [host * BUDGET_TERMS + term] */
    double *rank_seconds; /* [index of the rank's budget * BUDGET_TERMS + term]; NULL in blocks */
    /* [index of the rank's budget]: sleep while the rank was a part of the path; only if wait
     * clocks tell the path; NULL in blocks.
     */
    double *rank_asleep_s;
    double *transfers; /* [from * (n_hosts + 1) + to], n_hosts: several; NULL in blocks. The
                          transfer term by sending and receiving host */
};

#define CRITICAL_BLOCKS_MAX 128

struct critical_path {
    enum critical_source source;
    size_t n_hosts, n_ranks;
    struct critical_part *groups; /* in the order of the model's phase groups */
    size_t n_groups;
    /* Blocks to resample: consecutive iterations of the reference rank in the main group, joined so
     * that there are at most CRITICAL_BLOCKS_MAX blocks. Without iterations, or if ranks run
     * freely, equal slices of the group. None without matched calls.
     */
    struct critical_part *blocks;
    struct window *block_windows;
    size_t n_blocks, iterations_per_block; /* iterations_per_block 0: slices of time */
    struct critical_own *own; /* if ranks run freely: the path of each (critical_private.h) */
    size_t n_own;             /* otherwise 0 */
    size_t server_rank;       /* index in the log, if ranks run freely: see serving.h */
    double *served_s;         /* [group]: its computing for other ranks */
    double unmatched; /* share of calls that needed another rank, but which is not known; 0..1 */
};

/* The path is made with the model's budgets, as model->critical. */
void critical_path_release(struct critical_path *path);

static inline double critical_seconds(const struct critical_part *part, int host,
                                      enum budget_term term) {
    return part->seconds[(size_t)host * BUDGET_TERMS + (size_t)term];
}

/* As a share of the part's total; 0 for an empty one. */
double critical_share(const struct critical_part *part, int host, enum budget_term term);
/* The same on all hosts; 0 if it is not known. */
double critical_share_of_all(const struct critical_part *part, size_t n_hosts,
                             enum budget_term term);

/* The stretches of the path in each rank of the log: in time order, disjoint across all ranks, and
 * covering all time.
 */
struct critical_walk {
    struct window **stretches; /* [rank of the log] */
    size_t *n, *capacity;
    size_t n_ranks;
};

/* One rank of a program whose ranks run freely, with its own path. */
struct critical_own {
    size_t log_rank;
    struct critical_walk walk;
    struct critical_path path; /* its parts correspond to those of the common path */
    double *done;     /* [group], then [block]: its iterations; partial ones count in part */
    double *served_s; /* [group], then [block]: the server's computing for others on this path; on
                         other ranks' paths also its computing for itself */
};

#endif
