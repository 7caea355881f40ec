/* SPDX-License-Identifier: MIT */
/* Ends a program that prints: only this finds output that a full disk lost. */
#ifndef CHOKEPOINT_WORKLOADS_PRINTED_H
#define CHOKEPOINT_WORKLOADS_PRINTED_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

/* Flushes standard output: 0, or a negative errno if output was lost. */
static inline int printed(void) {
    bool is_lost = ferror(stdout);
    errno = 0;
    if (fflush(stdout) == 0 && !is_lost)
        return 0;
    return errno ? -errno : -EIO;
}

#endif
