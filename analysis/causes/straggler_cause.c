/* SPDX-License-Identifier: MIT */
/*
 * Why a straggler is slow. Each term of its budget is replaced by its peers' median; a term is the
 * cause if the rank is then as fast as its peers, or if half of its excess is gone. A loss that
 * fits no term is reported as unknown, since people will act on a named cause.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes.h"
#include "analysis/causes/causes_private.h"
#include "analysis/causes/straggler_private.h"
#include "analysis/facts/series/stats.h"

/* ---- terms of a rank, in seconds a step ---- */

/* Without calls of MPI waiting looks like sleeping or sending. */
static bool is_cause(const struct rank_matrix *matrix, enum budget_term term) {
    if (term == BUDGET_PEER_WAIT || term == BUDGET_UNSPLIT)
        return false;
    return matrix->basis == MATRIX_BUDGET ||
           (term != BUDGET_IDLE && term != BUDGET_TRANSFER && term != BUDGET_OVERHEAD);
}

static double mean_term(const struct rank_matrix *matrix, size_t rank, enum budget_term term,
                        const size_t *steps, size_t n) {
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        const struct budget *b = rank_matrix_budget(matrix, rank, steps[i]);
        if (b && !isnan(b->term_s[term])) {
            sum += b->term_s[term];
            known++;
        }
    }
    return known ? sum / (double)known : NAN;
}

/* If single iterations are not known call by call: the phase divided by their number. */
static double phase_term(const struct rank_matrix *matrix, size_t rank, enum budget_term term) {
    const struct rank_budget *b = matrix->budgets[rank];
    size_t n = matrix->model->iterations.ranks[rank].n;
    return b && n ? b->groups[matrix->model->main_group].term_s[term] / (double)n : NAN;
}

static double term_of(const struct rank_matrix *matrix, size_t rank, enum budget_term term,
                      const size_t *steps, size_t n) {
    return matrix->basis == MATRIX_BUDGET ? mean_term(matrix, rank, term, steps, n)
                                          : phase_term(matrix, rank, term);
}

static double peers_term(const struct rank_matrix *matrix, size_t rank, enum budget_term term,
                         const size_t *steps, size_t n, double *room) {
    size_t k = 0;
    for (size_t p = 0; p < matrix->ranks; p++) {
        double value =
            rank_matrix_are_peers(matrix, rank, p) ? term_of(matrix, p, term, steps, n) : NAN;
        if (!isnan(value))
            room[k++] = value;
    }
    return stats_median(room, k);
}

struct slow_windows {
    struct window *items;
    size_t n;
};

static int windows_of(const struct rank_matrix *matrix, size_t rank, const size_t *slow, size_t n,
                      struct slow_windows *ret) {
    ret->items = malloc((n + 1) * sizeof *ret->items);
    ret->n = n;
    for (size_t i = 0; ret->items && i < n; i++)
        ret->items[i] = matrix->windows[rank * matrix->steps + slow[i]];
    return ret->items ? 0 : -ENOMEM;
}

/* Asks the cause that explains this term. */
static void name_term(const struct slowed *slowed, enum budget_term term, struct straggler *s) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    for (size_t i = 0; i < n; i++)
        if (causes[i]->explain && causes[i]->slows == term) {
            causes[i]->explain(slowed, s);
            return;
        }
    s->cause_kind = CAUSE_UNKNOWN;
    remark_set(&s->cause, UNEXPLAINED_IN_MPI, NUMBERS(), NAMES());
}

struct blamed {
    enum budget_term term;
    double own_s, excess_s;
    bool known;
};

/* Finds the term that is most above the peers', and lists terms that differ. */
static struct blamed compare_terms(const struct rank_matrix *matrix, size_t rank,
                                   const size_t *slow, size_t n_slow, double excess_s, double *room,
                                   struct straggler *s) {
    struct blamed most = {.term = BUDGET_CPU};
    for (enum budget_term t = 0; t < BUDGET_TERMS; t++) {
        if (!is_cause(matrix, t))
            continue;
        double own = term_of(matrix, rank, t, slow, n_slow);
        double peers = peers_term(matrix, rank, t, slow, n_slow, room);
        if (isnan(peers) && t != BUDGET_CPU)
            peers = 0; /* peers without such a loss are no comparison */
        if (isnan(own) || isnan(peers))
            continue;
        if (fabs(own - peers) >= number_of(matrix->model, SLOW_TERM_MIN) * excess_s)
            remarks_add(&s->evidence, TERM_DIFFERS, NUMBERS(t, own, peers), NAMES());
        if (own - peers > most.excess_s)
            most = (struct blamed){t, own, own - peers, true};
    }
    return most;
}

int straggler_explain(const struct rank_matrix *matrix, size_t rank, const size_t *slow,
                      size_t n_slow, double own_s, double excess_s, struct straggler *straggler) {
    struct slow_windows windows = {NULL, 0};
    double *room = malloc((matrix->ranks + 1) * sizeof *room);
    int result = room ? windows_of(matrix, rank, slow, n_slow, &windows) : -ENOMEM;
    if (result == 0) {
        struct blamed most = compare_terms(matrix, rank, slow, n_slow, excess_s, room, straggler);
        double peers_s = own_s - excess_s;
        bool enough = most.known &&
                      (most.excess_s >= number_of(matrix->model, SLOW_EXPLAINS) * excess_s ||
                       own_s - most.excess_s < number_of(matrix->model, SLOW_LIKE_PEERS) * peers_s);
        straggler->explained = excess_s > 0 ? fmin(1, most.excess_s / excess_s) : NAN;
        straggler->cause_kind = CAUSE_UNKNOWN;
        if (enough)
            name_term(
                &(struct slowed){
                    matrix, rank, {windows.items, windows.n}, most.own_s, most.excess_s, room},
                most.term, straggler);
        else if (matrix->basis == MATRIX_BUDGET)
            remark_set(&straggler->cause, NO_SINGLE_CAUSE, NUMBERS(), NAMES());
        else
            remark_set(&straggler->cause, CAUSES_LOOK_ALIKE, NUMBERS(), NAMES());
    }
    free(windows.items);
    free(room);
    return result == 0 && (straggler->cause.code == REMARK_NONE || straggler->evidence.error)
               ? -ENOMEM
               : result;
}
