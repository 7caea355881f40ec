/* SPDX-License-Identifier: MIT */
/*
 * How full the file systems of the agent's mount namespace are, every ten seconds and at the end.
 * Separate threads ask (agent/base/mounts.h), so a server that does not answer costs no sample: its
 * figures are absent, and a note says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/mounts.h"
#include "agent/probes/probes.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#define EVERY_NS (10 * NS_PER_S)
#define LAST_NS (50 * NS_PER_MS) /* local file systems answer in microseconds */

struct filesystem {
    struct mounts *mounts;
    struct mount_fill fills[2 * MOUNTS_MAX];
    int64_t asked_ns; /* time of the last question; 0: none since it was opened */
    bool told;        /* said that a file system does not answer */
};

static void tell_stuck(struct filesystem *filesystem, const struct probe_env *env) {
    char point[MOUNT_POINT_MAX + 1], text[MOUNT_POINT_MAX + 80];
    if (filesystem->told || !env->note || !mounts_stuck(filesystem->mounts, point))
        return;
    filesystem->told = true;
    snprintf(text, sizeof text, "the file system on %s does not answer", point);
    env->note(env->note_ctx, NOTE_WARNING, "filesystem", text);
}

static void append(const struct mount_fill *fill, struct rows *rows) {
    char name[INSTANCE_MAX + 1];
    size_t size = text_sanitize(name, sizeof name, fill->name, strlen(fill->name));
    bool there = rows_have(rows, rows->n, name, size);
    struct row *row = there ? NULL : rows_append(rows, name, size);
    if (!row)
        return;
    row->values[FILESYSTEM_SIZE] = fill->size_bytes;
    row->values[FILESYSTEM_FREE] = fill->free_bytes;
    row->values[FILESYSTEM_AVAILABLE] = fill->available_bytes;
    row->values[FILESYSTEM_FILES] = fill->files;
    row->values[FILESYSTEM_FREE_FILES] = fill->free_files;
}

static int filesystem_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct filesystem *filesystem = state;
    if (env->last) /* a disk that filled up may be why the command ended */
        mounts_scan_now(filesystem->mounts, LAST_NS);
    size_t n = mounts_take(filesystem->mounts, filesystem->fills, 2 * MOUNTS_MAX);
    for (size_t i = 0; i < n; i++)
        append(&filesystem->fills[i], rows);
    if (!filesystem->asked_ns)
        filesystem->asked_ns = env->mono_ns;
    if (env->mono_ns - filesystem->asked_ns < EVERY_NS)
        return 0;
    filesystem->asked_ns = env->mono_ns;
    mounts_scan_again(filesystem->mounts);
    tell_stuck(filesystem, env);
    return 0;
}

static int filesystem_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct filesystem *filesystem = state;
    char path[600];
    snprintf(path, sizeof path, "%s/self/mountinfo", env->proc);
    int r = access(path, R_OK) < 0 ? negative_errno() : 0;
    if (r == 0)
        r = mounts_new(path, statvfs, &filesystem->mounts);
    if (r < 0)
        snprintf(why, why_size, "cannot look at the file systems of %s: %s", path, strerror(-r));
    return r;
}

static size_t filesystem_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return 2 * MOUNTS_MAX;
}

static void filesystem_close(void *state) {
    mounts_free(((struct filesystem *)state)->mounts);
}

const struct probe probe_filesystem = {
    .table = &all_tables[TABLE_FILESYSTEM],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct filesystem),
    .max_rows = filesystem_max_rows,
    .open = filesystem_open,
    .sample = filesystem_sample,
    .close = filesystem_close,
};
