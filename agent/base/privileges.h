/* SPDX-License-Identifier: MIT */
/* The capabilities of the sampler once its sources are open. */
#ifndef CHOKEPOINT_AGENT_PRIVILEGES_H
#define CHOKEPOINT_AGENT_PRIVILEGES_H

#include <stdbool.h>

struct privileges_kept {
    bool processes; /* reads processes of other users, and asks taskstats */
    bool packets;   /* captures packets */
    bool programs;  /* attaches kernel programs again, and reads their maps */
};

/* Drops, for this thread and those that it will start, every capability except these, the bounding
 * set, and gains through other programs (no_new_privs). Adds no capability. 0, or -errno. */
int privileges_drop(const struct privileges_kept *kept);

#endif
