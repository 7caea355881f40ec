/* SPDX-License-Identifier: MIT */
/* A question, and what answers it: bounds always, a replay where it can tell, else counters. */
#include <errno.h>
#include <math.h>

#include "analysis/evidence/flows.h"
#include "analysis/evidence/queues.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/threshold.h"

/* What holds up a process from outside its calls, or in its calls to files. */
static bool can_be_without(enum budget_term term) {
    enum budget_class class = budget_term_class(term);
    return class == BUDGET_CLASS_LACKING || class == BUDGET_CLASS_ASLEEP || term == BUDGET_FILE;
}

static bool makes_sense(const struct whatif *w, const struct whatif_scenario *s) {
    if (s->host >= (int)w->model->n_hosts)
        return false;
    if (s->kind == WHATIF_LINK)
        return s->rate_bytes_s > 0 || (s->factor > 0 && isfinite(s->factor));
    if (s->kind == WHATIF_CPU || s->kind == WHATIF_QUOTA)
        return s->factor > 0 && isfinite(s->factor);
    return s->kind != WHATIF_WITHOUT || can_be_without(s->term);
}

static bool gains_hardly(const struct whatif_answer *a) {
    return a->replayed && a->gain < PATH_PART * a->gain_max;
}

/* The host, any host where none is said, holds back what it sends to the rate it is set to. */
static bool holds_back(const struct whatif *w, int host) {
    for (int h = 0; h < (int)w->model->n_hosts; h++) {
        if (host >= 0 && host != h)
            continue;
        struct queues queues = link_queues(w->model, w->model->main_group, h);
        if (queues.sent_mb_s >= NETWORK_HELD_MIN * queues.rate_mb_s &&
            link_held_mb_s(&queues) >= NETWORK_HELD_TOLD * queues.rate_mb_s)
            return true;
    }
    return false;
}

/* Data wait for a link, and neither that link nor all of them, faster, would gain much of what is
 * spent on moving data: what they hold up is nothing that a replay of the calls shows. */
static int doubt_link(const struct whatif *w, const struct whatif_scenario *s,
                      struct whatif_answer *a) {
    struct whatif_scenario all = {
        .kind = WHATIF_LINK, .host = -1, .direction = WHATIF_BOTH, .factor = s->factor};
    struct whatif_answer of_all = *a;
    if (s->kind != WHATIF_LINK || s->rate_bytes_s > 0 || !(s->factor > 1) || !gains_hardly(a) ||
        !holds_back(w, s->host))
        return 0;
    int result = whatif_predict(w, &all, 1, &of_all);
    if (result < 0 || !gains_hardly(&of_all))
        return result;
    a->refused = "its host holds back what it sends, yet the calls, replayed, wait for no link";
    a->replayed = a->at_bound = false;
    a->predicted_s = a->calls_s = a->low_s = a->high_s = NAN;
    a->gain = a->gain_low = a->gain_high = NAN;
    return 0;
}

int whatif_ask(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
               struct whatif_answer *ret_answer) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    int prepared = whatif_prepare(w);
    if (prepared < 0)
        return prepared;
    struct whatif_answer a = {.refused = w->refused,
                              .measured_s = part->length_s,
                              .replay_s = NAN,
                              .predicted_s = NAN,
                              .calls_s = NAN,
                              .low_s = NAN,
                              .high_s = NAN,
                              .gain = NAN,
                              .gain_low = NAN,
                              .gain_high = NAN};
    for (size_t i = 0; i < n; i++)
        if (!makes_sense(w, &scenarios[i]))
            return -EINVAL;
    double removed = whatif_removable(w, scenarios, n);
    a.elsewhere_s = whatif_elsewhere(w, scenarios, n);
    a.bound_s = isnan(removed) ? NAN : fmax(a.measured_s - removed, 0);
    a.gain_max = a.measured_s > 0 ? 1 - a.bound_s / a.measured_s : NAN;
    if (!isnan(w->replay_s) && w->measured_s > 0)
        a.replay_s = a.measured_s * w->replay_s / w->measured_s;
    for (size_t i = 0; !a.refused && i < n; i++) {
        a.refused = whatif_beyond_replay(w, &scenarios[i]);
        a.untold = a.refused && whatif_is_untold(w, &scenarios[i]);
    }
    int result = a.refused ? 0 : whatif_predict(w, scenarios, n, &a);
    if (result == 0 && n == 1)
        result = doubt_link(w, &scenarios[0], &a);
    if (result == 0 && !a.replayed)
        result = whatif_count(w, scenarios, n, &a);
    if (result == 0) {
        whatif_of_run(w, scenarios, n, &a);
        *ret_answer = a;
    }
    return result;
}
