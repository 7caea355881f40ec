/* SPDX-License-Identifier: MIT */
/*
 * The answer for the whole run, as in the verdict. A replay covers only the main phase. The gain in
 * the rest of the run, which a fault also holds up, follows from the critical path and, if ranks
 * run freely, from the core time that they lost while all waited for each other (start and end).
 */
#include <math.h>

#include "analysis/gain/throughput.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/run_model.h"

static double seconds_of(const struct run_model *model, size_t group) {
    return (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
}

/* The share of the path outside the main phase that the change saves, in the replay's proportion.
 */
static double on_the_path(const struct whatif_answer *a, double run_s) {
    double of_bound = a->gain_max > 0 ? fmin(1, fmax(0, a->gain / a->gain_max)) : 0;
    if (a->gain < 0) /* slower: all of it remains */
        of_bound = 1;
    return a->replayed && (a->elsewhere_s > 0) == (a->gain > 0) ? of_bound * a->elsewhere_s / run_s
                                                                : 0;
}

static double lost_beside(const struct run_model *model, const struct whatif_scenario *s) {
    return s->kind == WHATIF_WITHOUT && s->host >= 0
               ? throughput_lost_beside(model, s->host, -1, 1u << s->term)
               : 0;
}

void whatif_of_run(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                   struct whatif_answer *a) {
    const struct run_model *model = w->model;
    double run_s = seconds_of(model, 0);
    a->run_gain = a->run_low = a->run_high = NAN;
    if (isnan(a->gain) || !(run_s > 0))
        return;
    double part = seconds_of(model, model->main_group) / run_s,
           beside = a->beside + on_the_path(a, run_s);
    if (a->iterations && n == 1)
        beside += lost_beside(model, &scenarios[0]);
    a->run_gain = part * a->gain + beside;
    a->run_low = part * a->gain_low + fmin(beside, 0);
    a->run_high = part * a->gain_high + fmax(beside, 0);
}
