/* SPDX-License-Identifier: MIT */
/* Finds the clocks of a process by its id and start. */
#include "agent/base/counter.h"
#include "agent/probes/wait/wait_private.h"

#define CLOCK_SLACK_TICKS 1

struct wait_group *wait_group_find(struct wait_watch *watch, uint32_t pid) {
    int at = pid <= INT32_MAX ? idmap_find(&watch->by_pid, (int32_t)pid) : -1;
    return at < 0 ? NULL : &watch->groups[at];
}

/* Gives the id to another process: the process before keeps its last rows. */
static void leave_id(struct wait_watch *watch, struct wait_group *group) {
    watch->by_pid.ids[group - watch->groups] = -group->pid;
    idmap_rebuild(&watch->by_pid);
}

struct wait_group *wait_group_of(struct wait_watch *watch, uint32_t pid, uint64_t start_ns) {
    struct wait_group *known = wait_group_find(watch, pid);
    if (known && known->start_ns == start_ns)
        return known;
    if (known && known->start_ns < start_ns)
        leave_id(watch, known);
    else if (known)
        return NULL; /* a late thread of a process whose id is in use again */
    int at = watch->by_pid.n < WAIT_GROUPS_MAX ? idmap_add(&watch->by_pid, (int32_t)pid) : -1;
    if (at < 0)
        return NULL;
    watch->groups[at] = (struct wait_group){.pid = (int32_t)pid,
                                            .start_ns = start_ns,
                                            .rank = -1,
                                            .born = start_ns > watch->first_boot_ns};
    return &watch->groups[at];
}

const struct wait_group *wait_watch_find(const struct wait_watch *watch, uint32_t pid) {
    return wait_group_find((struct wait_watch *)(uintptr_t)watch, pid);
}

bool wait_group_is(const struct wait_group *group, const struct job_process *process,
                   int64_t ticks_per_s) {
    uint64_t ticks = group->start_ns / (uint64_t)tick_ns(ticks_per_s);
    return ticks + CLOCK_SLACK_TICKS >= process->born && ticks <= process->born + CLOCK_SLACK_TICKS;
}
