/* SPDX-License-Identifier: MIT */
/* A queueing discipline in a message of rtnetlink, for qdisc.c, tests and fuzzing. */
#ifndef CHOKEPOINT_AGENT_PROBES_QDISC_H
#define CHOKEPOINT_AGENT_PROBES_QDISC_H

#include "agent/base/netlink.h"
#include "common/table.h"

#define QDISC_KIND_MAX 15

struct qdisc_message {
    int interface;           /* its index */
    uint32_t handle, parent; /* MAJOR << 16 | MINOR; parent UINT32_MAX: root */
    char kind[QDISC_KIND_MAX + 1];
    bool has_traffic, has_queue, has_rate;
    uint64_t bytes, packets;
    uint32_t queue_length, backlog_bytes, drops, requeues, overlimits;
    uint64_t rate_bytes_per_s; /* the configured upper limit */
};

/* False if the message is not about a queueing discipline. */
bool qdisc_read(unsigned type, struct bytes payload, struct qdisc_message *ret_message);

/* Writes the name of the row: with the handle, or with the place if there is no handle. Returns its
 * length. */
size_t qdisc_name(const struct qdisc_message *message, const char *interface,
                  char name[INSTANCE_MAX + 1]);

#endif
