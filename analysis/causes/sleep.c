/* SPDX-License-Identifier: MIT */
/* A rank sleeps in its own code, is stopped between two samples, or its host stands still. */
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/frozen.h"

#define OWN_REMARKS                                                                                \
    REMARK(SLEEPS, "rank %d sleeps, or waits for a lock, in its own code", SLOTS("rank"), SLOTS(), \
           .is_clause = true)                                                                      \
    REMARK(SLEPT,                                                                                  \
           "rank %d was off its core %.0f %% of the time outside MPI, and waited for no core, "    \
           "disk or memory",                                                                       \
           SLOTS("rank", "slept, %"), SLOTS())                                                     \
    REMARK(STOPPED_AT_LOOKS,                                                                       \
           "rank %d did not run %.0f %% of the time outside MPI, and at about as many looks it "   \
           "was stopped",                                                                          \
           SLOTS("rank", "off its core, %"), SLOTS())                                              \
    REMARK(FROZEN, "the host of rank %d stands still: nothing runs there", SLOTS("rank"), SLOTS()) \
    REMARK(NOTHING_RAN,                                                                            \
           "rank %d did not run %.0f %% of the time; for most of that nothing else ran on its "    \
           "host, not even the agent",                                                             \
           SLOTS("rank", "of the time, %"), SLOTS())                                               \
    REMARK(IDLE_IN_OWN_CODE, "idle: sleeping in its own code, or waiting for a lock", SLOTS(),     \
           SLOTS())
#include "analysis/causes/own.h"

static const struct rank_pause sleeps = {CAUSE_SLEEP, BUDGET_IDLE, &remark_SLEEPS, &remark_SLEPT};
static const struct rank_pause freezes = {CAUSE_FROZEN, BUDGET_IDLE, &remark_FROZEN,
                                          &remark_NOTHING_RAN};

static const struct rank_pause unseen_stops = {CAUSE_STOPPED, BUDGET_IDLE, &remark_STOPPED,
                                               &remark_STOPPED_AT_LOOKS};

/* Whether the host's waits for I/O may have kept the rank asleep. */
static bool rank_slept_for_disk(const struct run_model *model, size_t group, int host,
                                double idle) {
    return model_mean(model, host, METRIC_PSI_IO, group) / 100 >= idle / 2;
}

/* Whether it is the greater part of the rank's sleep. */
static bool is_frozen(const struct run_model *model, size_t group, int host, double idle) {
    struct windows windows = phase_windows(&model->groups[group]);
    return 1e9 * host_frozen_s(model, host, windows) >= idle / 2 * (double)windows_length(windows);
}

/* Stops that begin and end between two scans count as sleep: the stops that scans found represent
 * them. */
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
    if (who == SIZE_MAX || rank_slept_for_disk(model, group, model->budgets.items[who].host, own))
        return 0;
    return rank_pause_add(model, group, who, pause_of(model, group, who, own), demand, candidates);
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    (void)slowed;
    s->cause_kind = CAUSE_SLEEP;
    remark_set(&s->cause, IDLE_IN_OWN_CODE, NUMBERS(), NAMES());
}

/* No advice is known for a host that stands still. */
static void advise(const struct advised *advised) {
    if (advised->c->kind == CAUSE_STOPPED)
        advise_continue(advised);
    else if (advised->c->kind == CAUSE_SLEEP)
        advise_trace(advised);
}

const struct cause cause_sleep = {
    .name = "sleep",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_SLEEP,
    .needs = 1u << SOURCE_CALLS,
    .remarks = own_remarks,
    .reason = "peers wait for a rank that sleeps, or waits for a lock, in its own code",
    .detect = detect,
    .slows = BUDGET_IDLE,
    .explain = explain_slow,
    .advise = advise,
};
