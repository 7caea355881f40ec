/* SPDX-License-Identifier: MIT */
/*
 * Bytes that each process sent and received through its TCP connections: payload, including traffic
 * within a host. It is the only source of a process's network bytes, for rows of processes and for
 * roles of ranks; the pairs of hosts (flow_ends.h) are sums of the same rows.
 *
 * A process that called exec has one id and several names, each with its own series in the process
 * table: bytes count for the name that it had at the time.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESS_TRAFFIC_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESS_TRAFFIC_H

#include "analysis/facts/recording/recording.h"

struct traffic { /* NAN: no connection of it was seen, or none that grew */
    double sent_bytes, received_bytes;
};

struct traffic_owner;

struct process_traffic {
    const struct series_set *processes; /* borrowed from the recording */
    struct traffic_owner *owners;       /* sorted by host, id, and begin */
    size_t n;
    double unowned_bytes; /* through connections that came and went unseen: no process is known */
};

/* Fills in all processes. -ENOMEM. */
int process_traffic_make(const struct recording *recording, struct process_traffic *ret_traffic);
void process_traffic_release(struct process_traffic *traffic);

/* The sum for that id, under all its names. */
struct traffic process_traffic_of(const struct process_traffic *traffic, int host, int64_t pid);

/* The bytes while it had the name of that series of the process table. */
struct traffic process_traffic_named(const struct process_traffic *traffic,
                                     const struct series *process);

#endif
