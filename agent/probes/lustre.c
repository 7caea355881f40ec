/* SPDX-License-Identifier: MIT */
/*
 * Calls to files of Lustre, from `stats` of each mount (llite). Bytes of reading and writing stand
 * there beside the calls ("read_bytes", "read"): a row has both. New versions count the time of
 * calls, too, which includes what they compute, as copying from this host's memory. Mounts are
 * looked for anew every ten seconds.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/name_set.h"
#include "agent/base/source.h"
#include "agent/probes/lustre_files.h"
#include "agent/probes/probes.h"
#include "common/error.h"
#include "tables/keys.h"

#define MOUNTS_OF_LUSTRE_MAX 16
#define CALLS_MAX 64 /* kinds of calls of a mount */
#define AGAIN_NS (10 * NS_PER_S)

struct lustre {
    struct lustre_device mounts[MOUNTS_OF_LUSTRE_MAX];
    size_t n;
    struct name_set names;
    int64_t looked_ns;
    char text[LUSTRE_TEXT_SIZE];
};

/* All that a mount's lines say of one kind of call. */
struct lustre_call {
    struct span name;
    uint64_t calls, bytes, microseconds;
    bool counted, has_bytes, has_time;
};

/* "read" of "read_bytes". */
static struct span call_name(const struct lustre_stat *stat) {
    static const char end[] = "_bytes";
    struct span name = stat->name;
    size_t size = sizeof end - 1;
    if (stat->bytes && name.size > size && memcmp(name.data + name.size - size, end, size) == 0)
        name.size -= size;
    return name;
}

/* Counters that are no calls: how long files were open, and what was found in memory. */
static bool is_call(struct span name) {
    static const char *const others[] = {"openclosetime",        "opencount",
                                         "getxattr_hits",        "hybrid_noswitch",
                                         "hybrid_writesize_swi", "hybrid_readsize_swi"};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (span_equal(name, others[i]))
            return false;
    return true;
}

static struct lustre_call *find_call(struct lustre_call *calls, size_t *n, struct span name) {
    for (size_t i = 0; i < *n; i++)
        if (calls[i].name.size == name.size &&
            memcmp(calls[i].name.data, name.data, name.size) == 0)
            return &calls[i];
    if (*n == CALLS_MAX)
        return NULL;
    calls[*n] = (struct lustre_call){.name = name};
    return &calls[(*n)++];
}

static void take_stat(const struct lustre_stat *stat, struct lustre_call *call) {
    if (stat->bytes) {
        call->bytes = stat->sum;
        call->has_bytes = true;
        call->calls = call->counted ? call->calls : stat->samples;
        return;
    }
    call->calls = stat->samples; /* "read" counts every call, "read_bytes" those that moved some */
    call->counted = true;
    call->microseconds = stat->sum;
    call->has_time = stat->microseconds;
}

static void append_call(struct lustre *lustre, const struct lustre_device *mount,
                        const struct lustre_call *call, struct rows *rows) {
    char name[INSTANCE_MAX + 1];
    const struct table_key key = {
        .form = KEY_OPERATION, .export = text_span(mount->name), .operation = call->name};
    size_t size = key_write(&key, name);
    const struct name_set_entry *entry = name_set_see(&lustre->names, name, size, call->calls);
    struct row *row = entry ? rows_append(rows, name, size) : NULL;
    rows->dropped += !entry && lustre->names.n == lustre->names.capacity;
    if (!row)
        return;
    row->flags = entry->born ? ROW_BORN : 0;
    row->values[LUSTRE_OPERATIONS] = counter_value(call->calls, 1);
    if (call->has_bytes)
        row->values[LUSTRE_BYTES] = counter_value(call->bytes, 1);
    if (call->has_time)
        row->values[LUSTRE_TIME] = counter_value(call->microseconds, NS_PER_US);
}

static void read_mount(struct lustre *lustre, const struct lustre_device *mount,
                       struct rows *rows) {
    struct lustre_call calls[CALLS_MAX];
    struct lustre_stat stat;
    struct span line;
    char path[LUSTRE_PATH_SIZE + 8];
    size_t n_calls = 0;
    snprintf(path, sizeof path, "%s/stats", mount->path);
    int n = file_read_lines(path, lustre->text, sizeof lustre->text);
    const char *p = lustre->text, *end = lustre->text + (n > 0 ? n : 0);
    while (text_line(&p, end, &line)) {
        if (!lustre_parse(line, &stat) || !stat.samples || !is_call(stat.name))
            continue;
        struct lustre_call *call = find_call(calls, &n_calls, call_name(&stat));
        if (call)
            take_stat(&stat, call);
        rows->dropped += !call;
    }
    for (size_t i = 0; i < n_calls; i++)
        append_call(lustre, mount, &calls[i], rows);
}

static int lustre_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct lustre *lustre = state;
    bool refused;
    if (env->mono_ns - lustre->looked_ns >= AGAIN_NS) {
        lustre->looked_ns = env->mono_ns;
        lustre->n = lustre_find(env, "llite", "-", lustre->mounts, MOUNTS_OF_LUSTRE_MAX, &refused);
    }
    name_set_begin(&lustre->names);
    for (size_t i = 0; i < lustre->n; i++)
        read_mount(lustre, &lustre->mounts[i], rows);
    return 0;
}

static size_t lustre_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return (size_t)MOUNTS_OF_LUSTRE_MAX * CALLS_MAX / 2;
}

static int lustre_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct lustre *lustre = state;
    bool refused;
    lustre->looked_ns = env->mono_ns;
    lustre->n = lustre_find(env, "llite", "-", lustre->mounts, MOUNTS_OF_LUSTRE_MAX, &refused);
    if (!lustre->n) {
        (void)why; /* who may not read it cannot know that it is there: doctor tells */
        (void)why_size;
        return PROBE_ABSENT;
    }
    int r = name_set_init(&lustre->names, lustre_max_rows(state, env));
    if (r < 0)
        snprintf(why, why_size, "cannot count calls to Lustre: %s", strerror(-r));
    return r;
}

static void lustre_close(void *state) {
    name_set_release(&((struct lustre *)state)->names);
}

const struct probe probe_lustre = {
    .table = &all_tables[TABLE_LUSTRE],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct lustre),
    .max_rows = lustre_max_rows,
    .open = lustre_open,
    .sample = lustre_sample,
    .close = lustre_close,
};
