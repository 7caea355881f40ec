/* SPDX-License-Identifier: MIT */
/* Chooses the ranks to compare, and the best basis that the recording allows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/straggler_private.h"
#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/series/stats.h"

void rank_matrix_release(struct rank_matrix *matrix) {
    free(matrix->own);
    free(matrix->windows);
    free(matrix->budgets);
    free(matrix->firsts);
    free(matrix->traffic);
    free(matrix->roles);
}

static struct window window_of(const struct iteration *iteration) {
    return (struct window){iteration->end_ns - iteration->duration_ns, iteration->end_ns};
}

/* ---- ranks and their roles ---- */

static const struct rank_budget *budget_of(const struct run_model *model,
                                           const struct rank_iterations *rank) {
    for (size_t b = 0; b < model->budgets.n; b++)
        if (model->budgets.items[b].host == rank->host && model->budgets.items[b].pid == rank->pid)
            return &model->budgets.items[b];
    return NULL;
}

static int fill_roles(struct rank_matrix *matrix) {
    const struct mpi_log *log = &matrix->model->recording->calls;
    int *roles = calloc(log->n + 1, sizeof *roles);
    int result = roles ? call_roles(log, roles) : -ENOMEM;
    for (size_t r = 0; result == 0 && r < matrix->ranks; r++)
        for (size_t l = 0; l < log->n; l++)
            if (log->ranks[l].host == matrix->model->iterations.ranks[r].host &&
                log->ranks[l].pid == matrix->model->iterations.ranks[r].pid)
                matrix->roles[r] = roles[l] + 1;
    free(roles);
    return result;
}

bool rank_matrix_are_peers(const struct rank_matrix *matrix, size_t a, size_t b) {
    const struct rank_iterations *ranks = matrix->model->iterations.ranks;
    double low = fmin(matrix->traffic[a], matrix->traffic[b]);
    double high = fmax(matrix->traffic[a], matrix->traffic[b]);
    bool alike = matrix->roles[a] && matrix->roles[b] ? true : high < 10e6 || high < 2 * low;
    return a != b && ranks[a].role == ranks[b].role && matrix->roles[a] == matrix->roles[b] &&
           alike;
}

static int rank_matrix_init(struct rank_matrix *matrix, size_t steps) {
    const struct run_model *model = matrix->model;
    size_t n = matrix->ranks * steps;
    matrix->steps = steps;
    matrix->own = malloc((n + 1) * sizeof *matrix->own);
    matrix->windows = calloc(n + 1, sizeof *matrix->windows);
    matrix->budgets = calloc(matrix->ranks + 1, sizeof *matrix->budgets);
    matrix->firsts = calloc(matrix->ranks + 1, sizeof *matrix->firsts);
    matrix->traffic = calloc(matrix->ranks + 1, sizeof *matrix->traffic);
    matrix->roles = calloc(matrix->ranks + 1, sizeof *matrix->roles);
    if (!matrix->own || !matrix->windows || !matrix->budgets || !matrix->firsts ||
        !matrix->traffic || !matrix->roles)
        return -ENOMEM;
    struct windows windows = phase_windows(&model->groups[model->main_group]);
    for (size_t i = 0; i < n; i++)
        matrix->own[i] = NAN;
    for (size_t r = 0; r < matrix->ranks; r++) {
        const struct model_host *host = &model->hosts[model->iterations.ranks[r].host];
        matrix->budgets[r] = budget_of(model, &model->iterations.ranks[r]);
        matrix->traffic[r] = rate_amount(&host->metrics[METRIC_NET_SEND], windows) +
                             rate_amount(&host->metrics[METRIC_NET_RECV], windows);
    }
    return fill_roles(matrix);
}

/* ---- by budgets ---- */

/* Its waits for others are known from events alone, even if counters do not add up to the rest. */
static bool is_known(const struct budget *budget) {
    return budget->source == BUDGET_FROM_EVENTS && budget->wall_s > 0;
}

/* Whether most iterations of at least two ranks are known call by call. */
static bool has_budgets(const struct run_model *model) {
    size_t ranks = 0;
    for (size_t r = 0; r < model->iterations.n; r++) {
        const struct rank_budget *b = budget_of(model, &model->iterations.ranks[r]);
        size_t known = 0;
        for (size_t i = 0; b && i < b->n_iterations; i++)
            known += is_known(&b->iterations[i]);
        ranks += b && b->n_iterations && 5 * known >= 4 * b->n_iterations;
    }
    return ranks >= 2;
}

const struct budget *rank_matrix_budget(const struct rank_matrix *matrix, size_t rank,
                                        size_t step) {
    const struct rank_budget *b = matrix->budgets[rank];
    if (matrix->basis != MATRIX_BUDGET || !b || step < matrix->firsts[rank])
        return NULL;
    size_t i = step - matrix->firsts[rank];
    return i < b->n_iterations && is_known(&b->iterations[i]) ? &b->iterations[i] : NULL;
}

/* The time without waits for others, and without time inside MPI for unknown reasons. */
static double own_time(const struct budget *budget) {
    double wait = budget->term_s[BUDGET_PEER_WAIT], dark = budget->term_s[BUDGET_UNSPLIT];
    return fmax(0, budget->wall_s - (isnan(wait) ? 0 : wait) - (isnan(dark) ? 0 : dark));
}

/* Whether numbers increase by one in each rank; otherwise the iteration's place counts. */
static bool is_numbered(const struct rank_iterations *rank) {
    for (size_t i = 1; i < rank->n; i++)
        if (rank->items[i].number != rank->items[i - 1].number + 1)
            return false;
    return rank->n > 0 && rank->items[0].number != VALUE_ABSENT;
}

static void place(const struct iterations *its, struct rank_matrix *matrix) {
    int64_t least = INT64_MAX;
    bool numbered = true;
    for (size_t r = 0; r < its->n; r++) {
        numbered = numbered && is_numbered(&its->ranks[r]);
        if (its->ranks[r].n && its->ranks[r].items[0].number < least)
            least = its->ranks[r].items[0].number;
    }
    for (size_t r = 0; numbered && r < its->n; r++) {
        int64_t first = its->ranks[r].items[0].number - least;
        if (first < (int64_t)matrix->steps)
            matrix->firsts[r] = (size_t)first;
    }
}

static size_t most_iterations(const struct run_model *model) {
    size_t most = 0;
    for (size_t r = 0; r < model->iterations.n; r++)
        if (model->iterations.ranks[r].n > most)
            most = model->iterations.ranks[r].n;
    return most;
}

static int rank_matrix_of_budgets(struct rank_matrix *matrix) {
    const struct iterations *its = &matrix->model->iterations;
    int result = rank_matrix_init(matrix, most_iterations(matrix->model));
    if (result < 0)
        return result;
    place(its, matrix);
    for (size_t r = 0; r < matrix->ranks; r++)
        for (size_t s = matrix->firsts[r]; s < matrix->steps; s++) {
            const struct budget *budget = rank_matrix_budget(matrix, r, s);
            size_t i = s - matrix->firsts[r];
            if (!budget || i >= its->ranks[r].n)
                continue;
            matrix->own[r * matrix->steps + s] = own_time(budget);
            matrix->windows[r * matrix->steps + s] = window_of(&its->ranks[r].items[i]);
        }
    return 0;
}

/* ---- by times ---- */

/* Free-running ranks: iteration k of each rank, counted in its own order. */
static int rank_matrix_of_times(struct rank_matrix *matrix) {
    const struct run_model *model = matrix->model;
    int result = rank_matrix_init(matrix, most_iterations(model));
    for (size_t r = 0; result == 0 && r < matrix->ranks; r++)
        for (size_t i = 0; i < model->iterations.ranks[r].n; i++) {
            const struct iteration *it = &model->iterations.ranks[r].items[i];
            matrix->own[r * matrix->steps + i] = (double)it->duration_ns / 1e9;
            matrix->windows[r * matrix->steps + i] = window_of(it);
        }
    return result;
}

/* ---- by use ---- */

/* Stretches of whole iterations, each at least as long as two rows of the process table. */
#define STEP_MIN_NS INT64_C(2000000000)

static size_t make_steps(const struct rank_iterations *rank, struct window *steps) {
    size_t n = 0;
    int64_t begin = rank->n ? rank->items[0].end_ns - rank->items[0].duration_ns : 0;
    for (size_t i = 0; i < rank->n; i++) {
        const struct iteration *it = &rank->items[i];
        if (it->end_ns - it->duration_ns > begin + 2 * STEP_MIN_NS)
            begin = it->end_ns - it->duration_ns; /* after a pause between iterations */
        if (it->end_ns - begin < STEP_MIN_NS)
            continue;
        steps[n++] = (struct window){begin, it->end_ns};
        begin = it->end_ns;
    }
    return n;
}

static const struct model_process *process_of(const struct run_model *model,
                                              const struct rank_iterations *rank) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->host == rank->host && process->rank == rank->rank && process->job &&
            series_last(set, process->series, PROCESS_PID) == rank->pid)
            return process;
    }
    return NULL;
}

static double own_share(const struct run_model *model, const struct model_process *process,
                        struct window window) {
    if (!process)
        return NAN;
    struct process_use use = model_process_use(model, process, (struct windows){&window, 1});
    return (use.cpu_s + stats_or_zero(use.run_queue_s) + stats_or_zero(use.disk_s)) / use.wall_s;
}

static int rank_matrix_of_use(struct rank_matrix *matrix) {
    const struct run_model *model = matrix->model;
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    struct window *steps = malloc((reference->n + 1) * sizeof *steps);
    if (!steps)
        return -ENOMEM;
    size_t n = make_steps(reference, steps);
    int result = rank_matrix_init(matrix, n);
    for (size_t r = 0; result == 0 && r < matrix->ranks; r++) {
        const struct model_process *process = process_of(model, &model->iterations.ranks[r]);
        for (size_t i = 0; i < n; i++) {
            matrix->own[r * n + i] = own_share(model, process, steps[i]);
            matrix->windows[r * n + i] = steps[i];
        }
    }
    free(steps);
    return result;
}

int rank_matrix_make(const struct run_model *model, struct rank_matrix *ret_matrix) {
    struct rank_matrix matrix = {.model = model, .ranks = model->iterations.n};
    matrix.basis = has_budgets(model)           ? MATRIX_BUDGET
                   : model->iterations.lockstep ? MATRIX_USE
                                                : MATRIX_TIMES;
    int result = matrix.basis == MATRIX_BUDGET ? rank_matrix_of_budgets(&matrix)
                 : matrix.basis == MATRIX_USE  ? rank_matrix_of_use(&matrix)
                                               : rank_matrix_of_times(&matrix);
    if (result < 0) {
        rank_matrix_release(&matrix);
        return result;
    }
    *ret_matrix = matrix;
    return 0;
}
