/* SPDX-License-Identifier: MIT */
/* A verdict on each phase: a run may wait for a disk while it loads and for a link while it
 * trains. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/verdict_private.h"

static const struct candidate *first_of(const struct run_model *model,
                                        const struct candidates *candidates, size_t group) {
    const struct candidate *first = NULL;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        double weight = c->blocked * (c->saturated ? 1 : number_of(model, UNSATURATED_WEIGHT));
        if (c->group == group && !c->fallback && c->blocked >= number_of(model, BLOCKED_MIN) &&
            (!first || weight > first->blocked *
                                    (first->saturated ? 1 : number_of(model, UNSATURATED_WEIGHT))))
            first = c;
    }
    return first;
}

static void judge_quiet_phase(const struct run_model *model, struct verdict_phase *p) {
    double computing = rank_budgets_share(&model->budgets, p->group, BUDGET_CPU);
    double busy = model_has_path(model) ? computing : ranks_busy(model, p->group);
    bool told = model_has_path(model) ? !isnan(computing) : busy >= number_of(model, COMPUTE_BOUND);
    p->state = told ? VERDICT_BALANCED : VERDICT_INSUFFICIENT;
    p->busy = told ? fmin(busy, 1) : NAN;
}

static void judge_phase(const struct run_model *model, const struct candidates *candidates,
                        struct verdict_phase *p) {
    const struct candidate *c = first_of(model, candidates, p->group);
    /* the run's verdict goes first: it is based on gains, not only on shares */
    for (size_t i = 0; i < candidates->n && p->group == model->main_group; i++)
        if (candidates->items[i].group == p->group && !candidates->items[i].fallback) {
            bool worth = candidates->items[i].gain.estimate >= number_of(model, GAIN_MIN);
            c = worth ? &candidates->items[i] : NULL;
            break;
        }
    if (!c) {
        judge_quiet_phase(model, p);
        return;
    }
    p->state = c->saturated ? VERDICT_SATURATED : VERDICT_SUSPECTED;
    p->host = verdict_is_of_host(candidate_subject(c)) ? c->host : -1;
    p->rank = c->rank;
    p->resource = c->resource;
    p->kind = c->kind;
    p->blocked = c->blocked;
    p->candidate = *c;
}

int verdict_of_phases(const struct run_model *model, const struct candidates *candidates,
                      struct verdict *v) {
    v->phases = calloc(model->n_groups + 1, sizeof *v->phases);
    if (!v->phases)
        return -ENOMEM;
    for (size_t g = model->n_groups > 1 ? 1 : 0; g < model->n_groups; g++) {
        struct verdict_phase *p = &v->phases[v->n_phases++];
        *p = (struct verdict_phase){.group = g,
                                    .host = -1,
                                    .rank = -1,
                                    .resource = RESOURCE_NONE,
                                    .blocked = NAN,
                                    .busy = NAN};
        judge_phase(model, candidates, p);
    }
    return 0;
}
