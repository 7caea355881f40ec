/* SPDX-License-Identifier: MIT */
/*
 * By libproc2, the library of procps. It is loaded when the probe opens, so that an agent runs on
 * hosts that lack it. The only file that knows it. It reads /proc, wherever the agent's is, and
 * keeps its own memory.
 */
#include "agent/load_reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <libproc2/misc.h>
#include <libproc2/pids.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct load_reader {
    void *handle;
    struct pids_info *pids;
    __typeof__(procps_loadavg) *loadavg;
    __typeof__(procps_uptime) *uptime;
    __typeof__(procps_pids_new) *pids_new;
    __typeof__(procps_pids_reap) *pids_reap;
    __typeof__(procps_pids_unref) *pids_unref;
};

static bool load_symbol(const struct load_reader *reader, const char *name, void *slot) {
    void *symbol = dlsym(reader->handle, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool load_library(struct load_reader *reader) {
    /* it keeps buffers of its own, and would leave them behind if it were unloaded */
    reader->handle = dlopen("libproc2.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return reader->handle && load_symbol(reader, "procps_loadavg", &reader->loadavg) &&
           load_symbol(reader, "procps_uptime", &reader->uptime) &&
           load_symbol(reader, "procps_pids_new", &reader->pids_new) &&
           load_symbol(reader, "procps_pids_reap", &reader->pids_reap) &&
           load_symbol(reader, "procps_pids_unref", &reader->pids_unref);
}

static int open_reader(struct load_reader *reader, char *why, size_t why_size) {
    enum pids_item items[] = {PIDS_STATE};
    if (!load_library(reader)) {
        snprintf(why, why_size, "no libproc2 here (package libproc2-0)");
        return -ENOENT;
    }
    int r = reader->pids_new(&reader->pids, items, 1);
    if (r < 0)
        snprintf(why, why_size, "libproc2 cannot list processes: %s", strerror(-r));
    return r;
}

int load_reader_open(struct load_reader **ret_reader, char *why, size_t why_size) {
    struct load_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return -ENOMEM;
    int r = open_reader(reader, why, why_size);
    if (r < 0)
        load_reader_close(reader);
    else
        *ret_reader = reader;
    return r;
}

void load_reader_close(struct load_reader *reader) {
    if (!reader)
        return;
    if (reader->pids)
        reader->pids_unref(&reader->pids);
    if (reader->handle)
        dlclose(reader->handle);
    free(reader);
}

int load_reader_averages(struct load_reader *reader, double ret_averages[3], double *ret_uptime_s) {
    double idle_s;
    int r = reader->loadavg(&ret_averages[0], &ret_averages[1], &ret_averages[2]);
    return r < 0 ? r : reader->uptime(ret_uptime_s, &idle_s);
}

static enum task_state state_of(char letter) {
    switch (letter) {
    case 'R':
        return TASK_RUNNING;
    case 'S':
        return TASK_SLEEPING;
    case 'D':
        return TASK_WAITING;
    case 'T':
    case 't':
        return TASK_STOPPED;
    case 'Z':
        return TASK_ZOMBIE;
    default:
        return TASK_OTHER;
    }
}

int load_reader_tasks(struct load_reader *reader, int64_t ret_tasks[TASK_STATES]) {
    const struct pids_fetch *fetch = reader->pids_reap(reader->pids, PIDS_FETCH_TASKS_ONLY);
    if (!fetch)
        return errno ? -errno : -EIO;
    memset(ret_tasks, 0, TASK_STATES * sizeof *ret_tasks);
    for (int i = 0; i < fetch->counts->total; i++)
        ret_tasks[state_of(fetch->stacks[i]->head[0].result.s_ch)]++;
    return 0;
}
