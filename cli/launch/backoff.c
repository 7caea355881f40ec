/* SPDX-License-Identifier: MIT */
#include "cli/launch/backoff.h"

#define TOLD_EACH 5   /* so many ends in a row are reported one by one, */
#define TOLD_EVERY 60 /* then one in so many */

void backoff_started(struct backoff *backoff, int64_t now_ns) {
    backoff->started_ns = now_ns;
    backoff->due_ns = 0;
}

static int64_t pause_ns(unsigned n_quick) {
    int64_t pause = n_quick ? BACKOFF_MIN_NS : 0;
    for (unsigned i = 1; i < n_quick && pause < BACKOFF_MAX_NS; i++)
        pause *= 2;
    return pause < BACKOFF_MAX_NS ? pause : BACKOFF_MAX_NS;
}

bool backoff_ended(struct backoff *backoff, int64_t now_ns) {
    if (now_ns - backoff->started_ns >= BACKOFF_LONG_LIFE_NS)
        backoff->n_quick = 0;
    backoff->due_ns = now_ns + pause_ns(backoff->n_quick);
    backoff->n_quick++;
    return backoff->n_quick <= TOLD_EACH || backoff->n_quick % TOLD_EVERY == 0;
}

void backoff_hurry(struct backoff *backoff, int64_t now_ns) {
    if (backoff->due_ns)
        backoff->due_ns = now_ns;
    backoff->n_quick = 0;
}
