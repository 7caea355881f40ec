/* SPDX-License-Identifier: MIT */
/* Evidence from the queues before a host's own interfaces: whether it throttles its sending. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_QUEUES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_QUEUES_H

#include "analysis/run_model.h"

/* The queue of a host's interfaces in which most bytes wait during a group. */
struct queues {
    bool known;
    double backlog, overlimits_s; /* mean bytes; packets held back to a set rate, a second */
    double rate_mb_s;             /* it is set to; NAN */
    double sent_mb_s;             /* through it, in the mean */
    double at_rate;               /* share of the time in samples that found it near that rate */
    double packet_bytes;          /* of those held back, about */
    const struct series *fullest; /* whose they are; NULL: none had any */
};

struct queues link_queues(const struct run_model *model, size_t group, int host);

/* Rate of packets that were throttled to the set rate, MB/s. */
double link_held_mb_s(const struct queues *queues);

/* Data wait there. */
bool link_is_backed_up(const struct queues *queues);

/* The host holds back what it sends: again and again there is more than its interface may pass. */
bool link_holds_back(const struct run_model *model, size_t group, int host);

/* Data wait, again and again, for a rate that the host was set to. */
bool link_is_held_back(const struct queues *queues);
/* And sends nearly as much as that on average. */
bool link_is_full(const struct queues *queues);

#endif
