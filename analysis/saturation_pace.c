/* SPDX-License-Identifier: MIT */
/*
 * A slower core, told by the program itself: operators that it marks with the size of what they
 * give. Where all of a host's take longer for as much output than elsewhere, it is no more work
 * that its ranks have. Of one with a result of a set size (a gradient) more work makes each byte
 * take longer as well, so that the one that is least behind counts; it takes two at least.
 *
 * An operator that calls MPI waits for others in it and tells nothing, and so does every one of a
 * rank that had to wait for its core.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/free_running.h"
#include "analysis/key_table.h"
#include "analysis/saturation_private.h"
#include "analysis/stats.h"

#define RUNS_MIN 10        /* of an operator, on a host */
#define OPERATORS_MIN 2    /* that both ends run */
#define TIME_MIN 0.005     /* of the group, in an operator on a host: shorter is none to judge by */
#define TIMED_ABOUT 200000 /* runs looked at, of more: drawn */

struct timed { /* one run of an operator */
    const char *name;
    int host;
    double ns, bytes;
};

struct timed_runs {
    struct timed *items;
    size_t n;
};

/* ---- which count ---- */

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

/* It had its core whenever it wanted it: else an operator took as long as that was away. */
static bool had_its_core(const struct budget *b) {
    double away = or_zero(b->term_s[BUDGET_RUN_QUEUE]) + or_zero(b->term_s[BUDGET_QUOTA]) +
                  or_zero(b->term_s[BUDGET_STEAL]);
    return b->source == BUDGET_FROM_EVENTS && b->term_s[BUDGET_CPU] > 0 &&
           away < CONTENTION_MIN * b->term_s[BUDGET_CPU];
}

/* All ranks of the host did. */
static bool host_had_its_cores(const struct scene *scene, size_t group, int host) {
    for (size_t r = 0; r < scene->budgets.n; r++)
        if (scene->budgets.items[r].host == host &&
            !had_its_core(&scene->budgets.items[r].groups[group]))
            return false;
    return !scene_shares_cores(scene, host);
}

static struct key process_key(int host, int64_t pid) {
    return (struct key){{(uint32_t)host, (uint32_t)pid, (uint32_t)((uint64_t)pid >> 32)}};
}

/* Processes by the numbers of their ranks in the log. */
static int number_ranks(const struct mpi_log *log, struct key_table *ret_processes) {
    struct key_table processes = {0};
    for (size_t r = 0; r < log->n; r++)
        if (key_add(&processes, process_key(log->ranks[r].host, log->ranks[r].pid)) != r) {
            key_table_release(&processes);
            return -ENOMEM; /* two ranks are never one process */
        }
    *ret_processes = processes;
    return 0;
}

/* Some call of MPI began in it. */
static bool has_call(const struct mpi_rank *rank, struct window window) {
    size_t low = 0, high = rank->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rank->events[middle].enter_ns < window.begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rank->n && rank->events[low].enter_ns < window.end_ns;
}

static bool is_within(struct windows windows, struct window window) {
    for (size_t w = 0; w < windows.n; w++)
        if (window.begin_ns >= windows.items[w].begin_ns &&
            window.end_ns <= windows.items[w].end_ns)
            return true;
    return false;
}

static int compare_runs(const void *a, const void *b) {
    const struct timed *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    return names ? names : (x->host > y->host) - (x->host < y->host);
}

static bool is_timed(const struct recording *recording, const struct key_table *processes,
                     const struct mark *mark, struct windows group) {
    struct window window;
    if (mark->output_bytes <= 0 || !operator_window(mark, &window) || !is_within(group, window))
        return false;
    uint32_t rank = key_find(processes, process_key(mark->host, mark->pid));
    return rank != KEY_NONE && !has_call(&recording->calls.ranks[rank], window);
}

static int collect(const struct scene *scene, size_t group, struct timed_runs *ret_runs) {
    const struct recording *recording = scene->recording;
    struct windows windows = phase_windows(&scene->groups[group]);
    struct key_table processes;
    struct timed *items = malloc((recording->n_marks + 1) * sizeof *items);
    uint64_t random = 1;
    size_t n = 0;
    if (!items || number_ranks(&recording->calls, &processes) < 0) {
        free(items);
        return -ENOMEM;
    }
    for (size_t m = 0; m < recording->n_marks; m++) {
        const struct mark *mark = &recording->marks[m];
        bool drawn = recording->n_marks <= TIMED_ABOUT ||
                     stats_random_below(&random, recording->n_marks) < TIMED_ABOUT;
        if (drawn && is_timed(recording, &processes, mark, windows))
            items[n++] = (struct timed){mark->name, mark->host, (double)mark->duration_ns,
                                        (double)mark->output_bytes};
    }
    key_table_release(&processes);
    qsort(items, n, sizeof *items, compare_runs);
    *ret_runs = (struct timed_runs){items, n};
    return 0;
}

/* ---- one operator ---- */

/* Of one host; NAN where it ran too seldom, or for too short a time. */
struct measured {
    double pace;  /* median time of a byte */
    double bytes; /* an iteration */
};

static size_t run_length(const struct timed_runs *runs, size_t from, bool same_host) {
    size_t n = 1;
    while (from + n < runs->n && strcmp(runs->items[from + n].name, runs->items[from].name) == 0 &&
           (!same_host || runs->items[from + n].host == runs->items[from].host))
        n++;
    return n;
}

static struct measured measure(const struct timed *runs, size_t n, double least_ns,
                               double iterations, double *room) {
    double ns = 0, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        room[i] = runs[i].ns / runs[i].bytes;
        ns += runs[i].ns;
        bytes += runs[i].bytes;
    }
    if (n < RUNS_MIN || ns < least_ns || !(iterations > 0))
        return (struct measured){NAN, NAN};
    return (struct measured){stats_median(room, n), bytes / iterations};
}

/* ---- all of them ---- */

struct comparison {
    size_t n_hosts;
    bool *had_cores;           /* by host */
    double *iterations;        /* of its ranks, in the group; at least 1 */
    struct measured *measured; /* of the operator at hand */
    double *room;
    size_t *n; /* operators compared */
    struct operator_work *works;
};

static double median_but(const struct comparison *c, size_t host, bool pace) {
    size_t n = 0;
    for (size_t h = 0; h < c->n_hosts; h++)
        if (h != host && !isnan(c->measured[h].bytes))
            c->room[n++] = pace ? c->measured[h].pace : c->measured[h].bytes;
    return stats_median(c->room, n);
}

static void compare_hosts(struct comparison *c) {
    for (size_t h = 0; h < c->n_hosts; h++) {
        double pace = c->measured[h].pace / median_but(c, h, true);
        double amount = c->measured[h].bytes / median_but(c, h, false);
        if (!isfinite(pace) || !isfinite(amount))
            continue;
        if (c->n[h]++ == 0)
            c->works[h] = (struct operator_work){pace, amount};
        c->works[h].pace = fmin(c->works[h].pace, pace);
        c->works[h].amount = fmax(c->works[h].amount, amount);
    }
}

static void compare_all(const struct timed_runs *runs, double least_ns, struct comparison *c) {
    for (size_t i = 0; i < runs->n;) {
        size_t end = i + run_length(runs, i, false);
        for (size_t h = 0; h < c->n_hosts; h++)
            c->measured[h] = (struct measured){NAN, NAN};
        for (size_t n; i < end; i += n) {
            int host = runs->items[i].host;
            n = run_length(runs, i, true);
            if (c->had_cores[host])
                c->measured[host] =
                    measure(&runs->items[i], n, least_ns, c->iterations[host], c->room);
        }
        compare_hosts(c);
    }
    for (size_t h = 0; h < c->n_hosts; h++)
        if (c->n[h] < OPERATORS_MIN)
            c->works[h] = (struct operator_work){NAN, NAN};
}

/* Iterations of a host's ranks that lie in the group; of what marks none, 1. */
static double iterations_of(const struct scene *scene, size_t group, int host) {
    double n = 0;
    for (size_t i = 0; i < scene->iterations.n; i++)
        if (scene->iterations.ranks[i].host == host)
            n += free_running_done(&scene->iterations.ranks[i],
                                   phase_windows(&scene->groups[group]));
    return n > 0 ? n : 1;
}

static bool comparison_init(const struct scene *scene, size_t group, size_t n_runs,
                            struct comparison *c) {
    size_t n = scene->n_hosts;
    *c = (struct comparison){.n_hosts = n,
                             .had_cores = calloc(n + 1, sizeof *c->had_cores),
                             .iterations = calloc(n + 1, sizeof *c->iterations),
                             .measured = calloc(n + 1, sizeof *c->measured),
                             .room = calloc(n + n_runs + 1, sizeof *c->room),
                             .n = calloc(n + 1, sizeof *c->n),
                             .works = calloc(n + 1, sizeof *c->works)};
    bool room = c->had_cores && c->iterations && c->measured && c->room && c->n && c->works;
    for (size_t h = 0; room && h < n; h++) {
        c->had_cores[h] = host_had_its_cores(scene, group, (int)h);
        c->iterations[h] = iterations_of(scene, group, (int)h);
    }
    return room;
}

struct operator_work *operator_works_of(const struct scene *scene, size_t group) {
    double drawn = fmin(1, TIMED_ABOUT / fmax(1, (double)scene->recording->n_marks));
    double least_ns =
        TIME_MIN * drawn * (double)windows_length(phase_windows(&scene->groups[group]));
    struct timed_runs runs;
    struct comparison c;
    if (collect(scene, group, &runs) < 0)
        return NULL;
    bool room = comparison_init(scene, group, runs.n, &c);
    if (room)
        compare_all(&runs, least_ns, &c);
    free(runs.items);
    free(c.had_cores);
    free(c.iterations);
    free(c.measured);
    free(c.room);
    free(c.n);
    if (!room) {
        free(c.works);
        c.works = NULL;
    }
    return c.works;
}
