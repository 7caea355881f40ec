/* SPDX-License-Identifier: MIT */
/* The alert log (A1): resources near their limit for three seconds or longer. */
#ifndef CHOKEPOINT_REPORTS_FACTS_ALERTS_H
#define CHOKEPOINT_REPORTS_FACTS_ALERTS_H

#include "analysis/facts/series/alert.h"
#include "analysis/run_model.h"

struct report_alert {
    enum alert_level level;
    int host;
    const char *resource; /* "CPU", "CPU_CORE", "CPU_IOWAIT", "CPU_STEAL", "DISK", "MEM", "SWAP",
                             "NET_SEND", "NET_RECV", "NET" (the fuller direction) */
    double start_s, duration_s, peak;
    const char *unit;
};

struct alerts {
    struct report_alert *items; /* the caller's to free; by time */
    size_t n;
};

/* -ENOMEM. */
int alerts_find(const struct run_model *model, struct alerts *ret_alerts);

#endif
