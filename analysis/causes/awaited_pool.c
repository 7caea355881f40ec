/* SPDX-License-Identifier: MIT */
/*
 * A pool of connections that is empty: a process passes its requests on over far fewer connections
 * than it gets them over, and all of these are always in use. The servers behind it sleep, or wait
 * for others, in each request; several requests at once would take no longer. So the sleep happens
 * in the servers, but the process that asks one at a time causes the delay.
 *
 * Requests may pass several processes. The first of them that hands on fewer at once than it is
 * asked is the pool.
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

#define HOPS 6

/* Processes from the one that sleeps to the one that begins the requests. */
struct askers {
    size_t who[HOPS];
    size_t n;
};

static struct askers askers_of(const struct run_model *model, size_t sleeper) {
    struct askers a = {.who = {sleeper}, .n = 1};
    while (a.n < HOPS) {
        const struct process_wait *w = longest_for(model, a.who[a.n - 1]);
        for (size_t i = 0; w && i < a.n; i++)
            if (a.who[i] == w->who)
                w = NULL;
        if (!w)
            break;
        a.who[a.n++] = w->who;
    }
    return a;
}

/* A process that has too few connections to the next one. */
struct narrow {
    size_t who, whom;
    struct awaited_pool pool;
};

/* Requests under way before a process are at most those that were asked before. Short connections
 * hide how many that are.
 */
static bool find_narrow(const struct run_model *model, size_t sleeper, struct narrow *ret_narrow) {
    struct askers a = askers_of(model, sleeper);
    size_t offered = 0;
    for (size_t i = a.n; i-- > 1;) {
        struct narrow n = {.who = a.who[i], .whom = a.who[i - 1]};
        bool hands_on = awaited_pool_find(model, n.who, n.whom, &n.pool);
        if (!n.pool.asked || (offered && n.pool.asked > offered))
            n.pool.asked = offered;
        offered = n.pool.asked;
        *ret_narrow = n;
        if (hands_on &&
            (double)n.pool.asked >= number_of(model, POOL_FEWER) * (double)n.pool.through &&
            n.pool.occupied >= number_of(model, POOL_OCCUPIED))
            return true;
    }
    return false;
}

static int add_pool(const struct run_model *model, size_t group, size_t sleeper,
                    const struct narrow *n, double demand, struct candidates *candidates) {
    const struct rank_budget *who = &model->budgets.items[n->who],
                             *whom = &model->budgets.items[n->whom];
    struct candidate c = pause_candidate(model, group, sleeper, CAUSE_POOL, BUDGET_IDLE, demand);
    c.host = who->host; /* the scenario removes the sleep of the server */
    c.rank = who->rank;
    remark_set(&c.cause, POOL_IS_EMPTY, NUMBERS(n->pool.through, n->pool.through),
               NAMES(who->process, whom->process, model->hosts[whom->host].name));
    remarks_add(&c.evidence, POOL_OF_ASKED,
                NUMBERS(n->pool.asked, n->pool.through, 100 * n->pool.occupied),
                NAMES(who->process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    for (size_t whom = 0; group == model->main_group && whom < model->budgets.n; whom++) {
        double demand = model_rank_demand(model, group, whom, BUDGET_IDLE);
        struct narrow narrow;
        if (demand < number_of(model, BLOCKED_MIN) || !find_narrow(model, whom, &narrow))
            continue;
        int result = add_pool(model, group, whom, &narrow, demand, candidates);
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
