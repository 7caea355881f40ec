/* SPDX-License-Identifier: MIT */
/* The budgets of ranks, phase by phase, and notes about them. */
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

int report_fill_budget(struct report *report, const struct run_model *model) {
    const struct rank_budgets *budgets = &model->budgets;
    int result = 0;
    report->main_phase = report->shown_phase = model->main_group;
    report->budget =
        calloc(rank_budgets_all(budgets) * model->n_groups + 1, sizeof *report->budget);
    if (!report->budget)
        return -ENOMEM;
    for (size_t g = 0; g < model->n_groups; g++)
        for (size_t r = 0; result == 0 && r < rank_budgets_all(budgets); r++)
            if (budgets->items[r].groups[g].wall_s > 0)
                result = add_budget(report, model, g, &budgets->items[r]);
    return result;
}
