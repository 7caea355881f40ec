/* SPDX-License-Identifier: MIT */
/*
 * The first agents of several hosts, started by one mpirun or one srun: it reaches all of them in
 * the time that one launcher takes for one, and the command's own takes as long again for its
 * ranks. Each host of mpirun is an application context of its own (`mpirun ... : ...`), so no
 * policy of placing ranks matters, and each gets its own words. An srun has one script for all of
 * its hosts, in which each task finds the words of its host by its number.
 *
 * A member leaves when its agent has ended, or when its host has no agent of this version; its next
 * agent has a launcher of its own (launch.h). A shell stays above each agent, so that the launcher
 * never sees one fail, which could end all others. If the launcher itself ends, as with a host that
 * it cannot reach, or waits for a host that is silent, all members leave.
 *
 * Hydra cannot do so: it gives its standard input, on which keys come, to the first rank alone.
 * Hosts of Hydra are reached by an ssh each, all at once, as Hydra itself does.
 */
#ifndef CHOKEPOINT_CLI_LAUNCH_GROUP_H
#define CHOKEPOINT_CLI_LAUNCH_GROUP_H

#include "cli/launch/launch.h"

#define LAUNCH_GROUP_MAX 64 /* hosts; their words and keys fit into a command line and a pipe */

struct launch_group {
    struct launch *members[LAUNCH_GROUP_MAX]; /* borrowed; of one method, by the numbers of the
                                                 launcher's processes */
    size_t n;
    pid_t pid; /* of the launcher; 0: not running */
    struct line_reader output;
    int64_t give_up_ns; /* monotonic; until then one of its hosts must have spoken; 0: one has */
};

/* Told of members. A launch that needs another launcher, or whose agent has ended, has left the
 * group. */
struct launch_group_listener {
    void (*agent_says)(void *ctx, const char *line);
    /* Nothing was started there; `bare`: since it has no agent. */
    void (*needs_own)(void *ctx, struct launch *launch, bool bare);
    void (*ended)(void *ctx, struct launch *launch); /* launch->trouble says how */
    void *ctx;
};

/* Whether hosts of this launch can be reached by one launcher. A step of Slurm is in one component
 * of a heterogeneous job, and its nodes are numbered there. */
bool launch_can_join(const struct launch *launch);

/* Starts the launcher for its members; urls: of the collector, one for each member. On failure none
 * of them is in it. Negative errno. */
int launch_group_start(struct launch_group *group, const struct launch_plan *plan,
                       const char *const *urls);

/* Reads what came, notes the end of the launcher, and gives it up when it has been silent too long.
 */
void launch_group_check(struct launch_group *group, int64_t now_ns,
                        const struct launch_group_listener *listener);

/* When launch_group_check must be called, if nothing is read before. */
int64_t launch_group_deadline(const struct launch_group *group, int64_t deadline_ns);

void launch_group_signal(const struct launch_group *group, int signal);

void launch_group_release(struct launch_group *group);

#endif
