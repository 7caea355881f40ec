/* SPDX-License-Identifier: MIT */
/* The end of every program that prints: what a full disk took away is not found before. */
#ifndef CHOKEPOINT_WORKLOADS_PRINTED_H
#define CHOKEPOINT_WORKLOADS_PRINTED_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

/* Whether all that was printed on standard output got out: 0, or a negative errno. */
static inline int printed(void) {
    bool is_lost = ferror(stdout);
    errno = 0;
    if (fflush(stdout) == 0 && !is_lost)
        return 0;
    return errno ? -errno : -EIO;
}

#endif
