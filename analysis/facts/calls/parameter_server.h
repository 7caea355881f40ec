/* SPDX-License-Identifier: MIT */
/*
 * Training with a parameter server in closed form: n workers compute, fetch the model and send a
 * gradient; the server applies gradients one after the other. For programs that no replay can tell:
 * whose ranks run freely. (Workers that wait for each other are replayed.)
 *
 * Queueing is left out: what a worker waits because others came first is not in the bounds, so real
 * throughput lies below them, least so where one of them is far below the others.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_CALLS_PARAMETER_SERVER_H
#define CHOKEPOINT_ANALYSIS_FACTS_CALLS_PARAMETER_SERVER_H

#include <stddef.h>

struct parameter_server {
    const double *cycle_s; /* of each worker: an iteration, what it moves included */
    size_t n;
    double bytes;          /* through the server's link for one update, the busier way */
    double server_bytes_s; /* of that link; INFINITY: without limit */
    double apply_s;        /* the server's own work for one update */
};

/* Updates a second: of the workers, at most what the server's link and its work allow. */
double parameter_server_async_per_s(const struct parameter_server *p);

/* For ranks that make per_s[] iterations a second: the share of the run by which it is longer than
 * if a share freed[] (0..1) of the time of each of its iterations were gone, all of them together
 * making at most limit_per_s (INFINITY). With all ranks alike and one of them slower by a factor f:
 * missing updates over those that would have been. */
double parameter_server_gain(const double *per_s, const double *freed, size_t n,
                             double limit_per_s);

#endif
