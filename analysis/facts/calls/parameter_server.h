/* SPDX-License-Identifier: MIT */
/*
 * Training with a parameter server in closed form: n workers compute, fetch the model and send a
 * gradient; the server applies gradients one after the other. It serves programs whose ranks run
 * freely, which no replay can answer for. (Workers that wait for each other are replayed.)
 *
 * Queueing is left out: the bounds exclude waits behind other workers, so real throughput lies
 * below them, by least where one bound is far below the others.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_CALLS_PARAMETER_SERVER_H
#define CHOKEPOINT_ANALYSIS_FACTS_CALLS_PARAMETER_SERVER_H

#include <stddef.h>

struct parameter_server {
    const double *cycle_s; /* for each worker: its iteration, transfers included */
    size_t n;
    double bytes;          /* through the server's link in one update, in the busier direction */
    double server_bytes_s; /* rate of that link; INFINITY: no limit */
    double apply_s;        /* the server's own work in one update */
};

/* Updates per second of the workers, at most what the server's link and its work allow. */
double parameter_server_async_per_s(const struct parameter_server *p);

/* For ranks that make per_s[] iterations per second: the share of the run's time saved if the share
 * freed[] (0..1) of each rank's iteration were saved, with at most limit_per_s iterations of all
 * together (INFINITY: no limit). If all ranks are alike and one is slower by a factor, that is the
 * missing updates over the possible ones.
 */
double parameter_server_gain(const double *per_s, const double *freed, size_t n,
                             double limit_per_s);

#endif
