/* SPDX-License-Identifier: MIT */
/* The budgets of ranks, phase by phase, and what is to be said of them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"

const char *report_budget_source(enum budget_source source) {
    static const char *const names[] = {"events", "clocks", "totals", "counters"};
    return names[source];
}

static double percent(double share) {
    return 100 * share;
}

static int add_budget(struct report *report, const struct run_model *model, size_t group,
                      const struct rank_budget *from) {
    const struct budget *b = &from->groups[group];
    const struct transfer_split *split = &from->splits[group];
    struct report_budget *to = &report->budget[report->n_budget++];
    const struct phase_group *phase = &model->groups[group];
    bool main = group == model->main_group;
    *to = (struct report_budget){.host = from->host,
                                 .rank = from->rank,
                                 .pid = from->pid,
                                 .begin_ns = phase->n ? phase->items[0].begin_ns : 0,
                                 .end_ns = phase->n ? phase->items[phase->n - 1].end_ns : 0,
                                 .phase = strdup(report->resources[group].phase),
                                 .wall_s = b->wall_s,
                                 .unknown_s = b->unknown_s,
                                 .other_cpu_s = b->other_cpu_s,
                                 .closure_pct = b->closure_pct,
                                 .trusted = budget_closes(b),
                                 .source = report_budget_source(b->source),
                                 .path_pct = percent(split->path),
                                 .receiver_pct = percent(split->receiver),
                                 .send_buffer_pct = percent(split->send_buffer),
                                 .awaited_host = main ? from->awaited_host : -1,
                                 .awaited_rank = main ? from->awaited_rank : -1,
                                 .awaited_s = main ? from->awaited_s : NAN};
    memcpy(to->term_s, b->term_s, sizeof to->term_s);
    snprintf(to->process, sizeof to->process, "%s", from->process);
    return to->phase ? 0 : -ENOMEM;
}

/* ---- iterations ---- */

static const struct rank_iterations *iterations_of(const struct run_model *model,
                                                   const struct rank_budget *budget) {
    for (size_t i = 0; i < model->iterations.n; i++) {
        const struct rank_iterations *r = &model->iterations.ranks[i];
        if (r->host == budget->host && r->pid == budget->pid && r->n == budget->n_iterations)
            return r;
    }
    return NULL;
}

/* The first group but "all" in which it ends; 0: none. */
static size_t phase_at(const struct run_model *model, int64_t end_ns) {
    for (size_t g = 1; g < model->n_groups; g++)
        for (size_t i = 0; i < model->groups[g].n; i++)
            if (end_ns > model->groups[g].items[i].begin_ns &&
                end_ns <= model->groups[g].items[i].end_ns)
                return g;
    return 0;
}

static void add_iterations(struct report *report, const struct run_model *model,
                           const struct rank_budget *from, size_t whose) {
    const struct rank_iterations *its = iterations_of(model, from);
    for (size_t i = 0; its && i < its->n; i += report->iteration_budgets_every)
        report->iteration_budgets[report->n_iteration_budgets++] = (struct report_iteration_budget){
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

/* The same ones of every rank, so that ranks can be compared; with more ranks than there may be
 * rows, the first of each. */
static size_t choose_every(const struct rank_budgets *budgets) {
    size_t most = 1, every;
    for (size_t r = 0; r < budgets->n; r++)
        if (budgets->items[r].n_iterations > most)
            most = budgets->items[r].n_iterations;
    for (every = 1; every < most && count_every(budgets, every) > REPORT_ITERATION_BUDGETS_MAX;)
        every++;
    return every;
}

/* The entries of the whole run are there, by rank. */
static int fill_iterations(struct report *report, const struct run_model *model) {
    const struct rank_budgets *budgets = &model->budgets;
    report->iteration_budgets_every = choose_every(budgets);
    report->iteration_budgets = calloc(count_every(budgets, report->iteration_budgets_every) + 1,
                                       sizeof *report->iteration_budgets);
    if (!report->iteration_budgets)
        return -ENOMEM;
    for (size_t r = 0, whose = 0; r < budgets->n; r++)
        if (budgets->items[r].groups[0].wall_s > 0)
            add_iterations(report, model, &budgets->items[r], whose++);
    return 0;
}

int report_fill_budget(struct report *report, const struct run_model *model) {
    const struct rank_budgets *budgets = &model->budgets;
    int result = 0;
    report->main_phase = model->main_group;
    report->phases_detected = model->phases_detected;
    report->budget_windows = budgets->windows;
    report->budget_closing = budgets->closing;
    report->budget =
        calloc(rank_budgets_all(budgets) * model->n_groups + 1, sizeof *report->budget);
    if (!report->budget)
        return -ENOMEM;
    for (size_t g = 0; g < model->n_groups; g++)
        for (size_t r = 0; result == 0 && r < rank_budgets_all(budgets); r++)
            if (budgets->items[r].groups[g].wall_s > 0)
                result = add_budget(report, model, g, &budgets->items[r]);
    return result == 0 ? fill_iterations(report, model) : result;
}
