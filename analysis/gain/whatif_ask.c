/* SPDX-License-Identifier: MIT */
/* A question and its answer: always a bound, then a replay if it can tell, else counters. */
#include <errno.h>
#include <math.h>

#include "analysis/gain/whatif_private.h"

/* Limits of a process outside its calls, or in file calls. */
static bool can_be_without(enum budget_term term) {
    enum budget_class class = budget_term_class(term);
    return class == BUDGET_CLASS_LACKING || class == BUDGET_CLASS_ASLEEP || term == BUDGET_FILE;
}

static bool makes_sense(const struct whatif *w, const struct whatif_scenario *s) {
    if (s->host >= (int)w->model->n_hosts)
        return false;
    if (s->kind == WHATIF_LINK)
        return s->rate_bytes_s > 0 || (s->factor > 0 && isfinite(s->factor));
    if (s->kind == WHATIF_CPU || s->kind == WHATIF_QUOTA || s->kind == WHATIF_LATENCY ||
        s->kind == WHATIF_DISK || s->kind == WHATIF_RANK)
        return s->factor > 0 && isfinite(s->factor);
    return s->kind != WHATIF_WITHOUT || can_be_without(s->term);
}

int whatif_ask(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
               struct whatif_answer *ret_answer) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    double least_s = 0, paths_s = 0;
    int prepared = whatif_prepare(w);
    if (prepared < 0)
        return prepared;
    struct whatif_answer a = {.refused = w->refused,
                              .measured_s = part->length_s,
                              .replay_s = NAN,
                              .predicted_s = NAN,
                              .calls_s = NAN,
                              .low_s = NAN,
                              .high_s = NAN,
                              .gain = NAN,
                              .gain_low = NAN,
                              .gain_high = NAN};
    for (size_t i = 0; i < n; i++)
        if (!makes_sense(w, &scenarios[i]))
            return -EINVAL;
    double removed = whatif_removable(w, scenarios, n);
    a.elsewhere_s = whatif_elsewhere(w, scenarios, n);
    a.bound_s = isnan(removed) ? NAN : fmax(a.measured_s - removed, 0);
    a.gain_max = a.measured_s > 0 ? 1 - a.bound_s / a.measured_s : NAN;
    if (!isnan(w->replay_s) && w->measured_s > 0)
        a.replay_s = a.measured_s * w->replay_s / w->measured_s;
    for (size_t i = 0; !a.refused.code && i < n; i++)
        a.refused = whatif_beyond_replay(w, &scenarios[i]);
    int result = a.refused.code ? 0 : whatif_predict(w, scenarios, n, &a);
    if (result == 0 && n == 1)
        result = whatif_doubt(w, &scenarios[0], &a);
    if (result == 0 && !a.replayed)
        result = whatif_count(w, scenarios, n, &a);
    if (result == 0)
        result = whatif_least(w, scenarios, n, &least_s);
    if (result == 0 && n == 1 && isnan(a.predicted_s))
        result = whatif_least_by_paths(w, &scenarios[0], &paths_s);
    whatif_sure_bound(w, fmax(least_s, paths_s), &a);
    if (result == 0) {
        whatif_of_run(w, scenarios, n, &a);
        *ret_answer = a;
    }
    return result;
}
