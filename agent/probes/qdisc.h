/* SPDX-License-Identifier: MIT */
/* A queueing discipline as rtnetlink tells it, for qdisc.c, tests and fuzzing. */
#ifndef CHOKEPOINT_AGENT_PROBES_QDISC_H
#define CHOKEPOINT_AGENT_PROBES_QDISC_H

#include "agent/base/netlink.h"
#include "common/table.h"

#define QDISC_KIND_MAX 15

struct qdisc_message {
    int interface;           /* index */
    uint32_t handle, parent; /* MAJOR << 16 | MINOR; parent UINT32_MAX: root */
    char kind[QDISC_KIND_MAX + 1];
    bool has_traffic, has_queue, has_rate;
    uint64_t bytes, packets;
    uint32_t queue_length, backlog_bytes, drops, requeues, overlimits;
    uint64_t rate_bytes_per_s; /* what it is set to let through at most */
};

/* False if the message is no queueing discipline. */
bool qdisc_read(unsigned type, struct bytes payload, struct qdisc_message *ret_message);

/* The name of its row, with its handle, or without one its place. Returns its length. */
size_t qdisc_name(const struct qdisc_message *message, const char *interface,
                  char name[INSTANCE_MAX + 1]);

#endif
