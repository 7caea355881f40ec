/* SPDX-License-Identifier: MIT */
/*
 * Tells whether a signal was sent to the whole process group, and so to the command as well (the
 * terminal's Ctrl-C, timeout(1), a batch system), or to this process alone, which then must pass it
 * on. The kernel does not tell. So a child in the group blocks all signals and does nothing: a
 * signal that is pending for it was sent to all.
 */
#ifndef CHOKEPOINT_CLI_GROUP_WATCH_H
#define CHOKEPOINT_CLI_GROUP_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct group_watch {
    pid_t pid; /* 0: there is none */
};

/* Negative errno. The child has no descriptors and dies with this process. */
int group_watch_start(struct group_watch *watch);
void group_watch_stop(struct group_watch *watch);

/* True if the group got this signal since the start or the last true. False without a watch. */
bool group_watch_saw(struct group_watch *watch, int signal);

#endif
