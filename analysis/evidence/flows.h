/* SPDX-License-Identifier: MIT */
/* Bytes of the connections between each pair of hosts, and their limits. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FLOWS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FLOWS_H

#include "analysis/run_model.h"

/* Whether one side of one host explains the model's connections that were held up by their path
 * (evidence/flows.c). */
struct flow {
    int from, to;         /* hosts */
    double bytes;         /* that reached the other end */
    double wire_bytes;    /* those and the headers of its segments, as an interface counts them */
    double limited_s;     /* with data under way that nothing but the path held up */
    double need_s;        /* what the bytes take at the rate the kernel measured on it */
    double receiver_s;    /* held up by the receiver, */
    double send_buffer_s; /* by the send buffer */
    double rate_bytes_s;  /* the median the kernel measured; NAN */
    double queue_ns;      /* round trips beyond the shortest, mean; NAN */
    double send_room;     /* of the sender's buffer for it, bytes; NAN */
    double back_room;     /* of the sender's buffer for what comes back; NAN */
    double held;          /* how far its path held it up, 0..1 */
    bool limited;         /* that is beyond doubt */
};

struct flows {
    struct flow *items; /* one for each ordered pair of hosts */
    size_t n, n_limited;
    double held; /* the sum */
};

enum flow_side { FLOW_SEND, FLOW_RECEIVE };

/* METRIC_NET_SEND or METRIC_NET_RECV. */
enum metric link_metric(enum flow_side side);

/* -ENOMEM. Empty where no connection between hosts was recorded. */
int flows_make(const struct run_model *model, struct windows windows, struct flows *ret_flows);

void flows_release(struct flows *flows);

/* How well one side of one host explains the set of limited flows: harmonic mean of precision and
 * recall (F1); 0 where it has none of them. A link that is slow both ways explains both sets. */
double flows_f1(const struct flows *flows, int host, enum flow_side side);

/* The share of a host's critical transfers that go through one side of it; NAN. */
double flows_critical_part(const struct run_model *model, size_t group, int host,
                           enum flow_side side);

#endif
