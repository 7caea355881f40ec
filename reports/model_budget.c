/* SPDX-License-Identifier: MIT */
/* The budgets of ranks, phase by phase, and what is to be said of them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model_private.h"

static const char *source_name(enum budget_source source) {
    static const char *const names[] = {"events", "totals", "counters"};
    return names[source];
}

static double percent(double share) {
    return 100 * share;
}

static int add_budget(struct report *report, const struct scene *scene, size_t group,
                      const struct rank_budget *from) {
    const struct budget *b = &from->groups[group];
    const struct transfer_split *split = &from->splits[group];
    struct report_budget *to = &report->budget[report->n_budget++];
    bool main = group == scene->main_group;
    *to = (struct report_budget){.host = from->host,
                                 .rank = from->rank,
                                 .phase = strdup(report->resources[group].phase),
                                 .wall_s = b->wall_s,
                                 .unknown_s = b->unknown_s,
                                 .other_cpu_s = b->other_cpu_s,
                                 .closure_pct = b->closure_pct,
                                 .trusted = budget_closes(b),
                                 .source = source_name(b->source),
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

int report_fill_budget(struct report *report, const struct scene *scene) {
    const struct rank_budgets *budgets = &scene->budgets;
    int result = 0;
    report->main_phase = scene->main_group;
    report->budget_windows = budgets->windows;
    report->budget_closing = budgets->closing;
    report->budget = calloc(budgets->n * scene->n_groups + 1, sizeof *report->budget);
    if (!report->budget)
        return -ENOMEM;
    for (size_t g = 0; g < scene->n_groups; g++)
        for (size_t r = 0; result == 0 && r < budgets->n; r++)
            if (budgets->items[r].groups[g].wall_s > 0)
                result = add_budget(report, scene, g, &budgets->items[r]);
    return result;
}
