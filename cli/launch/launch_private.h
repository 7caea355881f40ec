/* SPDX-License-Identifier: MIT */
/* Shared by the files that start agents: one by a launcher of its own, several by one launcher. */
#ifndef CHOKEPOINT_CLI_LAUNCH_PRIVATE_H
#define CHOKEPOINT_CLI_LAUNCH_PRIVATE_H

#include "cli/launch/launch_group.h"

/* Whether a relay stands before the launcher, to bring the agent if it is missing. */
bool launch_is_relayed(const struct launch *launch, const struct launch_plan *plan);

/* to->script becomes the argument of sh -c. agent: its words. -ENAMETOOLONG, -ENOMEM. */
int launch_script_make(struct launch_words *to, const struct launch_words *agent,
                       const struct launch *launch, const struct launch_plan *plan);

/* to->script becomes a command for any login shell: /bin/sh with the script. */
int launch_script_wrap(struct launch_words *to);

/* ---- launch.c ---- */

#define LAUNCH_KEYS_SIZE 260

/* "KEY [KEY OF MARKS]" and a line end: what the agent reads. To be wiped by the caller. */
int launch_keys_make(const struct launch *launch, const struct launch_plan *plan,
                     char ret_line[LAUNCH_KEYS_SIZE]);

/* A pipe that holds these lines, which are short enough to be written before anyone reads. */
int launch_keys_pipe(const char *lines, int *ret_fd);

struct launch_fds {
    int keys, output; /* its standard input; its standard output and error */
};

/* Starts a launcher, or the agent here. Negative errno. */
int launch_child_start(enum launch_method method, const struct launch_plan *plan,
                       const char *const *words, const struct launch_fds *fds, pid_t *ret_pid);

/* ---- for agents that one launcher starts (launch_group.h) ---- */

/* The words of mpirun before those about hosts; of one host, whose lines of keys begin with
 * `number`. -E2BIG, -ENOMEM, -ENAMETOOLONG. Both are to be released in any case. */
void launch_words_make_head(struct launch_words *to, const struct launch_plan *plan);
int launch_words_make_member(struct launch_words *to, const struct launch *launch,
                             const struct launch_plan *plan, const char *url, size_t number);

/* The words of an srun of all members, by its numbers. Errors as above. */
int launch_words_make_step(struct launch_words *to, const struct launch_group *group,
                           const struct launch_plan *plan, const char *const *urls);

/* to->script becomes that of all tasks; agents: the words of each. */
int launch_script_make_step(struct launch_words *to, const struct launch_words *agents, size_t n,
                            const struct launch_plan *plan);

/* As launch_script_make, for a host of mpirun's. */
int launch_script_make_member(struct launch_words *to, const struct launch_words *agent,
                              const struct launch_plan *plan, size_t number);

#endif
