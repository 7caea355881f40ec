/* SPDX-License-Identifier: MIT */
/*
 * Servers that the job waits for, and that are not recorded as part of it: a connection of the job
 * whose other end lies on the same host, and belongs to no process of the job.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_UNRECORDED_SERVER_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_UNRECORDED_SERVER_H

#include <stdint.h>

#include "analysis/run_model.h"

struct unrecorded_server {
    int host;
    uint16_t port;
    double share; /* of the run: how long the process waited that waited longest for it */
};

/* The one that is waited for longest. Whether somebody listens there is for the caller to find out:
 * a single connection does not tell who of the two is the server. Which processes wait for which
 * connection is known from wait clocks only. 1: found; 0: none; -ENOMEM. */
int unrecorded_server_find(const struct run_model *model, struct unrecorded_server *ret_server);

#endif
