/* SPDX-License-Identifier: MIT */
/*
 * A process that others wait for, where wait clocks tell (wait_chain.h): it sleeps, it is stopped,
 * or it computes in one thread while they wait. Limits of its host are found as those of any other
 * program; this is about the program itself.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"

/* The process with most of a term on the path; SIZE_MAX: none has BLOCKED_MIN. */
static size_t most_on_path(const struct run_model *model, size_t group, enum budget_term term,
                           double *ret_demand) {
    size_t most = SIZE_MAX;
    *ret_demand = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        double demand = model_rank_demand(model, group, r, term);
        if (demand > *ret_demand) {
            *ret_demand = demand;
            most = r;
        }
    }
    return *ret_demand >= BLOCKED_MIN ? most : SIZE_MAX;
}

static double share_of(const struct run_model *model, size_t group, size_t who, unsigned terms) {
    const struct budget *b = &model->budgets.items[who].groups[group];
    return b->wall_s > 0 ? budget_sum(b, terms) / b->wall_s : 0;
}

static double part_of_host(const struct run_model *model, size_t group, size_t who,
                           enum budget_term term, double demand) {
    double of_host = model_demand(model, group, model->budgets.items[who].host, term);
    return of_host > 0 ? fmin(1, demand / of_host) : 1;
}

/* ---- asleep, stopped ---- */

static int add_pause(const struct run_model *model, size_t group, size_t who, enum budget_term term,
                     enum cause cause, double demand, struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[who];
    struct candidate c = pause_candidate(model, group, who, cause, term, demand);
    double locked = awaited_lock_s(model, who, group),
           share = share_of(model, group, who, 1u << term);
    c.part = part_of_host(model, group, who, term, demand);
    if (cause == CAUSE_STOPPED)
        remark_set(&c.cause, PROCESS_STOPPED, NUMBERS(), NAMES(b->process));
    else if (locked >= share * b->groups[group].wall_s / 2)
        remark_set(&c.cause, PROCESS_HOLDS_LOCK, NUMBERS(), NAMES(b->process));
    else
        remark_set(&c.cause, PROCESS_SLEEPS, NUMBERS(), NAMES(b->process));
    remarks_add(&c.evidence, PROCESS_PAUSED, NUMBERS(100 * share), NAMES(b->process));
    if (cause != CAUSE_STOPPED && locked > 0)
        remarks_add(&c.evidence, THREADS_WAITED_FOR_LOCK, NUMBERS(locked), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* A sleep holds up those that wait for the process; one for which nobody waits holds up itself
 * alone. */
static bool is_awaited(const struct run_model *model, size_t who, size_t group, double demand) {
    return group != model->main_group || awaited_share(model, who) >= demand / 2;
}

/* It sleeps in each request, and requests come one after the other. */
static bool is_behind_pool(const struct candidates *candidates, size_t group, int host) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].kind == CAUSE_POOL && candidates->items[i].group == group &&
            candidates->items[i].remove.host == host)
            return true;
    return false;
}

int awaited_sleep_detect(const struct run_model *model, size_t group,
                         struct candidates *candidates) {
    double demand;
    size_t who = most_on_path(model, group, BUDGET_IDLE, &demand);
    if (who == SIZE_MAX || !is_awaited(model, who, group, demand) ||
        awaited_is_for_names(model, who, group) ||
        is_behind_pool(candidates, group, model->budgets.items[who].host))
        return 0;
    /* the kernel may have kept it asleep because of the host's waits for I/O */
    int host = model->budgets.items[who].host;
    if (candidates_short_of(candidates, host, group, 1u << RESOURCE_DISK | 1u << RESOURCE_MEMORY))
        return 0;
    return add_pause(model, group, who, BUDGET_IDLE, CAUSE_SLEEP, demand, candidates);
}

int awaited_stop_detect(const struct run_model *model, size_t group,
                        struct candidates *candidates) {
    double demand;
    size_t who = most_on_path(model, group, BUDGET_STOPPED, &demand);
    return who == SIZE_MAX
               ? 0
               : add_pause(model, group, who, BUDGET_STOPPED, CAUSE_STOPPED, demand, candidates);
}

/* ---- one thread computes ---- */

/* It hardly waits for anything, and never runs on more than one core. */
static bool fills_one_core(const struct run_model *model, size_t group, size_t who) {
    const struct budget *b = &model->budgets.items[who].groups[group];
    double busy = share_of(model, group, who, 1u << BUDGET_CPU | 1u << BUDGET_RUN_QUEUE);
    return busy >= BUSY_RANK && b->other_cpu_s <= ONE_CORE_LITTLE * b->wall_s;
}

/* The others wait for one alone, not for several that are alike. */
static bool is_only_one(const struct run_model *model, size_t group, size_t who) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (r != who && share_of(model, group, r, 1u << BUDGET_CPU) >= BUSY_RANK / 2)
            return false;
    return model->budgets.n > 1;
}

int awaited_computing_detect(const struct run_model *model, size_t group,
                             struct candidates *candidates) {
    double demand;
    size_t who = most_on_path(model, group, BUDGET_CPU, &demand);
    if (who == SIZE_MAX || demand < SERIAL_PATH_MIN || !fills_one_core(model, group, who) ||
        !is_only_one(model, group, who))
        return 0;
    const struct rank_budget *b = &model->budgets.items[who];
    struct candidate c = pause_candidate(model, group, who, CAUSE_SERIAL, BUDGET_CPU, demand);
    c.resource = RESOURCE_CPU;
    c.part = part_of_host(model, group, who, BUDGET_CPU, demand);
    c.own = share_of(model, group, who, 1u << BUDGET_CPU);
    c.can_remove = c.part >= WAITS_ALONE;
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_CPU, .host = b->host, .rank = -1, .factor = 2};
    remark_set(&c.cause, PROCESS_COMPUTES_ALONE, NUMBERS(), NAMES());
    remarks_add(&c.evidence, PROCESS_COMPUTED, NUMBERS(100 * c.own), NAMES(b->process));
    remarks_add(&c.against, FASTER_CORE_OR_THREADS, NUMBERS(), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* ---- who waits for whom ---- */

void awaited_tell(const struct run_model *model, int host, struct remarks *to) {
    struct awaited_filter there = AWAITED_ANY;
    there.host = host;
    const struct process_wait *w = awaited_longest(model, there);
    if (!w)
        return;
    const struct rank_budget *who = &model->budgets.items[w->who],
                             *whom = &model->budgets.items[w->whom];
    double wall_s = who->groups[model->main_group].wall_s;
    if (wall_s > 0 && w->seconds >= BLOCKED_MIN * wall_s)
        remarks_add(to, WAITED_FOR_PROCESS,
                    NUMBERS(100 * fmin(1, w->seconds / wall_s), w->kind + 1),
                    NAMES(who->process, model->hosts[who->host].name, whom->process,
                          model->hosts[whom->host].name));
}
