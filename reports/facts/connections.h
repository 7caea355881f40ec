/* SPDX-License-Identifier: MIT */
/* Single TCP connections of the job, those that carried most. */
#ifndef CHOKEPOINT_REPORTS_FACTS_CONNECTIONS_H
#define CHOKEPOINT_REPORTS_FACTS_CONNECTIONS_H

#include "analysis/run_model.h"

/* One connection of the job, one way. */
struct report_connection {
    int from, to;           /* hosts; to -1: outside */
    int from_port, to_port; /* -1: not known */
    const char *process;    /* "train[1000]", the model's; NULL: not known */
    double bytes, mean_mb_s;
    double rtt_ms; /* median; NAN */
    size_t series; /* of the recording */
};
#define CONNECTIONS_MAX 100

struct connections {
    struct report_connection *items; /* the caller's to free */
    size_t n, n_all;                 /* that are shown; that carried anything */
};

/* -ENOMEM. */
int connections_find(const struct run_model *model, struct connections *ret_connections);

#endif
