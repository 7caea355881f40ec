/* SPDX-License-Identifier: MIT */
#include "analysis/time/rank_budget.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/time/critical_private.h"
#include "analysis/time/rank_budget_private.h"
#include "analysis/time/wait_chain.h"

/* ---- one rank ---- */

static const struct rank_iterations *iterations_of(const struct run_model *model,
                                                   const struct rank_budget *to) {
    for (size_t i = 0; i < model->iterations.n; i++) {
        const struct rank_iterations *r = &model->iterations.ranks[i];
        if (r->host == to->host && r->pid == to->pid)
            return r;
    }
    return NULL;
}

/* windows[0] is the main group; all groups, the iterations and the slices follow. */
static struct windows *make_windows(const struct run_model *model,
                                    const struct rank_iterations *its, size_t n_iterations,
                                    struct window *items) {
    struct windows *windows =
        calloc(1 + model->n_groups + n_iterations + RANK_BUDGET_SLICES, sizeof *windows);
    if (!windows)
        return NULL;
    windows[0] = phase_windows(&model->groups[model->main_group]);
    for (size_t g = 0; g < model->n_groups; g++)
        windows[1 + g] = phase_windows(&model->groups[g]);
    for (size_t i = 0; i < n_iterations; i++) {
        items[i] =
            (struct window){its->items[i].end_ns - its->items[i].duration_ns, its->items[i].end_ns};
        windows[1 + model->n_groups + i] = (struct windows){&items[i], 1};
    }
    for (size_t i = 0; i < RANK_BUDGET_SLICES; i++) {
        int64_t duration = model->recording->duration_ns;
        items[n_iterations + i] = (struct window){rank_budget_slice_begin(duration, i),
                                                  rank_budget_slice_begin(duration, i + 1)};
        windows[1 + model->n_groups + n_iterations + i] =
            (struct windows){&items[n_iterations + i], 1};
    }
    return windows;
}

static void find_awaited(const struct mpi_log *log, const double *awaited, struct rank_budget *to) {
    to->awaited_rank = to->awaited_host = -1;
    for (size_t r = 0; r < log->n; r++)
        if (awaited[r] / 1e9 > to->awaited_s) {
            to->awaited_s = awaited[r] / 1e9;
            to->awaited_rank = log->ranks[r].rank;
            to->awaited_host = log->ranks[r].host;
        }
}

static int fill_windows(const struct run_model *model, const struct budget_subject *subject,
                        struct rank_budget *to) {
    const struct rank_iterations *its = iterations_of(model, to);
    size_t n_its = its ? its->n : 0, before = 1 + model->n_groups + n_its;
    size_t n = before + RANK_BUDGET_SLICES;
    struct window *items = calloc(n_its + RANK_BUDGET_SLICES, sizeof *items);
    struct windows *windows = items ? make_windows(model, its, n_its, items) : NULL;
    double *awaited = calloc(model->recording->calls.n + 1, sizeof *awaited);
    to->budgets = calloc(n, sizeof *to->budgets);
    bool room = windows && to->budgets && awaited;
    int result = room ? budget_make(subject, windows, n, to->budgets, awaited) : -ENOMEM;
    if (result == 0) {
        to->groups = to->budgets + 1;
        to->iterations = to->groups + model->n_groups;
        to->n_iterations = n_its;
        to->slices = to->budgets + before;
        find_awaited(&model->recording->calls, awaited, to);
    }
    free(items);
    free(windows);
    free(awaited);
    return result;
}

/* Shared input of the ranks' budgets and the critical path. */
struct making {
    const struct run_model *model;
    struct rank_budgets all;
    struct critical_walk walk;
    struct critical_path path;
    struct wait_chain *chain; /* NULL: waits were not clocked */
};

static int walk_processes(struct making *m) {
    const struct run_model *model = m->model;
    struct critical_walker *walker;
    int result = critical_walker_new(&model->recording->calls, &model->matches, &model->clock,
                                     model->judge, &walker);
    if (result < 0)
        return result;
    result = critical_walk_make(walker, &m->walk);
    if (result == 0)
        result = critical_path_divide(model, walker, &m->walk, &m->path);
    critical_walker_free(walker);
    return result;
}

/* Whether the wait clocks of a process were kept in slices. */
static bool has_slices(const struct recording *recording, const struct rank_budget *of) {
    const struct series_set *set = &recording->tables[RECORDING_WAIT];
    const struct series *clocks = series_of_pid(set, of->host, WAIT_PID, of->pid);
    struct window whole = {0, recording->duration_ns};
    return clocks && series_growth(set, clocks, WAIT_PROCESS_UNCLOCKED, (struct windows){&whole, 1},
                                   NULL) > 0;
}

static int make_claims(const struct run_model *model, const struct budget_subject *subject,
                       struct rank_budget *to) {
    struct claim_facts facts = {subject->intervals, subject->n_intervals,
                                has_slices(model->recording, to),
                                model->recording->tables[RECORDING_CGROUP].n &&
                                    !judge_withholds(model->judge, SOURCE_CGROUP)};
    to->claims = calloc(model->n_groups + 1, sizeof *to->claims);
    if (!to->claims)
        return -ENOMEM;
    for (size_t g = 0; g < model->n_groups; g++)
        claims_make(&facts, phase_windows(&model->groups[g]), &to->groups[g], &to->claims[g]);
    return 0;
}

static int fill_rank(struct making *m, const struct model_process *process, size_t index) {
    const struct run_model *model = m->model;
    struct rank_budget *to = &m->all.items[index];
    const struct mpi_log *log = &model->recording->calls;
    *to = (struct rank_budget){.host = process->host,
                               .rank = process->rank,
                               .pid = model_process_pid(model, process),
                               .process = process->series->name,
                               .key = &process->series->key,
                               .awaited_host = -1,
                               .awaited_rank = -1};
    struct budget_subject subject = {
        .matches = &model->matches, .clock = &model->clock, .judge = model->judge};
    struct budget_interval *intervals;
    int result = budget_intervals(model, process, to->pid, &intervals, &subject.n_intervals);
    if (result < 0)
        return result;
    subject.intervals = intervals;
    subject.log_rank = mpi_log_find(log, to->host, to->pid);
    if (subject.log_rank != SIZE_MAX && !judge_withholds(model->judge, SOURCE_CALLS))
        subject.log = log;
    budget_life(model, process, &subject);
    result = fill_windows(model, &subject, to);
    if (result == 0)
        result = make_claims(model, &subject, to);
    if (result == 0)
        result = critical_path_add(model, &m->walk, index, &subject, &m->path);
    if (result == 0 && m->chain)
        result = wait_chain_add(m->chain, &subject, to->host, to->pid);
    to->splits = calloc(model->n_groups + 1, sizeof *to->splits);
    if (!to->splits)
        result = -ENOMEM;
    for (size_t g = 0; result == 0 && g < model->n_groups; g++)
        to->splits[g] = budget_transfer_split(model->recording, to->host, to->pid,
                                              phase_windows(&model->groups[g]));
    if (subject.log) {
        struct budget_interval *kept =
            realloc(intervals, (subject.n_intervals + 1) * sizeof *intervals);
        to->intervals = kept ? kept : intervals;
        to->n_intervals = subject.n_intervals;
    } else {
        free(intervals);
    }
    return result;
}

/* ---- all of them ---- */

static void count_closing(struct rank_budgets *all) {
    for (size_t r = 0; r < all->n; r++)
        for (size_t i = 0; i < all->items[r].n_iterations; i++) {
            const struct budget *b = &all->items[r].iterations[i];
            if (b->source == BUDGET_FROM_COUNTERS)
                continue; /* the remainder is a term there, so the sum always closes */
            all->windows++;
            all->closing += budget_closes(b);
        }
}

static double worst_bound(const struct rank_budgets *all, const struct call_clock *clock) {
    double worst = 0;
    for (size_t a = 0; a < all->n; a++)
        for (size_t b = 0; b < a; b++) {
            int64_t bound = call_clock_bound(clock, all->items[a].host, all->items[b].host);
            if (bound == INT64_MAX)
                return NAN;
            worst = fmax(worst, (double)bound / 1e9);
        }
    return worst;
}

static int make_all(struct making *m) {
    const struct run_model *model = m->model;
    const struct model_process **chosen = calloc(model->n_processes + 1, sizeof *chosen);
    size_t n = 0, n_helpers = 0;
    int result = chosen ? budget_choose(model, chosen, &n, &n_helpers) : -ENOMEM;
    size_t all = n + n_helpers;
    m->all.items = calloc(all + 1, sizeof *m->all.items);
    if (result == 0)
        result = m->all.items ? critical_path_begin(model, all, &m->path) : -ENOMEM;
    if (result == 0)
        result = walk_processes(m);
    if (result == 0)
        result = wait_chain_new(model, &m->path, &m->chain);
    for (size_t i = 0; result == 0 && i < all; i++) {
        m->all.n += i < n;
        m->all.n_helpers += i >= n;
        result = fill_rank(m, chosen[i], i);
    }
    if (result == 0 && m->chain)
        result = wait_chain_walk(m->chain, &m->path, &m->all);
    wait_chain_free(m->chain);
    critical_walk_release(&m->walk);
    free(chosen);
    return result;
}

int rank_budgets_make(const struct run_model *model, struct rank_budgets *ret_budgets,
                      struct critical_path *ret_path) {
    const struct recording *recording = model->recording;
    const struct call_matches *matches = &model->matches;
    bool calls = !judge_withholds(model->judge, SOURCE_CALLS);
    struct making m = {.model = model,
                       .all = {.events = calls && recording->calls.n > 0,
                               .totals = calls && recording->tables[RECORDING_MPI].n > 0,
                               .messages = matches->messages,
                               .groups = matches->groups,
                               .unmatched = matches->unmatched_sends + matches->unmatched_receives +
                                            matches->unmatched_groups,
                               .refused = recording->calls.refused}};
    int result = make_all(&m);
    if (result < 0) {
        rank_budgets_release(&m.all);
        critical_path_release(&m.path);
        return result;
    }
    count_closing(&m.all);
    m.all.clock_bound_s = worst_bound(&m.all, &model->clock);
    critical_path_finish(model, &m.all, &m.path);
    *ret_budgets = m.all;
    *ret_path = m.path;
    return 0;
}

void rank_budgets_release(struct rank_budgets *budgets) {
    for (size_t r = 0; r < rank_budgets_all(budgets); r++) {
        free(budgets->items[r].budgets);
        free(budgets->items[r].intervals);
        free(budgets->items[r].claims);
        free(budgets->items[r].splits);
    }
    free(budgets->items);
    free(budgets->waits);
    *budgets = (struct rank_budgets){0};
}

const struct budget *rank_budget_trusted(const struct rank_budgets *budgets, int host, int64_t pid,
                                         size_t group) {
    for (size_t r = 0; r < budgets->n; r++) {
        const struct rank_budget *b = &budgets->items[r];
        if (b->host == host && b->pid == pid)
            return b->groups[group].source == BUDGET_FROM_EVENTS && budget_closes(&b->groups[group])
                       ? &b->groups[group]
                       : NULL;
    }
    return NULL;
}

const struct rank_budget *rank_budget_with_intervals(const struct rank_budgets *budgets,
                                                     const struct table_key *key) {
    for (size_t r = 0; r < rank_budgets_all(budgets); r++)
        if (budgets->items[r].key == key && budgets->items[r].intervals)
            return &budgets->items[r];
    return NULL;
}

const struct rank_budget *rank_budgets_awaited(const struct rank_budgets *budgets) {
    const struct rank_budget *most = NULL;
    double longest = 0;
    for (size_t to = 0; to < budgets->n; to++) {
        double sum = 0;
        for (size_t r = 0; r < budgets->n; r++)
            if (budgets->items[r].awaited_rank == budgets->items[to].rank &&
                budgets->items[r].awaited_host == budgets->items[to].host)
                sum += budgets->items[r].awaited_s;
        if (sum > longest) {
            longest = sum;
            most = &budgets->items[to];
        }
    }
    return most;
}

double rank_budgets_share(const struct rank_budgets *budgets, size_t group, enum budget_term term) {
    double sum = 0, wall = 0;
    bool known = false;
    for (size_t r = 0; r < budgets->n; r++) {
        const struct budget *b = &budgets->items[r].groups[group];
        wall += b->wall_s;
        if (isnan(b->term_s[term]))
            continue;
        sum += b->term_s[term];
        known = true;
    }
    return known && wall > 0 ? sum / wall : NAN;
}
