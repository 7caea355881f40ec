/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/asked.h"

#include <math.h>

#include "analysis/number.h"

/* Cores that the job used. The CPU time of a child that ends counts at once, whenever it was used,
 * but the job never used more than its host.
 */
static double used_cores(const struct run_model *model, int host) {
    double used = model_mean(model, host, METRIC_JOB_CPU, model->main_group) / 100;
    double idle = model_mean(model, host, METRIC_CPU_IDLE, model->main_group) / 100;
    double most = isnan(idle) ? INFINITY : (1 - idle) * model->hosts[host].n_cpus;
    return isnan(used) ? 0 : fmin(used, most);
}

double asked_cores(const struct run_model *model) {
    double cores = 0;
    for (size_t h = 0; h < model->n_hosts; h++) {
        double queued = model_mean(model, (int)h, METRIC_JOB_RUN_QUEUE, model->main_group);
        cores += used_cores(model, (int)h) + (isnan(queued) ? 0 : queued / 100);
    }
    return model->budgets.n ? cores : NAN;
}

/* The largest share of a process's time that is a wait for something: it did not compute and was
 * not asleep.
 */
static double most_waited(const struct run_model *model) {
    const unsigned asleep = 1u << BUDGET_CPU | 1u << BUDGET_IDLE;
    double most = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = &model->budgets.items[r].groups[model->main_group];
        if (b->wall_s > 0)
            most = fmax(most, budget_sum(b, ~asleep) / b->wall_s);
    }
    return most;
}

bool asks_nothing(const struct run_model *model) {
    double least = number_of(model, GAIN_MIN);
    return asked_cores(model) < least && most_waited(model) < least;
}
