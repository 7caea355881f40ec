/* SPDX-License-Identifier: MIT */
/* The verdict if a candidate stands out: its state, its confidence, the evidence against it. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gain/throughput.h"
#include "analysis/verdict/verdict_private.h"

bool candidate_is_link(const struct candidate *c) {
    return c->resource == RESOURCE_NET_EGRESS || c->resource == RESOURCE_NET_INGRESS;
}

bool candidate_is_of_program(const struct candidate *c) {
    return c->resource == RESOURCE_IMBALANCE || c->resource == RESOURCE_APPLICATION ||
           c->kind == CAUSE_SERIAL;
}

bool verdict_is_of_host(enum subject subject) {
    return subject == SUBJECT_HOST || subject == SUBJECT_CORE || subject == SUBJECT_RANK ||
           subject == SUBJECT_PROCESS;
}

double verdict_gain_low(const struct candidate *c, const struct resampled *r) {
    const struct gain *gain = candidate_gain(c);
    return gain->replayed ? gain->low : r->low;
}

enum verdict_state verdict_state_of(const struct run_model *model, const struct candidate *c,
                                    double gain_low) {
    bool worth = c->answered && candidate_gain(c)->estimate >= number_of(model, GAIN_MIN);
    return c->saturated && worth && gain_low > number_of(model, GAIN_LOW_MIN) ? VERDICT_SATURATED
                                                                              : VERDICT_SUSPECTED;
}

/* The other direction of the first candidate's link, NULL if there is none. The two do not compete:
 * the program uses them in turn. */
static const struct candidate *other_direction(const struct candidates *candidates) {
    const struct candidate *first = &candidates->items[0];
    for (size_t i = 1; candidate_is_link(first) && i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (candidate_is_link(c) && c->host == first->host && c->group == first->group)
            return c;
    }
    return NULL;
}

static void count_alike(const struct candidates *candidates, struct verdict *v) {
    for (size_t i = 1; i < candidates->n; i++)
        if (candidate_is_alike(&candidates->items[0], &candidates->items[i])) {
            v->n_alike++;
            v->blocked_alike += candidates->items[i].blocked;
        }
}

static void add_other_direction(const struct candidates *candidates, const struct candidate *other,
                                struct verdict *v) {
    const struct candidate *first = &candidates->items[0];
    const struct arithmetic *both[2];
    for (int i = 0; i < 2; i++)
        both[i] = arithmetic_find(candidates->arithmetic, candidates->n_arithmetic, first->host,
                                  i ? METRIC_NET_RECV : METRIC_NET_SEND, first->group);
    remarks_add(&v->evidence, LINK_OTHER_WAY, NUMBERS(100 * other->blocked), NAMES());
    if (both[0] && both[1] && both[0]->share + both[1]->share <= 1.1) /* otherwise they overlap */
        remarks_add(&v->evidence, LINK_BOTH_WAYS,
                    NUMBERS(both[0]->bound_s + both[1]->bound_s, both[0]->iteration_s,
                            100 * (both[0]->share + both[1]->share)),
                    NAMES());
}

/* Successive waits each have their own gain: a near second is no error. */
static enum verdict_lost why_it_lost(const struct run_model *model, const struct candidate *first,
                                     const struct candidate *c) {
    if (!c->saturated && first->saturated)
        return VERDICT_LOST_UNPROVEN;
    return c->weight >= number_of(model, RUNNER_UP_CLOSE) * first->weight ? VERDICT_LOST_CLOSE
                                                                          : VERDICT_LOST_LESS;
}

/* Finds the first candidate that is not another form of the verdict, and why it lost. */
static void find_runner_up(const struct run_model *model, const struct candidates *candidates,
                           struct verdict *v) {
    const struct candidate *first = &candidates->items[0], *c = NULL;
    for (size_t i = 1; !c && i < candidates->n; i++) {
        const struct candidate *at = &candidates->items[i];
        if (!at->repeated && at != v->other && !candidate_is_alike(first, at) &&
            at->gain.estimate >= number_of(model, GAIN_HARMLESS))
            c = at;
    }
    if (!c || c->run_share < number_of(model, BLOCKED_MIN))
        return;
    remarks_add(&v->against, RUNNER_UP, NUMBERS(), NAMES());
    v->runner_up = c;
    v->lost = why_it_lost(model, first, c);
}

/* Whether ranks have no recorded calls: a rank that polls then looks like one that computes, so a
 * supply that ran out need not have held up the run. */
static bool is_blind(const struct run_model *model) {
    return !model->budgets.events && verdict_has_ranks(model);
}

/* The designed weights, reduced if the evidence has a known hole. */
static double confidence_in_candidate(const struct run_model *model, const struct candidate *c,
                                      const struct resampled *r, enum verdict_state state,
                                      double *ret_asked) {
    double confidence =
        number_of(model, WEIGHT_FIRST) * r->first + number_of(model, WEIGHT_MARGIN) * r->margin +
        number_of(model, WEIGHT_SIGNALS) * fmin(1, c->signals / number_of(model, SIGNALS_ENOUGH)) +
        number_of(model, WEIGHT_COVERAGE) * verdict_coverage(model);
    bool told = c->saturated || model_has_path(model); /* others had too few counts */
    confidence = told ? verdict_confidence(model, confidence, ret_asked)
                      : verdict_confidence_counted(model, confidence);
    if (!c->saturated)
        confidence *= number_of(model, DOUBT_UNPROVEN);
    if (c->ambiguous)
        confidence *= number_of(model, DOUBT_AMBIGUOUS);
    if (!model_has_path(model) && ranks_busy(model, c->group) >= number_of(model, BUSY_RANK) &&
        candidate_is_link(c))
        confidence *= number_of(model, DOUBT_SPINNING);
    if (state == VERDICT_SUSPECTED && is_blind(model))
        return fmin(confidence, number_of(model, CONFIDENCE_BLIND));
    return told ? confidence : fmin(confidence, number_of(model, CONFIDENCE_LEAN));
}

static void take_culprit(const struct candidate *c, struct verdict *v) {
    v->culprit_pid = c->culprit.pid;
    if (c->culprit.process && !(v->culprit = strdup(c->culprit.process)))
        v->evidence.error = -ENOMEM;
}

/* The time that the path spends on it bounds the gain only if all else takes as long without it. So
 * the bound is at least the time that no change can take from the run. The loss of a process is a
 * share of the time in which it was recorded, since samples may have begun late. */
static void take_bound(const struct run_model *model, const struct candidate *c,
                       const struct candidate *other, struct verdict *v) {
    double lost = other || isnan(c->lost.estimate) ? 0 : c->lost.estimate;
    double path = fmax(lost, c->run_share + (other ? other->run_share : 0));
    v->gain_low = 0;
    v->gain_high = fmin(1, fmax(path, candidate_most(model, c)));
    v->gain_source = "bound";
}

static void take_gain(const struct run_model *model, const struct candidate *c,
                      const struct candidate *other, struct verdict *v) {
    const struct gain *gain = candidate_gain(c);
    if (!gain->replayed && !gain->counted) {
        take_bound(model, c, other, v);
        return;
    }
    v->gain = gain->estimate;
    v->gain_low = gain->low;
    v->gain_high = gain->high;
    v->gain_source = gain->counted                        ? "counters"
                     : throughput_counts(model, c->group) ? "iterations"
                                                          : "replay";
}

/* Adds the reason why the gain is not a replay. */
static void add_no_replay(const struct candidates *candidates, struct verdict *v) {
    const struct candidate *c = &candidates->items[0];
    if (c->gain.replayed || !candidates->no_replay.code)
        return;
    v->no_replay = candidates->no_replay;
    if (candidate_gain(c)->counted)
        remarks_add(&v->against, COUNTED_NOT_REPLAYED, NUMBERS(), NAMES());
    else
        remarks_add(&v->against, BOUND_NOT_REPLAYED, NUMBERS(), NAMES());
}

int verdict_of_candidate(const struct run_model *model, struct candidates *candidates,
                         struct verdict *v) {
    struct candidate *c = &candidates->items[0];
    struct resampled r;
    int result = resample_candidates(model, candidates, &r);
    if (result < 0)
        return result;
    v->candidate = c;
    v->other = other_direction(candidates);
    if (!candidate_is_of_program(c))
        count_alike(candidates, v);
    v->share_low = r.low;
    v->share_high = r.high;
    v->state = verdict_state_of(model, c, verdict_gain_low(c, &r));
    v->subject = candidate_subject(c);
    v->host = verdict_is_of_host(v->subject) ? c->host : -1;
    v->rank = c->rank;
    v->resource = c->resource;
    v->kind = c->kind;
    v->start_s = c->start_s;
    v->end_s = c->end_s;
    v->confidence = confidence_in_candidate(model, c, &r, v->state, &v->computed);
    take_culprit(c, v);
    take_gain(model, c, v->other, v);
    remarks_move(&v->evidence, &c->evidence);
    awaited_tell(model, v->host, &v->evidence);
    remarks_move(&v->against, &c->against);
    if (v->other)
        add_other_direction(candidates, v->other, v);
    find_runner_up(model, candidates, v);
    add_no_replay(candidates, v);
    verdict_next_for(model, c, v);
    return 0;
}
