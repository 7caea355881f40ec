/* SPDX-License-Identifier: MIT */
/* Single TCP connections of the job: those with the most traffic. */
#ifndef CHOKEPOINT_REPORTS_FACTS_CONNECTIONS_H
#define CHOKEPOINT_REPORTS_FACTS_CONNECTIONS_H

#include "analysis/run_model.h"

/* A connection of the job in one direction. */
struct report_connection {
    int from, to;           /* hosts; to -1: outside */
    int from_port, to_port; /* -1: not known */
    const char *process;    /* "train[1000]", owned by the model; NULL: not known */
    double bytes, mean_mb_s;
    double rtt_ms; /* median; NAN */
    size_t series; /* index in the recording */
};
#define CONNECTIONS_MAX 100

struct connections {
    struct report_connection *items; /* for the caller to free */
    size_t n, n_all;                 /* number shown; number with traffic */
};

/* -ENOMEM. */
int connections_find(const struct run_model *model, struct connections *ret_connections);

#endif
