/* SPDX-License-Identifier: MIT */
#include "analysis/gain/gain_private.h"

#include <math.h>
#include <stdint.h>

#include "analysis/facts/series/stats.h"
#include "analysis/gain/gain_warm.h"
#include "analysis/number.h"

#define LITTLE 0.25    /* of its loss: a rank that waits less is on the critical path */
#define AWAKE 0.9      /* of its measured need: a rank that need not wait finds its caches warm */
#define WORKERS_MAX 64 /* workers whose median is taken */
#define DRAWINGS 400

#define ASLEEP budget_class_terms(BUDGET_CLASS_ASLEEP)

/* Where every call is known, sleep outside of calls is the process's own. */
static unsigned own_terms(const struct budget *b) {
    return b->source == BUDGET_FROM_EVENTS ? GAIN_OWN | ASLEEP : GAIN_OWN;
}

/* ---- the one that is asked about ---- */

size_t gain_process(const struct run_model *model, const struct counted_loss *loss) {
    size_t most = SIZE_MAX;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *b = &model->budgets.items[r];
        if ((loss->host >= 0 && b->host != loss->host) ||
            (loss->rank >= 0 && b->rank != loss->rank) || !gain_works(model, r, loss->group))
            continue;
        if (most == SIZE_MAX || budget_sum(&b->groups[loss->group], loss->terms) >
                                    budget_sum(gain_budget(model, most, loss->group), loss->terms))
            most = r;
    }
    return most;
}

/* ---- what it lost ---- */

/* Queueing stands apart: without calls, a process also waits for its own threads there. */
struct lost {
    double wall_s, queue_s, rest_s;
};

static struct lost lost_in(const struct budget *b, unsigned terms) {
    return (struct lost){b->wall_s, budget_sum(b, terms & BIT(BUDGET_RUN_QUEUE)),
                         budget_sum(b, terms & ~BIT(BUDGET_RUN_QUEUE))};
}

static double share_lost(struct lost lost, double usual, double part) {
    double queue_s = fmax(0, lost.queue_s - usual * lost.wall_s);
    return lost.wall_s > 0 ? fmin(1, part * (lost.rest_s + queue_s) / lost.wall_s) : 0;
}

/* A process that used up its quota stands in the run queue, too, longer than its peers, if nobody
 * else is on its cores.
 */
static unsigned terms_of(const struct run_model *model, const struct counted_loss *loss,
                         size_t who) {
    const struct budget *b = gain_budget(model, who, loss->group);
    double foreign;
    if (b->source == BUDGET_FROM_EVENTS || !(loss->terms & BIT(BUDGET_QUOTA)))
        return loss->terms;
    int host = model->budgets.items[who].host;
    bool shared = busiest_foreign(model, loss->group, host, &foreign) &&
                  foreign >= number_of(model, FOREIGN_MIN);
    return shared || model_shares_cores(model, host) ? loss->terms
                                                     : loss->terms | BIT(BUDGET_RUN_QUEUE);
}

/* The share of time for which its peers queue. */
static double usual_queue(const struct run_model *model, size_t who, size_t group) {
    double shares[WORKERS_MAX];
    size_t n = 0;
    if (gain_budget(model, who, group)->source == BUDGET_FROM_EVENTS)
        return 0;
    for (size_t r = 0; r < model->budgets.n && n < WORKERS_MAX; r++)
        if (r != who && model->budgets.items[r].host != model->budgets.items[who].host &&
            gain_works(model, r, group))
            shares[n++] = budget_sum(gain_budget(model, r, group), BIT(BUDGET_RUN_QUEUE)) /
                          gain_budget(model, r, group)->wall_s;
    return n ? stats_median(shares, n) : 0;
}

/* Collects the slices in which the process was recorded; returns their number. */
static size_t slices_of(const struct run_model *model, size_t who, size_t group, unsigned terms,
                        struct lost slices[RANK_BUDGET_SLICES]) {
    size_t n = 0;
    for (size_t i = 0; i < RANK_BUDGET_SLICES; i++) {
        const struct budget *b = &model->budgets.items[who].slices[i];
        if (b->wall_s > 0 && gain_slice_in(model, i, group))
            slices[n++] = lost_in(b, terms);
    }
    return n;
}

static void bootstrap_slices(const struct lost *slices, size_t n, double usual, double part,
                             struct counted *c) {
    double low[DRAWINGS], high[DRAWINGS];
    uint64_t random = 1;
    for (size_t d = 0; d < DRAWINGS; d++) {
        struct lost sum = {0};
        for (size_t i = 0; i < n; i++) {
            const struct lost *at = &slices[stats_random_below(&random, n)];
            sum.wall_s += at->wall_s;
            sum.queue_s += at->queue_s;
            sum.rest_s += at->rest_s;
        }
        low[d] = share_lost(sum, usual, part);
        high[d] = share_lost(sum, 0, part);
    }
    double least =
        fmin(stats_quantile(low, DRAWINGS, 0.025), stats_quantile(high, DRAWINGS, 0.025));
    double most = fmax(stats_quantile(low, DRAWINGS, 0.975), stats_quantile(high, DRAWINGS, 0.975));
    c->lost_low = fmin(c->lost, least);
    c->lost_high = fmax(c->lost, most);
}

/* ---- what the others have to do anyway ---- */

/* The share of the group's recorded time that the busiest other process needs, including its
 * transfers while it does not run, if those stay.
 */
static double others_need(const struct run_model *model, size_t who,
                          const struct counted_loss *loss, bool exchanges) {
    double most = 0, own_s = gain_budget(model, who, loss->group)->wall_s;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = gain_budget(model, r, loss->group);
        if (r == who || !gain_works(model, r, loss->group))
            continue;
        bool under_way = exchanges && b->source == BUDGET_FROM_COUNTERS;
        unsigned terms = own_terms(b) | (under_way ? BIT(BUDGET_TRANSFER) : 0);
        double gone_s = loss->everywhere ? loss->part * budget_sum(b, loss->terms & GAIN_OWN) : 0;
        most = fmax(most, (budget_sum(b, terms) - gone_s) / fmax(own_s, b->wall_s));
    }
    return most;
}

double gain_covered(const struct run_model *model, size_t who, size_t group) {
    double group_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    return fmin(1, gain_budget(model, who, group)->wall_s / group_s);
}

double gain_at_pace(double gain, double pace) {
    double paced = 1 - (1 - gain) * pace;
    return gain < 0 ? fmin(0, paced) : fmin(1, fmax(0, paced));
}

/* If the process waits for others more than a little, a part of its loss may be hidden in those
 * waits.
 */
static double doubt(const struct run_model *model, size_t who, size_t group) {
    double waits = gain_waits_s(model, who, group) / gain_budget(model, who, group)->wall_s;
    return waits > GAIN_HARDLY ? waits : 0;
}

static bool is_awaited(const struct run_model *model, const struct counted_loss *loss, size_t who,
                       double lost) {
    double lost_s = lost * gain_budget(model, who, loss->group)->wall_s;
    double little_s = loss->awaited ? INFINITY : LITTLE * lost_s;
    return gain_is_awaited(model, who, loss->group, little_s);
}

/* Less computing shortens no exchange. More of a core, or less sleep, does: a process that is off
 * its core sends nothing.
 */
static void set_gain(const struct run_model *model, const struct counted_loss *loss, size_t who,
                     struct counted *c) {
    double need = others_need(model, who, loss, loss->terms == BIT(BUDGET_CPU));
    c->gain = fmin(c->lost, fmax(0, 1 - AWAKE * need));
    double low = c->lost_low - (loss->awaited ? 0 : doubt(model, who, loss->group));
    c->gain_low = fmin(gain_at_pace(low, number_of(model, PACE_SLOWER)), fmax(0, 1 - need)) *
                  gain_covered(model, who, loss->group);
    c->gain_high = gain_at_pace(c->lost_high, number_of(model, PACE_FASTER));
    c->gain = gain_warm(c->gain, 1);
}

bool gain_counted(const struct run_model *model, const struct counted_loss *loss,
                  struct counted *ret_counted) {
    struct lost slices[RANK_BUDGET_SLICES];
    size_t who = gain_process(model, loss);
    *ret_counted = COUNTED_NOTHING;
    if (who == SIZE_MAX)
        return false;
    unsigned terms = terms_of(model, loss, who);
    double usual = terms & BIT(BUDGET_RUN_QUEUE) ? usual_queue(model, who, loss->group) : 0;
    struct lost all = lost_in(gain_budget(model, who, loss->group), terms);
    ret_counted->lost = share_lost(all, usual, loss->part);
    size_t n = slices_of(model, who, loss->group, terms, slices);
    if (!n)
        slices[n++] = all;
    bootstrap_slices(slices, n, usual, loss->part, ret_counted);
    if (!is_awaited(model, loss, who, ret_counted->lost))
        return false;
    set_gain(model, loss, who, ret_counted);
    return loss->part < 0 || ret_counted->gain >= number_of(model, GAIN_HARMLESS);
}

/* ---- asleep ---- */

static double asleep_s(const struct budget *b) {
    return budget_sum(b, BIT(BUDGET_IDLE));
}
static double sending_s(const struct budget *b) {
    return budget_sum(b, BIT(BUDGET_TRANSFER));
}

/* Data under way while the process was off its core: it is not known whether they waited for the
 * others or for this process.
 */
bool gain_counted_sleep(const struct run_model *model, int host, size_t group,
                        struct counted *ret_counted) {
    struct counted_loss loss = {.host = host, .rank = -1, .group = group, .terms = BIT(BUDGET_CPU)};
    size_t who = gain_process(model, &loss);
    *ret_counted = COUNTED_NOTHING;
    if (who == SIZE_MAX || !gain_ends_last(model, who, group))
        return false;
    int64_t start = gain_start(model);
    double wall_s = gain_budget(model, who, group)->wall_s,
           need = others_need(model, who, &loss, false);
    double least = gain_later(model, who, group, start, asleep_s) / wall_s;
    double most = least + gain_later(model, who, group, start, sending_s) / wall_s;
    ret_counted->lost = (least + most) / 2;
    ret_counted->lost_low = least;
    ret_counted->lost_high = most;
    ret_counted->gain = fmin(ret_counted->lost, fmax(0, 1 - AWAKE * need));
    ret_counted->gain_low =
        fmin(gain_at_pace(least, number_of(model, PACE_SLOWER)), fmax(0, 1 - need)) *
        gain_covered(model, who, group);
    ret_counted->gain_high = gain_at_pace(most, number_of(model, PACE_FASTER));
    ret_counted->gain = gain_warm(ret_counted->gain, 1);
    return ret_counted->gain >= number_of(model, GAIN_HARMLESS);
}

bool gain_counted_process(const struct run_model *model, const struct counted_process *process,
                          struct counted *ret_counted) {
    return process->sleeps
               ? gain_counted_sleep(model, process->host, process->loss.group, ret_counted)
               : gain_counted(model, &process->loss, ret_counted);
}

/* ---- at most ---- */

static bool is_meant(const struct rank_budget *b, const struct counted_loss *loss) {
    return loss->everywhere ||
           ((loss->host < 0 || b->host == loss->host) && (loss->rank < 0 || b->rank == loss->rank));
}

/* Its own work; NAN for a rank whose calls are not known, since it may be spinning. */
static double stays_s(const struct rank_budget *who, const struct counted_loss *loss) {
    const struct budget *b = &who->groups[0];
    unsigned own = own_terms(b);
    if (b->source == BUDGET_FROM_COUNTERS && who->rank >= 0)
        return NAN;
    double gone = is_meant(who, loss) ? loss->part * budget_sum(b, loss->terms & own) : 0;
    return budget_sum(b, own) - gone;
}

double gain_most(const struct run_model *model, const struct counted_loss *loss) {
    double run_s = (double)windows_length(phase_windows(&model->groups[0])) / 1e9, most_s = NAN;
    for (size_t r = 0; r < model->budgets.n; r++)
        if (gain_works(model, r, 0))
            most_s = fmax(most_s, stays_s(&model->budgets.items[r], loss));
    return most_s >= 0 && run_s > 0 ? fmax(0, 1 - AWAKE * most_s / run_s) : NAN;
}

double gain_most_of_quota(const struct run_model *model, double throttled) {
    return isnan(throttled) ? NAN : gain_at_pace(fmin(1, throttled), number_of(model, PACE_FASTER));
}
