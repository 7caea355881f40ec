/* SPDX-License-Identifier: MIT */
/* The ranks that are compared, and the basis of it: the best that the recording allows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/series/stats.h"
#include "analysis/rules/straggler_private.h"

void board_release(struct board *board) {
    free(board->own);
    free(board->windows);
    free(board->budgets);
    free(board->firsts);
    free(board->traffic);
    free(board->roles);
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

static int fill_roles(struct board *board) {
    const struct mpi_log *log = &board->model->recording->calls;
    int *roles = calloc(log->n + 1, sizeof *roles);
    int result = roles ? call_roles(log, roles) : -ENOMEM;
    for (size_t r = 0; result == 0 && r < board->ranks; r++)
        for (size_t l = 0; l < log->n; l++)
            if (log->ranks[l].host == board->model->iterations.ranks[r].host &&
                log->ranks[l].pid == board->model->iterations.ranks[r].pid)
                board->roles[r] = roles[l] + 1;
    free(roles);
    return result;
}

bool board_are_peers(const struct board *board, size_t a, size_t b) {
    const struct rank_iterations *ranks = board->model->iterations.ranks;
    double low = fmin(board->traffic[a], board->traffic[b]);
    double high = fmax(board->traffic[a], board->traffic[b]);
    bool alike = board->roles[a] && board->roles[b] ? true : high < 10e6 || high < 2 * low;
    return a != b && ranks[a].role == ranks[b].role && board->roles[a] == board->roles[b] && alike;
}

static int board_init(struct board *board, size_t steps) {
    const struct run_model *model = board->model;
    size_t n = board->ranks * steps;
    board->steps = steps;
    board->own = malloc((n + 1) * sizeof *board->own);
    board->windows = calloc(n + 1, sizeof *board->windows);
    board->budgets = calloc(board->ranks + 1, sizeof *board->budgets);
    board->firsts = calloc(board->ranks + 1, sizeof *board->firsts);
    board->traffic = calloc(board->ranks + 1, sizeof *board->traffic);
    board->roles = calloc(board->ranks + 1, sizeof *board->roles);
    if (!board->own || !board->windows || !board->budgets || !board->firsts || !board->traffic ||
        !board->roles)
        return -ENOMEM;
    struct windows windows = phase_windows(&model->groups[model->main_group]);
    for (size_t i = 0; i < n; i++)
        board->own[i] = NAN;
    for (size_t r = 0; r < board->ranks; r++) {
        const struct model_host *host = &model->hosts[model->iterations.ranks[r].host];
        board->budgets[r] = budget_of(model, &model->iterations.ranks[r]);
        board->traffic[r] = rate_amount(&host->metrics[METRIC_NET_SEND], windows) +
                            rate_amount(&host->metrics[METRIC_NET_RECV], windows);
    }
    return fill_roles(board);
}

/* ---- by budgets ---- */

/* Its waits for others are known from events alone, whether or not counters add up to the rest.
 */
static bool is_known(const struct budget *budget) {
    return budget->source == BUDGET_FROM_EVENTS && budget->wall_s > 0;
}

/* Two ranks at least of which most iterations are known call by call. */
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

const struct budget *board_budget(const struct board *board, size_t rank, size_t step) {
    const struct rank_budget *b = board->budgets[rank];
    if (board->basis != BOARD_BUDGET || !b || step < board->firsts[rank])
        return NULL;
    size_t i = step - board->firsts[rank];
    return i < b->n_iterations && is_known(&b->iterations[i]) ? &b->iterations[i] : NULL;
}

/* Less what it was inside MPI for a reason nobody knows, too. */
static double own_time(const struct budget *budget) {
    double wait = budget->term_s[BUDGET_PEER_WAIT], dark = budget->term_s[BUDGET_UNSPLIT];
    return fmax(0, budget->wall_s - (isnan(wait) ? 0 : wait) - (isnan(dark) ? 0 : dark));
}

/* Numbers run on by one in each rank, or they are no numbers: then its place counts. */
static bool is_numbered(const struct rank_iterations *rank) {
    for (size_t i = 1; i < rank->n; i++)
        if (rank->items[i].number != rank->items[i - 1].number + 1)
            return false;
    return rank->n > 0 && rank->items[0].number != VALUE_ABSENT;
}

static void place(const struct iterations *its, struct board *board) {
    int64_t least = INT64_MAX;
    bool numbered = true;
    for (size_t r = 0; r < its->n; r++) {
        numbered = numbered && is_numbered(&its->ranks[r]);
        if (its->ranks[r].n && its->ranks[r].items[0].number < least)
            least = its->ranks[r].items[0].number;
    }
    for (size_t r = 0; numbered && r < its->n; r++) {
        int64_t first = its->ranks[r].items[0].number - least;
        if (first < (int64_t)board->steps)
            board->firsts[r] = (size_t)first;
    }
}

static size_t most_iterations(const struct run_model *model) {
    size_t most = 0;
    for (size_t r = 0; r < model->iterations.n; r++)
        if (model->iterations.ranks[r].n > most)
            most = model->iterations.ranks[r].n;
    return most;
}

static int board_of_budgets(struct board *board) {
    const struct iterations *its = &board->model->iterations;
    int result = board_init(board, most_iterations(board->model));
    if (result < 0)
        return result;
    place(its, board);
    for (size_t r = 0; r < board->ranks; r++)
        for (size_t s = board->firsts[r]; s < board->steps; s++) {
            const struct budget *budget = board_budget(board, r, s);
            size_t i = s - board->firsts[r];
            if (!budget || i >= its->ranks[r].n)
                continue;
            board->own[r * board->steps + s] = own_time(budget);
            board->windows[r * board->steps + s] = window_of(&its->ranks[r].items[i]);
        }
    return 0;
}

/* ---- by times ---- */

/* Free-running ranks: iteration k of each, by its place in the rank's own order. */
static int board_of_times(struct board *board) {
    const struct run_model *model = board->model;
    int result = board_init(board, most_iterations(model));
    for (size_t r = 0; result == 0 && r < board->ranks; r++)
        for (size_t i = 0; i < model->iterations.ranks[r].n; i++) {
            const struct iteration *it = &model->iterations.ranks[r].items[i];
            board->own[r * board->steps + i] = (double)it->duration_ns / 1e9;
            board->windows[r * board->steps + i] = window_of(it);
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

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

static double own_share(const struct run_model *model, const struct model_process *process,
                        struct window window) {
    if (!process)
        return NAN;
    struct process_use use = model_process_use(model, process, (struct windows){&window, 1});
    return (use.cpu_s + or_zero(use.run_queue_s) + or_zero(use.disk_s)) / use.wall_s;
}

static int board_of_use(struct board *board) {
    const struct run_model *model = board->model;
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    struct window *steps = malloc((reference->n + 1) * sizeof *steps);
    if (!steps)
        return -ENOMEM;
    size_t n = make_steps(reference, steps);
    int result = board_init(board, n);
    for (size_t r = 0; result == 0 && r < board->ranks; r++) {
        const struct model_process *process = process_of(model, &model->iterations.ranks[r]);
        for (size_t i = 0; i < n; i++) {
            board->own[r * n + i] = own_share(model, process, steps[i]);
            board->windows[r * n + i] = steps[i];
        }
    }
    free(steps);
    return result;
}

int board_make(const struct run_model *model, struct board *ret_board) {
    struct board board = {.model = model, .ranks = model->iterations.n};
    board.basis = has_budgets(model)           ? BOARD_BUDGET
                  : model->iterations.lockstep ? BOARD_USE
                                               : BOARD_TIMES;
    int result = board.basis == BOARD_BUDGET ? board_of_budgets(&board)
                 : board.basis == BOARD_USE  ? board_of_use(&board)
                                             : board_of_times(&board);
    if (result < 0) {
        board_release(&board);
        return result;
    }
    *ret_board = board;
    return 0;
}
