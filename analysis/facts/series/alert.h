/* SPDX-License-Identifier: MIT */
/*
 * Alerts (A1) as glances logs them: a level that lasts at least three seconds, with its duration
 * and peak. They use one-second means, so that a single busy sample is no alert; and an alert ends
 * only ten points below its threshold, so that a flickering level is one alert.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_ALERT_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_ALERT_H

#include <stddef.h>
#include <stdint.h>

struct rate;

enum alert_level { ALERT_WARNING, ALERT_CRITICAL };

struct alert {
    enum alert_level level; /* the highest that lasted for three seconds */
    double start_s, duration_s;
    double peak; /* the highest one-second mean */
};

struct alert_rule {
    double warning, critical, hysteresis; /* in the unit of the rate */
    double base;                          /* value = base + factor x rate: 100 and -1 turn idle */
    double factor;                        /* into busy */
};

/* Finds the alerts of one rate over [begin_ns, end_ns), in time order. The caller owns *ret_alerts.
 * -ENOMEM.
 */
int alert_find(const struct rate *rate, const struct alert_rule *rule, int64_t begin_ns,
               int64_t end_ns, struct alert **ret_alerts, size_t *ret_n);

#endif
