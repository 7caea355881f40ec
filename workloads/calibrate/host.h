/* SPDX-License-Identifier: MIT */
/* Measurements of one host by itself: a core, its memory, its disk. Each takes about `seconds`. */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_HOST_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_HOST_H

#include "workloads/calibrate/figure.h"

/* Steps of a fixed piece of arithmetic a second of the thread's own CPU time. */
void measure_cpu(double seconds, struct figures *figures);

/* Bytes copied a second by one thread between two areas larger than the last-level cache. */
void measure_memory(double seconds, struct figures *figures);

/* Sequential write and read past the page cache in a file that has no name, at most half of
 * `seconds` and DISK_BYTES_MAX each. */
#define DISK_BYTES_MAX (1L << 30)
void measure_disk(const char *directory, double seconds, struct figures *figures);

#endif
