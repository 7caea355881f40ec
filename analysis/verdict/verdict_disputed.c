/* SPDX-License-Identifier: MIT */
/*
 * A verdict that rests on a time about which two sources disagree. The exact source holds, since
 * the budget is made by it, but one of the two is wrong: both are named, and confidence is capped.
 */
#include <math.h>

#include "analysis/verdict/verdict_private.h"

/* The terms on which the verdict rests: those of its candidate, else all. */
static unsigned terms_of(const struct verdict *v) {
    return v->candidate && v->candidate->path.terms ? v->candidate->path.terms : ~0U;
}

static bool is_of_subject(const struct verdict *v, const struct rank_budget *process) {
    return v->host < 0 || v->host == process->host;
}

/* The process whose sources disagree about the largest part of its time, if that is enough; else
 * NULL.
 */
static const struct rank_budget *most_disputed(const struct run_model *model,
                                               const struct verdict *v,
                                               const struct claimed **ret_claimed) {
    const struct rank_budget *worst = NULL;
    double most = number_of(model, DISPUTED_MIN);
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *process = &model->budgets.items[r];
        double gap_s;
        enum budget_term term = claims_worst(&process->claims, terms_of(v), &gap_s);
        double share = term < BUDGET_TERMS ? gap_s / process->claims.wall_s : 0;
        if (share <= most || !is_of_subject(v, process))
            continue;
        most = share;
        worst = process;
        *ret_claimed = &process->claims.terms[term];
    }
    return worst;
}

static double middle_pct(const struct claim *claim, double wall_s) {
    return 50 * (claim->low_s + claim->high_s) / wall_s;
}

void verdict_of_disputed(const struct run_model *model, struct verdict *v) {
    const struct claimed *c = NULL;
    const struct rank_budget *process = most_disputed(model, v, &c);
    if (!process)
        return;
    double wall_s = process->claims.wall_s;
    enum budget_term term = (enum budget_term)(c - process->claims.terms);
    remarks_add(
        &v->against, SOURCES_DISAGREE,
        NUMBERS(term, middle_pct(&c->by[c->one], wall_s), middle_pct(&c->by[c->other], wall_s)),
        NAMES(process->process, model->hosts[process->host].name, claim_source_name(c->one),
              claim_source_name(c->other)));
    v->confidence = fmin(v->confidence, number_of(model, CONFIDENCE_DISPUTED));
}
