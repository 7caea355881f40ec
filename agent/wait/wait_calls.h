/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_AGENT_WAIT_CALLS_H
#define CHOKEPOINT_AGENT_WAIT_CALLS_H

#include "agent/wait/wait_shared.h"

/* Fills in the kind of each system call, by its number. */
void wait_calls_fill(struct wait_config *config);

#endif
