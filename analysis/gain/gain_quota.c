/* SPDX-License-Identifier: MIT */
/*
 * Quotas without calls, from counters: the cost of one for a host that has none, and the most that
 * other changes save under one that is there.
 */
#include <math.h>

#include "analysis/evidence/quota.h"
#include "analysis/gain/gain_private.h"
#include "analysis/gain/gain_warm.h"
#include "analysis/gain/whatif.h"

#define QUOTA_WAIT                                                                                 \
    0.15 /* of its time: the uncertainty that this wait leaves goes into the interval */

/* The CPUs that the processes of a host use, while one of them is recorded, and how many share
 * them: at least as many as they use.
 */
static double cpus_used(const struct run_model *model, int host, size_t group, double wall_s,
                        double *ret_sharing) {
    double sum = 0;
    size_t n = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = gain_budget(model, r, group);
        if (model->budgets.items[r].host != host)
            continue;
        sum += budget_sum(b, BIT(BUDGET_CPU) | BIT(BUDGET_MEMORY)) + b->other_cpu_s;
        n += gain_works(model, r, group);
    }
    *ret_sharing = fmax((double)n, ceil(sum / wall_s));
    return sum / wall_s;
}

/* A throttled process waits for others during that time, or only once it runs again. Which of both
 * is not known, but they differ little if the process waits little.
 */
bool gain_counted_quota(const struct run_model *model, int host, size_t group, double cpus,
                        struct counted *ret_counted) {
    struct counted_loss loss = {.host = host, .rank = -1, .group = group, .terms = BIT(BUDGET_CPU)};
    size_t who = gain_process(model, &loss);
    *ret_counted = COUNTED_NOTHING;
    if (who == SIZE_MAX)
        return false;
    const struct budget *b = gain_budget(model, who, group);
    if (!gain_is_awaited(model, who, group, QUOTA_WAIT * b->wall_s) ||
        budget_sum(b, BIT(BUDGET_QUOTA)) > GAIN_HARDLY * b->wall_s)
        return false; /* or it has a quota already */
    double sharing, used = cpus_used(model, host, group, b->wall_s, &sharing);
    double each = sharing > 0 ? used / sharing : 0, least = fmax(1, used / cpus);
    double most = fmax(least, 1 + each * fmax(0, sharing / cpus - 1));
    ret_counted->gain = gain_warm(1 - (least + most) / 2, 1);
    ret_counted->gain_low = 1 - most * number_of(model, PACE_SLOWER);
    ret_counted->gain_high = 1 - least * number_of(model, PACE_FASTER);
    return true;
}

/* ---- under a quota that is there ---- */

/* Whether the job computes as much as before, with the same quotas. */
static bool leaves_work(const struct whatif_scenario *s) {
    return s->kind == WHATIF_LINK || s->kind == WHATIF_DISK ||
           (s->kind == WHATIF_WITHOUT && s->term != BUDGET_QUOTA);
}

bool gain_may_spin(const struct run_model *model) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].rank >= 0)
            return true;
    return false;
}

double gain_most_within_quota(const struct run_model *model, const struct whatif_scenario *s) {
    double most = NAN, sharing;
    if (!leaves_work(s) || gain_may_spin(model))
        return NAN;
    struct windows windows = phase_windows(&model->groups[model->main_group]);
    for (size_t h = 0; h < model->n_hosts; h++) {
        double job = cpus_used(model, (int)h, model->main_group,
                               (double)windows_length(windows) / 1e9, &sharing);
        double used = job > 0 ? quota_used(model, (int)h, windows, job) : NAN;
        if (!isnan(used))
            most = fmin(most, fmax(0, 1 - used));
    }
    return most;
}
