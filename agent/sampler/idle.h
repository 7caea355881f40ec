/* SPDX-License-Identifier: MIT */
/*
 * Tells when a core has nothing else to do: a thread of the policy SCHED_IDLE answers as soon as
 * the kernel lets it run. The work itself stays in a thread of normal priority. A thread without
 * CPU time in the middle of that work would hold it up, and an unprivileged thread cannot leave
 * SCHED_IDLE again.
 *
 * On cores that are all in use the kernel still gives the thread a share of some thousandths, so an
 * answer may come there, too, now and then.
 */
#ifndef CHOKEPOINT_AGENT_SAMPLER_IDLE_H
#define CHOKEPOINT_AGENT_SAMPLER_IDLE_H

#include <pthread.h>
#include <stdbool.h>

struct idle_watch { /* all zero: closed */
    pthread_t thread;
    bool is_open;
    int ask_fd;  /* written: somebody wants to know */
    int tell_fd; /* readable: a core was idle since; non-blocking */
};

/* Starts the thread. Negative errno, for instance where the policy is forbidden. */
int idle_watch_open(struct idle_watch *watch);

/* Makes tell_fd readable once a core is idle. Asking twice is as asking once. */
void idle_watch_ask(struct idle_watch *watch);

void idle_watch_close(struct idle_watch *watch);

#endif
