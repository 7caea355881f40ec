/* SPDX-License-Identifier: MIT */
/*
 * Bytes that each process sent and received through its TCP connections: payload, within a host
 * too. The one source of a process's bytes on the network, for rows of processes as for roles of
 * ranks; the pairs of hosts (flow_ends.h) are sums of the same rows.
 *
 * A process that called exec has one id and several names, each a series of the process table: what
 * was counted while it had a name is that name's.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESS_TRAFFIC_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESS_TRAFFIC_H

#include "analysis/facts/recording/recording.h"

struct traffic { /* NAN: no connection of it was seen, or none with a growth */
    double sent_bytes, received_bytes;
};

struct traffic_owner;

struct process_traffic {
    const struct series_set *processes; /* borrowed of the recording */
    struct traffic_owner *owners;       /* by host, id, and since when */
    size_t n;
    double unowned_bytes; /* sent or received by connections that came and went unseen: nobody's */
};

/* Fills in all processes. -ENOMEM. */
int process_traffic_make(const struct recording *recording, struct process_traffic *ret_traffic);
void process_traffic_release(struct process_traffic *traffic);

/* Sum for that id, under all its names. */
struct traffic process_traffic_of(const struct process_traffic *traffic, int host, int64_t pid);

/* While it had the name of that series of the process table. */
struct traffic process_traffic_named(const struct process_traffic *traffic,
                                     const struct series *process);

#endif
