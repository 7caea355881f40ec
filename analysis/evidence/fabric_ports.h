/* SPDX-License-Identifier: MIT */
/* Traffic of a host's ports of InfiniBand, RoCE and Omni-Path, and messages of the job. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_FABRIC_PORTS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_FABRIC_PORTS_H

#include "analysis/evidence/flows.h"

struct fabric_port {
    const struct series *series;
    int64_t link;     /* as in table fabric; VALUE_ABSENT */
    double mb_s[2];   /* by enum flow_side; NAN: not counted */
    double rate_mb_s; /* what it carries each way; NAN */
    double waits_s;   /* ticks a second in which data waited to be sent; NAN */
    double discards, errors, late, congested; /* in the windows; NAN: not counted */
};

/* Fills in the ports of a host, by name. The caller owns *ret_items. -ENOMEM. */
int fabric_ports_make(const struct run_model *model, int host, struct windows windows,
                      struct fabric_port **ret_items, size_t *ret_n);

/* The port that carried the largest part of its rate in that direction. False if there is none of
 * a known rate, or without memory. */
bool fabric_fullest(const struct run_model *model, int host, struct windows windows,
                    enum flow_side side, struct fabric_port *ret_port);

/* Bytes a second that ranks of a host sent to other hosts in calls of MPI (or received from them),
 * MB/s. A group call counts with its own bytes in `least`, and with those times the hosts in
 * `most`: what it sends is up to the library. */
struct message_rate {
    double least, most;
};
struct message_rate message_rate_of(const struct run_model *model, int host, struct windows windows,
                                    enum flow_side side);

#endif
