/* SPDX-License-Identifier: MIT */
/* T8: what each operator costs, and one iteration as a timeline. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/iteration/operator.h"
#include "reports/model/model_private.h"

static int fill_uses(struct report *report, const struct run_model *model,
                     const struct operators *operators) {
    report->operators = calloc(operators->n_uses + 1, sizeof *report->operators);
    if (!report->operators)
        return -ENOMEM;
    for (size_t i = 0; i < operators->n_uses; i++) {
        const struct operator_use *use = &operators->uses[i];
        struct report_operator *to = &report->operators[report->n_operators++];
        *to = (struct report_operator){.name = strdup(use->name),
                                       .role = strdup(report_role_name(model, use->role)),
                                       .n_ranks = use->n_ranks,
                                       .calls = use->calls,
                                       .output_bytes = use->output_bytes,
                                       .total_s = use->total_s,
                                       .mean_s = use->total_s / (double)use->calls,
                                       .p95_s = use->p95_s,
                                       .longest_s = use->longest_s,
                                       .share_pct = 100 * use->share};
        if (!to->name || !to->role)
            return -ENOMEM;
    }
    return 0;
}

static int fill_bars(struct report_timeline *timeline, const struct operators *operators,
                     int64_t begin_ns) {
    timeline->bars = calloc(operators->n_bars + 1, sizeof *timeline->bars);
    if (!timeline->bars)
        return -ENOMEM;
    for (size_t i = 0; i < operators->n_bars; i++) {
        const struct operator_bar *bar = &operators->bars[i];
        struct report_bar *to = &timeline->bars[timeline->n_bars++];
        *to = (struct report_bar){.host = bar->mark->host,
                                  .rank = bar->mark->rank,
                                  .name = strdup(bar->mark->name),
                                  .start_s = (double)(bar->start_ns - begin_ns) / 1e9,
                                  .end_s = (double)(bar->end_ns - begin_ns) / 1e9};
        if (!to->name)
            return -ENOMEM;
    }
    timeline->n_bars_left_out = operators->n_bars_left_out;
    return 0;
}

static int fill_timeline(struct report *report, const struct operators *operators) {
    struct report_timeline *timeline = &report->timeline;
    const struct iteration *iteration = operators->iteration;
    timeline->rank = timeline->host = -1;
    if (!iteration)
        return 0;
    int64_t begin_ns = iteration->end_ns - iteration->duration_ns;
    timeline->rank = operators->rank->rank;
    timeline->host = operators->rank->host;
    timeline->number = iteration->number == VALUE_ABSENT ? -1 : iteration->number;
    timeline->start_s = (double)begin_ns / 1e9;
    timeline->duration_s = (double)iteration->duration_ns / 1e9;
    return fill_bars(timeline, operators, begin_ns);
}

int report_fill_operators(struct report *report, const struct run_model *model) {
    struct operators operators;
    int result = operators_from_marks(model->recording, &model->iterations, &operators);
    if (result < 0)
        return result;
    result = fill_uses(report, model, &operators);
    if (result == 0)
        result = fill_timeline(report, &operators);
    operators_release(&operators);
    return result;
}
