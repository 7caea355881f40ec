/* SPDX-License-Identifier: MIT */
/* Spans of time as people write them on command lines. */
#ifndef CHOKEPOINT_COMMON_DURATION_H
#define CHOKEPOINT_COMMON_DURATION_H

#include <stdint.h>

/* "60", "1.5s", "200ms", "5m", "1h", "7d", "2w" -> nanoseconds, at most 292 years. -EINVAL
 * otherwise. */
int duration_parse(const char *text, int64_t *ret_ns);

#endif
