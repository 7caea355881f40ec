/* SPDX-License-Identifier: MIT */
/* The signals that a program waits for beside its descriptors. */
#ifndef CHOKEPOINT_COMMON_SIGNALS_H
#define CHOKEPOINT_COMMON_SIGNALS_H

/* Blocks what ends a program (SIGTERM, SIGINT, SIGHUP) and SIGCHLD, and returns a signalfd of them,
 * non-blocking, the caller's to close. Threads inherit the mask only if they start later. -errno.
 */
int signals_open(void);

#endif
