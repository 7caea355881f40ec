/* SPDX-License-Identifier: MIT */
/* A build without libproc2. */
#include "agent/load_reader.h"

#include <errno.h>
#include <stdio.h>

int load_reader_open(struct load_reader **ret_reader, char *why, size_t why_size) {
    (void)ret_reader;
    snprintf(why, why_size, "this agent was built without libproc2");
    return -ENOENT;
}

void load_reader_close(struct load_reader *reader) {
    (void)reader;
}

int load_reader_averages(struct load_reader *reader, double ret_averages[3], double *ret_uptime_s) {
    (void)reader, (void)ret_averages, (void)ret_uptime_s;
    return -ENOENT;
}

int load_reader_tasks(struct load_reader *reader, int64_t ret_tasks[TASK_STATES]) {
    (void)reader, (void)ret_tasks;
    return -ENOENT;
}
