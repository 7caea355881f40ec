/* SPDX-License-Identifier: MIT */
/*
 * A verdict that rests on a time about which two sources disagree. The exact source holds, since
 * the budget is made by it, but one of the two is wrong: both are named, and confidence is capped.
 *
 * A cause that is inferred from one source needs another one that tells of the time: one that knows
 * that somebody waited for a core, or that somebody waited for others at all.
 * Nor is one cause certain while the path has more of a lack that no cause explains.
 */
#include <math.h>

#include "analysis/gain/demand.h"
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
        const struct claims *of = &process->claims[model->main_group];
        double gap_s;
        enum budget_term term = claims_worst(of, terms_of(v), &gap_s);
        double share = term < BUDGET_TERMS ? gap_s / of->wall_s : 0;
        if (share <= most || !is_of_subject(v, process))
            continue;
        most = share;
        worst = process;
        *ret_claimed = &of->terms[term];
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
    double wall_s = process->claims[model->main_group].wall_s;
    enum budget_term term = (enum budget_term)(c - process->claims[model->main_group].terms);
    remarks_add(
        &v->against, SOURCES_DISAGREE,
        NUMBERS(term, middle_pct(&c->by[c->one], wall_s), middle_pct(&c->by[c->other], wall_s)),
        NAMES(process->process, model->hosts[process->host].name, claim_source_name(c->one),
              claim_source_name(c->other)));
    v->confidence = fmin(v->confidence, number_of(model, CONFIDENCE_DISPUTED));
}

/* ---- a cause that one source tells ---- */

/* Whether another source than the one that the cause is inferred from knows of that time. */
static bool is_borne_out(const struct run_model *model, const struct candidate *c) {
    bool link = candidate_is_link(c); /* either end may wait for it */
    double most = 0;
    for (size_t r = 0; r < rank_budgets_all(&model->budgets); r++) {
        const struct rank_budget *process = &model->budgets.items[r];
        const struct claims *of = &process->claims[c->group];
        if (of->wall_s > 0 && (link || process->host == c->host))
            most = fmax(most,
                        (link ? claims_waited(of) : claims_known(of, c->path.terms)) / of->wall_s);
    }
    return most >= number_of(model, BORNE_OUT) * c->blocked;
}

void verdict_of_one_source(const struct run_model *model, struct verdict *v) {
    const struct candidate *c = v->candidate;
    double most = number_of(model, CONFIDENCE_LEAN);
    if (!c || !c->inferred || v->confidence <= most || is_borne_out(model, c))
        return;
    remarks_add(&v->against, ONE_SOURCE, NUMBERS(candidate_is_link(c)), NAMES());
    v->confidence = most;
}

/* ---- a larger lack that no cause explains ---- */

static bool is_explained(const struct candidates *candidates, size_t group, int host,
                         enum budget_term term) {
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (c->group == group && c->path.terms >> term & 1 && (c->host == host || c->everywhere))
            return true;
    }
    return false;
}

void verdict_of_unexplained(const struct run_model *model, const struct candidates *candidates,
                            struct verdict *v) {
    const struct candidate *c = v->candidate;
    double cap = number_of(model, CONFIDENCE_LEAN), most = c ? c->blocked : NAN;
    int host = -1;
    enum budget_term of = BUDGET_TERMS;
    for (int h = 0; model_has_path(model) && h < (int)model->n_hosts; h++)
        for (enum budget_term term = 0; term < BUDGET_TERMS; term++) {
            double share = model_demand(model, c ? c->group : 0, h, term);
            if (budget_term_class(term) != BUDGET_CLASS_LACKING || !(share > most) ||
                is_explained(candidates, c->group, h, term))
                continue;
            most = share;
            host = h;
            of = term;
        }
    if (host < 0 || v->confidence <= cap)
        return;
    remarks_add(&v->against, MORE_UNEXPLAINED, NUMBERS(of, 100 * most),
                NAMES(model->hosts[host].name));
    v->confidence = cap;
}
