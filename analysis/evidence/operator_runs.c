/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/operator_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/computed.h"
#include "analysis/facts/series/stats.h"
#include "analysis/facts/series/times.h"
#include "analysis/number.h"

#define TIMED_ABOUT 200000 /* runs whose time for a byte is kept; of more, a random sample */

/* Maps each process to the index of its rank in the log. */
static int number_ranks(const struct mpi_log *log, struct key_table *ret_processes) {
    struct key_table processes = {0};
    for (size_t r = 0; r < log->n; r++)
        if (key_add(&processes, key_of_process(log->ranks[r].host, log->ranks[r].pid)) != r) {
            key_table_release(&processes);
            return -ENOMEM; /* two ranks are never one process */
        }
    *ret_processes = processes;
    return 0;
}

/* Rows of small calls of a rank; end_ns is the latest end so far. */
struct rows {
    struct window *items;
    size_t n;
};

/* Conditions for a run of an operator to count. */
struct sieve {
    const struct mpi_log *log;
    struct windows group;
    struct key_table processes; /* processes of the log's ranks */
    struct rows *rows;          /* by rank */
};

static void sieve_release(struct sieve *s) {
    for (size_t r = 0; s->rows && r < s->log->n; r++)
        free(s->rows[r].items);
    free(s->rows);
    key_table_release(&s->processes);
}

static int find_rows(const struct mpi_rank *rank, struct rows *ret_rows) {
    int64_t until = INT64_MIN;
    size_t n = 0;
    for (size_t i = 0; i < rank->n; i++)
        n += (rank->events[i].flags & MPI_FLAG_FOLDED) != 0;
    struct window *rows = malloc((n + 1) * sizeof *rows);
    if (!rows)
        return -ENOMEM;
    n = 0;
    for (size_t i = 0; i < rank->n; i++)
        if (rank->events[i].flags & MPI_FLAG_FOLDED) {
            until = rank->events[i].exit_ns > until ? rank->events[i].exit_ns : until;
            rows[n++] = (struct window){rank->events[i].enter_ns, until};
        }
    *ret_rows = (struct rows){rows, n};
    return 0;
}

static int sieve_init(const struct run_model *model, size_t group, struct sieve *s) {
    const struct mpi_log *log = &model->recording->calls;
    *s = (struct sieve){.log = log, .group = phase_windows(&model->groups[group])};
    s->rows = calloc(log->n + 1, sizeof *s->rows);
    int result = s->rows ? number_ranks(log, &s->processes) : -ENOMEM;
    for (size_t r = 0; result == 0 && r < log->n; r++)
        result = find_rows(&log->ranks[r], &s->rows[r]);
    if (result < 0)
        sieve_release(s);
    return result;
}

/* The number of windows that begin before t. */
static size_t begun_before(struct windows windows, int64_t t_ns) {
    return TIMES_BEFORE(windows.items, windows.n, begin_ns, t_ns);
}

/* Whether an MPI call began in it, or may have: one of a row that had begun before. */
static bool has_call(const struct mpi_rank *rank, struct rows rows, struct window window) {
    size_t low = TIMES_BEFORE(rank->events, rank->n, enter_ns, window.begin_ns);
    size_t row = begun_before((struct windows){rows.items, rows.n}, window.begin_ns);
    return (low < rank->n && rank->events[low].enter_ns < window.end_ns) ||
           (row && rows.items[row - 1].end_ns > window.begin_ns);
}

static bool is_within(struct windows windows, struct window window) {
    size_t n = begun_before(windows, window.begin_ns + 1);
    return n && window.end_ns <= windows.items[n - 1].end_ns;
}

static bool is_timed(const struct sieve *s, const struct mark *mark) {
    struct window window;
    if (mark->output_bytes <= 0 || !operator_window(mark, &window) || !is_within(s->group, window))
        return false;
    uint32_t rank = key_find(&s->processes, key_of_process(mark->host, mark->pid));
    return rank != KEY_NONE && !has_call(&s->log->ranks[rank], s->rows[rank], window);
}

static struct key operator_key(const struct mark *mark) {
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (const char *c = mark->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    return (struct key){{(uint32_t)hash, (uint32_t)(hash >> 32), (uint32_t)mark->host}};
}

static int compare_runs(const void *a, const void *b) {
    const struct timed *x = a, *y = b;
    return memcmp(&x->operator, & y->operator, sizeof x->operator);
}

void timed_runs_release(struct timed_runs *runs) {
    free(runs->items);
    free(runs->given);
    key_table_release(&runs->operators);
}

/* False without memory. */
static bool add_run(struct timed_runs *runs, const struct mark *mark, bool drawn) {
    struct key operator= operator_key(mark);
    size_t n = runs->operators.n;
    uint32_t number = key_add(&runs->operators, operator);
    if (number == KEY_NONE)
        return false;
    if (number == n)
        runs->given[number] = (struct given){0};
    runs->given[number].ns += (double)mark->duration_ns;
    runs->given[number].bytes += (double)mark->output_bytes;
    if (drawn)
        runs->items[runs->n++] =
            (struct timed){operator,(double) mark->duration_ns / (double)mark->output_bytes};
    return true;
}

static bool add_runs(const struct recording *recording, const struct sieve *sieve,
                     struct timed_runs *runs) {
    uint64_t random = 1;
    bool room = true;
    for (size_t m = 0; room && m < recording->n_marks; m++) {
        bool drawn = recording->n_marks <= TIMED_ABOUT ||
                     stats_random_below(&random, recording->n_marks) < TIMED_ABOUT;
        if (is_timed(sieve, &recording->marks[m]))
            room = add_run(runs, &recording->marks[m], drawn);
    }
    return room;
}

int timed_runs_make(const struct run_model *model, size_t group, struct timed_runs *ret_runs) {
    const struct recording *recording = model->recording;
    struct timed_runs runs = {
        .items = malloc((recording->n_marks + 1) * sizeof *runs.items),
        .given = malloc((recording->n_marks + 1) * sizeof *runs.given),
    };
    struct sieve sieve;
    bool all = runs.items && runs.given && sieve_init(model, group, &sieve) == 0;
    if (all) {
        all = add_runs(recording, &sieve, &runs);
        sieve_release(&sieve);
    }
    if (!all) {
        timed_runs_release(&runs);
        return -ENOMEM;
    }
    qsort(runs.items, runs.n, sizeof *runs.items, compare_runs);
    *ret_runs = runs;
    return 0;
}
