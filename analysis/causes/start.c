/* SPDX-License-Identifier: MIT */
/*
 * A limit of a host that holds only while the program is loaded is reported without blame
 * (evidence/program_start.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/flow_ends.h"

/* The share of the run that it held up after the start; NAN. */
static double later_share(const struct run_model *model, const struct candidate *c,
                          int64_t start_ns) {
    struct window w = {start_ns, model->recording->duration_ns};
    double part = (double)(w.end_ns - w.begin_ns) / (double)model->recording->duration_ns;
    return part * candidate_blocked(c, (struct windows){&w, 1});
}

static void tell(const struct run_model *model, const struct candidate *c, int64_t start_ns,
                 struct remarks *ruled_out) {
    struct window w = {0, start_ns};
    double start_s = (double)start_ns / 1e9;
    remarks_add(ruled_out, WAITED_AT_START,
                NUMBERS(start_s * candidate_blocked(c, (struct windows){&w, 1}), start_s),
                NAMES(resource_name(c->resource), model->hosts[c->host].name));
}

int start_take_out(const struct run_model *model, struct candidates *candidates) {
    int64_t start_ns = 0;
    if (model->n_groups > 1 || !candidates->n)
        return 0;
    int result = program_started(model, &start_ns);
    if (result < 0 || start_ns == 0)
        return result;
    candidates->start_ns = start_ns;
    for (size_t i = candidates->n; i-- > 0;) {
        struct candidate *c = &candidates->items[i];
        double later =
            c->metric.signal && c->metric.factor > 0 ? later_share(model, c, start_ns) : NAN;
        if (!(later < number_of(model, BLOCKED_MIN) && later < c->blocked / 2))
            continue;
        tell(model, c, start_ns, &candidates->ruled_out);
        candidates_remove(candidates, i);
    }
    return 0;
}

void start_take_out_by_spans(const struct run_model *model, struct candidates *candidates) {
    double run_s = (double)model->recording->duration_ns / 1e9;
    double from_s = (double)candidates->start_ns / 1e9 + run_s / RANK_BUDGET_SLICES;
    double most_s = fmin((double)number_of(model, GROUP_MIN_NS) / 1e9, run_s / 2);
    for (size_t i = candidates->n; model->n_groups <= 1 && !model_has_path(model) && i-- > 0;) {
        struct candidate *c = &candidates->items[i];
        if (!(c->start_s <= from_s && c->end_s < most_s))
            continue;
        remarks_add(&candidates->ruled_out, WAITED_AT_FIRST, NUMBERS(c->end_s),
                    NAMES(resource_name(c->resource), model->hosts[c->host].name));
        candidates_remove(candidates, i);
    }
}
