/* SPDX-License-Identifier: MIT */
/*
 * The budgets of all ranks of a recording. Each has the rank's process, its part of the counters
 * (quota, steal and short memory are counted only for its host or group), and its events matched
 * with those of other ranks. A job without ranks has budgets for its busiest processes.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_H
#define CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_H

#include "analysis/time/claims.h"

struct run_model;
struct model_process;
struct critical_path;

#define RANK_BUDGET_PROCESSES_MAX 16 /* budgets of a job without ranks */
#define RANK_BUDGET_CLOCKED_MAX                                                                    \
    48 /* the same where waits were clocked: chains need all processes */
#define RANK_BUDGET_SLICES                                                                         \
    40 /* equal slices of the run, which show how a term changes over                              \
          time */

/* Limits of a rank's connections, as shares of the time in which they had data. NAN: no connection
 * was seen to send.
 */
struct transfer_split {
    double path, receiver, send_buffer;
};

struct rank_budget {
    int host, rank; /* rank -1: the program has none */
    int64_t pid;
    const char *process;           /* the name of its series */
    const struct table_key *key;   /* the key of its series */
    struct budget *budgets;        /* of all windows: groups, iterations and slices lie in it */
    struct budget *groups;         /* by phase group of the model */
    struct transfer_split *splits; /* by phase group of the model */
    struct claims *claims;         /* by phase group of the model */
    struct budget *iterations;     /* the iterations that it marked itself, in time order */
    size_t n_iterations;
    struct budget *slices;             /* RANK_BUDGET_SLICES of them, in time order */
    struct budget_interval *intervals; /* of a rank with calls: a replay needs them again */
    size_t n_intervals;
    int awaited_host,
        awaited_rank; /* the rank that it waited for most in the main group; -1: none */
    double awaited_s;
};

/* One process waited for another in the main group. */
struct process_wait {
    size_t who, whom; /* indexes of the budgets */
    enum wait_kind kind;
    double seconds;
};

struct rank_budgets {
    struct rank_budget *items; /* by rank, then host, then process; helpers follow */
    size_t n;
    /* Processes without a rank that a rank waits for, where waits were clocked. They stand behind
     * the first n, so that statements about ranks leave them out.
     */
    size_t n_helpers;
    struct process_wait *waits; /* where waits were clocked; in any order */
    size_t n_waits;
    bool events, totals; /* single calls were recorded; at least the time inside MPI was */
    uint64_t messages, groups, unmatched, refused; /* numbers of all calls */
    size_t windows, closing;                       /* number of iterations, and of those whose terms
                                                      add up */
    double clock_bound_s; /* the worst bound between two hosts with ranks; NAN: not known */
};

static inline size_t rank_budgets_all(const struct rank_budgets *budgets) {
    return budgets->n + budgets->n_helpers;
}

/* Slice i of a run, ns. */
static inline int64_t rank_budget_slice_begin(int64_t duration_ns, size_t i) {
    return duration_ns / RANK_BUDGET_SLICES * (int64_t)i;
}

/* The model must have its phases, iterations, processes and matches. Makes the critical path, too.
 * -ENOMEM.
 */
int rank_budgets_make(const struct run_model *model, struct rank_budgets *ret_budgets,
                      struct critical_path *ret_path);
void rank_budgets_release(struct rank_budgets *budgets);

/* The budget of a process in a group if every MPI call of it is known and the terms add up; else
 * NULL.
 */
const struct budget *rank_budget_trusted(const struct rank_budgets *budgets, int host, int64_t pid,
                                         size_t group);

/* The rank that all ranks together waited for most in the main group, or NULL. */
const struct rank_budget *rank_budgets_awaited(const struct rank_budgets *budgets);

/* The mean of a term over all ranks in a group, as a share of the wall time; NAN if it is known for
 * no rank.
 */
double rank_budgets_share(const struct rank_budgets *budgets, size_t group, enum budget_term term);

/* One interval for each row of the process. The caller owns *ret_intervals. -ENOMEM. */
int budget_intervals(const struct run_model *model, const struct model_process *process,
                     int64_t pid, struct budget_interval **ret_intervals, size_t *ret_n);

/* Those of the process that its budget was made with; NULL: they were not kept. */
const struct rank_budget *rank_budget_with_intervals(const struct rank_budgets *budgets,
                                                     const struct table_key *key);

/* From its start, as the kernel tells it, to its last sign of life. */
void budget_life(const struct run_model *model, const struct model_process *process,
                 struct budget_subject *subject);

#endif
