/* SPDX-License-Identifier: MIT */
/* A rank that sleeps in its own code, is stopped between two looks, or whose host stands still. */
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/frozen.h"

static const struct rank_pause sleeps = {CAUSE_SLEEP, BUDGET_IDLE, REMARK_SLEEPS, REMARK_SLEPT};
static const struct rank_pause freezes = {CAUSE_FROZEN, BUDGET_IDLE, REMARK_FROZEN,
                                          REMARK_NOTHING_RAN};

static const struct rank_pause unseen_stops = {CAUSE_STOPPED, BUDGET_IDLE, REMARK_STOPPED,
                                               REMARK_STOPPED_AT_LOOKS};

/* The rank may have slept because of the host's waits for I/O. */
static bool is_for_disk(const struct run_model *model, size_t group, int host, double idle) {
    return model_mean(model, host, METRIC_PSI_IO, group) / 100 >= idle / 2;
}

/* The greater part of the rank's sleep. */
static bool is_frozen(const struct run_model *model, size_t group, int host, double idle) {
    struct windows windows = phase_windows(&model->groups[group]);
    return 1e9 * host_frozen_s(model, host, windows) >= idle / 2 * (double)windows_length(windows);
}

/* Stops that begin and end between two scans count as sleep: what the scans found speaks for all.
 */
static bool is_stopped(const struct run_model *model, size_t group, size_t who, double idle) {
    const struct rank_budget *b = &model->budgets.items[who];
    struct windows windows = phase_windows(&model->groups[group]);
    double pause = idle + fmax(rank_share(model, group, who, BUDGET_STOPPED), 0);
    return process_stopped_part(model, b->host, b->pid, windows) >= pause / 2;
}

static const struct rank_pause *pause_of(const struct run_model *model, size_t group, size_t who,
                                         double idle) {
    int host = model->budgets.items[who].host;
    return is_frozen(model, group, host, idle)   ? &freezes
           : is_stopped(model, group, who, idle) ? &unseen_stops
                                                 : &sleeps;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double demand;
    size_t who = rank_pause_longest(model, group, BUDGET_IDLE, &demand);
    double own = who == SIZE_MAX ? 0 : rank_share(model, group, who, BUDGET_IDLE);
    if (who == SIZE_MAX || is_for_disk(model, group, model->budgets.items[who].host, own))
        return 0;
    return rank_pause_add(model, group, who, pause_of(model, group, who, own), demand, candidates);
}

const struct cause cause_sleep = {
    .name = "sleep",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_SLEEP,
    .needs = 1u << SOURCE_CALLS,
    .reason = "peers wait for a rank that sleeps, or waits for a lock, in its own code",
    .detect = detect,
};
