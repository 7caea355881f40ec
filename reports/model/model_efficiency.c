/* SPDX-License-Identifier: MIT */
/* Efficiency ratios of each phase, and the terms of the whole run's critical path. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/efficiency.h"
#include "analysis/gain/whatif.h"
#include "reports/model/model_private.h"

static const char *source_name(enum efficiency_source source) {
    static const char *const names[] = {"unknown", "bound", "replay"};
    return names[source];
}

/* On an ideal network the path is its time outside MPI: waits between ranks stay the same. */
static double ideal_bound(const struct run_model *model, size_t group) {
    const struct critical_path *path = &model->critical;
    double seconds = 0;
    if (path->source != CRITICAL_FROM_EVENTS || group >= path->n_groups)
        return NAN;
    for (size_t h = 0; h < model->n_hosts; h++)
        for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
            if (budget_term_class(term) != BUDGET_CLASS_MPI)
                seconds += critical_seconds(&path->groups[group], (int)h, term);
    return seconds;
}

/* The time of the main phase on a network without limits, as a share of its real time, if a replay
 * can tell; else NAN. */
static int replay_ideal(const struct judgement *judgement, double *ret_ratio) {
    const struct run_model *model = judgement->model;
    const struct whatif_scenario ideal = {
        .kind = WHATIF_LINK, .host = -1, .rank = -1, .direction = WHATIF_BOTH, .factor = 1e6};
    struct whatif_answer answer;
    *ret_ratio = NAN;
    if (model->budgets.n < 2 || !model->budgets.events)
        return 0;
    int result = whatif_ask(judgement->whatif, &ideal, 1, &answer);
    if (result == 0 && answer.replayed && answer.measured_s > 0)
        *ret_ratio = answer.calls_s / answer.measured_s;
    return result == -EINVAL ? 0 : result;
}

static int add(struct report *report, const struct run_model *model, size_t group,
               const struct efficiency *e) {
    const struct rank_budget *longest = &model->budgets.items[e->longest];
    struct report_efficiency *to = &report->efficiency[report->n_efficiency++];
    *to = (struct report_efficiency){.phase = strdup(report->resources[group].phase),
                                     .n_ranks = e->n_ranks,
                                     .elapsed_s = e->elapsed_s,
                                     .useful_mean_s = e->useful_mean_s,
                                     .useful_max_s = e->useful_max_s,
                                     .longest_host = longest->host,
                                     .longest_rank = longest->rank,
                                     .parallel_pct = 100 * e->parallel,
                                     .load_balance_pct = 100 * e->load_balance,
                                     .communication_pct = 100 * e->communication,
                                     .serialisation_pct = 100 * e->serialisation,
                                     .transfer_pct = 100 * e->transfer,
                                     .computing_pct = 100 * e->computing,
                                     .source = source_name(e->source)};
    return to->phase ? 0 : -ENOMEM;
}

/* Fills ranks of an MPI program only: other programs have no parallel efficiency. */
static int fill_group_efficiency(struct report *report, const struct run_model *model, size_t group,
                                 double ideal_ratio, const struct budget **room) {
    const struct rank_budgets *budgets = &model->budgets;
    for (size_t r = 0; r < budgets->n; r++) {
        if (budgets->items[r].rank < 0)
            return 0;
        room[r] = &budgets->items[r].groups[group];
    }
    double bound = ideal_bound(model, group);
    struct efficiency e = efficiency_of(room, budgets->n, NAN, bound);
    if (group == model->main_group && !isnan(ideal_ratio))
        e = efficiency_of(room, budgets->n, ideal_ratio * e.elapsed_s, bound);
    return isnan(e.parallel) ? 0 : add(report, model, group, &e);
}

static int fill_path(struct report *report, const struct run_model *model) {
    const struct critical_path *path = &model->critical;
    size_t n = model->n_hosts * BUDGET_TERMS;
    report->path_length_s = NAN;
    if (path->source != CRITICAL_FROM_EVENTS || !path->n_groups)
        return 0;
    report->path_s = malloc((n + 1) * sizeof *report->path_s);
    if (!report->path_s)
        return -ENOMEM;
    memcpy(report->path_s, path->groups[0].seconds, n * sizeof *report->path_s);
    report->path_length_s = path->groups[0].length_s;
    return 0;
}

int report_fill_efficiency(struct report *report, const struct judgement *judgement) {
    const struct run_model *model = judgement->model;
    const struct budget **room = calloc(model->budgets.n + 1, sizeof *room);
    report->efficiency = calloc(model->n_groups + 1, sizeof *report->efficiency);
    double ideal_ratio = NAN;
    int result = room && report->efficiency ? fill_path(report, model) : -ENOMEM;
    if (result == 0)
        result = replay_ideal(judgement, &ideal_ratio);
    for (size_t g = 0; result == 0 && g < model->n_groups; g++)
        result = fill_group_efficiency(report, model, g, ideal_ratio, room);
    free(room);
    return result;
}
