/* SPDX-License-Identifier: MIT */
/*
 * Reading the store, for analysis and reports. Times are ns since the run's command started, on the
 * collector's clock: every host's monotonic time plus its offset then (clock.h).
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_READ_H
#define CHOKEPOINT_COLLECTOR_STORE_READ_H

#include "collector/store.h"

struct store_run {
    int64_t id;
    char *name, *command; /* owned */
    enum run_state state;
    char *refusal;           /* owned; of RUN_NOT_STARTED: the reason, if known; NULL */
    int exit_status;         /* -1 while unknown */
    int64_t started_wall_ns; /* when the command started */
    int64_t duration_ns;     /* end of the command; of the last frame if the command never ended */
    int64_t period_ns;
    int n_hosts_expected;
    int repeat, repeats; /* the 2nd of 5 repeats; 0, 0: not a repeat */
    int64_t group;       /* id of the first repeat; 0 */
};

struct store_host {
    int64_t id;
    char *name;              /* owned */
    int64_t clock_offset_ns; /* from the host's clock to the collector's, at the first frame */
    int64_t clock_error_ns;  /* the worst bound of the offset; VALUE_ABSENT: never estimated */
    double clock_drift_ppm;  /* growth of the offset from the first frame to the last; or NAN */
    uint64_t frames, missed_slots, lost_frames, duplicates;
    uint64_t gaps;             /* sequence numbers that never arrived, and restarts of the agent */
    int64_t first_ns, last_ns; /* start of its frames */
    int64_t machine; /* id of the kernel, which containers and emulated hosts share; VALUE_ABSENT:
                        not known */
};

struct store_note {
    char *text;       /* owned */
    bool information; /* an agent says what it cannot see; nothing failed */
};

/* The resources that the command used, and the host it ran on. -ENOENT: not recorded. */
int store_find_usage(struct store *store, int64_t run, char host[INSTANCE_MAX + 1],
                     struct run_usage *ret_usage);

/* Finds a run: "7" (id), a name (its newest run), "last", "last~1". Runs whose command never
 * started are found by their id only. -ENOENT. */
int store_find_run(struct store *store, const char *which, struct store_run *ret_run);
/* The newest run with data of this stream. -ENOENT. */
int store_find_run_of_stream(struct store *store, const struct wire_stream *stream,
                             int64_t *ret_run);
/* The newest run with a note of exactly this text. -ENOENT. */
int store_find_run_of_note(struct store *store, const char *text, int64_t *ret_run);
int store_list_runs(struct store *store, struct store_run **ret_runs, size_t *ret_n);
/* All runs that a word names. A name means the repeats of its newest run: the runs of that name and
 * the same command, oldest first; *ret_others counts runs of that name with other commands. Any
 * other word names one run. -ENOENT. */
int store_find_repeats(struct store *store, const char *which, struct store_run **ret_runs,
                       size_t *ret_n, size_t *ret_others);
void store_run_release(struct store_run *run);
void store_runs_free(struct store_run *runs, size_t n);

/* Hosts in the order of first appearance. */
int store_list_hosts(struct store *store, int64_t run, struct store_host **ret_hosts,
                     size_t *ret_n);
void store_hosts_free(struct store_host *hosts, size_t n);

int store_list_notes(struct store *store, int64_t run, struct store_note **ret_notes,
                     size_t *ret_n);
void store_notes_free(struct store_note *notes, size_t n);

/* The newest ceiling of each host, peer and metric; none if the file has no such table. Values that
 * are not positive numbers are left out. */
int store_list_ceilings(struct store *store, struct store_ceiling **ret_ceilings, size_t *ret_n);
void store_ceilings_free(struct store_ceiling *ceilings, size_t n);

struct store_clock_map; /* maps the clock of a stream's host to the run's */

/* A stored row, valid during the call only. */
struct store_row_read {
    int64_t host, instance;
    const char *instance_name;
    int64_t t_ns;          /* end of the interval: time of the frame since the command started */
    int64_t interval_ns;   /* the time of growth; VALUE_ABSENT at an instance's first row */
    const int64_t *values; /* one for each requested column, VALUE_ABSENT where unknown */
    const struct store_clock_map *clock;
};

/* A time of the host's monotonic clock, as programs and probes write it into columns, in ns since
 * the command started. VALUE_ABSENT if it is no time. */
int64_t store_row_time(const struct store_row_read *row, int64_t mono_ns);

/* Calls each() for all rows of a table of a run, ordered by host, instance, time. The intervals of
 * an instance tile the time from its first row to its last. One row may cover up to a second while
 * nothing grew, and more after lost frames, so spread growth over the interval and do not treat
 * rows as samples. A column that the database lacks reads as VALUE_ABSENT. -ENOENT if the run has
 * no such table. A negative return of each() ends the reading and is passed on. */
int store_each_row(struct store *store, int64_t run, const char *table, const char *const *columns,
                   size_t n_columns, int (*each)(void *ctx, const struct store_row_read *row),
                   void *ctx);

/* As store_each_row, with successive rows joined to about STORE_JOINED_NS: growth is added up, and
 * the last level kept. It takes a fraction of the time. Rows of older versions come unjoined.
 * -EBADMSG: the joined rows cannot be decoded. */
#define STORE_JOINED_NS INT64_C(1000000000)
int store_each_row_joined(struct store *store, int64_t run, const char *table,
                          const char *const *columns, size_t n_columns,
                          int (*each)(void *ctx, const struct store_row_read *row), void *ctx);

#endif
