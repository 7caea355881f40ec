/* SPDX-License-Identifier: MIT */
/*
 * CPU time that the quota of a control group takes from a host. The kernel counts it, so the
 * evidence is certain. The path shows whether the run waited for it.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/beside_job.h"

#define OWN_REMARKS                                                                                \
    REMARK(QUOTA_USED_UP, "its control group has used up its share of CPU", SLOTS(), SLOTS())      \
    REMARK(QUOTA_CORES, "its control group may use %.3g cores", SLOTS("cores"), SLOTS())           \
    REMARK(QUOTA_THROTTLED, "the kernel kept the group from running %.0f %% of the time",          \
           SLOTS("throttled, %"), SLOTS())                                                         \
    REMARK(HELD_BACK, "%w was ready to run but throttled %.0f %% of the time",                     \
           SLOTS("rank, or -1", "held back, %"), SLOTS("process"))                                 \
    REMARK(QUOTA_HARMLESS,                                                                         \
           "CPU quota: a group was throttled %.0f %% of the time, which hardly held up the run",   \
           SLOTS("throttled, %"), SLOTS())                                                         \
    REMARK(GROUP_USED_UP, "CPU quota: its control group had used up its share", SLOTS(), SLOTS())  \
    REMARK(ADVISE_RAISE_CPU_MAX,                                                                   \
           "on %s, raise the CPU quota of the control group %s (cpu.max, or cpu.cfs_quota_us of "  \
           "cgroup v1): it is %.0f us in %.0f, %.3g of a core; for a container --cpus sets it, "   \
           "for a batch job the CPUs that it asks for",                                            \
           SLOTS("quota, us", "period, us", "cores"), SLOTS("host", "group"))                      \
    REMARK(ADVISE_RAISE_QUOTA,                                                                     \
           "raise the CPU quota of the job on %s (--cpus of a container, the CPUs asked of the "   \
           "batch system)",                                                                        \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

static int add_quota(const struct run_model *model, size_t group, int host, struct quota quota,
                     double demand, struct candidates *candidates) {
    struct candidate c = candidate_of(host, group, RESOURCE_CPU_QUOTA, CAUSE_QUOTA);
    const struct rate *queue = &model->hosts[host].metrics[METRIC_JOB_RUN_QUEUE];
    double mean = model_mean(model, host, METRIC_JOB_RUN_QUEUE, group);
    size_t rank = 0;
    double worst = model_worst_rank(model, group, host, BUDGET_QUOTA, &rank);
    c.blocked = fmin(1, demand);
    c.saturated = true;
    c.signals = 2; /* the group's throttled time, and the ranks' waits that go with it */
    c.metric.signal = queue;
    c.metric.factor = mean > 0 ? c.blocked / mean : 0;
    c.path.terms = 1u << BUDGET_QUOTA;
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_QUOTA};
    if (isnan(quota.cores))
        remark_set(&c.cause, QUOTA_USED_UP, NUMBERS(), NAMES());
    else
        remark_set(&c.cause, QUOTA_CORES, NUMBERS(quota.cores), NAMES());
    remarks_add(&c.evidence, QUOTA_THROTTLED, NUMBERS(100 * fmin(1, quota.throttled)), NAMES());
    const struct rank_budget *who = &model->budgets.items[rank];
    if (worst >= number_of(model, BLOCKED_MIN))
        remarks_add(&c.evidence, HELD_BACK, NUMBERS(who->rank, 100 * worst), NAMES(who->process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Without calls: the loss of the worst process, at most the group's throttled time. */
static double quota_demand(const struct run_model *model, size_t group, int host,
                           struct quota quota) {
    double demand = model_demand(model, group, host, BUDGET_QUOTA);
    if (!isnan(demand))
        return demand;
    double worst = model_worst_rank(model, group, host, BUDGET_QUOTA, NULL);
    return isnan(worst) ? fmin(1, quota.throttled) : worst;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    struct windows windows = phase_windows(&model->groups[group]);
    double most = NAN;
    size_t before = candidates->n;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct quota quota = quota_of(model, (int)h, windows);
        most = fmax(most, quota.throttled);
        if (!(quota.throttled >= number_of(model, QUOTA_MIN)))
            continue;
        double demand = quota_demand(model, group, (int)h, quota);
        if (demand >= number_of(model, BLOCKED_MIN) &&
            add_quota(model, group, (int)h, quota, demand, candidates) < 0)
            return -ENOMEM;
    }
    struct beside_job beside;
    if (found_none(model, group, candidates, before) && most >= number_of(model, QUOTA_MIN) &&
        beside_job_find(model, group, &beside) < 0)
        remarks_add(&candidates->ruled_out, QUOTA_HARMLESS, NUMBERS(100 * fmin(1, most)), NAMES());
    return 0;
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    (void)slowed;
    s->cause_kind = CAUSE_QUOTA;
    remark_set(&s->cause, GROUP_USED_UP, NUMBERS(), NAMES());
}

static void advise(const struct advised *advised) {
    const struct series *group = advised_most(advised, RECORDING_CGROUP, CGROUP_THROTTLED, "//");
    double quota = group ? advised_level(advised, RECORDING_CGROUP, group, CGROUP_QUOTA) : 0;
    double period = group ? advised_level(advised, RECORDING_CGROUP, group, CGROUP_PERIOD) : 0;
    if (quota > 0 && period > 0)
        remarks_add(advised->next, ADVISE_RAISE_CPU_MAX,
                    NUMBERS(quota / 1e3, period / 1e3, quota / period),
                    NAMES(advised->host, group->name));
    else
        remarks_add(advised->next, ADVISE_RAISE_QUOTA, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_quota = {
    .name = "quota",
    .resource = RESOURCE_CPU_QUOTA,
    .kind = CAUSE_QUOTA,
    .needs = 1u << SOURCE_CGROUP,
    .remarks = own_remarks,
    .reason = "the kernel stops a control group that has used up its share of CPU time",
    .detect = detect,
    .slows = BUDGET_QUOTA,
    .explain = explain_slow,
    .advise = advise,
};
