/* SPDX-License-Identifier: MIT */
/*
 * Resource limits (setrlimit) that could stop a recording: file size, open files, memory, CPU time.
 * Processes of the profiler raise their limits as far as they may; the programs that they start for
 * the user get the user's limits back.
 */
#ifndef CHOKEPOINT_COMMON_LIMITS_H
#define CHOKEPOINT_COMMON_LIMITS_H

#include <stdint.h>
#include <sys/resource.h>

#define LIMITS_N 5

struct limits {
    struct rlimit values[LIMITS_N];
};

/* Raises the soft limits to the hard ones; ret_before (may be NULL) gets the old limits. */
void limits_raise(struct limits *ret_before);

/* Restores the limits from limits_raise. Safe between fork and exec. */
void limits_restore(const struct limits *before);

/* The largest size of a file in bytes; UINT64_MAX: no limit. */
uint64_t limits_file_size(void);

#endif
