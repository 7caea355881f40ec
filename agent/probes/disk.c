/* SPDX-License-Identifier: MIT */
/*
 * I/O of disks, from /proc/diskstats, each byte once. That file lists disks, their partitions and
 * the devices made of them. <sys>/block decides which of them count: those with an entry there (not
 * partitions), not built of others (dm, md: the devices below count the bytes), no hidden path of a
 * multipath device, no loop device over a file of a disk. Loop, ram, zram and the like are there by
 * default and appear with their first I/O.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/scope.h"
#include "agent/probes/disk.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define JUDGE_AGAIN_SAMPLES 600 /* arrays and loop devices change without a change of names */

/* After the name: reads, merged, sectors, ms; the same four of writes; in flight, busy ms, weighted
 * ms; since 4.18 four numbers of discards; since 5.5 flushes and their ms. */
enum { NUMBERS_NEEDED = 11, NUMBER_FLUSHES = 15, NUMBERS_MAX = 17 };

static const struct {
    uint8_t column, number;
    int64_t scale;
} sources[] = {
    {DISK_READS, 0, 1},
    {DISK_READ_BYTES, 2, SECTOR_BYTES},
    {DISK_READ_NS, 3, NS_PER_MS},
    {DISK_WRITES, 4, 1},
    {DISK_WRITE_BYTES, 6, SECTOR_BYTES},
    {DISK_WRITE_NS, 7, NS_PER_MS},
    {DISK_FLUSHES, NUMBER_FLUSHES, 1},
    {DISK_BUSY, 9, NS_PER_MS},
    {DISK_QUEUE_NS, 10, NS_PER_MS},
};

static void judge_again(struct disk *disk) {
    disk->n_numbers = 0;
    for (size_t i = 0; i < disk->names.n; i++)
        if (disk->names.entries[i].note != NOTE_IDLE)
            disk->names.entries[i].note = NOTE_UNKNOWN;
}

static void begin(struct disk *disk) {
    if (disk->stale || disk->names.sample % JUDGE_AGAIN_SAMPLES == JUDGE_AGAIN_SAMPLES - 1)
        judge_again(disk);
    name_set_begin(&disk->names);
}

static bool is_there_by_default(struct span name) {
    static const char *const prefixes[] = {"loop", "ram", "zram", "nbd", "sr", "fd"};
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
        if (span_starts(name, prefixes[i]))
            return true;
    return false;
}

static bool is_idle(const uint64_t *numbers, size_t n) {
    uint64_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= numbers[i];
    return any == 0;
}

static void note_idle(struct disk *disk, struct span name) {
    struct name_set_entry *entry = name_set_see(&disk->names, name.data, name.size, 0);
    if (entry)
        entry->note = NOTE_IDLE;
}

static void append_disk(struct disk *disk, struct span name, const uint64_t *numbers, size_t n,
                        struct rows *rows) {
    struct name_set_entry *entry = disk_see(disk, name, numbers[2] + numbers[6]);
    struct row *row = entry ? rows_append(rows, name.data, name.size) : NULL;
    if (!row)
        return;
    row->flags = entry->born ? ROW_BORN : 0;
    for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
        if (sources[i].number < n)
            row->values[sources[i].column] =
                counter_value(numbers[sources[i].number], sources[i].scale);
}

/* "   8       0 sda 1 2 3 ..."; lines of partitions of old kernels are shorter and left out. */
static void read_line(struct disk *disk, struct span line, struct rows *rows) {
    const char *p = line.data, *end = line.data + line.size;
    uint64_t device[2], numbers[NUMBERS_MAX];
    struct span name;
    if (text_numbers(&p, end, device, 2) < 2 || !text_word(&p, end, &name))
        return;
    size_t n = text_numbers(&p, end, numbers, NUMBERS_MAX);
    if (n < NUMBERS_NEEDED)
        return;
    if (is_there_by_default(name) && is_idle(numbers, n))
        note_idle(disk, name);
    else
        append_disk(disk, name, numbers, n, rows);
}

static int host_sample(struct disk *disk, struct rows *rows) {
    int r = source_read(&disk->stats);
    if (r < 0)
        return r;
    const char *p = disk->stats.data;
    struct span line;
    while (text_line(&p, source_end(&disk->stats), &line))
        read_line(disk, line, rows);
    rows->dropped += disk->stats.cut;
    return 0;
}

static int disk_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct disk *disk = state;
    begin(disk);
    int r =
        disk->of_group ? disk_group_sample(disk, env->scope->v2_io, rows) : host_sample(disk, rows);
    disk->stale = name_set_end(&disk->names);
    return r;
}

static int open_disks(const char *root, const char *name) {
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", root, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int disk_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct disk *disk = state;
    int block_fd = open_disks(env->sys, "block");
    if (block_fd < 0) {
        snprintf(why, why_size, "cannot tell disks from partitions without %s/block: %s", env->sys,
                 strerror(-block_fd));
        return PROBE_ABSENT;
    }
    int r = name_set_init(&disk->names, DISKS_MAX);
    if (r < 0) {
        close(block_fd);
        return r;
    }
    disk->block_fd = block_fd;
    disk->number_fd = open_disks(env->sys, "dev/block");
    disk->of_group = env->scope->kind == SCOPE_CGROUP && *env->scope->io;
    r = disk->of_group ? disk_group_open(disk, env->scope)
                       : source_open(&disk->stats, env->proc, "diskstats");
    if (r < 0)
        snprintf(why, why_size, "cannot read disk statistics from %s: %s",
                 disk->of_group ? env->scope->io : env->proc, strerror(-r));
    return r;
}

static size_t disk_max_rows(const void *state, const struct probe_env *env) {
    const struct disk *disk = state;
    size_t n = 16, lines = 0;
    struct span line;
    (void)env;
    for (const char *p = disk->stats.data; text_line(&p, source_end(&disk->stats), &line);)
        lines++;
    n += 2 * lines;
    return n < DISKS_MAX ? n : DISKS_MAX;
}

static void disk_close(void *state) {
    struct disk *disk = state;
    if (disk->names.entries) {
        close(disk->block_fd);
        if (disk->number_fd >= 0)
            close(disk->number_fd);
    }
    source_close(&disk->stats);
    source_close(&disk->serviced);
    name_set_release(&disk->names);
}

const struct probe probe_disk = {
    .table = &all_tables[TABLE_DISK],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct disk),
    .max_rows = disk_max_rows,
    .open = disk_open,
    .sample = disk_sample,
    .close = disk_close,
};
