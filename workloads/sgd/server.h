/* SPDX-License-Identifier: MIT */
/*
 * Rank 0: the parameter server, which also trains on data or only serves. Both modes share this
 * part; server_sync.c and server_async.c decide when a worker is answered and when its gradient is
 * applied.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_SERVER_H
#define CHOKEPOINT_WORKLOADS_SGD_SERVER_H

#include "workloads/sgd/channel.h"
#include "workloads/sgd/lead.h"

struct server {
    struct lead *lead;
    struct trainer *t;
    struct channel *channels; /* of ranks 1, 2, ... */
    int n_channels;
    double staleness_sum;
};

/* Trains, and fills in the lead's outcome as far as it got. Returns 0, or negative if any rank has
 * failed. */
int server_run(struct lead *lead);

/* ---- for server_sync.c and server_async.c ---- */

int server_run_sync(struct server *server);
int server_run_async(struct server *server);

/* server_channels.c. Steps all channels once; true if anything happened. */
bool server_step(struct server *server);
/* Whether every (any) channel is in the state. */
bool server_all(const struct server *server, enum channel_state state);
bool server_any(const struct server *server, enum channel_state state);

#endif
