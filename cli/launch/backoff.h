/* SPDX-License-Identifier: MIT */
/*
 * When a process that ended is started again: at once after a long life, after a pause that doubles
 * with each short one, never later than BACKOFF_MAX_NS. It never gives up: the cause may vanish at
 * any time, and a rare try costs nothing.
 */
#ifndef CHOKEPOINT_CLI_BACKOFF_H
#define CHOKEPOINT_CLI_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

#define BACKOFF_MIN_NS (100 * NS_PER_MS)
#define BACKOFF_MAX_NS (10 * NS_PER_S)
#define BACKOFF_LONG_LIFE_NS (10 * NS_PER_S)

struct backoff {
    int64_t started_ns, due_ns; /* monotonic; due 0: no start is due */
    unsigned n_quick;           /* short lives in a row */
};

void backoff_started(struct backoff *backoff, int64_t now_ns);

/* It ended, or could not be started. True if that deserves a line: not each time of many. */
bool backoff_ended(struct backoff *backoff, int64_t now_ns);

/* Makes the next start due now and forgets short lives; nothing if none is due. */
void backoff_hurry(struct backoff *backoff, int64_t now_ns);

static inline bool backoff_is_due(const struct backoff *backoff, int64_t now_ns) {
    return backoff->due_ns && now_ns >= backoff->due_ns;
}

/* The earlier of a deadline and the next start. */
static inline int64_t backoff_deadline(const struct backoff *backoff, int64_t deadline_ns) {
    return backoff->due_ns && backoff->due_ns < deadline_ns ? backoff->due_ns : deadline_ns;
}

#endif
