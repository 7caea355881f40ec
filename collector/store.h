/* SPDX-License-Identifier: MIT */
/*
 * The store: one SQLite file (WAL while written, one transaction at a time). Only the store*.c
 * files know SQLite; analysis reads through store_read.h.
 *
 * Counters arrive as absolute values and are stored as their growth since the instance's previous
 * row, with the interval of this growth. This is the one place that handles a reset. A sum over any
 * window is then a plain sum(), a rate needs no self-join, and the file stays small. The last
 * absolute values are committed with the rows, so that a restarted collector continues without a
 * gap.
 *
 *   - run, host, stream, frame, instance, clock, clock_piece, ceiling, table_info, column_info: the
 *     tables that all others refer to
 *   - run_repeat: the runs that are repeats of one command, with the number of each
 *   - run_usage: what the kernel charged to the command and all processes it waited for
 *   - sweep, sweep_value, sweep_run, run_label: sweeps, their parameters, their runs, and the
 *     values of each run
 *   - budget: where the time of each rank went, by phase and iteration; written when a run has
 *     ended
 *   - run_verdict: what was said to limit each run when it had ended (store_verdict.h)
 *   - run_use: the cores, memory and GPUs that each run had, and what it used of them
 *   - run_note, refused, counter_reset: notes for a reader of the run
 *   - run_comment: comments of the run's owner (store_edit.h)
 *   - counter_state: last absolute values, for the store alone
 *   - run_host: a view with one row for each host of a run: samples, missed, lost, duplicates,
 *     clock error
 *   - NAME: one table for each table of the wire (frame, instance, interval_ns, columns...); for
 *     events (frame, instance, n, columns...)
 *   - block: rows of events that came in numbers, as packed columns (store_block.h) instead of rows
 *     of NAME
 *   - NAME_rate: a view of NAME: run, host and instance by name, time_s since the command's start,
 *     interval_s, counters of ns as percent (user_pct), other counters a second (send_bytes_per_s),
 *     levels unchanged
 *
 * Counters are stored as follows:
 *   - An instance's first row has no interval and no growth (NULL), unless it is ROW_BORN: then the
 *     whole counter grew since the table's previous sample on that host. Before the table's first
 *     sample, it grew since the stream's previous frame.
 *   - Single events come in a stream of their own, whose period is 0. Its frames belong to the
 *     samples of its host and share the clock, but do not count as samples.
 *   - A counter that steps back restarted at zero: its new value is the growth, and counter_reset
 *     gets a row.
 *   - A counter that is absent once is unknown for that row and the next; levels are stored as
 *     sent.
 *   - The intervals of an instance tile the time from its first row to its last. While nothing
 *     grew, a row of a table without levels may cover up to a second. So the mean over rows is
 *     sum(growth) / sum(interval), not avg() of rates.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_H
#define CHOKEPOINT_COLLECTOR_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/clock.h"
#include "common/wire.h"

struct store;

#define STORE_APPLICATION_ID 0x43484b50 /* "CHKP" */
#define STORE_VERSION 1

/* Positive results of store_open_*: */
#define STORE_FOREIGN 1       /* a file, but not a Chokepoint database */
#define STORE_OTHER_VERSION 2 /* of another schema version: see store_why */

/* Creates the file if it is missing. -errno; STORE_FOREIGN, STORE_OTHER_VERSION. Unless it returns
 * 0, `why` (may be NULL) gets one line for the user. */
int store_open_write(const char *path, struct store **ret_store, char *why, size_t why_size);

/* Identity of a file, whatever its name. */
struct store_file {
    uint64_t device, inode;
};
struct store_file store_file_of(const struct store *store); /* for a writer */

/* As store_open_write, but opens this very file and never creates one. -ESTALE: the file is gone,
 * or the path names another. */
int store_open_again(const char *path, const struct store_file *file, struct store **ret_store,
                     char *why, size_t why_size);

/* For a writer: -ESTALE if its file was removed, moved or replaced; store_error then says which.
 * store_begin and store_commit check this, too. */
int store_check_file(struct store *store);

/* -ENOENT: there is no file; -ENODATA: its writer was killed before it made a table. Never changes
 * the tables. */
int store_open_read(const char *path, struct store **ret_store, char *why, size_t why_size);
void store_close(struct store *store); /* takes NULL */

/* The last failure, for a log line; STORE_NO_REASON. Borrowed, until the next call. */
#define STORE_NO_REASON "no reason is known"
const char *store_error(const struct store *store);

/* After -EBADMSG: the first page that fails its checksum; 0: another reason. */
int64_t store_damaged_page(const struct store *store);
#define STORE_DAMAGED_PAGE                                                                         \
    "%s is damaged: page %lld is not as it was written; `chokepoint verify` tells all"

enum run_state {
    RUN_RUNNING,
    RUN_DONE,
    RUN_FAILED,
    RUN_KILLED,
    RUN_INTERRUPTED,
    RUN_NOT_STARTED /* its command never ran; the last note says why */
};

static inline bool run_state_is_failure(enum run_state state) {
    return state == RUN_FAILED || state == RUN_KILLED || state == RUN_NOT_STARTED;
}

/* A named value that a run was given: a parameter of a sweep. */
struct run_label {
    const char *name, *value;
};

struct run_begin {
    const char *name;         /* may be NULL: the program's name is used */
    const char *command;      /* the command line */
    int64_t wall_ns, mono_ns; /* start, on the collector's clocks */
    int64_t period_ns;
    int n_hosts_expected;
    /* A repeat of a command (`run --repeat`): its number, the planned number of repeats, and the id
     * of the first of these runs (0: this is the first). repeats 0: not a repeat. */
    int repeat, repeats;
    int64_t group;
    /* A run of a sweep (store_sweep.h): the id of the sweep, 0 for none, and the values of this
     * run. */
    int64_t sweep;
    const struct run_label *labels;
    size_t n_labels;
};

/* Resources used by a command and all processes it waited for, from wait4; VALUE_ABSENT: not
 * known. */
struct run_usage {
    int64_t user_ns, system_ns, read_bytes, write_bytes;
    int64_t peak_rss_bytes; /* of the largest process */
};

/* Stores the resources that the command of the run used; host: where the command was started. Once
 * a run. */
int store_run_usage(struct store *store, int64_t run, const char *host,
                    const struct run_usage *usage);

/* Both commit at once. */
int store_run_begin(struct store *store, const struct run_begin *begin, int64_t *ret_run);
/* exit_status as the shell gives it: 128 + signal when killed. wall_ns, mono_ns: when the command
 * ended. */
int store_run_end(struct store *store, int64_t run, enum run_state state, int exit_status,
                  int64_t wall_ns, int64_t mono_ns);
/* Sets the start of the run to the start of its command, when the agents are ready. */
int store_run_command_started(struct store *store, int64_t run, int64_t wall_ns, int64_t mono_ns);

/* Whether a process of a rank was seen; -ENOENT if processes were not recorded. */
int store_run_has_ranks(struct store *store, int64_t run, bool *ret_has);

/* Whether a process of the job was seen; -ENOENT if no process was. */
int store_run_has_job(struct store *store, int64_t run, bool *ret_has);

/* How many scans of processes have been stored of the host with the fewest. -ENOENT: of none. */
int store_run_scans(struct store *store, int64_t run, int64_t *ret_n);

/* A note on the quality of a run ("vm3 did not answer: ..."), shown in the report. */
int store_run_note(struct store *store, int64_t run, const char *text);
/* Counts refused pushes or rows; kind is a short name: unauthorized, bad_frame, too_large. */
int store_run_refused(struct store *store, int64_t run, const char *kind, int64_t n);

/* ---- ceilings: limits of hosts and links, measured by `calibrate` ---- */

/* The caller owns the texts on writing, the ceiling owns them on reading (store_list_ceilings). */
struct store_ceiling {
    char *host, *peer;   /* the other end; NULL: of the host alone, or towards all hosts */
    char *metric, *unit; /* "net_egress", "MB/s" */
    double value, low, high;
    int64_t measured_wall_ns;
    char *how;
};

/* Adds all or none; older ceilings of a host stay. Makes the table in files of older versions. */
int store_ceilings_add(struct store *store, const struct store_ceiling *ceilings, size_t n);

/* ---- budgets: where the time of each rank went, for questions in SQL ---- */

/* Terms in the order of analysis/time/budget.h. */
#define STORE_BUDGET_TERMS 15

/* The caller owns all texts. Times on the run's axis (store_read.h); -1: not known. */
struct store_budget {
    const char *host, *process, *phase, *source;
    int64_t rank, pid;        /* -1: none */
    int64_t iteration;        /* VALUE_ABSENT: this row is the sum of the phase */
    int64_t every;            /* this iteration stands for so many; the others have no row */
    int64_t begin_ns, end_ns; /* first and last moment; longer than wall_ns if a phase recurs */
    int64_t wall_ns, term_ns[STORE_BUDGET_TERMS], unknown_ns, other_threads_cpu_ns;
    double closure_pct; /* NAN: not known */
    bool trusted;
    const char *awaited_host; /* NULL: nobody, or not known */
    int64_t awaited_rank, awaited_ns;
    double path_pct, receiver_pct, send_buffer_pct; /* NAN: not known */
};

/* Replaces the run's rows, all or none. -ENOENT: there is no such run. */
int store_budget_replace(struct store *store, int64_t run, const struct store_budget *rows,
                         size_t n);

/* ---- writing frames: one transaction around any number of them ---- */

int store_begin(struct store *store);
int store_commit(struct store *store); /* on 0 all of it is on the disk, and outlives a power cut */
/* Also forgets all state in memory: ids of store_table must be asked for again; those of
 * store_stream stay good unless this transaction made the stream. Call it after a failed write or
 * commit. */
void store_rollback(struct store *store);

/* Most streams of one host in one run. An agent makes two streams, and further ones only if it
 * finds no spool to continue. It restarts every 10 s at most: even if its spool is removed each
 * time, 5 hours pass before the limit. */
#define STORE_STREAMS_MAX 4096

/* The host and the stream that a wire stream names, created if needed. -EUSERS: one stream too
 * many. */
int store_stream(struct store *store, int64_t run, const struct wire_stream *stream,
                 int64_t *ret_host, int64_t *ret_stream);
/* The highest seq of the stream that is committed or in this transaction; 0 if none. */
uint64_t store_stream_last_seq(struct store *store, int64_t stream);

/* Registers a table described by a stream (creates table and view, adds new columns). -EEXIST if a
 * column or table of that name has another meaning, -E2BIG beyond 256 tables or 128 columns:
 * store_error says why, and nothing was changed. *ret_id: for store_row. Cheap when known. */
int store_table(struct store *store, const struct table *table, int64_t *ret_id);

/* Ids from store_table are good while this number stays the same: a rollback invalidates them. */
int64_t store_table_age(const struct store *store);

/* Begins a frame. -EALREADY if seq is not above the last one (a replay, which is counted as a
 * duplicate; skip it); -EINVAL for a time before zero. */
int store_frame(struct store *store, int64_t stream, const struct frame_head *head);
/* Rows that are held back, since nothing changed in them, are written with this commit: of one
 * stream, whose last frames these are; of all, since the writer ends. */
int store_settle(struct store *store, int64_t stream);
void store_settle_all(struct store *store);
/* Marks that the table was sampled for the current frame, whether it has rows or not: an instance
 * that appears at the next sample was born since this one. -EINVAL as store_row(). */
int store_sampled(struct store *store, int64_t table_id);
/* Adds a row to the current frame. -EINVAL without a frame, or if table_id is invalid. A second row
 * of an instance in one frame, and instances above the limit, are left out and counted in the notes
 * of the run. */
int store_row(struct store *store, int64_t table_id, const struct table *table,
              const struct wire_row *row);

/* Adds all rows of a section of a packed frame of events to the current frame, as store_row would
 * one by one; they become blocks of columns. -EINVAL also for other tables. */
int store_section(struct store *store, int64_t table_id, struct wire_section *section);

/* Stores an exchange with the host of a stream. All exchanges of the last minutes together then
 * determine the clock of the stream. STORE_CLOCK_JUMPED: this one contradicts the earlier ones.
 * -EINVAL if it is not valid. */
#define STORE_CLOCK_JUMPED 1
int store_clock(struct store *store, int64_t stream, const struct clock_estimate *estimate);

#endif
