/* SPDX-License-Identifier: MIT */
#include "analysis/gain/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/gain/whatif_private.h"
#include "analysis/number.h"
#include "analysis/run_model.h"
#include "common/error.h"

static const struct {
    enum whatif_kind kind;
    enum budget_term term;
} resources[] = {
    {WHATIF_LINK, BUDGET_TRANSFER},   {WHATIF_DISK, BUDGET_DISK},
    {WHATIF_CPU, BUDGET_CPU},         {WHATIF_WITHOUT, BUDGET_RUN_QUEUE},
    {WHATIF_WITHOUT, BUDGET_QUOTA},   {WHATIF_WITHOUT, BUDGET_STEAL},
    {WHATIF_WITHOUT, BUDGET_MEMORY},  {WHATIF_WITHOUT, BUDGET_IDLE},
    {WHATIF_WITHOUT, BUDGET_STOPPED},
};

/* A replay takes long, and cannot beat the bound where there is one. */
static bool may_matter(const struct whatif *w, const struct whatif_scenario *s) {
    double length_s = w->model->critical.groups[w->model->main_group].length_s;
    if (w->model->critical.source != CRITICAL_FROM_EVENTS || w->refused.code)
        return true;
    return whatif_removable(w, s, 1) + fmax(whatif_elsewhere(w, s, 1), 0) >=
           number_of(w->model, GAIN_HARMLESS) * length_s;
}

static int ask(const struct whatif *w, enum whatif_kind kind, enum budget_term term, int host,
               struct whatif_sweep *sweep) {
    struct sweep_answer *to = &sweep->items[sweep->n];
    to->scenario = (struct whatif_scenario){
        .kind = kind, .host = host, .rank = -1, .term = term, .factor = SWEEP_FASTER};
    to->term = term;
    if (!may_matter(w, &to->scenario))
        return 0;
    int result = whatif_ask(w, &to->scenario, 1, &to->answer);
    if (result < 0)
        return result == -EINVAL ? 0 : result; /* it makes no sense here */
    if (isnan(to->answer.run_gain))
        sweep->untold = fmax(sweep->untold, to->answer.gain_max);
    sweep->n++;
    return 0;
}

static int make(const struct whatif *w, struct whatif_sweep *sweep) {
    size_t hosts = w->model->n_hosts;
    int result = whatif_prepare(w);
    sweep->items = calloc((hosts + 1) * ARRAY_SIZE(resources) + 1, sizeof *sweep->items);
    if (!sweep->items)
        return -ENOMEM;
    for (int host = hosts > 1 ? -1 : 0; result == 0 && host < (int)hosts; host++)
        for (size_t i = 0; result == 0 && i < ARRAY_SIZE(resources); i++)
            result = ask(w, resources[i].kind, resources[i].term, host, sweep);
    return result;
}

int whatif_sweep_make(const struct whatif *whatif, const struct whatif_sweep **ret_sweep) {
    struct whatif *w = (struct whatif *)whatif; /* made at the first question, then kept */
    struct whatif_sweep *sweep = w->sweep ? NULL : calloc(1, sizeof *sweep);
    int result = w->sweep ? 0 : sweep ? make(w, sweep) : -ENOMEM;
    if (result < 0) {
        whatif_sweep_free(sweep);
        return result;
    }
    w->sweep = w->sweep ? w->sweep : sweep;
    *ret_sweep = w->sweep;
    return 0;
}

static bool is_better(const struct sweep_answer *one, const struct sweep_answer *best,
                      double margin) {
    double gain = one->answer.run_gain;
    return gain > (best ? best->answer.run_gain + margin : 0);
}

const struct sweep_answer *whatif_sweep_best(const struct run_model *model,
                                             const struct whatif_sweep *sweep, unsigned but) {
    const struct sweep_answer *best = NULL, *of_all = NULL;
    for (size_t i = 0; i < sweep->n; i++) {
        const struct sweep_answer *item = &sweep->items[i];
        const struct sweep_answer **to = item->scenario.host < 0 ? &of_all : &best;
        if (!(but >> item->term & 1) && is_better(item, *to, 0))
            *to = item;
    }
    return of_all && is_better(of_all, best, number_of(model, GAIN_MIN)) ? of_all : best;
}

void whatif_sweep_free(struct whatif_sweep *sweep) {
    if (sweep)
        free(sweep->items);
    free(sweep);
}
