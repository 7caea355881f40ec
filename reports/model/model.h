/* SPDX-License-Identifier: MIT */
/*
 * The data of a report: the run model and its judgement, from which a section makes its rows when
 * it is written, and figures that several sections share. These figures outlive the run model, so
 * that many runs can be held at once (comparisons, sweeps).
 *
 * Units: seconds since the command started; resources in the unit each carries (%, GB, MB/s;
 * decimal). NAN is an unknown value; writers show it as "-" or null. All text is owned by the
 * report and may come from outside: a writer escapes it for its format.
 */
#ifndef CHOKEPOINT_REPORTS_MODEL_H
#define CHOKEPOINT_REPORTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/facts/recording/metric.h"
#include "analysis/facts/series/alert.h"
#include "analysis/time/rank_budget.h"
#include "analysis/verdict/verdict.h"
#include "reports/says/commands.h"

struct store;
struct reported;

/* One host's values of one metric over one phase, or over the whole run (phase "all"). */
struct report_value {
    double mean;      /* exact: from growth of counters; levels weighted by time */
    double p95, peak; /* of the samples */
};

struct report_host {
    char *name;
    unsigned n_cpus;
    uint64_t samples_expected, samples_recorded, samples_missed, samples_duplicate;
    uint64_t gaps;
    uint64_t calls_missing, marks_missing;                 /* overwritten or not delivered */
    double clock_offset_s, clock_drift_ppm, clock_error_s; /* against the collector's clock; NAN */
    double beat_us; /* CPU time of the agent's arithmetic beat, mean over the run; NAN */
    size_t machine; /* number of the machine whose cores it shares with other hosts; 0: none */
    bool missing;   /* expected, but never recorded */
};

/* A stretch of time. Several phases may have one name. */
struct report_phase {
    char *name;
    double start_s, end_s;
    const char *source; /* "marker" or "detected" */
};

/* Values over all phases of one name: values[host * METRIC_COUNT_ + metric]. */
struct report_resources {
    char *phase; /* "all" first */
    double duration_s;
    struct report_value *values;
};

/* A time series for a plot: the mean over (t[i-1], t[i]]. */
struct report_series {
    char *label; /* "cpu0", "eth0 send", a process */
    size_t n;
    double *t_s, *value; /* NAN: a gap */
};

/* The upper limit of a metric of a host, in its unit, if known. */
struct report_ceiling {
    double value;               /* 0: not known */
    enum arithmetic_rate known; /* measured, or set on the interface */
};

/* Resources of which a control group may have a limited share. */
enum report_allowance { ALLOWANCE_CPU, ALLOWANCE_MEMORY, ALLOWANCE_DISK, ALLOWANCES };

struct report_host_series {
    struct report_series metrics[METRIC_COUNT_];
    struct report_ceiling ceilings[METRIC_COUNT_];
    struct report_series allowances[ALLOWANCES]; /* used shares, 1: all; n is 0 without a limit */
    struct report_series *cores;                 /* busy %, one per core */
    size_t n_cores;
    struct report_series *gpus; /* how full, in %; one per GPU */
    size_t n_gpus;
};

/* Traffic of the job's TCP connections from one host to another, MB/s (F2). */
struct report_route {
    int from, to;                /* hosts */
    double bytes;                /* in all */
    double mean_mb_s, peak_mb_s; /* of the whole run; of the series */
    double share_pct;            /* of the traffic of all pairs */
    struct report_series series;
};
#define REPORT_ROUTES_MAX 1024

/* The iterations of one rank (F3). */
struct report_rank {
    int rank; /* -1: the program has none */
    int host;
    char *role; /* "server" or "worker" if the marks tell, else "" */
    size_t n;
    double *end_s, *duration_s;
    double median_s, p95_s;
};

/* T5: the results and the use of a rank's process. */
struct report_role {
    int rank, host;
    char *role;            /* as in report_rank */
    double accuracy_pct;   /* of the rank's copy of the model, else of the model */
    double time_s;         /* from its first iteration to its last; without iterations: lived_s */
    double lived_s, cpu_s; /* of the whole process, as far as its CPU time is known */
    double cpu_pct;        /* of one core, in time_s */
    double peak_memory_gb;
    double received_mb, sent_mb; /* NAN: unknown */
    bool received_at_most;       /* some receives count their whole buffer */
    const char *bytes_source;    /* "mpi", "connections"; NULL: unknown */
};

/* A value that the program marked: accuracy, loss, updates ... (F1). */
struct report_curve {
    char *name;
    int rank;
    size_t n;
    double *t_s, *iteration, *value; /* iteration NAN: unknown */
};

/* resource: cpu cpu-quota steal memory gpu disk disk-throttle net-egress net-ingress
 * imbalance application none */
struct report_verdict {
    enum verdict_state state;
    const char
        *subject; /* host, all-hosts, machine, core, rank, process, messages, outside, none */
    int host;     /* -1: none */
    int rank;     /* -1: no rank is to blame */
    char *resource, *cause;
    const char *cause_kind; /* one word; NULL: none */
    char *culprit;          /* another program that is to blame; NULL: none */
    int64_t culprit_pid;
    double start_s, end_s;                        /* when the limit held; NAN: the whole run */
    double confidence;                            /* 0..1 */
    double confidence_computed;                   /* before correction by the fault matrix; NAN */
    double gain_pct, gain_low_pct, gain_high_pct; /* NAN: not estimated */
    const char *gain_source; /* static: "replay", "iterations", "counters", "bound"; NULL */
    bool too_short;          /* too short to judge: the summary says all */
    bool all_in_limit;       /* the limit says all of the summary */
    char *summary;
    char *limit, *worth; /* short: the limit; the gain of a change, "" if none was examined */
    char *cost;          /* its part of the run; "": `limit` says it; NULL: the summary says it */
    char **evidence, **against, **ruled_out, **next; /* next: steps for a surer verdict */
    size_t n_evidence, n_against, n_ruled_out, n_next;
};

struct report_budget { /* a rank's time in a phase; NAN: a term that cannot be observed */
    int host, rank;    /* rank -1: the program has none */
    int64_t pid;       /* -1: not known */
    char process[64];
    int64_t begin_ns, end_ns; /* the phase's first and last moment */
    char *phase;
    double wall_s, term_s[BUDGET_TERMS];
    double unknown_s;   /* time in no term */
    double other_cpu_s; /* CPU time of threads other than the one that calls MPI */
    double closure_pct; /* sum of the terms, of the wall time */
    bool trusted;       /* the budget closes */
    const char *source; /* "events", "clocks", "totals", "counters" */
    double path_pct, receiver_pct, send_buffer_pct; /* causes that delayed its data */
    int awaited_host, awaited_rank; /* the peer for which it waited most in the main phase; -1 */
    double awaited_s;
};

const char *report_budget_source(enum budget_source source);

/* The POP ratios of a phase (analysis/evidence/efficiency.h), in %; NAN where not known. */
struct report_efficiency {
    char *phase;
    size_t n_ranks;
    double elapsed_s, useful_mean_s, useful_max_s; /* useful: outside MPI */
    int longest_host, longest_rank;                /* the rank with the most useful time */
    double parallel_pct, load_balance_pct, communication_pct, serialisation_pct, transfer_pct;
    double computing_pct; /* time on a core, of the useful time */
    const char *source;   /* of serialisation and transfer: "replay", "bound" or "unknown" */
};

/* "measured", "set", "seen" */
const char *report_arithmetic_rate(enum arithmetic_rate known);

struct report_operator { /* T8: an operator in the ranks of one role */
    char *name, *role;   /* role "": the marks do not tell */
    size_t n_ranks, calls;
    double output_bytes; /* mean */
    double total_s, mean_s, p95_s, longest_s;
    double share_pct; /* of the time in iterations of the ranks that ran it */
};

struct report_bar { /* one run of an operator, in seconds since the iteration began */
    int host, rank;
    char *name;
    double start_s, end_s;
};

/* The iteration of median length of one rank, and the operators of all ranks meanwhile. */
struct report_timeline {
    int host, rank; /* the owner of the iteration; -1 */
    int64_t number; /* -1: none */
    double start_s, duration_s;
    struct report_bar *bars; /* by rank, then by time */
    size_t n_bars, n_bars_left_out;
};

struct report_quality { /* of the recording */
    char grade;         /* A (no problem) to D; 0: not examined */
    char **notes;
    size_t n_notes, n_amiss; /* the first n_amiss: problems of the run or its recording */
};

struct report {
    struct reported *run; /* owned */
    struct caller caller; /* for printed commands; its run is this one */
    int64_t run_id;
    char *run_name, *command, *state; /* done failed killed interrupted unfinished */
    int exit_status;                  /* -1: unknown */
    int64_t started_wall_ns;
    double duration_s, period_s;
    struct report_host *hosts;
    size_t n_hosts;
    struct report_phase *phases;
    size_t n_phases;
    struct report_resources *resources; /* [0] is "all" */
    size_t n_resources;
    struct report_host_series *series; /* one per host */
    struct report_route *routes;       /* the largest traffic first, at most REPORT_ROUTES_MAX */
    size_t n_routes, n_routes_all;
    struct report_rank *ranks;
    size_t n_ranks;
    struct report_role *roles;
    size_t n_roles;
    bool ranks_in_step; /* iteration k of all ranks ends together */
    struct report_curve *curves;
    size_t n_curves;
    struct report_verdict verdict;
    struct report_budget *budget;
    size_t n_budget;
    size_t main_phase;  /* has most iterations, else is the longest; 0: no phases */
    size_t shown_phase; /* the phase of the verdict, whose bars stand under it */
    struct report_efficiency *efficiency; /* of phases with known MPI calls */
    size_t n_efficiency;
    double *path_s; /* of the critical path, [host * BUDGET_TERMS + term]; NULL: not known */
    double path_length_s;
    double *metric_ceilings; /* [host * METRIC_COUNT_ + metric], NAN: not measured; may be NULL */
    struct report_operator *operators;
    size_t n_operators;
    struct report_timeline timeline; /* without bars: none */
    struct report_quality quality;
};

/* Losses of the recording: "12 samples and 300 MPI calls missing"; "" without losses. */
#define REPORT_MISSING_SIZE 128
const char *report_missing(const struct report *report, char to[REPORT_MISSING_SIZE]);

/* Reads a run (see store_find_run) and judges it. caller: for printed commands; its texts must
 * outlive the report, its run is set. -ENOENT: no such run. report_free takes NULL. */
int report_build(struct store *store, const char *which, const struct caller *caller,
                 struct report **ret_report);
/* The same from samples alone, those of a long run in steps of a second: quick, and what it says
 * may change once calls are judged. */
int report_build_early(struct store *store, const char *which, const struct caller *caller,
                       struct report **ret_report);
/* Reads only the measured parts, as report_build measures them: resources, phases, ranks, curves.
 * Without a verdict this takes a fraction of the time. */
int report_build_measured(struct store *store, const char *which, struct report **ret_report);
/* Reads only the run and its alerts. A run in progress counts up to its last row so far. */
int report_build_alerts(struct store *store, const char *which, struct report **ret_report);
/* Frees the run model and the recording, which are large, for callers that hold many reports.
 * Sections cannot be written afterwards. */
void report_let_go(struct report *report);
/* Reads both again. */
int report_read_again(struct store *store, struct report *report);
void report_free(struct report *report);

#endif
