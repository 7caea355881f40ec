/* SPDX-License-Identifier: MIT */
/* The links between the hosts of a cluster. Every rank calls each step; ranks that take no part
 * return at once. */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_NET_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_NET_H

#include "workloads/calibrate/cluster.h"
#include "workloads/calibrate/link.h"
#include "workloads/calibrate/plan.h"

struct net {
    struct link_address *addresses; /* owned; by rank */
    uint8_t token[LINK_TOKEN_SIZE];
    int listener;                /* the listening socket; -1: none */
    char interface[IF_NAMESIZE]; /* the interface with this host's address; "" */
};

/* names: by rank. Errors of this host become trouble of its figures. -ENOMEM. */
int net_open(struct net *net, const struct cluster *cluster, const char *const *names,
             struct figures *figures);
void net_close(struct net *net);

/* Runs STEP_RTT to STEP_FROM_ALL. */
void net_step(const struct net *net, const struct cluster *cluster, const struct step *step,
              const char *const *names, struct figures *figures);

#endif
