/* SPDX-License-Identifier: MIT */
/* Answers by a replay with changes, and how sure that answer is. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "analysis/gain/gain_warm.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/run_model.h"

#define DRAWINGS 1000

/* Bootstrap over blocks: draws blocks again, and scales each by the scenario's effect on it. */
static int bootstrap_replay(const struct whatif *w, const int64_t *replayed, const int64_t *changed,
                            struct whatif_answer *a) {
    const struct critical_path *path = &w->model->critical;
    double *was = malloc((path->n_blocks + 1) * sizeof *was);
    double *is = malloc((path->n_blocks + 1) * sizeof *is);
    double *ratios = malloc(DRAWINGS * sizeof *ratios);
    size_t n = 0;
    uint64_t random = 1;
    for (size_t b = 0; was && is && b < path->n_blocks; b++) {
        was[n] = whatif_length_s(w, replayed, path->block_windows[b]);
        is[n] = whatif_length_s(w, changed, path->block_windows[b]);
        n += whatif_is_replayed(w, path->block_windows[b]) && was[n] > 0;
    }
    for (size_t d = 0; was && is && ratios && n && d < DRAWINGS; d++) {
        double before = 0, after = 0;
        for (size_t i = 0; i < n; i++) {
            size_t k = stats_random_below(&random, n);
            before += was[k];
            after += is[k];
        }
        ratios[d] = after / before;
    }
    bool ok = was && is && ratios;
    double off = fmax(fabs(w->replay_s / w->measured_s - 1), WHATIF_CALIBRATED);
    if (ok && n) {
        double low = a->measured_s * stats_quantile(ratios, DRAWINGS, 0.025) * (1 - off);
        double high = a->measured_s * stats_quantile(ratios, DRAWINGS, 0.975) * (1 + off);
        a->low_s = fmin(low, a->predicted_s);
        a->high_s = fmax(high, a->predicted_s);
    }
    free(was);
    free(is);
    free(ratios);
    return ok ? 0 : -ENOMEM;
}

/* The path shows waits for cores only as counters between samples tell them; a replay also finds
 * those inside calls, of ranks that are not on the path.
 */
static bool finds_more(const struct whatif_scenario *scenarios, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (scenarios[i].kind == WHATIF_WITHOUT &&
            (scenarios[i].term == BUDGET_RUN_QUEUE || scenarios[i].term == BUDGET_QUOTA))
            return true;
    return false;
}

#define SPINNING 0.15

/* Ranks that spin use up their quota while they wait. In which call they were throttled is
 * inferred, not counted, and no bootstrap shows that error, so the interval is widened.
 */
static void widen(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                  struct whatif_answer *a) {
    double hidden = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t h = 0; h < w->model->n_hosts; h++)
            if (scenarios[i].kind == WHATIF_WITHOUT && scenarios[i].term == BUDGET_QUOTA &&
                (scenarios[i].host < 0 || scenarios[i].host == (int)h))
                hidden += replay_hidden_s(w->replay, (int)h, BUDGET_QUOTA);
    if (!(hidden > 0) || isnan(a->low_s))
        return;
    a->low_s = fmin(a->low_s, (1 - SPINNING) * a->predicted_s);
    a->high_s = fmax(a->high_s, (1 + SPINNING) * a->predicted_s);
    if (a->low_s < a->bound_s) {
        a->bound_s = a->low_s;
        a->gain_max = 1 - a->bound_s / a->measured_s;
    }
}

/* A replay may be slightly wrong, but the bound is certain if it covers all that is taken away. */
static void keep_bound(const struct whatif_scenario *scenarios, size_t n, struct whatif_answer *a) {
    if (isnan(a->bound_s))
        return;
    if (finds_more(scenarios, n) && a->predicted_s < a->bound_s) {
        a->bound_s = a->predicted_s;
        a->gain_max = 1 - a->bound_s / a->measured_s;
    }
    a->predicted_s = fmax(a->predicted_s, a->bound_s);
    a->low_s = isnan(a->low_s) ? NAN : fmax(a->low_s, a->bound_s);
    a->high_s = isnan(a->high_s) ? NAN : fmax(a->high_s, a->predicted_s * (1 + WHATIF_CALIBRATED));
}

static void warm(struct whatif_answer *a) {
    a->calls_s = a->predicted_s;
    a->gain = 1 - a->predicted_s / a->measured_s;
    a->gain_low = 1 - a->high_s / a->measured_s;
    a->gain_high = 1 - a->low_s / a->measured_s;
    gain_warm_all(&a->gain, &a->gain_low, &a->gain_high);
    a->predicted_s = (1 - a->gain) * a->measured_s;
    a->high_s = (1 - a->gain_low) * a->measured_s;
    a->low_s = (1 - a->gain_high) * a->measured_s;
    a->gain_max = fmax(a->gain_max, gain_warm(a->gain_max, 2));
    a->bound_s = (1 - a->gain_max) * a->measured_s;
}

struct refusal whatif_why_not(int error) {
    switch (error) {
    case -EDEADLK:
        return (struct refusal){.code = REFUSAL_DEADLOCK};
    case -ENODATA:
        return (struct refusal){.code = REFUSAL_NO_PEER};
    case -E2BIG:
        return (struct refusal){.code = REFUSAL_TOO_MANY};
    default:
        return (struct refusal){.code = REFUSAL_NONE};
    }
}

/* Replays with the scenarios; at their present speeds if `before`. */
static int replay_scenarios(const struct whatif *w, const struct whatif_scenario *scenarios,
                            size_t n, bool before, int64_t *ret_times) {
    struct replay_change change;
    int result = whatif_change_init(w, &change);
    if (result < 0)
        return result;
    for (size_t i = 0; result == 0 && i < n; i++) {
        struct whatif_scenario s = scenarios[i];
        if (before) {
            s.factor = 1;
            s.rate_bytes_s = s.burst_bytes = 0;
        }
        if (!before || s.kind == WHATIF_LINK)
            result = whatif_change_add(w, &s, &change);
    }
    if (result == 0)
        result = replay_run(w->replay, &change, w->reference, w->times, w->n_times, ret_times);
    whatif_change_release(&change);
    return result;
}

/* Whether a link that the scenarios name becomes the limit in place of another that explains the
 * same transfers: its own rate is not quite the other's, so the run without the change is replayed
 * with it as well.
 */
static bool take_a_place(const struct whatif *w, const struct whatif_scenario *scenarios,
                         size_t n) {
    const struct replay_network *m = &w->replay->net;
    size_t hosts = w->model->n_hosts;
    for (size_t i = 0; i < n; i++)
        for (size_t link = 0; link < 2 * hosts; link++)
            if (whatif_asks_link(w, &scenarios[i], link) && m->twin[link] >= 0 &&
                isinf(link < hosts ? m->egress[link] : m->ingress[link - hosts]))
                return true;
    return false;
}

int whatif_predict(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                   struct whatif_answer *a) {
    int64_t *before = w->replayed, *own = NULL;
    int64_t *changed = malloc((w->n_times + 1) * sizeof *changed);
    int result = changed ? 0 : -ENOMEM;
    if (result == 0 && take_a_place(w, scenarios, n)) {
        before = own = malloc((w->n_times + 1) * sizeof *own);
        result = own ? replay_scenarios(w, scenarios, n, true, own) : -ENOMEM;
    }
    if (result == 0)
        result = replay_scenarios(w, scenarios, n, false, changed);
    if (result == 0) {
        a->replayed = true;
        a->predicted_s = a->measured_s * whatif_group_s(w, changed) / whatif_group_s(w, before);
        result = bootstrap_replay(w, before, changed, a);
        keep_bound(scenarios, n, a);
        widen(w, scenarios, n, a);
        warm(a);
    } else if (whatif_why_not(result).code) {
        a->refused = whatif_why_not(result);
        result = 0;
    }
    free(own);
    free(changed);
    return result;
}
