/* SPDX-License-Identifier: MIT */
/*
 * A GPU idles since its data come late: the process that gives it work computes them itself, or
 * waits for helpers that compute, or that wait for where the data are.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/causes/gpu_private.h"
#include "analysis/time/process_waits.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(STARVED_HELPER, 0.5, "of a helper's time",                                              \
           "computing, or asleep: the greater part says why its data come late")
#define OWN_REMARKS                                                                                \
    REMARK(GPU_FED_BY_ITSELF,                                                                      \
           "%s itself computes what the GPU waits for, in %.2g threads at once", SLOTS("threads"), \
           SLOTS("process"))                                                                       \
    REMARK(GPU_FED_BY_HELPERS,                                                                     \
           "the GPU waits for data of %s%[| and its like], which %[compute|sleep, or wait for "    \
           "where the data are|wait for a disk|wait for the network]",                             \
           SLOTS("helpers", "1 compute, 2 sleep, 3 disk, 4 network"), SLOTS("process"))            \
    REMARK(GPU_AWAITS_HELPERS, "%s waited %.0f %% of the time for %d process%[|es] without a GPU", \
           SLOTS("waited, %", "helpers", "helpers"), SLOTS("process"))                             \
    REMARK(ADVISE_FEED_ITSELF,                                                                     \
           "let other processes prepare the data of %s while the GPU computes (`num_workers` of "  \
           "its loader), or do that on the GPU; an optimizer belongs on the GPU, too",             \
           SLOTS(), SLOTS("process"))                                                              \
    REMARK(ADVISE_FEED_HELPERS,                                                                    \
           "more processes like %s (`num_workers`, of %d now), less work in each (data decoded "   \
           "before, or on the GPU), or faster access to the data (nearer, cached, larger reads)",  \
           SLOTS("helpers"), SLOTS("process"))
#include "analysis/causes/own.h"

#define COMPUTES 1
#define SLEEPS 2
#define AWAITS_DISK 3
#define AWAITS_NETWORK 4

static int add_itself(const struct run_model *model, size_t group, const struct gpu_use *use,
                      struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[use->who];
    double cpu = budget_sum(&b->groups[group], 1u << BUDGET_CPU);
    double threads = cpu > 0 ? 1 + b->groups[group].other_cpu_s / cpu : 1;
    struct candidate c = gpu_feeding(model, group, use, CAUSE_GPU_STARVED);
    if (!(c.blocked >= number_of(model, BLOCKED_MIN)) || gpu_works(model, &use->computing))
        return 0;
    remark_set(&c.cause, GPU_FED_BY_ITSELF, NUMBERS(threads), NAMES(b->process));
    gpu_tell_work(model, use, &use->computing, &c.evidence);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Helpers that the process which gives the GPU work waits for. */
struct helpers {
    double waited;  /* of the process's time */
    size_t n, most; /* the one waited for longest, as index of the budgets */
    double demand;  /* their computing on the path */
    int does;       /* of that one, as in the remark; 0: not known */
};

/* States of its threads, since one that waits for connections hides another that sleeps. */
static int what_it_does(const struct run_model *model, size_t group, size_t who) {
    static const struct {
        size_t column;
        int does;
    } states[] = {{WAIT_NS_TIMER, SLEEPS},
                  {WAIT_NS_DISK, AWAITS_DISK},
                  {WAIT_NS_SOCKET_RECEIVE, AWAITS_NETWORK}};
    const struct rank_budget *b = &model->budgets.items[who];
    const struct series_set *set = &model->recording->tables[RECORDING_WAIT];
    const struct series *clocks = series_of_pid(set, b->host, WAIT_PID, b->pid);
    double least = number_of(model, STARVED_HELPER);
    if (awaited_term_share(model, group, who, 1u << BUDGET_CPU) >= least)
        return COMPUTES;
    for (size_t i = 0; clocks && i < sizeof states / sizeof *states; i++)
        if (process_waits_growth(set, clocks, states[i].column,
                                 phase_windows(&model->groups[group])) >=
            least * 1e9 * b->groups[group].wall_s)
            return states[i].does;
    return 0;
}

static struct helpers find_helpers(const struct run_model *model, size_t group, size_t user) {
    const struct rank_budgets *all = &model->budgets;
    struct helpers found = {.most = SIZE_MAX};
    double most_s = 0, sum_s = 0;
    for (size_t who = 0; who < rank_budgets_all(all); who++) {
        double s = 0;
        for (size_t i = 0; i < all->n_waits; i++)
            s += all->waits[i].who == user && all->waits[i].whom == who ? all->waits[i].seconds : 0;
        if (!(s > 0) || who == user || all->items[who].host != all->items[user].host ||
            gpu_is_used_by(model, group, who))
            continue;
        found.n++;
        sum_s += s;
        found.demand += fmax(0, model_rank_demand(model, group, who, BUDGET_CPU));
        found.most = s > most_s ? who : found.most;
        most_s = fmax(s, most_s);
    }
    const struct budget *b = &all->items[user].groups[group];
    found.waited =
        b->wall_s > 0
            ? fmin(sum_s, budget_sum(b, 1u << BUDGET_PEER_WAIT | 1u << BUDGET_IDLE)) / b->wall_s
            : 0;
    found.does = found.most == SIZE_MAX ? 0 : what_it_does(model, group, found.most);
    return found;
}

/* Their computing is on the path; other waits are not told so finely, and are a bound. */
static struct candidate candidate_for(const struct run_model *model, size_t group, int host,
                                      const struct helpers *h) {
    struct candidate c = candidate_of(host, group, RESOURCE_APPLICATION, CAUSE_GPU_STARVED);
    double of_host = model_demand(model, group, host, BUDGET_CPU);
    c.saturated = h->does == COMPUTES;
    c.signals = 3;
    c.blocked = h->does == COMPUTES ? h->demand : h->waited;
    c.path.terms =
        h->does == COMPUTES ? 1u << BUDGET_CPU : 1u << BUDGET_PEER_WAIT | 1u << BUDGET_IDLE;
    c.path.part = h->does == COMPUTES && of_host > 0 ? fmin(1, h->demand / of_host) : 1;
    c.can_remove = h->does == COMPUTES;
    c.remove = (struct whatif_scenario){.kind = WHATIF_CPU, .host = host, .rank = -1, .factor = 2};
    return c;
}

static int add_helpers(const struct run_model *model, size_t group, const struct gpu_use *use,
                       const struct helpers *h, struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[use->who];
    struct candidate c = candidate_for(model, group, b->host, h);
    if (!h->does || !(c.blocked >= number_of(model, BLOCKED_MIN)) || gpu_works(model, &use->all))
        return 0;
    remark_set(&c.cause, GPU_FED_BY_HELPERS, NUMBERS((double)h->n, h->does),
               NAMES(model->budgets.items[h->most].process));
    remarks_add(&c.evidence, GPU_AWAITS_HELPERS,
                NUMBERS(100 * h->waited, (double)h->n, (double)h->n), NAMES(b->process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Whether the host has a candidate of that kind. */
static bool has_kind(const struct candidates *candidates, size_t group, int host,
                     enum cause_kind kind) {
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (c->group == group && c->host == host && c->kind == kind)
            return true;
    }
    return false;
}

static int look_for_hunger(const struct run_model *model, size_t group, int host,
                           struct candidates *candidates) {
    struct gpu_use use;
    if (!gpu_use_find(model, group, host, &use) || has_kind(candidates, group, host, CAUSE_INPUT))
        return 0;
    struct helpers h = find_helpers(model, group, use.who);
    int result = add_helpers(model, group, &use, &h, candidates);
    if (result < 0 || has_kind(candidates, group, host, CAUSE_GPU_LAUNCH) ||
        gpu_is_told(candidates, group, host, BUDGET_CPU))
        return result;
    return add_itself(model, group, &use, candidates);
}

/* Waits for other processes are known of the main group alone. */
static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; group == model->main_group && result == 0 && h < (int)model->n_hosts; h++)
        result = look_for_hunger(model, group, h, candidates);
    return result;
}

static void advise(const struct advised *advised) {
    const struct remark *cause = &advised->c->cause;
    if (cause->kind == &remark_GPU_FED_BY_ITSELF)
        remarks_add(advised->next, ADVISE_FEED_ITSELF, NUMBERS(), NAMES(cause->names[0]));
    else
        remarks_add(advised->next, ADVISE_FEED_HELPERS, NUMBERS(cause->numbers[0]),
                    NAMES(cause->names[0]));
}

const struct cause cause_gpu_starved = {
    .name = "gpu-starved",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_GPU_STARVED,
    .needs = 1u << SOURCE_CLOCKS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a GPU computes no faster than its data come",
    .yields_to = YIELDS_TO(&cause_gpu_launch, &cause_awaited_input),
    .detect = detect,
    .advise = advise,
};
