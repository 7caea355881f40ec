/* SPDX-License-Identifier: MIT */
/*
 * The real clock of the sampler. Its timer on the wall clock is cancelled by the kernel when that
 * clock is set, so that a step back neither stalls sampling nor makes it spin. Descriptors end the
 * wait when there is a reason to stop.
 */
#ifndef CHOKEPOINT_AGENT_WAKE_H
#define CHOKEPOINT_AGENT_WAKE_H

#include <poll.h>
#include <stdint.h>

#include "agent/sampler/sampler.h"

#define WAKE_STOPS_MAX 2
#define WAKE_DEAF_MS 2 /* pause after two calls in quick succession: a caller without pause */
#define WAKE_SOON_MS 8 /* is heard this often */

struct wake {
    /* the timer, the reasons to stop, the callers, the news of an idle core */
    struct pollfd fds[1 + WAKE_STOPS_MAX + 2];
    nfds_t n;                        /* of the first two kinds */
    int idle_fd;                     /* -1: none */
    int called_fd;                   /* -1: none */
    int64_t called_ns, deaf_till_ns; /* on the monotonic clock */
};

/* stop_fds: readable when there is a reason to stop; borrowed. -errno. */
int wake_open(struct wake *wake, const int *stop_fds, size_t n_stop_fds);
void wake_close(struct wake *wake);

/* called_fd: readable when a writer calls, non-blocking, borrowed; its bytes are discarded. */
void wake_listen(struct wake *wake, int called_fd);

/* idle_fd: readable when a core is idle, as was asked; non-blocking, borrowed. */
void wake_listen_for_idle(struct wake *wake, int idle_fd);

/* Like sampler_clock.wait; ctx is the struct wake. Returns SAMPLER_AGAIN at least every ten
 * seconds. */
int wake_wait(void *ctx, int64_t wall_ns);

/* The three clocks of sampler_clock. */
int64_t wake_wall_ns(void *ctx);
int64_t wake_mono_ns(void *ctx);
int64_t wake_cpu_ns(void *ctx);

#endif
