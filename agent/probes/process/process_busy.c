/* SPDX-License-Identifier: MIT */
/*
 * The busiest processes. A process that was busy a moment ago still counts for a while, so that a
 * culprit stays on the list.
 *
 * Disk traffic costs another file per process. It is read in each sample for processes that used
 * CPU, wait for a disk or have had traffic, and once in CHECK_EVERY samples for each of the others.
 * So a process that writes without using a tick of CPU, and is never seen waiting, is found up to
 * CHECK_EVERY samples late.
 */
#include <string.h>

#include "agent/probes/process/process_private.h"

#define SCORE_UNIT 16                      /* of one tick: room for halving */
#define CHECK_EVERY 16                     /* samples */
#define DISK_SCORE_MIN ((uint64_t)1 << 18) /* bytes; logs write less */

void process_judge_cpu(struct process *process, const struct process_stat *now, bool is_new) {
    uint64_t before = process->stat.user_ticks + process->stat.system_ticks;
    uint64_t ticks = now->user_ticks + now->system_ticks;
    if (is_new)
        before = process->born ? 0 : ticks;
    uint64_t grown = ticks > before ? ticks - before : 0;
    grown = grown < UINT32_MAX ? grown : UINT32_MAX;
    process->cpu_score = process->cpu_score / 2 + grown * SCORE_UNIT;
}

static bool may_use_disk(const struct processes *all, const struct process *process, int32_t pid) {
    return process->cpu_score || process->disk_score || process->stat.state == 'D' ||
           (all->sample + (uint64_t)pid) % CHECK_EVERY == 0;
}

void process_judge_disk(struct processes *all, struct process *process, int32_t pid) {
    struct process_io io;
    if ((process->class != PROCESS_FOREIGN && !process->watched) ||
        !may_use_disk(all, process, pid))
        return;
    if (process_read_io(all->proc_fd, pid, &io) < 0) {
        process->disk_score = 0;
        process->has_disk = false;
        return;
    }
    uint64_t bytes = io.read_bytes + io.write_bytes;
    uint64_t before = process->has_disk ? process->disk_bytes : process->born ? 0 : bytes;
    uint64_t grown = bytes > before ? bytes - before : 0;
    grown = grown < (uint64_t)1 << 48 ? grown : (uint64_t)1 << 48;
    process->disk_score = process->disk_score / 2 + grown;
    process->disk_bytes = bytes;
    process->has_disk = true;
}

/* ---- lists ---- */

bool process_is_busy_with_disk(const struct process *process) {
    return process->disk_score >= DISK_SCORE_MIN;
}

static uint64_t score_of(const struct process *process, bool by_disk) {
    if (!by_disk)
        return process->cpu_score;
    return process_is_busy_with_disk(process) ? process->disk_score : 0;
}

static size_t find_busiest(const struct processes *all, bool by_disk, size_t most,
                           size_t places[FOREIGN_MAX]) {
    size_t n = 0;
    for (size_t i = 0; i < all->by_pid.n; i++) {
        const struct process *process = &all->items[i];
        uint64_t score = score_of(process, by_disk);
        if (process->class != PROCESS_FOREIGN || !score || process->read != all->sample)
            continue;
        size_t at = n;
        while (at > 0 && score_of(&all->items[places[at - 1]], by_disk) < score)
            at--;
        if (at >= most)
            continue;
        n += n < most;
        memmove(&places[at + 1], &places[at], (n - at - 1) * sizeof *places);
        places[at] = i;
    }
    return n;
}

static bool contains(const size_t *places, size_t n, size_t place) {
    for (size_t i = 0; i < n; i++)
        if (places[i] == place)
            return true;
    return false;
}

size_t process_find_busiest(const struct processes *all, size_t most,
                            size_t places[2 * FOREIGN_MAX]) {
    size_t by_disk[FOREIGN_MAX];
    size_t n = find_busiest(all, false, most, places),
           n_disk = find_busiest(all, true, most, by_disk);
    for (size_t i = 0; i < n_disk; i++)
        if (!contains(places, n, by_disk[i]))
            places[n++] = by_disk[i];
    return n;
}
