/* SPDX-License-Identifier: MIT */
/*
 * A pool of connections that is empty: a process passes its requests on over far fewer connections
 * than it gets them over, and all of these are always in use. The servers behind it sleep, or wait
 * for others, in each request; several requests at once would take no longer. So the sleep happens
 * in the servers, but the process that asks one at a time causes the delay.
 */
#include <errno.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(POOL_FEWER, 2, "times as many connections",                                             \
           "ask as are asked: with one for one nobody waits for a free one")                       \
    NUMBER(POOL_OCCUPIED, 0.8, "of the time",                                                      \
           "a request is under way on each connection: a known ceiling is reached at four fifths")
#define OWN_REMARKS                                                                                \
    REMARK(POOL_IS_EMPTY, "%s has %d connection%[|s] to %s on %s, which its requests wait for",    \
           SLOTS("connections", "connections"), SLOTS("process", "process", "host"))               \
    REMARK(POOL_OF_ASKED,                                                                          \
           "%s is asked over %d connections and asks over %d, where a request is under way %.0f "  \
           "%% of the time",                                                                       \
           SLOTS("asking", "asked", "occupied, %"), SLOTS("process"))                              \
    REMARK(ADVISE_POOL, "give that process on %s a larger pool of connections", SLOTS(),           \
           SLOTS("host"))
#include "analysis/causes/own.h"

/* The process that waited longest for requests to that one. */
static const struct process_wait *longest_for(const struct run_model *model, size_t whom) {
    struct awaited_filter messages = AWAITED_ANY;
    messages.whom = whom;
    messages.kinds = 1u << WAIT_KIND_MESSAGE;
    return awaited_longest(model, messages);
}

static int add_pool(const struct run_model *model, size_t group, const struct process_wait *w,
                    const struct awaited_pool *pool, double demand, struct candidates *candidates) {
    const struct rank_budget *who = &model->budgets.items[w->who],
                             *whom = &model->budgets.items[w->whom];
    struct candidate c = pause_candidate(model, group, w->whom, CAUSE_POOL, BUDGET_IDLE, demand);
    c.host = who->host; /* the scenario removes the sleep of the server */
    c.rank = who->rank;
    remark_set(&c.cause, POOL_IS_EMPTY, NUMBERS(pool->through, pool->through),
               NAMES(who->process, whom->process, model->hosts[whom->host].name));
    remarks_add(&c.evidence, POOL_OF_ASKED,
                NUMBERS(pool->asked, pool->through, 100 * pool->occupied), NAMES(who->process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    for (size_t whom = 0; group == model->main_group && whom < model->budgets.n; whom++) {
        double demand = model_rank_demand(model, group, whom, BUDGET_IDLE);
        const struct process_wait *w =
            demand >= number_of(model, BLOCKED_MIN) ? longest_for(model, whom) : NULL;
        struct awaited_pool pool;
        if (!w || !awaited_pool_find(model, w->who, whom, &pool) ||
            (double)pool.asked < number_of(model, POOL_FEWER) * (double)pool.through ||
            pool.occupied < number_of(model, POOL_OCCUPIED))
            continue;
        int result = add_pool(model, group, w, &pool, demand, candidates);
        if (result < 0)
            return result;
    }
    return 0;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_POOL, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_awaited_pool = {
    .name = "awaited-pool",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_POOL,
    .needs = 1u << SOURCE_WAITS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "requests that a process hands on wait for its few connections, one after the other",
    .detect = detect,
    .advise = advise,
};
