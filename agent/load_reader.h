/* SPDX-License-Identifier: MIT */
/*
 * Load averages, uptime and tasks by state, as top and uptime read them. The two implementations
 * are one with libproc2 and one for a build without its header.
 */
#ifndef CHOKEPOINT_AGENT_LOAD_READER_H
#define CHOKEPOINT_AGENT_LOAD_READER_H

#include <stddef.h>
#include <stdint.h>

enum task_state {
    TASK_RUNNING,
    TASK_SLEEPING,
    TASK_WAITING, /* uninterruptible: mostly for a disk or a server */
    TASK_STOPPED,
    TASK_ZOMBIE,
    TASK_OTHER, /* idle threads of the kernel */
    TASK_STATES
};

struct load_reader;

/* Negative errno, with one line in why[why_size]; -ENOENT: this host, or this build, has no
 * libproc2. */
int load_reader_open(struct load_reader **ret_reader, char *why, size_t why_size);
void load_reader_close(struct load_reader *reader);

/* Load averages of 1, 5 and 15 minutes; seconds since the host started. Negative errno. */
int load_reader_averages(struct load_reader *reader, double ret_averages[3], double *ret_uptime_s);

/* Processes by state. Looks at each of them. Negative errno. */
int load_reader_tasks(struct load_reader *reader, int64_t ret_tasks[TASK_STATES]);

#endif
