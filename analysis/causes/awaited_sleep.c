/* SPDX-License-Identifier: MIT */
/*
 * A process sleeps while others wait for it, as wait clocks show (wait_chain.h). Other causes find
 * limits of its host; this one is about the program itself.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"

/* A sleep holds up the processes that wait; if none waits, it holds up only the sleeper. */
static bool is_awaited(const struct run_model *model, size_t who, size_t group, double demand) {
    return group != model->main_group || awaited_share(model, who) >= demand / 2;
}

/* Whether its sleep is known only by exclusion, since nothing tells what ended its polls, while a
 * link is short: it may have waited for what came late.
 */
static bool is_behind_link(const struct run_model *model, const struct candidates *candidates,
                           size_t who, size_t group, double demand) {
    if (awaited_timer_part(model, who, group) >= 0.5)
        return false;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (c->group == group && c->saturated && c->blocked >= demand &&
            SHORT_OF_NETWORK >> c->resource & 1)
            return true;
    }
    return false;
}

/* Whether it sleeps in each request, and requests come one after another. */
static bool is_behind_pool(const struct candidates *candidates, size_t group, int host) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].kind == CAUSE_POOL && candidates->items[i].group == group &&
            candidates->items[i].remove.host == host)
            return true;
    return false;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double demand;
    size_t who = awaited_most(model, group, BUDGET_IDLE, &demand);
    if (who == SIZE_MAX || !is_awaited(model, who, group, demand) ||
        awaited_is_for_names(model, who, group) ||
        is_behind_link(model, candidates, who, group, demand) ||
        is_behind_pool(candidates, group, model->budgets.items[who].host))
        return 0;
    /* the kernel may have kept it asleep because of the host's waits for I/O */
    int host = model->budgets.items[who].host;
    if (candidates_short_of(candidates, host, group, 1u << RESOURCE_DISK | 1u << RESOURCE_MEMORY))
        return 0;
    return awaited_pause_add(model, group, who, BUDGET_IDLE, CAUSE_SLEEP, demand, candidates);
}

const struct cause cause_awaited_sleep = {
    .name = "awaited-sleep",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_SLEEP,
    .needs = 1u << SOURCE_WAITS,
    .reason = "processes wait for one that sleeps, by itself or with a lock in its hands",
    .yields_to = YIELDS_TO(&cause_disk, &cause_memory, &cause_awaited_pool, &cause_awaited_workers,
                           &cause_awaited_names),
    .detect = detect,
    .advise = advise_trace,
};
