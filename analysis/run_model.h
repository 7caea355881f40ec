/* SPDX-License-Identifier: MIT */
/*
 * A recording made ready to be judged: every metric of every host as a rate, phases, iterations and
 * processes. All rooms below are functions of this; they read rows only for columns that
 * are no metric.
 */
#ifndef CHOKEPOINT_ANALYSIS_RUN_MODEL_H
#define CHOKEPOINT_ANALYSIS_RUN_MODEL_H

#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/iteration/phase.h"
#include "analysis/facts/recording/metric.h"
#include "analysis/facts/series/rate.h"
#include "analysis/number.h"
#include "analysis/time/critical_path.h"
#include "analysis/time/rank_budget.h"

struct model_host {
    const char *name; /* the recording's */
    struct rate metrics[METRIC_COUNT_];
    struct rate swap; /* GB used */
    double memory_gb, swap_gb;
    unsigned n_cpus;
    bool has_job; /* processes of the job ran there that were no launchers; all hosts, where
                     processes were not recorded */
};

struct model_process {
    const struct series *series;
    int host, rank; /* rank -1: none */
    bool job;
    bool launcher; /* of the job, but nothing that should compute */
};

/* Activity of one process during some windows: shares of their length, NAN where not known. */
struct process_use {
    double wall_s, cpu_s, run_queue_s, disk_s, read_bytes, write_bytes;
    double user_s; /* of cpu_s, in its own code */
};

/* The sources that a run was recorded with. */
enum observed_source {
    SOURCE_CALLS,       /* MPI calls, matched: who waited for whom */
    SOURCE_WAITS,       /* wait clocks of processes: who waited for whom, without MPI */
    SOURCE_CONNECTIONS, /* the kernel's clocks of TCP connections */
    SOURCE_QDISC,       /* queues before the interfaces */
    SOURCE_PSI,         /* pressure stall information */
    SOURCE_DELAYS,      /* block-I/O delay of processes */
    SOURCE_CGROUP,      /* control groups */
    SOURCE_OPERATORS,   /* operators that the program marks */
    SOURCE_CALIBRATION, /* the agents' calibration loop */
    SOURCE_CLOCKS,      /* wait clocks of processes, beside MPI calls, too: waits for GPUs */
    SOURCE_COUNT_
};
/* "calls", "connections", ... */
const char *observed_source_name(enum observed_source source);

/* Whether an ablation takes it as not recorded. */
static inline bool judge_withholds(const struct judge *judge, enum observed_source source) {
    return judge && judge->sources_off >> source & 1;
}

/* Visibility of the run: decided once, when the model is built. */
struct observed {
    unsigned sources;   /* bits of enum observed_source */
    bool path;          /* who waited for whom is known: by all ranks' calls, or by wait clocks */
    bool freely;        /* and ranks run freely: iterations count, not how long one takes */
    bool *shares_cores; /* [host] it is one kernel with another host of the run, and may run on the
                           same cores: they wait for each other */
};

struct run_model {
    const struct recording *recording; /* borrowed */
    const struct judge *judge;         /* the recording's */
    struct model_host *hosts;          /* as many as the recording has */
    size_t n_hosts;
    struct phase *phases;
    size_t n_phases;
    bool phases_detected;       /* not marked by the program */
    struct phase_group *groups; /* [0] "all" */
    size_t n_groups;
    size_t main_group; /* where most iterations lie, else the longest; 0 if there are no phases */
    struct iterations iterations;
    struct model_process *processes; /* the job's and others */
    size_t n_processes;
    struct call_clock clock; /* of the recording's calls */
    struct call_matches matches;
    struct rank_budgets budgets;
    struct critical_path critical;
    struct observed observed;
};

/* The recording must outlive the model. -ENOMEM. */
int model_build(const struct recording *recording, struct run_model *ret_scene);
void model_release(struct run_model *model);

/* See struct observed. */
static inline bool model_has_path(const struct run_model *model) {
    return model->observed.path;
}
static inline bool model_shares_cores(const struct run_model *model, int host) {
    return model->observed.shares_cores && model->observed.shares_cores[host];
}
/* Ranks run freely, and did iterations in this group. */
static inline bool throughput_counts(const struct run_model *model, size_t group) {
    return model->observed.freely && (group == model->main_group || group == 0);
}
/* Two hosts are one kernel, and may run on the same cores. */
bool model_shares_machine(const struct run_model *model, int one, int other);

static inline int64_t model_process_pid(const struct run_model *model,
                                        const struct model_process *process) {
    return series_last(&model->recording->tables[RECORDING_PROCESS], process->series, PROCESS_PID);
}

struct process_use model_process_use(const struct run_model *model,
                                     const struct model_process *process, struct windows windows);
static inline struct process_use
model_group_use(const struct run_model *model, const struct model_process *process, size_t group) {
    return model_process_use(model, process, phase_windows(&model->groups[group]));
}

/* The host's first process of the job, or outside it, after that one (NULL: of all). NULL: none is
 * left. */
const struct model_process *model_next_process(const struct run_model *model, int host, bool job,
                                               const struct model_process *after);

/* Number of hosts on which the job ran: others may be recorded that it never asked for anything. */
size_t model_job_hosts(const struct run_model *model);

/* Whether the job has a rank of MPI. */
static inline bool model_has_ranks(const struct run_model *model) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].rank >= 0)
            return true;
    return false;
}

/* It had more than one at a time. */
bool model_process_has_threads(const struct run_model *model, const struct model_process *process);

/* Growth of a column of a table on a host within the windows, all instances. */
double model_growth(const struct run_model *model, int host, enum recording_table table,
                    size_t column, struct windows windows);

/* Mean of a metric within a group; NAN where unknown. */
double model_mean(const struct run_model *model, int host, enum metric metric, size_t group);

/* Iterations of all ranks that end within the group. */
size_t model_iteration_count(const struct run_model *model, size_t group);

#endif
