/* SPDX-License-Identifier: MIT */
/* CPU time that the hypervisor takes from a host. The kernel counts it, so the evidence is
 * certain. */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(STEAL_MIN, 0.03, "of the cores' time", "less is the hypervisor's own work")
#define OWN_REMARKS                                                                                \
    REMARK(HYPERVISOR_RUNS_OTHERS, "the hypervisor runs others on these cores", SLOTS(), SLOTS())  \
    REMARK(STOLEN, "%.1f %% of the cores' time was stolen", SLOTS("stolen, %"), SLOTS())           \
    REMARK(STEAL_LITTLE, "steal: %.1f %% at most", SLOTS("stolen, %"), SLOTS())                    \
    REMARK(STEAL_NONE, "steal: none", SLOTS(), SLOTS())                                            \
    REMARK(CORE_STOLEN, "steal: the hypervisor gave its core to others", SLOTS(), SLOTS())         \
    REMARK(ADVISE_MOVE_HOST,                                                                       \
           "have %s moved to a less crowded machine, or ask for cores of its own: the "            \
           "hypervisor's side decides",                                                            \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

static int add_steal(const struct run_model *model, size_t group, int host, double steal,
                     struct candidates *candidates) {
    struct candidate c = candidate_of(host, group, RESOURCE_STEAL, CAUSE_STEAL);
    double demand = model_demand(model, group, host, BUDGET_STEAL);
    c.blocked = isnan(demand) ? steal / 100 : demand;
    c.saturated = true;
    c.signals = 1;
    c.metric.signal = &model->hosts[host].metrics[METRIC_CPU_STEAL];
    c.metric.factor = c.blocked / steal;
    c.path.terms = 1u << BUDGET_STEAL;
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_STEAL};
    remark_set(&c.cause, HYPERVISOR_RUNS_OTHERS, NUMBERS(), NAMES());
    remarks_add(&c.evidence, STOLEN, NUMBERS(steal), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double most = NAN;
    for (size_t h = 0; h < model->n_hosts; h++) {
        double steal = model_mean(model, (int)h, METRIC_CPU_STEAL, group);
        most = fmax(most, steal);
        if (steal >= 100 * number_of(model, STEAL_MIN) &&
            add_steal(model, group, (int)h, steal, candidates) < 0)
            return -ENOMEM;
    }
    if (group == model->main_group && most < 100 * number_of(model, STEAL_MIN)) {
        if (most >= 0.05)
            remarks_add(&candidates->ruled_out, STEAL_LITTLE, NUMBERS(most), NAMES());
        else
            remarks_add(&candidates->ruled_out, STEAL_NONE, NUMBERS(), NAMES());
    }
    return 0;
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    (void)slowed;
    s->cause_kind = CAUSE_STEAL;
    remark_set(&s->cause, CORE_STOLEN, NUMBERS(), NAMES());
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_MOVE_HOST, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_steal = {
    .name = "steal",
    .resource = RESOURCE_STEAL,
    .kind = CAUSE_STEAL,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "the hypervisor runs somebody else on the core",
    .detect = detect,
    .slows = BUDGET_STEAL,
    .explain = explain_slow,
    .advise = advise,
};
