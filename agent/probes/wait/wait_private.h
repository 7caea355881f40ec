/* SPDX-License-Identifier: MIT */
/* Shared by the files of the wait clocks' reader: wait_watch.c, wait_process.c,
 * wait_share.c, wait_control.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_WAIT_PRIVATE_H
#define CHOKEPOINT_AGENT_PROBES_WAIT_PRIVATE_H

#include "agent/probes/wait/wait_watch.h"

/* NULL: no thread of that process has clocks. */
struct wait_group *wait_group_find(struct wait_watch *watch, uint32_t pid);

/* Whether they are one process, not two of the same id. */
bool wait_group_is(const struct wait_group *group, const struct job_process *process,
                   int64_t ticks_per_s);

/* The process with these; a new one where none is known. NULL: no room, or its id is used again. */
struct wait_group *wait_group_of(struct wait_watch *watch, uint32_t pid, uint64_t start_ns);

/* ---- wait_process.c ---- */

/* Adds what processes did as one up to now_ns; of a gap that goes on, the time so far. */
void wait_take_processes(struct wait_watch *watch, uint64_t now_ns);

/* Closes their clocks at the beginning of the pause that ends: what came then, up to now_ns, was
 * not clocked. To be called before clocks go on. */
void wait_resume_processes(struct wait_watch *watch, uint64_t now_ns);

/* ---- wait_share.c ---- */

/* Shares out what grew in WAIT_UNCLOCKED: it went as the time did that was clocked, of late. Then
 * adds to now_ns what was shared out so far, and pause_ns that go on, as if they were now. */
void wait_share_out(struct wait_shares *shares, uint64_t *now_ns, double pause_ns);

/* ---- wait_control.c ---- */

/* Lets processes join that did not by themselves: those that began outside the job. */
int wait_add_members(struct wait_watch *watch, const struct probe_env *env);

/* Sets what the job may cost anew; takes programs away while clocks are paused, and lets them go on
 * when the pause has lasted a second. */
int wait_keep_pace(struct wait_watch *watch, const struct probe_env *env);

/* Tells once what found no room. */
void wait_tell_losses(struct wait_watch *watch, const struct probe_env *env);

#endif
