/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/alert.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/facts/series/rate.h"

#define BIN_NS INT64_C(1000000000)
#define LASTING_BINS 3
#define BINS_MAX INT64_C(8640000) /* a hundred days: bounds the loop for any file */

struct seeker {
    const struct alert_rule *rule;
    struct alert *alerts;
    size_t n, capacity;
    /* the alert that may be open, in bins */
    bool open;
    size_t begin, last; /* first bin above warning; last bin not below it */
    size_t critical_run, critical_best;
    double peak;
};

static int add(struct seeker *s, struct alert alert) {
    if (s->n == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 8;
        struct alert *alerts = realloc(s->alerts, capacity * sizeof *alerts);
        if (!alerts)
            return -ENOMEM;
        s->alerts = alerts;
        s->capacity = capacity;
    }
    s->alerts[s->n++] = alert;
    return 0;
}

static int close_alert(struct seeker *s, int64_t begin_ns) {
    size_t bins = s->last + 1 - s->begin;
    bool lasting = s->open && bins >= LASTING_BINS;
    s->open = false;
    if (!lasting)
        return 0;
    return add(s, (struct alert){.level = s->critical_best >= LASTING_BINS ? ALERT_CRITICAL
                                                                           : ALERT_WARNING,
                                 .start_s = (double)(begin_ns + (int64_t)s->begin * BIN_NS) / 1e9,
                                 .duration_s = (double)bins,
                                 .peak = s->peak});
}

/* Between the thresholds and `hysteresis` below them, alerts neither begin nor end. */
static int step(struct seeker *s, size_t bin, double value, int64_t begin_ns) {
    const struct alert_rule *rule = s->rule;
    if (isnan(value) || value < rule->warning - rule->hysteresis)
        return close_alert(s, begin_ns);
    if (!s->open && value < rule->warning)
        return 0;
    if (!s->open) {
        s->open = true;
        s->begin = bin;
        s->critical_run = s->critical_best = 0;
        s->peak = value;
    }
    if (value >= rule->warning)
        s->last = bin;
    if (value >= rule->critical)
        s->critical_run++;
    else if (value < rule->critical - rule->hysteresis)
        s->critical_run = 0;
    if (s->critical_run > s->critical_best)
        s->critical_best = s->critical_run;
    if (value > s->peak)
        s->peak = value;
    return 0;
}

int alert_find(const struct rate *rate, const struct alert_rule *rule, int64_t begin_ns,
               int64_t end_ns, struct alert **ret_alerts, size_t *ret_n) {
    struct seeker seeker = {.rule = rule};
    size_t bin = 0;
    int result = 0;
    if (end_ns - begin_ns > BINS_MAX * BIN_NS)
        end_ns = begin_ns + BINS_MAX * BIN_NS;
    for (int64_t t = begin_ns; result == 0 && t + BIN_NS <= end_ns; t += BIN_NS, bin++)
        result = step(&seeker, bin,
                      rule->base + rule->factor * rate_mean_between(rate, t, t + BIN_NS), begin_ns);
    if (result == 0)
        result = close_alert(&seeker, begin_ns);
    if (result < 0) {
        free(seeker.alerts);
        return result;
    }
    *ret_alerts = seeker.alerts;
    *ret_n = seeker.n;
    return 0;
}
