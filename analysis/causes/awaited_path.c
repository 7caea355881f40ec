/* SPDX-License-Identifier: MIT */
/*
 * The process with most of a term on the path from wait clocks (wait_chain.h), and the candidate
 * for its pauses.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited.h"

/* The process with most of a term on the path; SIZE_MAX: no process has BLOCKED_MIN. */
size_t awaited_most(const struct run_model *model, size_t group, enum budget_term term,
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
    return *ret_demand >= number_of(model, BLOCKED_MIN) ? most : SIZE_MAX;
}

double awaited_term_share(const struct run_model *model, size_t group, size_t who, unsigned terms) {
    const struct budget *b = &model->budgets.items[who].groups[group];
    return b->wall_s > 0 ? budget_sum(b, terms) / b->wall_s : 0;
}

double awaited_part(const struct run_model *model, size_t group, size_t who, enum budget_term term,
                    double demand) {
    double of_host = model_demand(model, group, model->budgets.items[who].host, term);
    return of_host > 0 ? fmin(1, demand / of_host) : 1;
}

/* Says in which way the process pauses, and what its threads waited for meanwhile. */
static void say_sleep(const struct rank_budget *b, const struct awaited_lock *lock,
                      struct candidate *c) {
    if (!lock->asleep) {
        remark_set(&c->cause, PROCESS_SLEEPS, NUMBERS(), NAMES(b->process));
        return;
    }
    c->kind = CAUSE_LOCK;
    remark_set(&c->cause, PROCESS_HOLDS_LOCK, NUMBERS(), NAMES(b->process));
    remarks_add(&c->evidence, THREADS_WAITED_FOR_LOCK, NUMBERS(lock->waited_s), NAMES());
}

/* Whether it is certain that the process held others up by its sleep: it chose the time, or they
 * waited for longer than it was busy. Else its clocks tell it only by exclusion.
 */
static bool is_certain(const struct run_model *model, size_t group, size_t who, double demand) {
    return awaited_timer_part(model, who, group) >= 0.5 ||
           awaited_while_idle(model, who, group) >= demand / 2;
}

int awaited_pause_add(const struct run_model *model, size_t group, size_t who,
                      enum budget_term term, enum cause_kind cause, double demand,
                      struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[who];
    struct candidate c = pause_candidate(model, group, who, cause, term, demand);
    struct awaited_lock lock;
    double share = awaited_term_share(model, group, who, 1u << term);
    int result = awaited_lock_find(model, who, group, &lock);
    if (result < 0)
        return result;
    c.path.part = awaited_part(model, group, who, term, demand);
    remarks_add(&c.evidence, PROCESS_PAUSED, NUMBERS(100 * share), NAMES(b->process));
    if (cause == CAUSE_STOPPED)
        remark_set(&c.cause, PROCESS_STOPPED, NUMBERS(), NAMES(b->process));
    else
        say_sleep(b, &lock, &c);
    c.saturated = c.kind != CAUSE_SLEEP || is_certain(model, group, who, demand);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}
