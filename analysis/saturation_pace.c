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
#define TIMED_ABOUT 200000 /* runs whose pace is looked at, of more: drawn */

struct timed {           /* one run of an operator */
    struct key operator; /* its name's hash, then the host */
    double pace;         /* ns a byte */
};

struct given { /* by all runs of an operator on a host */
    double ns, bytes;
};

struct timed_runs {
    struct timed *items; /* drawn ones, by operator and host */
    size_t n;
    struct key_table operators;
    struct given *given; /* by the number of the operator on its host */
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

/* Small calls of a rank told in a row; each ends where the latest so far does. */
struct rows {
    struct window *items;
    size_t n;
};

/* What says whether a run of an operator counts. */
struct sieve {
    const struct mpi_log *log;
    struct windows group;
    struct key_table processes; /* the log's ranks */
    struct rows *rows;          /* of each */
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

static int sieve_init(const struct scene *scene, size_t group, struct sieve *s) {
    const struct mpi_log *log = &scene->recording->calls;
    *s = (struct sieve){.log = log, .group = phase_windows(&scene->groups[group])};
    s->rows = calloc(log->n + 1, sizeof *s->rows);
    int result = s->rows ? number_ranks(log, &s->processes) : -ENOMEM;
    for (size_t r = 0; result == 0 && r < log->n; r++)
        result = find_rows(&log->ranks[r], &s->rows[r]);
    if (result < 0)
        sieve_release(s);
    return result;
}

/* How many of the windows begin before that. */
static size_t begun_before(struct windows windows, int64_t t_ns) {
    size_t low = 0, high = windows.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (windows.items[middle].begin_ns < t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Some call of MPI began in it, or one of a row that had begun before may have. */
static bool has_call(const struct mpi_rank *rank, struct rows rows, struct window window) {
    size_t low = 0, high = rank->n;
    size_t row = begun_before((struct windows){rows.items, rows.n}, window.begin_ns);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rank->events[middle].enter_ns < window.begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
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
    uint32_t rank = key_find(&s->processes, process_key(mark->host, mark->pid));
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

static void timed_runs_release(struct timed_runs *runs) {
    free(runs->items);
    free(runs->given);
    key_table_release(&runs->operators);
}

/* false: no memory. */
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

/* What is given, of all runs; the paces, of drawn ones, as a median of very many is no better. */
static int collect(const struct scene *scene, size_t group, struct timed_runs *ret_runs) {
    const struct recording *recording = scene->recording;
    struct timed_runs runs = {
        .items = malloc((recording->n_marks + 1) * sizeof *runs.items),
        .given = malloc((recording->n_marks + 1) * sizeof *runs.given),
    };
    struct sieve sieve;
    bool all = runs.items && runs.given && sieve_init(scene, group, &sieve) == 0;
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

/* ---- one operator ---- */

/* Of one host; NAN where it ran too seldom, or for too short a time. */
struct measured {
    double pace;  /* median time of a byte */
    double bytes; /* an iteration; NAN: too, where not all ranks tell of theirs */
    double ns;    /* in all */
};

static const struct measured nothing_measured = {NAN, NAN, NAN};

static bool is_same(const struct timed *a, const struct timed *b, bool same_host) {
    return a->operator.word[0] == b->operator.word[0] && a->operator.word[1] == b->
    operator.word[1] &&(!same_host || a->operator.word[2] == b->operator.word[2]);
}

static size_t run_length(const struct timed_runs *runs, size_t from, bool same_host) {
    size_t n = 1;
    while (from + n < runs->n && is_same(&runs->items[from + n], &runs->items[from], same_host))
        n++;
    return n;
}

static struct measured measure(const struct timed_runs *runs, size_t from, size_t n,
                               double least_ns, double iterations, double *room) {
    uint32_t number = key_find(&runs->operators, runs->items[from].operator);
    struct given given = number != KEY_NONE ? runs->given[number] : (struct given){0};
    for (size_t i = 0; i < n; i++)
        room[i] = runs->items[from + i].pace;
    if (n < RUNS_MIN || given.ns < least_ns)
        return nothing_measured;
    return (struct measured){stats_median(room, n), given.bytes / iterations, given.ns};
}

/* ---- all of them ---- */

struct comparison {
    size_t n_hosts;
    bool *had_cores;           /* by host */
    double *iterations;        /* of its ranks, in the group; NAN */
    struct measured *measured; /* of the operator at hand */
    double *room;
    double *more_ns; /* that operators took for what they gave beyond those elsewhere */
    size_t *n;       /* operators compared */
    struct operator_work *works;
};

static double median_but(const struct comparison *c, size_t host, bool pace) {
    size_t n = 0;
    for (size_t h = 0; h < c->n_hosts; h++) {
        double value = pace ? c->measured[h].pace : c->measured[h].bytes;
        if (h != host && !isnan(value))
            c->room[n++] = value;
    }
    return stats_median(c->room, n);
}

static void compare_hosts(struct comparison *c) {
    for (size_t h = 0; h < c->n_hosts; h++) {
        double pace = c->measured[h].pace / median_but(c, h, true);
        double amount = c->measured[h].bytes / median_but(c, h, false);
        if (isfinite(pace)) {
            c->works[h].pace = fmin(c->works[h].pace, pace);
            c->n[h]++;
        }
        if (isfinite(amount)) {
            c->works[h].amount = fmax(c->works[h].amount, amount);
            c->more_ns[h] += c->measured[h].ns * (1 - 1 / amount);
        }
    }
}

static void compare_all(const struct timed_runs *runs, double least_ns, struct comparison *c) {
    for (size_t h = 0; h < c->n_hosts; h++)
        c->works[h] = (struct operator_work){NAN, NAN, NAN};
    for (size_t i = 0; i < runs->n;) {
        size_t end = i + run_length(runs, i, false);
        for (size_t h = 0; h < c->n_hosts; h++)
            c->measured[h] = nothing_measured;
        for (size_t n; i < end; i += n) {
            size_t host = runs->items[i].operator.word[2];
            n = run_length(runs, i, true);
            if (c->had_cores[host])
                c->measured[host] = measure(runs, i, n, least_ns, c->iterations[host], c->room);
        }
        compare_hosts(c);
    }
}

/* Operators within operators give nothing twice: of the time, no more than the largest does. */
static void weigh(const struct scene *scene, size_t group, struct comparison *c) {
    for (size_t h = 0; h < c->n_hosts; h++) {
        struct operator_work *work = &c->works[h];
        double cpu_ns = 0;
        for (size_t r = 0; r < scene->budgets.n; r++)
            if (scene->budgets.items[r].host == (int)h)
                cpu_ns += 1e9 * or_zero(scene->budgets.items[r].groups[group].term_s[BUDGET_CPU]);
        if (c->n[h] < OPERATORS_MIN)
            *work = (struct operator_work){NAN, NAN, NAN};
        else if (!isnan(work->amount) && cpu_ns > 0)
            work->more = fmin(c->more_ns[h] / cpu_ns, 1 - 1 / work->amount);
    }
}

static double done_by(const struct scene *scene, size_t group, size_t log_rank) {
    const struct rank_iterations *its = free_running_iterations(scene, log_rank);
    return its ? free_running_done(its, phase_windows(&scene->groups[group])) : 0;
}

/* Iterations of a host's ranks that lie in the group; NAN where one tells of none, as it may have
 * done as many. Of a program that marks none at all: how many ranks there are. */
static void count_iterations(const struct scene *scene, size_t group, double *iterations) {
    const struct mpi_log *log = &scene->recording->calls;
    bool any = false;
    for (size_t r = 0; r < log->n && !any; r++)
        any = done_by(scene, group, r) > 0;
    for (size_t r = 0; r < log->n; r++) {
        double done = any ? done_by(scene, group, r) : 1;
        iterations[log->ranks[r].host] += done > 0 ? done : NAN;
    }
}

static bool comparison_init(const struct scene *scene, size_t group, size_t n_runs,
                            struct comparison *c) {
    size_t n = scene->n_hosts;
    *c = (struct comparison){.n_hosts = n,
                             .had_cores = calloc(n + 1, sizeof *c->had_cores),
                             .iterations = calloc(n + 1, sizeof *c->iterations),
                             .measured = calloc(n + 1, sizeof *c->measured),
                             .room = calloc(n + n_runs + 1, sizeof *c->room),
                             .more_ns = calloc(n + 1, sizeof *c->more_ns),
                             .n = calloc(n + 1, sizeof *c->n),
                             .works = calloc(n + 1, sizeof *c->works)};
    bool room =
        c->had_cores && c->iterations && c->measured && c->room && c->more_ns && c->n && c->works;
    for (size_t h = 0; room && h < n; h++)
        c->had_cores[h] = host_had_its_cores(scene, group, (int)h);
    if (room)
        count_iterations(scene, group, c->iterations);
    return room;
}

struct operator_work *operator_works_of(const struct scene *scene, size_t group) {
    double least_ns = TIME_MIN * (double)windows_length(phase_windows(&scene->groups[group]));
    struct timed_runs runs;
    struct comparison c;
    if (collect(scene, group, &runs) < 0)
        return NULL;
    bool room = comparison_init(scene, group, runs.n, &c);
    if (room) {
        compare_all(&runs, least_ns, &c);
        weigh(scene, group, &c);
    }
    timed_runs_release(&runs);
    free(c.had_cores);
    free(c.iterations);
    free(c.measured);
    free(c.room);
    free(c.more_ns);
    free(c.n);
    if (!room) {
        free(c.works);
        c.works = NULL;
    }
    return c.works;
}
