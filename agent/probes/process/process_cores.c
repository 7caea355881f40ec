/* SPDX-License-Identifier: MIT */
/*
 * The cores on which a process of the job may run: all of those to which its threads are bound, by
 * their affinity and by the cpusets of its group. Threads may each be bound to another core, so one
 * thread does not tell for all.
 *
 * A binding is mostly made once, at the start. So the threads are looked at when the process is
 * first reported, and then after pauses that double.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/cpu_list.h"
#include "agent/probes/process/process_private.h"
#include "common/text.h"

#define LOOKS_MAX 8     /* processes in a sample */
#define PAUSE_MAX 64    /* samples */
#define THREADS_MOST 64 /* of a process that are looked at */
#define CORES_MOST 4096 /* numbers above are left out */
#define STATUS_MAX 8192 /* bytes of a status */
#define LIST_OF "Cpus_allowed_list:"

struct core_set {
    uint8_t bits[CORES_MOST / 8];
    int64_t n, first;
};

static void add_core(struct core_set *set, uint64_t core) {
    uint8_t *byte = &set->bits[core / 8], bit = (uint8_t)(1u << core % 8);
    if (*byte & bit)
        return;
    *byte |= bit;
    if (!set->n || (int64_t)core < set->first)
        set->first = (int64_t)core;
    set->n++;
}

static void add_list(struct core_set *set, const char *p, const char *end) {
    uint64_t first, last;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (cpu_list_next(&p, end, &first, &last))
        for (uint64_t core = first; core <= last && core < CORES_MOST; core++)
            add_core(set, core);
}

static void add_thread(const struct processes *all, int32_t pid, int32_t tid,
                       struct core_set *set) {
    char path[64], text[STATUS_MAX];
    struct span line;
    snprintf(path, sizeof path, "%d/task/%d/status", pid, tid);
    int n = file_read_small(all->proc_fd, path, text, sizeof text);
    const char *p = text;
    while (n > 0 && text_line(&p, text + n, &line))
        if (span_starts(line, LIST_OF))
            add_list(set, line.data + strlen(LIST_OF), line.data + line.size);
}

static void add_threads(struct processes *all, int32_t pid, struct core_set *set) {
    char path[32];
    uint64_t inode;
    int32_t tid;
    size_t n = 0;
    snprintf(path, sizeof path, "%d/task", pid);
    int fd = openat(all->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    struct dirents threads = {.fd = fd, .buffer = all->listing, .capacity = sizeof all->listing};
    while (n++ < THREADS_MOST && dirents_next_id(&threads, &tid, &inode))
        add_thread(all, pid, tid, set);
    close(fd);
}

void process_look_for_cores(struct processes *all, struct process *process, int32_t pid) {
    struct process_cores *cores = &process->cores;
    struct core_set set = {.n = 0};
    if (process->class != PROCESS_MEMBER || all->sample < cores->at ||
        all->n_core_looks >= LOOKS_MAX)
        return;
    all->n_core_looks++;
    cores->pause = cores->pause ? 2 * cores->pause : 1;
    cores->pause = cores->pause < PAUSE_MAX ? cores->pause : PAUSE_MAX;
    cores->at = all->sample + cores->pause;
    add_threads(all, pid, &set);
    if (!set.n)
        return; /* it has just ended */
    cores->n = set.n;
    cores->first = set.first;
}
