/* SPDX-License-Identifier: MIT */
/* Whether a process is of a job by its control groups. */
#ifndef CHOKEPOINT_AGENT_PROBES_PROCESS_GROUPS_H
#define CHOKEPOINT_AGENT_PROBES_PROCESS_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/job_choice.h"

/* Whether the text of a /proc/PID/cgroup matches the choice. */
bool process_groups_match(const struct job_choice *choice, const char *text, size_t size);

#endif
