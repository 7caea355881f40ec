/* SPDX-License-Identifier: MIT */
/* Evidence from the queues of a host's own interfaces: whether the host throttles what it sends. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_QUEUES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_QUEUES_H

#include "analysis/run_model.h"

/* The queue of a host's interface in which most bytes wait during a group. */
struct queues {
    bool known;
    double backlog, overlimits_s; /* mean bytes that wait; packets throttled to a set rate, per
                                     second */
    double rate_mb_s;             /* the rate that it is set to; NAN */
    double sent_mb_s;             /* mean rate through it */
    double at_rate;               /* share of time in samples with nearly that rate */
    double packet_bytes;          /* size of a throttled packet, about */
    const struct series *fullest; /* series of the queue; NULL: no bytes waited */
};

struct queues link_queues(const struct run_model *model, size_t group, int host);

/* Rate of packets that were throttled to the set rate, MB/s. */
double link_held_mb_s(const struct queues *queues);

/* Whether data wait there. */
bool link_is_backed_up(const struct run_model *model, const struct queues *queues);

/* Whether the host throttles what it sends: its interface repeatedly has more than it may pass. */
bool link_holds_back(const struct run_model *model, size_t group, int host);

/* Whether data repeatedly wait for a rate that the host was set to. */
bool link_is_held_back(const struct run_model *model, const struct queues *queues);
/* Whether, in addition, it sends nearly at that rate on average. */
bool link_is_full(const struct run_model *model, const struct queues *queues);

#endif
