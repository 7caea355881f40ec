/* SPDX-License-Identifier: MIT */
/* Moments as people write them on command lines, as journalctl takes them. */
#ifndef CHOKEPOINT_CLI_MOMENT_H
#define CHOKEPOINT_CLI_MOMENT_H

#include <stdint.h>

#define MOMENT_FORMS "-10min, 14:05, yesterday, 2026-11-28 14:05:30, @1764338730"

/* "-10min", "-1h", "-2d", "now", "today", "yesterday", "14:05", "14:05:30" (the last time that the
 * clock showed that), "2026-11-28", "2026-11-28 14:05", "2026-11-28T14:05:30Z", with "+01:00",
 * "@SECONDS" -> wall time in ns. Without a zone it is local time. -EINVAL. */
int moment_parse(const char *text, int64_t now_ns, int64_t *ret_ns);

#endif
