/* SPDX-License-Identifier: MIT */
/*
 * The hosts, one rank each, which agree over MPI. Waits back off instead of spinning
 * (common/wait.h): several hosts may be one machine, where a spinning rank takes CPU time from the
 * one that measures.
 *
 * cluster_mpi.c is the real one; cluster_alone.c is for one host without MPI.
 */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_CLUSTER_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_CLUSTER_H

#include "workloads/calibrate/figure.h"

struct cluster {
    int rank, n;
};

int cluster_open(struct cluster *cluster, int *argc, char ***argv);
void cluster_close(struct cluster *cluster);

/* Gathers every rank's `mine` at all ranks, by rank. Also a barrier. */
void cluster_exchange(const struct cluster *cluster, const void *mine, size_t size, void *ret_all);
/* Broadcasts rank 0's data. */
void cluster_tell(const struct cluster *cluster, void *data, size_t size);
void cluster_abort(const struct cluster *cluster);

/* Messages between a and b: half a round trip of 8 bytes (a gets the figure), and bytes a second
 * each way (the sender gets it). Both call it. */
void cluster_messages(const struct cluster *cluster, int a, int b, double seconds,
                      struct figures *figures);

#endif
