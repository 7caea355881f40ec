/* SPDX-License-Identifier: MIT */
/* Shared by the files of the wait clocks' reader: wait_watch.c, wait_group.c,
 * wait_process.c, wait_share.c, wait_driver.c, wait_control.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_WAIT_PRIVATE_H
#define CHOKEPOINT_AGENT_PROBES_WAIT_PRIVATE_H

#include "agent/probes/wait/wait_watch.h"

/* ---- wait_group.c ---- */

/* NULL: no thread of the process has clocks. */
struct wait_group *wait_group_find(struct wait_watch *watch, uint32_t pid);

/* Whether both are one process, not two with the same id. */
bool wait_group_is(const struct wait_group *group, const struct job_process *process,
                   int64_t ticks_per_s);

/* Finds the process with this id and start, or adds it. NULL: no room, or its id is used again. */
struct wait_group *wait_group_of(struct wait_watch *watch, uint32_t pid, uint64_t start_ns);

/* ---- wait_process.c ---- */

/* Adds the times of processes as one up to now_ns; a gap in progress counts with its time so
 * far. */
void wait_take_processes(struct wait_watch *watch, uint64_t now_ns);

/* Closes the processes' clocks at the beginning of the pause that ends: the time from there to
 * now_ns was not clocked. Call it before clocks go on. */
void wait_resume_processes(struct wait_watch *watch, uint64_t now_ns);

/* ---- wait_share.c ---- */

/* Shares out the growth of WAIT_UNCLOCKED in the proportions of recent clocked time. Then adds all
 * that was shared out so far to now_ns, and pause_ns of a pause in progress as if it were shared
 * out now. */
void wait_share_out(struct wait_shares *shares, uint64_t *now_ns, double pause_ns);

/* ---- wait_control.c ---- */

/* Adds processes to the job that did not join by themselves: those that began outside it. */
int wait_add_members(struct wait_watch *watch, const struct probe_env *env);

/* Resets the budget of events. Detaches the programs while clocks are paused, and attaches them
 * once the pause has lasted long enough. */
int wait_keep_pace(struct wait_watch *watch, const struct probe_env *env);

/* ---- wait_driver.c ---- */

/* Looks for libraries of GPU drivers that processes of the job have mapped since the last look, and
 * follows their calls. Failures are told in notes. */
void wait_follow_drivers(struct wait_watch *watch, const struct probe_env *env);

/* ---- wait_control.c ---- */

/* Says once what found no room. */
void wait_tell_losses(struct wait_watch *watch, const struct probe_env *env);

#endif
