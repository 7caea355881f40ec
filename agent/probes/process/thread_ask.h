/* SPDX-License-Identifier: MIT */
/*
 * The counters of many threads, asked of the kernel at once: taskstats, over generic netlink. One
 * question costs a twentieth of the three files that say the same. It needs what exit_record.h
 * needs.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_THREAD_ASK_H
#define CHOKEPOINT_AGENT_PROBES_THREAD_ASK_H

#include "agent/base/netlink.h"
#include "agent/probes/process/exit_record.h"

struct thread_ask { /* all zero: closed */
    struct netlink netlink;
    unsigned family;
};

/* family: of taskstats. Negative errno: nothing can be asked. */
int thread_ask_open(struct thread_ask *ret_ask, unsigned family);
void thread_ask_close(struct thread_ask *ask);

/* Hands on what each of the n threads stands at; nothing of one that has ended. */
void thread_ask(struct thread_ask *ask, const int32_t *tids, size_t n, exit_record_take *take,
                void *ctx);

#endif
