/* SPDX-License-Identifier: MIT */
/*
 * Input that comes too late: a rank waits for a helper, a process without a rank that makes its
 * data (a loader that it forked). The helper may sleep (for a remote file, or by itself) or
 * compute. If its host lacks a disk, memory or cores, the causes for these say more.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"

#define OWN_REMARKS                                                                                \
    REMARK(INPUT_IS_LATE,                                                                          \
           "input: rank %d waits for data of %s, which %[sleeps, or waits for something outside "  \
           "the job|computes]",                                                                    \
           SLOTS("rank", "helper: 1 sleeps, 2 computes"), SLOTS("process"),                        \
           .label = "input: ", .is_clause = true)                                                  \
    REMARK(ADVISE_INPUT,                                                                           \
           "give rank %d on %s more processes that load its data, or let each do less for a step " \
           "(data decoded before, or nearer)",                                                     \
           SLOTS("rank"), SLOTS("host"))
#include "analysis/causes/own.h"

#define SLEEPS 1
#define COMPUTES 2

/* The rank that waited longest for a helper; SIZE_MAX: no rank waited. */
static size_t rank_behind(const struct run_model *model, size_t helper) {
    struct awaited_filter ranks = AWAITED_ANY;
    ranks.whom = helper;
    ranks.by_beginner = true;
    const struct process_wait *longest = awaited_longest(model, ranks);
    return longest ? longest->who : SIZE_MAX;
}

static int add_input(const struct run_model *model, size_t group, size_t helper, size_t rank,
                     enum budget_term term, double demand, struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[helper];
    double of_host = model_demand(model, group, b->host, term), wall_s = b->groups[group].wall_s;
    struct candidate c = pause_candidate(model, group, helper, CAUSE_INPUT, term, demand);
    c.rank = model->budgets.items[rank].rank;
    c.path.part = of_host > 0 ? fmin(1, demand / of_host) : 1;
    if (term == BUDGET_CPU)
        c.remove =
            (struct whatif_scenario){.kind = WHATIF_CPU, .host = b->host, .rank = -1, .factor = 2};
    remark_set(&c.cause, INPUT_IS_LATE, NUMBERS(c.rank, term == BUDGET_CPU ? COMPUTES : SLEEPS),
               NAMES(b->process));
    double share = wall_s > 0 ? budget_sum(&b->groups[group], 1u << term) / wall_s : 0;
    if (term == BUDGET_CPU)
        remarks_add(&c.evidence, PROCESS_COMPUTED, NUMBERS(100 * share), NAMES(b->process));
    else
        remarks_add(&c.evidence, PROCESS_PAUSED, NUMBERS(100 * share), NAMES(b->process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    static const enum budget_term terms[] = {BUDGET_IDLE, BUDGET_CPU};
    size_t helper = SIZE_MAX;
    enum budget_term term = BUDGET_IDLE;
    double most = 0;
    for (size_t r = model->budgets.n; r < rank_budgets_all(&model->budgets); r++)
        for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
            double demand = model_rank_demand(model, group, r, terms[t]);
            if (demand > most && rank_behind(model, r) != SIZE_MAX) {
                most = demand;
                helper = r;
                term = terms[t];
            }
        }
    if (helper == SIZE_MAX || most < number_of(model, BLOCKED_MIN))
        return 0;
    int host = model->budgets.items[helper].host;
    if (term == BUDGET_IDLE &&
        candidates_short_of(candidates, host, group, 1u << RESOURCE_DISK | SHORT_OF_MEMORY))
        return 0;
    return add_input(model, group, helper, rank_behind(model, helper), term, most, candidates);
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_INPUT, NUMBERS(advised->c->rank), NAMES(advised->host));
}

const struct cause cause_awaited_input = {
    .name = "awaited-input",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_INPUT,
    .needs = 1u << SOURCE_WAITS,
    .remarks = own_remarks,
    .reason = "a rank waits for its helper, which makes or reads its data too slowly",
    .yields_to = YIELDS_TO(&cause_disk, &cause_memory),
    .detect = detect,
    .advise = advise,
};
