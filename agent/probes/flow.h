/* SPDX-License-Identifier: MIT */
/* Packets added up by interface and pair of hosts. flow_table.c implements it, for flow.c, tests
 * and fuzzing. */
#ifndef CHOKEPOINT_AGENT_PROBES_FLOW_H
#define CHOKEPOINT_AGENT_PROBES_FLOW_H

#include "agent/capture/capture.h"
#include "common/table.h"

#define FLOWS_MAX 1024
#define FLOW_SLOTS (2 * FLOWS_MAX)

/* The two ends of a flow. All its bytes are compared, so zero it before filling it. */
struct flow_key {
    int32_t interface;
    uint16_t protocol; /* of Ethernet; only IPv4 and IPv6 have addresses */
    uint16_t unused;
    uint8_t local[16], remote[16];
};

struct flow_counts {
    uint64_t send_bytes, send_packets, receive_bytes, receive_packets;
};

struct flow {
    struct flow_key key;
    struct flow_counts counts;
    int64_t active_ns; /* when its last packet was drained */
    int64_t sent_ns;   /* when it last had a row, 0: never */
    bool born;         /* began after the first sample */
    char name[INSTANCE_MAX + 1];
    uint8_t name_size;
};

struct flows { /* all zero: empty */
    size_t n;
    struct flow items[FLOWS_MAX];
    uint16_t slots[FLOW_SLOTS]; /* place + 1, 0: free */
    struct flow_counts other;   /* packets of flows without room */
};

/* The flow that the packet belongs to. */
void flow_key_of(const struct captured *packet, struct flow_key *ret_key);

/* "eth0 10.0.0.1 10.0.0.2", the local end first; "eth0 protocol 0x88cc". Returns its length. */
size_t flow_name(const struct flow_key *key, const char *interface, char name[INSTANCE_MAX + 1]);

/* NULL: unknown. */
struct flow *flows_find(struct flows *all, const struct flow_key *key);

/* Adds a flow that is unknown so far. NULL: no room. */
struct flow *flows_add(struct flows *all, const struct flow_key *key);

/* Forgets flows without a packet since then. */
void flows_keep(struct flows *all, int64_t since_ns);

void flow_count(struct flow_counts *counts, const struct captured *packet);

#endif
