/* SPDX-License-Identifier: MIT */
/* The capabilities of the sampler once its sources are open. */
#ifndef CHOKEPOINT_AGENT_PRIVILEGES_H
#define CHOKEPOINT_AGENT_PRIVILEGES_H

#include <stdbool.h>

struct privileges_kept {
    bool processes; /* reads what belongs to processes of other users, and asks taskstats */
    bool packets;   /* captures them */
    bool programs;  /* attaches programs to the kernel again, and reads their maps */
};

/* Gives up, for this thread and those that it will start, every capability but these, the bounding
 * set, and what another program could bring (no_new_privs). A capability that the thread does not
 * have it does not get. 0, or -errno. */
int privileges_drop(const struct privileges_kept *kept);

#endif
