/* SPDX-License-Identifier: MIT */
/*
 * Tells whether a signal that reached us was sent to our whole process group, and so to the command
 * as well: the terminal's Ctrl-C, timeout(1), a batch system; or to us alone, and must be passed
 * on. The kernel does not say which it was. So a child stands in the group with all signals blocked
 * and does nothing: what is pending for it was sent to all.
 */
#ifndef CHOKEPOINT_CLI_GROUP_WATCH_H
#define CHOKEPOINT_CLI_GROUP_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct group_watch {
    pid_t pid; /* 0: there is none */
};

/* Negative errno. The child holds no descriptors and dies with us. */
int group_watch_start(struct group_watch *watch);
void group_watch_stop(struct group_watch *watch);

/* True when the group got this signal since the start or the last true. False without a watch. */
bool group_watch_saw(struct group_watch *watch, int signal);

#endif
