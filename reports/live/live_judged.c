/* SPDX-License-Identifier: MIT */
/* A judgement as a live view keeps it: the limit in words, ceilings, and where ranks' time went. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/verdict/judgement.h"
#include "common/error.h"
#include "reports/live/live_private.h"
#include "reports/model/input.h"
#include "reports/says/candidate_words.h"
#include "reports/says/verdict_words.h"

void live_judged_free(struct live_judged *judged) {
    if (!judged)
        return;
    for (size_t h = 0; judged->hosts && h < judged->n_hosts; h++)
        free(judged->hosts[h]);
    for (size_t b = 0; judged->processes && b < judged->n_budgets; b++)
        free(judged->processes[b]);
    series_set_release(&judged->devices);
    live_history_release(&judged->history);
    free(judged->hosts);
    free(judged->processes);
    free(judged->ceilings);
    free(judged->budgets);
    free(judged->what);
    free(judged->summary);
    free(judged->words);
    free(judged->worth);
    free(judged->action);
    free(judged);
}

/* ---- what is kept of a judgement ---- */

/* The rate that an interface was set to or that a calibration measured. Its nominal speed is no
 * ceiling: that of a virtual interface is a constant of its driver. */
static double ceiling_of(const struct run_model *model, size_t host, enum metric direction) {
    double rate;
    network_rate_of(model, (int)host, direction, NAN, &rate);
    return rate;
}

static int keep_hosts(struct live_judged *to, const struct run_model *model) {
    to->hosts = calloc(model->n_hosts + 1, sizeof *to->hosts);
    to->ceilings = malloc((4 * model->n_hosts + 1) * sizeof *to->ceilings);
    if (!to->hosts || !to->ceilings)
        return -ENOMEM;
    for (size_t h = 0; h < model->n_hosts; h++, to->n_hosts++) {
        double *ceilings = to->ceilings + 4 * h;
        ceilings[0] = ceiling_of(model, h, METRIC_NET_SEND);
        ceilings[1] = ceiling_of(model, h, METRIC_NET_RECV);
        ceilings[2] = recording_ceiling(model->recording, (int)h, METRIC_DISK_READ);
        ceilings[3] = recording_ceiling(model->recording, (int)h, METRIC_DISK_WRITE);
        if (!(to->hosts[h] = strdup(model->hosts[h].name)))
            return -ENOMEM;
    }
    return 0;
}

/* A link that limits carries the observed rate, whatever its interface could carry. */
static void keep_limiting_link(struct live_judged *to, const struct verdict *v) {
    const struct candidate *c = verdict_blames(v->state) ? v->candidate : NULL;
    bool out = c && c->resource == RESOURCE_NET_EGRESS,
         in = c && c->resource == RESOURCE_NET_INGRESS;
    if ((out || in) && c->ceiling > 0 && c->host >= 0 && (size_t)c->host < to->n_hosts)
        to->ceilings[4 * c->host + in] = c->ceiling;
}

static int keep_devices(struct live_judged *to, const struct run_model *model) {
    const struct series_set *from = &model->recording->tables[RECORDING_GPU_DEVICE];
    int64_t values[TABLE_COLUMNS_MAX];
    int result = 0;
    to->devices = series_set_like(from);
    for (size_t s = 0; result == 0 && s < from->n; s++) {
        const struct series *one = &from->items[s];
        for (size_t c = 0; one->n && c < from->n_columns; c++)
            values[c] = series_value(from, one, 0, c);
        if (one->n)
            result = series_set_append(&to->devices, one->host, one->instance, one->name,
                                       one->t_ns[0], one->interval_ns[0], values);
    }
    return result;
}

static int keep_budgets(struct live_judged *to, const struct run_model *model) {
    const struct rank_budgets *budgets = &model->budgets;
    size_t n = budgets->n < LIVE_RANKS_MAX ? budgets->n : LIVE_RANKS_MAX;
    to->budgets = calloc(n + 1, sizeof *to->budgets);
    to->processes = calloc(n + 1, sizeof *to->processes);
    if (!to->budgets || !to->processes)
        return -ENOMEM;
    for (size_t r = 0; r < n; r++) {
        const struct rank_budget *from = &budgets->items[r];
        const struct budget *all = &from->groups[0];
        if (!(all->wall_s > 0))
            continue;
        struct live_budget *budget = &to->budgets[to->n_budgets];
        *budget = (struct live_budget){.host = from->host,
                                       .rank = from->rank,
                                       .pid = from->pid,
                                       .wall_s = all->wall_s,
                                       .unknown_s = all->unknown_s};
        memcpy(budget->term_s, all->term_s, sizeof budget->term_s);
        to->processes[to->n_budgets] = strdup(from->process ? from->process : "");
        if (!to->processes[to->n_budgets])
            return -ENOMEM;
        to->n_budgets++;
    }
    return 0;
}

/* Before the end, a limit that is not known has no advice. */
static void take_words(struct live_judged *to, struct verdict_words *words, bool advises) {
    to->summary = words->summary;
    to->words = words->limit;
    to->worth = words->worth;
    words->summary = words->limit = words->worth = NULL;
    if (advises && words->next.n) {
        to->action = words->next.items[0];
        words->next.items[0] = NULL;
    }
}

static int keep_limit(struct live_judged *to, const struct caller *caller, bool ended,
                      const struct judgement *judgement) {
    const struct verdict *v = &judgement->verdict;
    struct verdict_words words;
    bool blames = verdict_blames(v->state) && v->candidate;
    int result = verdict_say(judgement->model, v, caller, &words);
    if (result < 0)
        return result;
    to->limit = (struct live_limit){.known = true,
                                    .too_short = v->too_short,
                                    .state = v->state,
                                    .confidence = v->confidence,
                                    .host = v->host,
                                    .rank = v->rank,
                                    .gain = v->gain};
    take_words(to, &words, v->state != VERDICT_INSUFFICIENT || ended);
    verdict_words_release(&words);
    to->what = blames ? candidate_words(judgement->model, v->candidate) : NULL;
    return result == 0 && blames && !to->what ? -ENOMEM : result;
}

static int keep(struct live_judged *to, const struct report_input *input,
                const struct caller *caller, bool ended, const struct judgement *judgement) {
    int result = keep_limit(to, caller, ended, judgement);
    if (result == 0)
        result = keep_hosts(to, judgement->model);
    if (result == 0)
        result = keep_devices(to, judgement->model);
    if (result == 0)
        keep_limiting_link(to, &judgement->verdict);
    if (result == 0)
        result = live_history_of(&input->recording, input->recording.duration_ns, &to->history);
    if (result == 0)
        result = live_past_of(&input->recording, to->ceilings, &to->past);
    to->limit.at_s = (double)input->recording.duration_ns / 1e9;
    to->limit.final = ended;
    return result < 0 ? result : keep_budgets(to, judgement->model);
}

int live_judged_make(const struct report_input *input, const struct caller *caller, bool ended,
                     struct live_judged **ret_judged) {
    struct run_model model;
    struct judgement judgement;
    struct live_judged *judged = NULL;
    int result = model_build(&input->recording, &model);
    if (result < 0)
        return result;
    result = judgement_make(&model, &judgement);
    if (result == 0) {
        judged = calloc(1, sizeof *judged);
        result = judged ? keep(judged, input, caller, ended, &judgement) : -ENOMEM;
        judgement_release(&judgement);
    }
    model_release(&model);
    if (result < 0)
        live_judged_free(judged);
    else
        *ret_judged = judged;
    return result;
}
