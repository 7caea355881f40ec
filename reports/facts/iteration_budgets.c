/* SPDX-License-Identifier: MIT */
#include "reports/facts/iteration_budgets.h"

#include <errno.h>
#include <stdlib.h>

static const struct rank_iterations *iterations_of(const struct run_model *model,
                                                   const struct rank_budget *budget) {
    for (size_t i = 0; i < model->iterations.n; i++) {
        const struct rank_iterations *r = &model->iterations.ranks[i];
        if (r->host == budget->host && r->pid == budget->pid && r->n == budget->n_iterations)
            return r;
    }
    return NULL;
}

/* The first group in which it ends, except "all"; 0: none. */
static size_t phase_at(const struct run_model *model, int64_t end_ns) {
    for (size_t g = 1; g < model->n_groups; g++)
        for (size_t i = 0; i < model->groups[g].n; i++)
            if (end_ns > model->groups[g].items[i].begin_ns &&
                end_ns <= model->groups[g].items[i].end_ns)
                return g;
    return 0;
}

static void add_iterations(struct iteration_budgets *to, const struct run_model *model,
                           const struct rank_budget *from, size_t whose) {
    const struct rank_iterations *its = iterations_of(model, from);
    for (size_t i = 0; its && i < its->n; i += to->every)
        to->items[to->n++] = (struct report_iteration_budget){
            .whose = whose,
            .phase = phase_at(model, its->items[i].end_ns),
            .number = its->items[i].number,
            .begin_ns = its->items[i].end_ns - its->items[i].duration_ns,
            .end_ns = its->items[i].end_ns,
            .budget = from->iterations[i]};
}

static size_t count_every(const struct rank_budgets *budgets, size_t every) {
    size_t n = 0;
    for (size_t r = 0; r < budgets->n; r++)
        n += (budgets->items[r].n_iterations + every - 1) / every;
    return n;
}

/* Chooses the same iterations of every rank, so that ranks can be compared. With more ranks than
 * rows, each has its first. */
static size_t choose_every(const struct rank_budgets *budgets) {
    size_t most = 1, every;
    for (size_t r = 0; r < budgets->n; r++)
        if (budgets->items[r].n_iterations > most)
            most = budgets->items[r].n_iterations;
    for (every = 1; every < most && count_every(budgets, every) > ITERATION_BUDGETS_MAX;)
        every++;
    return every;
}

int iteration_budgets_of(const struct run_model *model, struct iteration_budgets *ret_budgets) {
    const struct rank_budgets *budgets = &model->budgets;
    struct iteration_budgets made = {.every = choose_every(budgets)};
    made.items = calloc(count_every(budgets, made.every) + 1, sizeof *made.items);
    if (!made.items)
        return -ENOMEM;
    for (size_t r = 0, whose = 0; r < budgets->n; r++)
        if (budgets->items[r].groups[0].wall_s > 0)
            add_iterations(&made, model, &budgets->items[r], whose++);
    *ret_budgets = made;
    return 0;
}
