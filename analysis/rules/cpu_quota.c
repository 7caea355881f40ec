/* SPDX-License-Identifier: MIT */
/*
 * What is taken from a host by decree: the quota of a control group, the hypervisor's steal. The
 * kernel counts both, so the evidence is sure; whether the run waited for it the path must say.
 */
#include <errno.h>
#include <math.h>

#include "analysis/rules/rules_private.h"

static void say_held_back(const struct rank_budget *who, double share, struct candidate *c) {
    if (who->rank >= 0)
        text_list_add(&c->evidence, "rank %d was ready to run and held back %.0f %% of the time",
                      who->rank, 100 * share);
    else
        text_list_add(&c->evidence, "%s was ready to run and held back %.0f %% of the time",
                      who->process, 100 * share);
}

static int add_quota(const struct run_model *model, size_t group, int host, struct quota quota,
                     double demand, struct candidates *candidates) {
    struct candidate c = candidate_of(host, group, RESOURCE_CPU_QUOTA, CAUSE_QUOTA);
    const struct rate *queue = &model->hosts[host].metrics[METRIC_JOB_RUN_QUEUE];
    double mean = model_mean(model, host, METRIC_JOB_RUN_QUEUE, group);
    size_t rank = 0;
    double worst = model_worst_rank(model, group, host, BUDGET_QUOTA, &rank);
    c.blocked = fmin(1, demand);
    c.supply = true;
    c.signals = 2; /* the group's count of throttled time, the ranks' waiting that goes with it */
    c.signal = queue;
    c.factor = mean > 0 ? c.blocked / mean : 0;
    c.terms = 1u << BUDGET_QUOTA;
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_QUOTA};
    c.cause = isnan(quota.cores) ? text_format("its control group has used up its share of CPU")
                                 : text_format("its control group may use %.3g cores", quota.cores);
    text_list_add(&c.evidence, "the kernel kept the group from running %.0f %% of the time",
                  100 * fmin(1, quota.throttled));
    if (worst >= BLOCKED_MIN)
        say_held_back(&model->budgets.items[rank], worst, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Without calls: what the worst process lost, at most what the group was throttled. */
static double quota_demand(const struct run_model *model, size_t group, int host,
                           struct quota quota) {
    double demand = model_demand(model, group, host, BUDGET_QUOTA);
    if (!isnan(demand))
        return demand;
    double worst = model_worst_rank(model, group, host, BUDGET_QUOTA, NULL);
    return isnan(worst) ? fmin(1, quota.throttled) : worst;
}

int saturation_quota(const struct run_model *model, size_t group, struct candidates *candidates) {
    struct windows windows = phase_windows(&model->groups[group]);
    double most = NAN;
    size_t before = candidates->n;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct quota quota = quota_of(model, (int)h, windows);
        most = fmax(most, quota.throttled);
        if (!(quota.throttled >= QUOTA_MIN))
            continue;
        double demand = quota_demand(model, group, (int)h, quota);
        if (demand >= BLOCKED_MIN && add_quota(model, group, (int)h, quota, demand, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && group == model->main_group && most >= QUOTA_MIN)
        text_list_add(
            &candidates->ruled_out,
            "CPU quota: a group was throttled %.0f %% of the time, which hardly held up the "
            "run",
            100 * fmin(1, most));
    return 0;
}

static int add_steal(const struct run_model *model, size_t group, int host, double steal,
                     struct candidates *candidates) {
    struct candidate c = candidate_of(host, group, RESOURCE_STEAL, CAUSE_STEAL);
    double demand = model_demand(model, group, host, BUDGET_STEAL);
    c.blocked = isnan(demand) ? steal / 100 : demand;
    c.supply = true;
    c.signals = 1;
    c.signal = &model->hosts[host].metrics[METRIC_CPU_STEAL];
    c.factor = c.blocked / steal;
    c.terms = 1u << BUDGET_STEAL;
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_STEAL};
    c.cause = text_format("the hypervisor runs others on these cores");
    text_list_add(&c.evidence, "%.1f %% of the cores' time was stolen", steal);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

int saturation_steal(const struct run_model *model, size_t group, struct candidates *candidates) {
    double most = NAN;
    for (size_t h = 0; h < model->n_hosts; h++) {
        double steal = model_mean(model, (int)h, METRIC_CPU_STEAL, group);
        most = fmax(most, steal);
        if (steal >= 100 * STEAL_MIN && add_steal(model, group, (int)h, steal, candidates) < 0)
            return -ENOMEM;
    }
    if (group == model->main_group && most < 100 * STEAL_MIN)
        text_list_add(&candidates->ruled_out,
                      most >= 0.05 ? "steal: %.1f %% at most" : "steal: none", most);
    return 0;
}
