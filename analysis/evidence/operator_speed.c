/* SPDX-License-Identifier: MIT */
/*
 * Tells a slower core by operators that the program marks with the size of their output. If all
 * operators of a host take longer than elsewhere for as much output, its ranks do not have more
 * work. But if an output has a fixed size (a gradient), more work also makes each byte take longer.
 * So the operator with the smallest ratio counts, out of at least two.
 *
 * Operators of a rank that had to wait for its core do not count.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/computed.h"
#include "analysis/evidence/cores.h"
#include "analysis/evidence/operator_runs.h"
#include "analysis/facts/series/stats.h"
#include "analysis/number.h"
#include "analysis/time/free_running.h"

#define RUNS_MIN 10     /* of an operator on a host */
#define OPERATORS_MIN 2 /* that both hosts run */
#define TIME_MIN 0.005  /* of the group, in an operator on a host */

/* ---- which count ---- */

/* Whether it always had its core: otherwise an operator may have taken longer for want of it. */
static bool had_its_core(const struct run_model *model, const struct budget *b) {
    double away = stats_or_zero(b->term_s[BUDGET_RUN_QUEUE]) +
                  stats_or_zero(b->term_s[BUDGET_QUOTA]) + stats_or_zero(b->term_s[BUDGET_STEAL]);
    return b->source == BUDGET_FROM_EVENTS && b->term_s[BUDGET_CPU] > 0 &&
           away < number_of(model, CONTENTION_MIN) * b->term_s[BUDGET_CPU];
}

/* Whether all ranks of the host had. */
static bool host_had_its_cores(const struct run_model *model, size_t group, int host) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].host == host &&
            !had_its_core(model, &model->budgets.items[r].groups[group]))
            return false;
    return !model_shares_cores(model, host);
}

/* ---- one operator ---- */

/* Values of one host; NAN if the operator ran too seldom or too short. */
struct measured {
    double byte_ns; /* median time for a byte of output */
    double bytes;   /* output in an iteration; NAN also if not all ranks mark iterations */
    double ns;      /* total time */
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
        room[i] = runs->items[from + i].byte_ns;
    if (n < RUNS_MIN || given.ns < least_ns)
        return nothing_measured;
    return (struct measured){stats_median(room, n), given.bytes / iterations, given.ns};
}

/* ---- all of them ---- */

struct comparison {
    size_t n_hosts;
    bool *had_cores;           /* by host: its ranks had their cores */
    double *iterations;        /* of its ranks, in the group; NAN */
    struct measured *measured; /* of the present operator */
    double *room;
    double *more_ns; /* by host: time of operators for output beyond other hosts' */
    size_t *n;       /* number of operators compared */
    struct operator_work *works;
};

static double median_but(const struct comparison *c, size_t host, bool byte_time) {
    size_t n = 0;
    for (size_t h = 0; h < c->n_hosts; h++) {
        double value = byte_time ? c->measured[h].byte_ns : c->measured[h].bytes;
        if (h != host && !isnan(value))
            c->room[n++] = value;
    }
    return stats_median(c->room, n);
}

static void compare_hosts(struct comparison *c) {
    for (size_t h = 0; h < c->n_hosts; h++) {
        double byte_time = c->measured[h].byte_ns / median_but(c, h, true);
        double amount = c->measured[h].bytes / median_but(c, h, false);
        if (isfinite(byte_time)) {
            c->works[h].byte_time = fmin(c->works[h].byte_time, byte_time);
            c->n[h]++;
        }
        if (isfinite(amount)) {
            c->works[h].amount = fmax(c->works[h].amount, amount);
            c->more_ns[h] += c->measured[h].ns * (1 - 1 / amount);
        }
    }
}

static void compare_operators(const struct timed_runs *runs, double least_ns,
                              struct comparison *c) {
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

/* Nested operators must not count twice: at most the time of the largest one. */
static void weigh(const struct run_model *model, size_t group, struct comparison *c) {
    for (size_t h = 0; h < c->n_hosts; h++) {
        struct operator_work *work = &c->works[h];
        double cpu_ns = 0;
        for (size_t r = 0; r < model->budgets.n; r++)
            if (model->budgets.items[r].host == (int)h)
                cpu_ns +=
                    1e9 * stats_or_zero(model->budgets.items[r].groups[group].term_s[BUDGET_CPU]);
        if (c->n[h] < OPERATORS_MIN)
            *work = (struct operator_work){NAN, NAN, NAN};
        else if (!isnan(work->amount) && cpu_ns > 0)
            work->more = fmin(c->more_ns[h] / cpu_ns, 1 - 1 / work->amount);
    }
}

static double done_by(const struct run_model *model, size_t group, size_t log_rank) {
    const struct rank_iterations *its = free_running_iterations(model, log_rank);
    return its ? free_running_done(its, phase_windows(&model->groups[group])) : 0;
}

/* Counts the iterations of each host's ranks in the group. NAN if a rank marks none, since it may
 * have done as many; the number of ranks if no rank marks any.
 */
static void count_iterations(const struct run_model *model, size_t group, double *iterations) {
    const struct mpi_log *log = &model->recording->calls;
    bool any = false;
    for (size_t r = 0; r < log->n && !any; r++)
        any = done_by(model, group, r) > 0;
    for (size_t r = 0; r < log->n; r++) {
        double done = any ? done_by(model, group, r) : 1;
        iterations[log->ranks[r].host] += done > 0 ? done : NAN;
    }
}

static bool comparison_init(const struct run_model *model, size_t group, size_t n_runs,
                            struct comparison *c) {
    size_t n = model->n_hosts;
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
        c->had_cores[h] = host_had_its_cores(model, group, (int)h);
    if (room)
        count_iterations(model, group, c->iterations);
    return room;
}

struct operator_work *operator_works_of(const struct run_model *model, size_t group) {
    double least_ns = TIME_MIN * (double)windows_length(phase_windows(&model->groups[group]));
    struct timed_runs runs;
    struct comparison c;
    if (timed_runs_make(model, group, &runs) < 0)
        return NULL;
    bool room = comparison_init(model, group, runs.n, &c);
    if (room) {
        compare_operators(&runs, least_ns, &c);
        weigh(model, group, &c);
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
