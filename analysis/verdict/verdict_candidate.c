/* SPDX-License-Identifier: MIT */
/* The verdict where a candidate stands out: its state, its confidence, what speaks against it. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gain/throughput.h"
#include "analysis/verdict/verdict_private.h"
#include "reports/words/remark_words.h"

bool verdict_is_of_host(enum subject subject) {
    return subject == SUBJECT_HOST || subject == SUBJECT_CORE || subject == SUBJECT_RANK ||
           subject == SUBJECT_PROCESS;
}

double verdict_gain_low(const struct candidate *c, const struct resampled *r) {
    return c->gain.replayed ? c->gain.low : r->low;
}

enum verdict_state verdict_state_of(const struct candidate *c, double gain_low) {
    bool worth = c->answered && candidate_gain(c)->estimate >= GAIN_MIN;
    return c->supply && worth && gain_low > GAIN_LOW_MIN ? VERDICT_SATURATED : VERDICT_SUSPECTED;
}

static void add_other_direction(const struct candidates *candidates, const struct candidate *other,
                                struct verdict *v) {
    const struct candidate *first = &candidates->items[0];
    const struct arithmetic *both[2];
    for (int i = 0; i < 2; i++)
        both[i] = arithmetic_find(candidates->arithmetic, candidates->n_arithmetic, first->host,
                                  i ? METRIC_NET_RECV : METRIC_NET_SEND, first->group);
    text_list_add(&v->evidence, "the same link the other way takes another %.0f %% of the time",
                  100 * other->blocked);
    if (both[0] && both[1] && both[0]->share + both[1]->share <= 1.1) /* else they overlap */
        text_list_add(&v->evidence,
                      "sending and receiving, one after the other, need %.3g s of the %.3g s an "
                      "iteration takes (%.0f %%)",
                      both[0]->bound_s + both[1]->bound_s, both[0]->iteration_s,
                      100 * (both[0]->share + both[1]->share));
}

/* Waits that follow each other are each worth their own gain: a near second is no error. */
static const char *why_it_lost(const struct candidate *first, const struct candidate *c) {
    if (!c->supply && first->supply)
        return "nothing shows that it ran out";
    return candidate_weight(c) >= RUNNER_UP_CLOSE * candidate_weight(first)
               ? "hardly less is to be gained there, so look at both"
               : "less is to be gained there";
}

/* The first candidate that is not the verdict in another form, and why it lost. */
static void add_runner_up(const struct run_model *model, const struct candidates *candidates,
                          const struct candidate *other, struct verdict *v) {
    const struct candidate *first = &candidates->items[0], *c = NULL;
    for (size_t i = 1; !c && i < candidates->n; i++) {
        const struct candidate *at = &candidates->items[i];
        if (!at->repeated && at != other && !candidate_is_alike(first, at) &&
            at->gain.estimate >= GAIN_HARMLESS)
            c = at;
    }
    if (!c || c->run_share < BLOCKED_MIN)
        return;
    char *what = verdict_candidate_words(model, c);
    text_list_add(&v->against, "runner-up: %s%s%s, %.0f %% of the run; %s", what ? what : "",
                  c->group == first->group ? "" : " during ",
                  c->group == first->group ? "" : verdict_group_words(model, c->group),
                  100 * c->run_share, why_it_lost(first, c));
    free(what);
}

/* Ranks whose calls nobody recorded: a rank that polls looks like one that computes, so a supply
 * that ran out need not have held the run up. */
static bool is_blind(const struct run_model *model) {
    return !model->budgets.events && verdict_has_ranks(model);
}

/* Weights as designed; less where the evidence has a hole that is known. */
static double confidence_of(const struct run_model *model, const struct candidate *c,
                            const struct resampled *r, enum verdict_state state,
                            double *ret_asked) {
    double confidence = 0.5 * r->first + 0.2 * r->margin + 0.2 * fmin(1, c->signals / 3.0) +
                        0.1 * verdict_coverage(model);
    bool told = c->supply || model_has_path(model); /* of others there were too few to count */
    confidence = told ? verdict_confidence(model, confidence, ret_asked)
                      : verdict_confidence_counted(model, confidence);
    if (!c->supply)
        confidence *= 0.8;
    if (c->ambiguous)
        confidence *= 0.6;
    if (!model_has_path(model) && ranks_busy(model, c->group) >= BUSY_RANK && candidate_is_link(c))
        confidence *= 0.6;
    if (state == VERDICT_SUSPECTED && is_blind(model))
        return fmin(confidence, VERDICT_CONFIDENCE_BLIND);
    return told ? confidence : fmin(confidence, VERDICT_CONFIDENCE_LEAN);
}

static void take_culprit(const struct candidate *c, struct verdict *v) {
    v->culprit_pid = c->culprit.pid;
    if (c->culprit.process && !(v->culprit = strdup(c->culprit.process)))
        v->evidence.error = -ENOMEM;
}

/* What the path spends on it bounds the gain only if all else took as long without it: so at least
 * up to what no change can take from the run. Of what a process lost that is a share of the time in
 * which it was recorded: samples may have begun late. */
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

/* Why it is no replay. */
static void add_no_replay(const struct candidates *candidates, struct verdict *v) {
    const struct candidate *c = &candidates->items[0];
    if (c->gain.replayed || !candidates->no_replay)
        return;
    text_list_add(&v->against,
                  candidate_gain(c)->counted
                      ? "what a change would gain is told by counters and no replay: %s"
                      : "what a change would gain is a bound and no prediction: %s",
                  candidates->no_replay);
}

int verdict_of_candidate(const struct run_model *model, struct candidates *candidates,
                         struct verdict *v) {
    struct candidate *c = &candidates->items[0];
    struct resampled r;
    int result = resample_candidates(model, candidates, &r);
    if (result < 0)
        return result;
    const struct candidate *other = verdict_other_direction(candidates);
    v->state = verdict_state_of(c, verdict_gain_low(c, &r));
    v->subject = candidate_subject(c);
    v->host = verdict_is_of_host(v->subject) ? c->host : -1;
    v->rank = c->rank;
    v->resource = c->resource;
    v->kind = c->kind;
    v->start_s = c->start_s;
    v->end_s = c->end_s;
    v->confidence = confidence_of(model, c, &r, v->state, &v->computed);
    take_culprit(c, v);
    take_gain(model, c, other, v);
    v->cause = remark_words(&c->cause);
    v->summary = verdict_sentence(model, candidates, &r, v->state);
    remarks_say(&c->evidence, &v->evidence);
    remarks_say(&c->against, &v->against);
    if (other)
        add_other_direction(candidates, other, v);
    add_runner_up(model, candidates, other, v);
    add_no_replay(candidates, v);
    verdict_next_for(model, c, v);
    return 0;
}
