/* SPDX-License-Identifier: MIT */
/*
 * The budgets of all ranks of a recording: each rank's process, its counters cut to its own part
 * (quota, steal and short memory are only counted for its host or group), its events matched with
 * those of the others. A job without ranks gets one for each of its busiest processes.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_H
#define CHOKEPOINT_ANALYSIS_TIME_RANK_BUDGET_H

#include "analysis/time/budget.h"

struct run_model;
struct model_process;
struct critical_path;

#define RANK_BUDGET_PROCESSES_MAX 16 /* of a job without ranks */
#define RANK_BUDGET_CLOCKED_MAX 48   /* where their waits were clocked: chains need all of them */
#define RANK_BUDGET_SLICES 40        /* equal stretches of the run: how a term changes over time */

/* Limits of a rank's connections, as shares of the time in which they had data. NAN: no
 * connection was seen to send. */
struct transfer_split {
    double path, receiver, send_buffer;
};

struct rank_budget {
    int host, rank; /* rank -1: the program has none */
    int64_t pid;
    const char *process;           /* its series' name */
    struct budget *groups;         /* by the model's phase groups */
    struct transfer_split *splits; /* likewise */
    struct budget *iterations;     /* those it marked itself, in time order */
    size_t n_iterations;
    struct budget *slices;          /* RANK_BUDGET_SLICES of them, in time order */
    int awaited_host, awaited_rank; /* whom it waited for most in the main group; -1: nobody */
    double awaited_s;
};

/* A process waited for another, in the main group. */
struct process_wait {
    size_t who, whom; /* numbers of the budgets */
    enum wait_kind kind;
    double seconds;
};

struct rank_budgets {
    struct rank_budget *items; /* by rank, then host, then process; then the helpers */
    size_t n;
    /* Processes without a rank that a rank waits for, where waits were clocked: behind the first n,
     * so that what is said of ranks is said of ranks alone. */
    size_t n_helpers;
    struct process_wait *waits; /* where waits were clocked; any order */
    size_t n_waits;
    bool events, totals; /* single calls were recorded; at least how long ranks were inside MPI */
    uint64_t messages, groups, unmatched, refused; /* of all calls */
    size_t windows, closing;                       /* of iterations, and how many of them close */
    double clock_bound_s; /* the worst between two hosts that have ranks; NAN: not known */
};

static inline size_t rank_budgets_all(const struct rank_budgets *budgets) {
    return budgets->n + budgets->n_helpers;
}

/* Slice i of a run, ns. */
static inline int64_t rank_budget_slice_begin(int64_t duration_ns, size_t i) {
    return duration_ns / RANK_BUDGET_SLICES * (int64_t)i;
}

/* The model must have its phases, iterations, processes and matches. The critical path is made on
 * the way. -ENOMEM. */
int rank_budgets_make(const struct run_model *model, struct rank_budgets *ret_budgets,
                      struct critical_path *ret_path);
void rank_budgets_release(struct rank_budgets *budgets);

/* The budget of a process in a group, if every MPI call of it is known and the terms add up; else
 * NULL. */
const struct budget *rank_budget_trusted(const struct rank_budgets *budgets, int host, int64_t pid,
                                         size_t group);

/* The rank that all ranks together waited for most in the main group; NULL if they waited for
 * nobody. */
const struct rank_budget *rank_budgets_awaited(const struct rank_budgets *budgets);

/* The mean of a term over all ranks in a group, as a share of the wall time; NAN if it is known of
 * none. */
double rank_budgets_share(const struct rank_budgets *budgets, size_t group, enum budget_term term);

/* One interval for each row of the process. *ret_intervals is the caller's. -ENOMEM. */
int budget_intervals(const struct run_model *model, const struct model_process *process,
                     int64_t pid, struct budget_interval **ret_intervals, size_t *ret_n);

/* From its start, as the kernel says, to its last sign of life. */
void budget_life(const struct run_model *model, const struct model_process *process,
                 struct budget_subject *subject);

#endif
