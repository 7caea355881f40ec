/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_WORKLOADS_MESSAGES_SUMMARY_H
#define CHOKEPOINT_WORKLOADS_MESSAGES_SUMMARY_H

#include <stdint.h>

struct summary {
    uint64_t bytes; /* of a message */
    const char *here, *there;
    uint64_t round_trips;
    double latency_s, least_latency_s; /* one way */
    double mb_s;
};

/* Returns 0 or a negative errno. */
int summary_write_json(const struct summary *summary, const char *path);

#endif
