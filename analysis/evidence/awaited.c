/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/awaited.h"

#include <math.h>

#include "analysis/time/process_waits.h"

double awaited_share(const struct run_model *model, size_t who) {
    double most = 0;
    for (size_t i = 0; i < model->budgets.n_waits; i++) {
        const struct process_wait *w = &model->budgets.waits[i];
        double wall_s = model->budgets.items[w->who].groups[model->main_group].wall_s;
        if (w->whom == who && wall_s > 0)
            most = fmax(most, w->seconds / wall_s);
    }
    return fmin(1, most);
}

double awaited_lock_s(const struct run_model *model, size_t who, size_t group) {
    const struct series_set *set = &model->recording->tables[RECORDING_WAKEUP];
    const struct rank_budget *b = &model->budgets.items[who];
    double sum = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *pair = &set->items[s];
        if (pair->host == b->host && series_last(set, pair, WAKEUP_PID) == b->pid &&
            series_last(set, pair, WAKEUP_WAKER) == b->pid &&
            process_waits_kind(set, pair) == WAIT_KIND_LOCK)
            sum +=
                process_waits_growth(set, pair, WAKEUP_WAIT, phase_windows(&model->groups[group]));
    }
    return sum / 1e9;
}
