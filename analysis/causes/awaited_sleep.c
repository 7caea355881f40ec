/* SPDX-License-Identifier: MIT */
/*
 * A process sleeps while others wait for it, as wait clocks show (wait_chain.h). Other causes find
 * limits of its host; this one is about the program itself.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"
#include "analysis/facts/series/stats.h"

/* The processes of one program on a host that each sleep until times of their choice: clients that
 * pause between requests. The path passes one after the other, so their parts of it add up.
 */
struct sleepers {
    size_t who; /* the one with most of the path; SIZE_MAX: none has BLOCKED_MIN with its like */
    double demand;
    double awaited; /* how long others waited for them, as a share of the time */
};

/* Whether both choose how long they sleep, or are the same. */
static bool sleep_alike(const struct run_model *model, const bool *chosen, size_t a, size_t b) {
    const struct rank_budget *one = &model->budgets.items[a], *other = &model->budgets.items[b];
    return a == b || (chosen[a] && chosen[b] && one->host == other->host &&
                      key_same_program(one->key, other->key));
}

static double asleep_with(const struct run_model *model, size_t group, const bool *chosen,
                          size_t who) {
    double demand = 0;
    for (size_t r = 0; r < model->budgets.n; r++)
        if (sleep_alike(model, chosen, who, r))
            demand += stats_or_zero(model_rank_demand(model, group, r, BUDGET_IDLE));
    return demand;
}

static double awaited_with(const struct run_model *model, const bool *chosen, size_t who) {
    double awaited = 0;
    for (size_t r = 0; r < model->budgets.n; r++)
        if (sleep_alike(model, chosen, who, r))
            awaited += awaited_share(model, r);
    return fmin(1, awaited);
}

static struct sleepers most_asleep(const struct run_model *model, size_t group,
                                   const bool *chosen) {
    struct sleepers most = {SIZE_MAX, 0, 0};
    double of_one = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        double own = model_rank_demand(model, group, r, BUDGET_IDLE);
        double all = own > 0 ? asleep_with(model, group, chosen, r) : 0;
        if (all > most.demand || (all > 0 && all == most.demand && own > of_one)) {
            most = (struct sleepers){r, all, 0};
            of_one = own;
        }
    }
    if (!(most.demand >= number_of(model, BLOCKED_MIN)))
        most.who = SIZE_MAX;
    else
        most.awaited = awaited_with(model, chosen, most.who);
    return most;
}

/* -ENOMEM. */
static int find_sleepers(const struct run_model *model, size_t group, struct sleepers *ret_most) {
    bool *chosen = calloc(model->budgets.n + 1, sizeof *chosen);
    if (!chosen)
        return -ENOMEM;
    for (size_t r = 0; r < model->budgets.n; r++)
        chosen[r] = awaited_timer_part(model, r, group) >= 0.5;
    *ret_most = most_asleep(model, group, chosen);
    free(chosen);
    return 0;
}

/* A sleep holds up the processes that wait; if none waits, it holds up only the sleeper. */
static bool is_awaited(const struct run_model *model, const struct sleepers *s, size_t group) {
    return group != model->main_group || s->awaited >= s->demand / 2;
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
    struct sleepers s;
    int result = find_sleepers(model, group, &s);
    size_t who = result < 0 ? SIZE_MAX : s.who;
    if (who == SIZE_MAX || !is_awaited(model, &s, group) ||
        awaited_is_for_names(model, who, group) ||
        is_behind_link(model, candidates, who, group, s.demand) ||
        is_behind_pool(candidates, group, model->budgets.items[who].host))
        return result;
    /* the kernel may have kept it asleep because of the host's waits for I/O */
    int host = model->budgets.items[who].host;
    if (candidates_short_of(candidates, host, group, 1u << RESOURCE_DISK | 1u << RESOURCE_MEMORY))
        return 0;
    return awaited_pause_add(model, group, who, BUDGET_IDLE, CAUSE_SLEEP, s.demand, candidates);
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
