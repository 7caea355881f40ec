/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/efficiency.h"
#include "analysis/facts/series/stats.h"

#include <math.h>

#define UNKNOWN_MAX 0.05 /* of a rank's wall time: the most that may be in no term */

/* A term that is not observable is counted in another one, at least as idle. */
double efficiency_useful(const struct budget *budget) {
    if (budget->source == BUDGET_FROM_COUNTERS || !budget_closes(budget) ||
        !(budget->unknown_s <= UNKNOWN_MAX * budget->wall_s))
        return NAN;
    return fmin(budget_sum(budget, budget_outside_terms()), budget->wall_s);
}

static struct efficiency nothing(void) {
    return (struct efficiency){.elapsed_s = NAN,
                               .useful_mean_s = NAN,
                               .useful_max_s = NAN,
                               .parallel = NAN,
                               .load_balance = NAN,
                               .communication = NAN,
                               .serialisation = NAN,
                               .transfer = NAN,
                               .computing = NAN};
}

static void divide(struct efficiency *e, double ideal_s, double ideal_bound_s) {
    bool replayed = ideal_s > 0;
    double ideal = replayed ? ideal_s : fmax(ideal_bound_s, e->useful_max_s);
    e->source = replayed               ? EFFICIENCY_FROM_REPLAY
                : isnan(ideal_bound_s) ? EFFICIENCY_NO_IDEAL
                                       : EFFICIENCY_FROM_BOUND;
    if (e->source == EFFICIENCY_NO_IDEAL)
        return;
    /* an ideal network is neither slower than the real one nor faster than the work */
    ideal = fmax(e->useful_max_s, fmin(ideal, e->elapsed_s));
    e->serialisation = e->useful_max_s / ideal;
    e->transfer = ideal / e->elapsed_s;
}

struct efficiency efficiency_of(const struct budget *const *budgets, size_t n, double ideal_s,
                                double ideal_bound_s) {
    struct efficiency e = {.elapsed_s = 0, .serialisation = NAN, .transfer = NAN};
    double useful = 0, cpu = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(budgets[i]->wall_s > 0))
            continue;
        double own = efficiency_useful(budgets[i]);
        if (isnan(own))
            return nothing();
        if (e.n_ranks++ == 0 || own > e.useful_max_s) {
            e.useful_max_s = own;
            e.longest = i;
        }
        e.elapsed_s = fmax(e.elapsed_s, budgets[i]->wall_s);
        useful += own;
        cpu += stats_or_zero(budgets[i]->term_s[BUDGET_CPU]);
    }
    if (e.n_ranks < 2 || !(useful > 0))
        return nothing();
    e.useful_mean_s = useful / (double)e.n_ranks;
    e.parallel = e.useful_mean_s / e.elapsed_s;
    e.load_balance = e.useful_mean_s / e.useful_max_s;
    e.communication = e.useful_max_s / e.elapsed_s;
    e.computing = fmin(1, cpu / useful);
    divide(&e, ideal_s, ideal_bound_s);
    return e;
}
