/* SPDX-License-Identifier: MIT */
/* Load averages, uptime and tasks by state, read as top and uptime do. */
#ifndef CHOKEPOINT_AGENT_LOAD_READER_H
#define CHOKEPOINT_AGENT_LOAD_READER_H

#include <stddef.h>
#include <stdint.h>

enum task_state {
    TASK_RUNNING,
    TASK_SLEEPING,
    TASK_WAITING, /* uninterruptible: usually waiting for a disk or a server */
    TASK_STOPPED,
    TASK_ZOMBIE,
    TASK_OTHER, /* idle kernel threads */
    TASK_STATES
};

struct load_reader;

/* proc: the root of /proc. Negative errno; -ENOENT: there is no load average. */
int load_reader_open(const char *proc, struct load_reader **ret_reader);
void load_reader_close(struct load_reader *reader);

/* Load averages of 1, 5 and 15 minutes, and seconds since the host started: all times 1e9, absent
 * if not a number. Negative errno. */
int load_reader_averages(struct load_reader *reader, int64_t ret_averages[3],
                         int64_t *ret_uptime_ns);

/* Processes by state; reads each process. Negative errno. */
int load_reader_tasks(struct load_reader *reader, int64_t ret_tasks[TASK_STATES]);

#endif
