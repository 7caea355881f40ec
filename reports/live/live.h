/* SPDX-License-Identifier: MIT */
/*
 * A run as it is now, for front ends that show it while it goes on (`chokepoint top`, `chokepoint
 * serve`). Figures of hosts, processes and pairs are those of the last second that has arrived; the
 * limit so far and the ranks' budgets are of the whole run until then.
 *
 *     struct live *live;
 *     int r = live_open("run.db", "last", &caller, &live, why, sizeof why);
 *     while (...) {                      // as often as the picture should change, once a second
 *         live_poll(live);               // about a millisecond a host; never waits for the judge
 *         draw(live_look(live));         // valid until the next poll
 *     }
 *     live_close(live);                  // at once, even while it is being judged
 *
 * There are two threads: the caller's polls, and a thread of low priority judges from time to time
 * what is recorded so far. That one rests so that it uses LIVE_JUDGE_SHARE of a core on average. A
 * struct live belongs to one thread at a time; any number of them may watch one run. The database
 * is only read. A run that has ended works alike: the picture stays that of its end, and the limit
 * becomes that of its report, which includes calls.
 *
 * Units: MB/s and GB are decimal; % of a process is of one core (four busy threads: 400), % of a
 * host of all its cores; times are seconds since the command started. NAN is a number that is not
 * known, -1 a count, an index or an id that is not known. All text comes from outside: it is UTF-8,
 * and a front end must escape it.
 */
#ifndef CHOKEPOINT_REPORTS_LIVE_H
#define CHOKEPOINT_REPORTS_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/facts/recording/metric.h"
#include "analysis/time/budget.h"
#include "analysis/verdict/verdict.h"
#include "reports/says/commands.h"

#define LIVE_SILENT_S 4.0     /* and a push's interval: a host without rows for so long is silent */
#define LIVE_CUT_OFF_S 30.0   /* after so long without rows a run counts as cut off */
#define LIVE_JUDGE_SHARE 0.02 /* of one core */
#define LIVE_JUDGE_EVERY_S 5.0 /* at most once in that time */
#define LIVE_PROCESSES_MAX 256 /* the busiest of each picture */
#define LIVE_PAIRS_MAX 64
#define LIVE_RANKS_MAX 1024
#define LIVE_CORES_MAX 1024 /* on a host */

enum live_state {
    LIVE_RUNNING,
    LIVE_ENDED,  /* see end, exit_status */
    LIVE_CUT_OFF /* no end was recorded, and no rows come any more: its recording died */
};
/* "running", "ended", "cut-off" */
const char *live_state_name(enum live_state state);

enum live_task { /* Tasks of a host by state. */
                 LIVE_TASK_RUNNING,
                 LIVE_TASK_SLEEPING,
                 LIVE_TASK_WAITING, /* for a disk: state D */
                 LIVE_TASK_STOPPED,
                 LIVE_TASK_ZOMBIE,
                 LIVE_TASK_OTHER,
                 LIVE_TASKS
};
/* "running", "sleeping", "waiting", "stopped", "zombie", "other" */
const char *live_task_name(enum live_task task);

/* The reason why the clock of a GPU is held down. */
enum live_cap {
    LIVE_CAP_UNKNOWN, /* the GPU or its driver does not tell */
    LIVE_CAP_NONE,
    LIVE_CAP_POWER,
    LIVE_CAP_HEAT,
    LIVE_CAP_HARDWARE /* slowed down by hardware, such as a brake of the power supply */
};
/* "unknown", "none", "power", "heat", "hardware" */
const char *live_cap_name(enum live_cap cap);

/* A history has a value for each of the last LIVE_HISTORY_S seconds. */
enum live_trace {
    LIVE_TRACE_CPU,  /* cpu_pct */
    LIVE_TRACE_CORE, /* METRIC_CPU_CORE_MAX, and so on */
    LIVE_TRACE_MEMORY,
    LIVE_TRACE_DISK, /* METRIC_DISK_BUSY */
    LIVE_TRACE_RECEIVE,
    LIVE_TRACE_SEND,
    LIVE_TRACES,
    LIVE_TRACE_GPU = 0 /* of a GPU: sm_pct, or else busy_pct */
};
#define LIVE_HISTORY_S 60
struct live_values {
    float value[LIVE_HISTORY_S]; /* the newest is the last; NAN: not known */
};

/* How full the fullest host was over the whole run, in at most LIVE_PAST_MAX steps of equal time.
 */
enum live_resource {
    LIVE_FULL_CORE,
    LIVE_FULL_MEMORY,
    LIVE_FULL_DISK, /* time busy */
    LIVE_FULL_NETWORK,
    LIVE_FULL_GPU,
    LIVE_RESOURCES
};
/* "core", "memory", "disk", "network", "gpu" */
const char *live_resource_name(enum live_resource resource);
#define LIVE_PAST_MAX 120
struct live_past {
    double step_s;
    size_t n;                                 /* 0: not known yet */
    float pct[LIVE_RESOURCES][LIVE_PAST_MAX]; /* NAN: not known */
};

struct live_gpu {
    const char *name;        /* "gpu0"; "gpu0/mig1" a part of a divided one */
    const char *model;       /* "NVIDIA H200"; "": not known */
    double busy_pct, sm_pct; /* time with any work on it; work of its multiprocessors */
    double tensor_pct, dram_pct;
    double to_mb_s, from_mb_s; /* over PCIe */
    double memory_used_gb, memory_gb, watts, watts_limit;
    enum live_cap cap;
    const struct live_values *history; /* one; NULL: none */
    bool lost;                         /* fallen off the bus, or must be reset */
    int64_t xid;                       /* number of its driver's last error; -1: none */
};

struct live_host {
    const char *name;
    double seen_s;   /* time of its newest sample; NAN: none came yet */
    double silent_s; /* How long nothing has come; 0: the host is not silent. Its figures are then
                        those of its last moment. No host of an ended run is silent. */
    double metrics[METRIC_JOB_CPU]; /* by enum metric (metric.h), up to METRIC_CPU_CORE_MAX */
    double cpu_pct;                 /* share of all cores that is neither idle nor waiting for a
                                       disk */
    double *core_pct;               /* busy share of each core, in the order of their numbers */
    int *core_number;
    size_t n_cores;
    struct live_gpu *gpus; /* by name */
    size_t n_gpus;
    const struct live_values *history;       /* by enum live_trace; NULL: none */
    double memory_gb, swap_gb, swap_used_gb; /* total memory and swap; for used memory see
                                                METRIC_MEM_USED */
    double send_ceiling_mb_s, receive_ceiling_mb_s, read_ceiling_mb_s, write_ceiling_mb_s;
    /* known capacity of the link or disk: set, measured or the interface's speed */
    double load[3], uptime_s;  /* averages of 1, 5, 15 minutes */
    int64_t tasks[LIVE_TASKS]; /* number of processes by state */
};

struct live_process {
    int host;            /* index of the snapshot's host */
    int64_t pid;         /* -1: not known */
    int rank;            /* -1: none */
    bool job;            /* belongs to the recorded command */
    const char *name;    /* without the pid */
    const char *command; /* its command line if its host is this machine; NULL */
    double cpu_pct;
    double run_queue_pct; /* runnable, but without a core */
    double memory_gb, read_mb_s, write_mb_s;
    int64_t threads;
};

/* Traffic between two hosts in both directions. */
struct live_pair {
    int host, peer;                    /* indexes of the snapshot's hosts; -1: no host of the run */
    const char *host_name, *peer_name; /* their names; addresses if they are no hosts of the run */
    double send_mb_s;                  /* from host to peer */
    double receive_mb_s;
    size_t connections; /* 0: counted from packets */
};

/* Where a rank's time went, from the start until the limit was judged. */
struct live_budget {
    int host;
    int rank; /* -1: the program has no ranks, or they are not known */
    int64_t pid;
    const char *process;
    double wall_s, term_s[BUDGET_TERMS]; /* see budget_term_name, budget_term_words */
    double unknown_s;
};

/* The limit of the run so far. */
struct live_limit {
    bool known;     /* false: nothing was judged yet */
    double at_s;    /* time of the run up to which it was judged */
    bool final;     /* the run has ended, and all of it was judged, as in its report */
    bool too_short; /* too short to be judged, as summary says */
    enum verdict_state state;
    double confidence;   /* 0..1; 0: none given */
    int host, rank;      /* -1 */
    const char *what;    /* a phrase such as "vm1's network (sending)"; NULL: no limit is blamed */
    const char *summary; /* a sentence or two; "" if not known */
    double gain;         /* share of the run's time that would be saved without it; NAN */
    /* the last lines of `run` ("limit", "worth", "do"); "": none */
    const char *words, *worth, *action;
};

/* A limit that is not known. */
struct live_limit live_limit_unknown(void);

struct live_snapshot {
    uint64_t number; /* grows with every poll that changed something */
    int64_t run_id;
    const char *run_name, *command;
    enum live_state state;
    const char *end; /* if LIVE_ENDED: "done", "failed", "killed", "interrupted"; else "" */
    int exit_status; /* -1: unknown */
    double elapsed_s, period_s;
    int64_t started_wall_ns;
    int n_hosts_expected;    /* more than n_hosts: the others have sent nothing yet */
    struct live_host *hosts; /* by name, with vm2 before vm10 */
    size_t n_hosts, n_silent;
    struct live_process *processes; /* by CPU, the busiest first */
    size_t n_processes;
    struct live_pair *pairs; /* by both directions, the busiest first */
    size_t n_pairs;
    struct live_budget *budgets; /* by rank, then host */
    size_t n_budgets;
    struct live_limit limit;
    const struct live_past *past; /* as far as the run was judged; NULL: not known */
    double at_s;                  /* the moment that is shown; NAN: now */
    const char *trouble; /* one line: the database is gone or unreadable, and this is the last good
                            picture; NULL */
};

struct live;

/* Opens a database and finds the run like store_find_run() ("last", a number, a name). One line in
 * `why` describes a failure: -ENOENT (no database, no such run), -ECANCELED (its command never
 * started), others of store_open_read(). Makes no picture yet.
 */
int live_open(const char *database, const char *run, const struct caller *caller,
              struct live **ret_live, char *why, size_t why_size);
/* As live_open, for one picture: of that time of the run, which may go on. It has no limit,
 * ceilings and ranks unless it is judged, which judges the run as it is now. */
int live_open_at(const char *database, const char *run, double at_s, const struct caller *caller,
                 struct live **ret_live, char *why, size_t why_size);
void live_close(struct live *live); /* takes NULL */

/* Reads new rows and makes the picture. 1: it changed; 0: nothing is new. -ENOMEM: the picture is
 * empty; other failures are reported in the picture.
 */
int live_poll(struct live *live);
const struct live_snapshot *live_look(const struct live *live);

/* Judges now, and waits for the result: for a single complete picture, and for tests. */
int live_judge_now(struct live *live);

/* One JSON object, chokepoint.live/1, on one line (docs/live-json.md); unknown numbers are null.
 * -EIO, -ENOMEM. */
int live_write_json(const struct live_snapshot *snapshot, FILE *out);

#endif
