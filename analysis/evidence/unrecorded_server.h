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
    bool serves;  /* the port is that of a server; false: a single connection does not tell */
    int64_t pid;  /* of the process that waited longest for it */
    double share; /* of the run: how long the process waited that waited longest for it */
};

/* The one that is waited for longest. Where a single connection between two ports
 * that the kernel gives to clients does not tell the server, the caller may find out who listens.
 * Which processes wait for which connection is known from wait clocks only. 1: found; 0: none;
 * -ENOMEM. */
int unrecorded_server_find(const struct run_model *model, struct unrecorded_server *ret_server);

#endif
