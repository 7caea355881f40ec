/* SPDX-License-Identifier: MIT */
/* Bytes and limits of the connections between each pair of hosts. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FLOWS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FLOWS_H

#include "analysis/run_model.h"

/* The connections from one host to another, and how far their path throttled them
 * (evidence/flows.c).
 */
struct flow {
    int from, to;         /* indexes of hosts */
    double bytes;         /* that reached the other end */
    double wire_bytes;    /* bytes with segment headers, as an interface counts them */
    double limited_s;     /* time with data under way that only the path limited */
    double need_s;        /* time that the bytes take at the rate that the kernel measured */
    double receiver_s;    /* limited by the receiver */
    double send_buffer_s; /* limited by the send buffer */
    double rate_bytes_s;  /* the kernel's median; NAN */
    double queue_ns;      /* round-trip time beyond the shortest, mean; NAN */
    double send_room;     /* bytes, of the sender's send buffer; NAN */
    double back_room;     /* bytes, of the sender's receive buffer; NAN */
    double held;          /* how far its path throttled it, 0..1 */
    bool limited;         /* its path throttled it beyond doubt */
    bool behind;          /* only because the way back is full: its answers queue there */
};

struct flows {
    struct flow *items; /* one for each ordered pair of hosts with connections */
    size_t n, n_limited;
    double held; /* sum of all `held` */
};

enum flow_side { FLOW_SEND, FLOW_RECEIVE };

/* METRIC_NET_SEND or METRIC_NET_RECV. */
enum metric link_metric(enum flow_side side);

/* -ENOMEM. Empty if no connection between hosts was recorded. */
int flows_make(const struct run_model *model, struct windows windows, struct flows *ret_flows);

void flows_release(struct flows *flows);

/* Whether the job has a connection of its own that leads out of the host and moved data: without
 * one it waits for no link, whatever others send there. True as well if connections were not
 * recorded.
 */
bool flows_leave(const struct run_model *model, int host, struct windows windows);

/* The smallest buffer of a host's connections, and the median of all other hosts; NAN. */
struct flow_room {
    double own, others;
};
struct flow_room flows_room(const struct flows *flows, int host, bool receive);

/* How well one side of one host explains the set of limited flows: harmonic mean of precision and
 * recall (F1); 0 if none of them passes it. A link that is slow in both directions explains both
 * sets.
 */
double flows_f1(const struct flows *flows, int host, enum flow_side side);

/* The share of all critical transfers that wait for one side of a host: those that pass it, and
 * those `behind` such; NAN if not known. */
double flows_critical_part(const struct run_model *model, size_t group, const struct flows *flows,
                           int host, enum flow_side side);

#endif
