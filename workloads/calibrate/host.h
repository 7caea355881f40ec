/* SPDX-License-Identifier: MIT */
/* Measurements of one host alone: a core, its memory, its disk. Each takes about `seconds`. */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_HOST_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_HOST_H

#include "workloads/calibrate/figure.h"

/* Steps of a fixed computation for each second of the thread's CPU time. */
void measure_cpu(double seconds, struct figures *figures);

/* Bytes a second that one thread copies between two areas larger than the last-level cache. */
void measure_memory(double seconds, struct figures *figures);

/* Sequential write and read without the page cache in an unlinked file, each for at most half of
 * `seconds` and DISK_BYTES_MAX. */
#define DISK_BYTES_MAX (1L << 30)
void measure_disk(const char *directory, double seconds, struct figures *figures);

#endif
