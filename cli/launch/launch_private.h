/* SPDX-License-Identifier: MIT */
/* Shared by the files that make the words which start an agent. */
#ifndef CHOKEPOINT_CLI_LAUNCH_PRIVATE_H
#define CHOKEPOINT_CLI_LAUNCH_PRIVATE_H

#include "cli/launch/launch.h"

/* Whether a relay stands before the launcher, to bring the agent if it is missing. */
bool launch_is_relayed(const struct launch *launch, const struct launch_plan *plan);

/* to->script becomes the argument of sh -c. agent: its words. -ENAMETOOLONG, -ENOMEM. */
int launch_script_make(struct launch_words *to, const struct launch_words *agent,
                       const struct launch *launch, const struct launch_plan *plan);

/* to->script becomes a command for any login shell: /bin/sh with the script. */
int launch_script_wrap(struct launch_words *to);

#endif
