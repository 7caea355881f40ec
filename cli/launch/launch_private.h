/* SPDX-License-Identifier: MIT */
/* Between the files that make the words which start an agent. */
#ifndef CHOKEPOINT_CLI_LAUNCH_PRIVATE_H
#define CHOKEPOINT_CLI_LAUNCH_PRIVATE_H

#include "cli/launch/launch.h"

/* Whether a relay is in front of the launcher, which brings the agent if it is not there. */
bool launch_is_relayed(const struct launch *launch, const struct launch_plan *plan);

/* The words of the agent itself; of one that is relayed without those about where it pushes. */
void launch_add_agent(struct launch_words *to, const struct launch *launch,
                      const struct launch_plan *plan);

/* to->script becomes what sh -c takes. -ENAMETOOLONG, -ENOMEM. */
int launch_script_make(struct launch_words *to, const struct launch *launch,
                       const struct launch_plan *plan);

/* to->script becomes what any login shell takes: /bin/sh with it. */
int launch_script_wrap(struct launch_words *to);

#endif
