/* SPDX-License-Identifier: MIT */
/*
 * Limits of resources (setrlimit) that would stop a recording in its middle: file size, open files,
 * memory, CPU time. A process of the profiler raises its limits as far as it may; the programs that
 * it starts for its user get back the user's limits.
 */
#ifndef CHOKEPOINT_COMMON_LIMITS_H
#define CHOKEPOINT_COMMON_LIMITS_H

#include <stdint.h>
#include <sys/resource.h>

#define LIMITS_N 5

struct limits {
    struct rlimit values[LIMITS_N];
};

/* Raises the soft limits to the hard ones; ret_before, which may be NULL, gets what they were. */
void limits_raise(struct limits *ret_before);

/* Sets what limits_raise found. Safe between fork and exec. */
void limits_restore(const struct limits *before);

/* Bytes that a file may have; UINT64_MAX without a limit. */
uint64_t limits_file_size(void);

#endif
