/* SPDX-License-Identifier: MIT */
/*
 * The counters of many threads, requested from the kernel at once: taskstats, over generic netlink.
 * A request costs a twentieth of reading the three files with the same figures. It needs the
 * permissions that exit_record.h needs.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_THREAD_ASK_H
#define CHOKEPOINT_AGENT_PROBES_THREAD_ASK_H

#include "agent/base/netlink.h"
#include "agent/probes/process/exit_record.h"

struct thread_ask { /* all zero: closed */
    struct netlink netlink;
    unsigned family;
};

/* family: of taskstats. Negative errno: requests are not possible. */
int thread_ask_open(struct thread_ask *ret_ask, unsigned family);
void thread_ask_close(struct thread_ask *ask);

/* Passes on the figures of each of the n threads; threads that have ended are left out. */
void thread_ask(struct thread_ask *ask, const int32_t *tids, size_t n, exit_record_take *take,
                void *ctx);

#endif
