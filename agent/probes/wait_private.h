/* SPDX-License-Identifier: MIT */
/* Shared by the files of the wait clocks' reader: wait_watch.c, wait_control.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_WAIT_PRIVATE_H
#define CHOKEPOINT_AGENT_PROBES_WAIT_PRIVATE_H

#include "agent/probes/wait_watch.h"

/* NULL: no thread of that process has clocks. */
struct wait_group *wait_group_find(struct wait_watch *watch, uint32_t pid);

/* Whether they are one process, not two of the same id. */
bool wait_group_is(const struct wait_group *group, const struct job_process *process,
                   int64_t ticks_per_s);

/* ---- wait_control.c ---- */

/* Lets processes join that did not by themselves: those that began outside the job. */
int wait_add_members(struct wait_watch *watch, const struct probe_env *env);

/* Sets what the job may cost anew; takes programs away while clocks are paused, and lets them go on
 * when the pause has lasted a second. */
int wait_keep_pace(struct wait_watch *watch, const struct probe_env *env);

/* Tells once what found no room. */
void wait_tell_losses(struct wait_watch *watch, const struct probe_env *env);

#endif
