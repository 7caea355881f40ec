/* SPDX-License-Identifier: MIT */
/* The signals that a program awaits in its poll. */
#ifndef CHOKEPOINT_COMMON_SIGNALS_H
#define CHOKEPOINT_COMMON_SIGNALS_H

/* Blocks SIGTERM, SIGINT, SIGHUP and SIGCHLD, and returns a non-blocking signalfd for them, which
 * the caller closes. Threads inherit the mask only if they start later. -errno. */
int signals_open(void);

#endif
