/* SPDX-License-Identifier: MIT */
/* A process computes in one thread while others wait for it. */
#include <errno.h>

#include "analysis/causes/causes_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(SERIAL_PATH_MIN, 0.5, "of the critical path",                                           \
           "the greater part of it is one thread's computing")                                     \
    NUMBER(WAITS_ALONE, 0.9, "of its host's part of the path",                                     \
           "one process has it: a faster host is a faster process")
#include "analysis/causes/own.h"

/* Whether the process hardly waits, and never runs on more than one core. */
static bool fills_one_core(const struct run_model *model, size_t group, size_t who) {
    const struct budget *b = &model->budgets.items[who].groups[group];
    double busy = awaited_term_share(model, group, who, 1u << BUDGET_CPU | 1u << BUDGET_RUN_QUEUE);
    return busy >= number_of(model, BUSY_RANK) &&
           b->other_cpu_s <= number_of(model, ONE_CORE_LITTLE) * b->wall_s;
}

/* Whether the others wait for it alone, not for several similar processes. */
static bool is_only_one(const struct run_model *model, size_t group, size_t who) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (r != who && awaited_term_share(model, group, r, 1u << BUDGET_CPU) >=
                            number_of(model, BUSY_RANK) / 2)
            return false;
    return model->budgets.n > 1;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double demand;
    size_t who = awaited_most(model, group, BUDGET_CPU, &demand);
    if (who == SIZE_MAX || demand < number_of(model, SERIAL_PATH_MIN) ||
        !fills_one_core(model, group, who) || !is_only_one(model, group, who))
        return 0;
    const struct rank_budget *b = &model->budgets.items[who];
    struct candidate c = pause_candidate(model, group, who, CAUSE_SERIAL, BUDGET_CPU, demand);
    c.resource = RESOURCE_CPU;
    c.path.part = awaited_part(model, group, who, BUDGET_CPU, demand);
    c.path.own = awaited_term_share(model, group, who, 1u << BUDGET_CPU);
    c.can_remove = c.path.part >= number_of(model, WAITS_ALONE);
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_CPU, .host = b->host, .rank = -1, .factor = 2};
    remark_set(&c.cause, PROCESS_COMPUTES_ALONE, NUMBERS(), NAMES());
    remarks_add(&c.evidence, PROCESS_COMPUTED, NUMBERS(100 * c.path.own), NAMES(b->process));
    remarks_add(&c.against, FASTER_CORE_OR_THREADS, NUMBERS(), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

const struct cause cause_awaited_computing = {
    .name = "awaited-computing",
    .resource = RESOURCE_CPU,
    .kind = CAUSE_SERIAL,
    .needs = 1u << SOURCE_WAITS,
    .numbers = own_numbers,
    .reason = "processes wait for one whose only busy thread fills a core",
    .detect = detect,
    .advise = advise_divide,
};
