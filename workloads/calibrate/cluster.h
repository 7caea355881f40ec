/* SPDX-License-Identifier: MIT */
/*
 * The hosts together, one rank each: what has to be agreed on goes over MPI. Waiting backs off
 * instead of spinning (common/wait.h), since on hosts that are one machine in truth a spinning rank
 * takes the time of the one that measures.
 *
 * cluster_mpi.c is the real one; cluster_alone.c is one host without MPI, so that a machine that
 * has none can still be measured.
 */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_CLUSTER_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_CLUSTER_H

#include "workloads/calibrate/figure.h"

struct cluster {
    int rank, n;
};

int cluster_open(struct cluster *cluster, int *argc, char ***argv);
void cluster_close(struct cluster *cluster);

/* Everybody's `mine` to everybody, by rank. Also a barrier. */
void cluster_exchange(const struct cluster *cluster, const void *mine, size_t size, void *ret_all);
/* Rank 0's data to everybody. */
void cluster_tell(const struct cluster *cluster, void *data, size_t size);
void cluster_abort(const struct cluster *cluster);

/* Messages between a and b: half a round trip of 8 bytes (a has the figure), and bytes a second
 * either way (who sends has it). Both call it. */
void cluster_messages(const struct cluster *cluster, int a, int b, double seconds,
                      struct figures *figures);

#endif
