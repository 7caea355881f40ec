/* SPDX-License-Identifier: MIT */
/*
 * How functions fail: 0 is success, a negative errno travels up unchanged, a positive value is a
 * condition that the function's header names. Outputs are untouched on failure. Libraries neither
 * log nor exit.
 */
#ifndef CHOKEPOINT_COMMON_ERROR_H
#define CHOKEPOINT_COMMON_ERROR_H

#include <errno.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* AUTO(fn): runs fn(&variable) when the variable leaves its scope. */
#define AUTO(fn) __attribute__((cleanup(fn)))

/* errno as a negative error; -EIO if a library failed without setting it. */
static inline int negative_errno(void) {
    return errno > 0 ? -errno : -EIO;
}

#endif
