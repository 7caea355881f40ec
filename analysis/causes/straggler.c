/* SPDX-License-Identifier: MIT */
/* Compares each rank with its peers, step by step, and predicts the run time if a slow rank were
 * like them. */
#include "analysis/causes/straggler.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/causes_private.h"
#include "analysis/causes/straggler_private.h"
#include "analysis/facts/series/stats.h"
#include "analysis/gain/throughput.h"

/* ---- one rank ---- */

struct trial { /* of one rank: steps in which both it and its reference are known */
    size_t n, n_peers;
    double *own, *reference, *medians, *room;
    size_t *steps, *slow;
};

static void trial_release(struct trial *trial) {
    free(trial->own);
    free(trial->reference);
    free(trial->medians);
    free(trial->room);
    free(trial->steps);
    free(trial->slow);
}

static int trial_init(struct trial *trial, const struct rank_matrix *matrix) {
    size_t n = matrix->steps + matrix->ranks + 1;
    *trial = (struct trial){.own = malloc(n * sizeof(double)),
                            .reference = malloc(n * sizeof(double)),
                            .medians = malloc(n * sizeof(double)),
                            .room = malloc(n * sizeof(double)),
                            .steps = malloc(n * sizeof(size_t)),
                            .slow = malloc(n * sizeof(size_t))};
    bool room = trial->own && trial->reference && trial->medians && trial->room && trial->steps &&
                trial->slow;
    if (!room)
        trial_release(trial);
    return room ? 0 : -ENOMEM;
}

static size_t known_of(const struct rank_matrix *matrix, size_t rank, double *values) {
    size_t n = 0;
    for (size_t s = 0; s < matrix->steps; s++)
        if (!isnan(rank_matrix_own(matrix, rank, s)))
            values[n++] = rank_matrix_own(matrix, rank, s);
    return n;
}

/* Medians of the peers' own times, each over all its steps. */
static void find_peers(const struct rank_matrix *matrix, size_t rank, struct trial *trial) {
    trial->n_peers = 0;
    for (size_t p = 0; p < matrix->ranks; p++) {
        size_t n = rank_matrix_are_peers(matrix, rank, p) ? known_of(matrix, p, trial->room) : 0;
        if (n)
            trial->medians[trial->n_peers++] = stats_median(trial->room, n);
    }
}

/* The peers' median at a step; free-running ranks are not in step, so for them the median over the
 * run. */
static double reference_at(const struct rank_matrix *matrix, size_t rank, size_t step,
                           double overall, double *room) {
    size_t k = 0;
    bool in_step = matrix->basis != MATRIX_TIMES && matrix->model->iterations.lockstep;
    for (size_t p = 0; in_step && p < matrix->ranks; p++)
        if (rank_matrix_are_peers(matrix, rank, p) && !isnan(rank_matrix_own(matrix, p, step)))
            room[k++] = rank_matrix_own(matrix, p, step);
    return k ? stats_median(room, k) : overall;
}

static void fill_trial(const struct rank_matrix *matrix, size_t rank, struct trial *trial) {
    find_peers(matrix, rank, trial);
    double overall = stats_median(trial->medians, trial->n_peers);
    trial->n = 0;
    for (size_t s = 0; trial->n_peers && s < matrix->steps; s++) {
        if (isnan(rank_matrix_own(matrix, rank, s)))
            continue;
        trial->own[trial->n] = rank_matrix_own(matrix, rank, s);
        trial->reference[trial->n] = reference_at(matrix, rank, s, overall, trial->room);
        trial->steps[trial->n++] = s;
    }
}

/* If there are two workers, the slower may be slow by nature and the faster may become slow: each
 * is compared with its own best decile, while the other stays near its own. */
static struct straggler_judgement judge_by_itself(const struct rank_matrix *matrix, size_t rank,
                                                  struct trial *trial) {
    struct straggler_judgement none = {.kind = NULL};
    double best = stats_quantile(trial->own, trial->n, 0.1);
    for (size_t p = 0; p < matrix->ranks; p++) {
        size_t n = rank_matrix_are_peers(matrix, rank, p) ? known_of(matrix, p, trial->room) : 0;
        if (n && stats_median(trial->room, n) >= number_of(matrix->model, STRAGGLER_RATIO) *
                                                     stats_quantile(trial->room, n, 0.1))
            return none;
    }
    for (size_t i = 0; i < trial->n; i++)
        trial->reference[i] = best;
    struct straggler_judgement j =
        straggler_judge(matrix->model->judge, trial->own, trial->reference, trial->n, &best, 1);
    return j.ratio >= number_of(matrix->model, STRAGGLER_ITSELF) ? j : none;
}

static size_t find_slow(const struct rank_matrix *matrix, const struct trial *trial,
                        const struct straggler_judgement *j, size_t *slow) {
    size_t n = 0;
    for (size_t i = j->from; i < trial->n; i++)
        if (trial->own[i] >= number_of(matrix->model, STRAGGLER_RATIO) * trial->reference[i])
            slow[n++] = trial->steps[i];
    return n;
}

static double median_difference(const struct trial *trial, size_t from, double *ret_own) {
    size_t n = trial->n - from;
    *ret_own = stats_median(trial->own + from, n);
    return *ret_own - stats_median(trial->reference + from, n);
}

static int add(struct stragglers *found, const struct rank_matrix *matrix, size_t rank,
               const struct straggler_judgement *j, struct trial *trial, double own_s,
               double excess_s) {
    const struct rank_iterations *its = &matrix->model->iterations.ranks[rank];
    struct straggler *s = &found->items[found->n++];
    *s = (struct straggler){.host = its->host,
                            .rank = its->rank,
                            .kind = j->kind,
                            .slowdown = j->ratio,
                            .flagged = j->flagged,
                            .begin_s = NAN,
                            .severity = NAN,
                            .severity_max = NAN};
    size_t n = trial->n - j->from, n_slow = find_slow(matrix, trial, j, trial->slow);
    remarks_add(&s->evidence, SLOWER_THAN_PEERS,
                NUMBERS(1 + matrix->basis, j->ratio, number_of(matrix->model, STRAGGLER_RATIO),
                        100 * j->share, n, 1 + matrix->basis),
                NAMES());
    if (j->from) {
        s->begin_s =
            (double)matrix->windows[rank * matrix->steps + trial->steps[j->from]].begin_ns / 1e9;
        remarks_add(&s->evidence, SLOW_SINCE, NUMBERS(s->begin_s), NAMES());
    }
    return straggler_explain(matrix, rank, trial->slow, n_slow, own_s, excess_s, s);
}

static int judge_rank(const struct rank_matrix *matrix, size_t rank, struct trial *trial,
                      struct stragglers *found) {
    fill_trial(matrix, rank, trial);
    if (!trial->n_peers || !trial->n)
        return 0;
    struct straggler_judgement j =
        straggler_judge(matrix->model->judge, trial->own, trial->reference, trial->n,
                        trial->medians, trial->n_peers);
    if (!j.kind && trial->n_peers == 1)
        j = judge_by_itself(matrix, rank, trial);
    if (!j.kind)
        return 0;
    /* The iteration's own length turns a share of the step into seconds. */
    struct windows windows = phase_windows(&matrix->model->groups[matrix->model->main_group]);
    double iteration_s = iteration_median(&matrix->model->iterations.ranks[rank], windows);
    double own_s, excess_s = median_difference(trial, j.from, &own_s);
    if (matrix->basis == MATRIX_USE) {
        own_s *= iteration_s;
        excess_s *= iteration_s;
    }
    if (isnan(iteration_s))
        iteration_s = own_s;
    return excess_s >= number_of(matrix->model, STRAGGLER_GAIN) * iteration_s
               ? add(found, matrix, rank, &j, trial, own_s, excess_s)
               : 0;
}

/* ---- all of them ---- */

static int compare_slowdown(const void *a, const void *b) {
    double x = ((const struct straggler *)a)->slowdown, y = ((const struct straggler *)b)->slowdown;
    return (x < y) - (x > y);
}

static int judge_all(const struct rank_matrix *matrix, struct stragglers *found) {
    struct trial trial;
    int result = trial_init(&trial, matrix);
    if (result < 0)
        return result;
    found->items = calloc(matrix->ranks + 1, sizeof *found->items);
    if (!found->items)
        result = -ENOMEM;
    for (size_t r = 0; result == 0 && r < matrix->ranks; r++)
        result = judge_rank(matrix, r, &trial, found);
    if (result == 0 && found->n)
        qsort(found->items, found->n, sizeof *found->items, compare_slowdown);
    trial_release(&trial);
    return result;
}

static int64_t pid_of(const struct run_model *model, const struct straggler *s) {
    for (size_t r = 0; r < model->iterations.n; r++)
        if (model->iterations.ranks[r].host == s->host &&
            model->iterations.ranks[r].rank == s->rank)
            return model->iterations.ranks[r].pid;
    return -1;
}

/* For ranks that run freely: the cost of its missing iterations. If it was slow for a part of the
 * run only, that cost is the most. */
static void weigh_freely(const struct run_model *model, struct stragglers *found) {
    for (size_t i = 0; i < found->n; i++) {
        struct straggler *s = &found->items[i];
        s->severity_max = throughput_severity(model, s->host, pid_of(model, s), s->slowdown);
        s->severity = isnan(s->begin_s) ? s->severity_max : NAN;
    }
}

/* Run time divided by the run time with the rank like its peers. */
static int weigh_by_run_time(const struct run_model *model, const struct whatif *whatif,
                             struct stragglers *found) {
    if (throughput_counts(model, model->main_group)) {
        weigh_freely(model, found);
        return 0;
    }
    int result = 0;
    for (size_t i = 0; result == 0 && i < found->n; i++) {
        struct straggler *s = &found->items[i];
        struct whatif_scenario scenario = {
            .kind = WHATIF_LIKE_PEERS, .host = s->host, .rank = s->rank, .factor = 1};
        struct whatif_answer answer;
        result = whatif_ask(whatif, &scenario, 1, &answer);
        if (result == -EINVAL) { /* it has no peers there: unknown */
            result = 0;
            continue;
        }
        s->severity = answer.replayed ? answer.measured_s / answer.predicted_s : NAN;
        s->severity_max = answer.measured_s / answer.bound_s;
    }
    return result;
}

static bool has_peers(const struct rank_matrix *matrix) {
    for (size_t a = 0; a < matrix->ranks; a++)
        for (size_t b = 0; b < a; b++)
            if (rank_matrix_are_peers(matrix, a, b))
                return true;
    return false;
}

static void describe(const struct run_model *model, const struct rank_matrix *matrix,
                     struct stragglers *found) {
    struct remark *note = &found->note;
    if (model->iterations.n < 2)
        remark_set(note, ONE_RANK_ONLY, NUMBERS(), NAMES());
    else if (!has_peers(matrix))
        remark_set(note, NO_PEERS, NUMBERS(), NAMES());
    else if ((double)matrix->steps < number_of(matrix->model, STRAGGLER_ITERATIONS))
        remark_set(note, TOO_FEW_STEPS,
                   NUMBERS(matrix->basis == MATRIX_USE, matrix->steps,
                           number_of(matrix->model, STRAGGLER_ITERATIONS)),
                   NAMES());
    else
        remark_set(note, JUDGED_BY, NUMBERS(1 + matrix->basis), NAMES());
    found->judged = note->code == REMARK_JUDGED_BY;
}

/* Whether ranks in step all keep their cores busy: working and spinning ranks then look the
 * same. */
static bool hidden_by_spinning(const struct run_model *model, const struct rank_matrix *matrix) {
    return matrix->basis == MATRIX_USE &&
           ranks_busy(model, model->main_group) >= number_of(model, BUSY_RANK);
}

int straggler_find(const struct run_model *model, const struct whatif *whatif,
                   struct stragglers *ret_stragglers) {
    struct stragglers found = {0};
    struct rank_matrix matrix;
    if (!model->iterations.n) {
        *ret_stragglers = found;
        return 0;
    }
    int result = rank_matrix_make(model, &matrix);
    if (result < 0)
        return result;
    if (hidden_by_spinning(model, &matrix)) {
        remark_set(&found.note, HIDDEN_BY_SPINNING, NUMBERS(), NAMES());
    } else {
        describe(model, &matrix, &found);
        result = judge_all(&matrix, &found);
        if (result == 0)
            result = weigh_by_run_time(model, whatif, &found);
    }
    rank_matrix_release(&matrix);
    if (result < 0 || found.note.code == REMARK_NONE) {
        stragglers_release(&found);
        return -ENOMEM;
    }
    *ret_stragglers = found;
    return 0;
}

void stragglers_release(struct stragglers *stragglers) {
    for (size_t i = 0; i < stragglers->n; i++) {
        remark_release(&stragglers->items[i].cause);
        remarks_release(&stragglers->items[i].evidence);
    }
    free(stragglers->items);
    remark_release(&stragglers->note);
    *stragglers = (struct stragglers){0};
}
