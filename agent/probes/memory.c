/* SPDX-License-Identifier: MIT */
/*
 * Use of memory: /proc/meminfo, or the files of a memory cgroup.
 *
 * In a group, total is the smaller of its limit and the machine's memory (v2: its own memory.max;
 * limits above it may not be visible). Free is the rest that it may still charge. Available adds
 * the file pages that it could drop at once. Columns without a figure in the group are absent.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/keys.h"
#include "agent/base/scope.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"
#include "common/text.h"

enum {
    INACTIVE_FILE = MEMORY_COLUMNS, /* for groups, to compute available memory */
    LIMIT,                          /* v1: the tightest one on the way to the root */
    N_VALUES
};

static const struct key meminfo_keys[] = {
    {"MemTotal", MEMORY_TOTAL, 1024},         {"MemFree", MEMORY_FREE_BYTES, 1024},
    {"MemAvailable", MEMORY_AVAILABLE, 1024}, {"Buffers", MEMORY_BUFFERS_BYTES, 1024},
    {"Cached", MEMORY_CACHED_BYTES, 1024},    {"Slab", MEMORY_SLAB_BYTES, 1024},
    {"AnonPages", MEMORY_ANON_BYTES, 1024},   {"Shmem", MEMORY_SHMEM_BYTES, 1024},
    {"Dirty", MEMORY_DIRTY_BYTES, 1024},      {"Writeback", MEMORY_WRITEBACK_BYTES, 1024},
    {"SwapTotal", MEMORY_SWAP_TOTAL, 1024},   {"SwapFree", MEMORY_SWAP_FREE, 1024},
};

static const struct key v1_keys[] = {
    {"total_cache", MEMORY_CACHED_BYTES, 1},        {"total_rss", MEMORY_ANON_BYTES, 1},
    {"total_shmem", MEMORY_SHMEM_BYTES, 1},         {"total_dirty", MEMORY_DIRTY_BYTES, 1},
    {"total_writeback", MEMORY_WRITEBACK_BYTES, 1}, {"total_inactive_file", INACTIVE_FILE, 1},
    {"hierarchical_memory_limit", LIMIT, 1},
};

static const struct key v2_keys[] = {
    {"file", MEMORY_CACHED_BYTES, 1},    {"anon", MEMORY_ANON_BYTES, 1},
    {"shmem", MEMORY_SHMEM_BYTES, 1},    {"file_dirty", MEMORY_DIRTY_BYTES, 1},
    {"slab", MEMORY_SLAB_BYTES, 1},      {"file_writeback", MEMORY_WRITEBACK_BYTES, 1},
    {"inactive_file", INACTIVE_FILE, 1},
};

struct memory {
    struct source stat;  /* meminfo, or the group's memory.stat */
    struct source usage; /* group */
    struct source limit; /* v2 group */
    struct keys keys;
    int64_t machine_bytes; /* MemTotal, for groups */
};

/* Reads a file of one number; VALUE_ABSENT for "max" and for invalid text. */
static int read_number(struct source *source, int64_t *ret_value) {
    int r = source_read(source);
    if (r < 0)
        return r;
    const char *p = source->data;
    if (!text_i64(&p, source_end(source), ret_value))
        *ret_value = VALUE_ABSENT;
    return 0;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a == VALUE_ABSENT ? b : b == VALUE_ABSENT || a < b ? a : b;
}

static int group_levels(struct memory *memory, int64_t *values) {
    int64_t used, limit = values[LIMIT];
    int r = read_number(&memory->usage, &used);
    if (r == 0 && source_is_open(&memory->limit))
        r = read_number(&memory->limit, &limit);
    if (r < 0)
        return r;
    int64_t total = values[MEMORY_TOTAL] = smaller(limit, memory->machine_bytes);
    if (total == VALUE_ABSENT || used == VALUE_ABSENT)
        return 0;
    int64_t reclaimable = values[INACTIVE_FILE] > 0 ? values[INACTIVE_FILE] : 0;
    values[MEMORY_FREE_BYTES] = used < total ? total - used : 0;
    values[MEMORY_AVAILABLE] = reclaimable < total - values[MEMORY_FREE_BYTES]
                                   ? values[MEMORY_FREE_BYTES] + reclaimable
                                   : total;
    return 0;
}

static int memory_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct memory *memory = state;
    int64_t values[N_VALUES];
    int r = source_read(&memory->stat);
    if (r < 0)
        return r;
    for (size_t i = 0; i < N_VALUES; i++)
        values[i] = VALUE_ABSENT;
    keys_read(&memory->keys, memory->stat.data, source_end(&memory->stat), env->page_size, values);
    if (source_is_open(&memory->usage))
        r = group_levels(memory, values);
    struct row *row = r == 0 ? rows_append(rows, "memory", 6) : NULL;
    if (row)
        memcpy(row->values, values, MEMORY_COLUMNS * sizeof *values);
    return r;
}

static int open_memory_group(struct memory *memory, const struct probe_env *env) {
    const struct scope *scope = env->scope;
    int64_t values[N_VALUES];
    keys_init(&memory->keys, meminfo_keys, ARRAY_SIZE(meminfo_keys));
    values[MEMORY_TOTAL] = VALUE_ABSENT;
    keys_read(&memory->keys, memory->stat.data, source_end(&memory->stat), env->page_size, values);
    memory->machine_bytes = values[MEMORY_TOTAL];
    source_close(&memory->stat);
    if (scope->v2_memory)
        keys_init(&memory->keys, v2_keys, ARRAY_SIZE(v2_keys));
    else
        keys_init(&memory->keys, v1_keys, ARRAY_SIZE(v1_keys));
    int r = source_open(&memory->stat, scope->memory, "memory.stat");
    if (r == 0)
        r = source_open(&memory->usage, scope->memory,
                        scope->v2_memory ? "memory.current" : "memory.usage_in_bytes");
    if (r == 0 && scope->v2_memory)
        r = source_open(&memory->limit, scope->memory, "memory.max");
    return r;
}

static int memory_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct memory *memory = state;
    const char *where = env->proc;
    int r = source_open(&memory->stat, env->proc, "meminfo");
    if (r == 0 && env->scope->kind == SCOPE_CGROUP && *env->scope->memory) {
        where = env->scope->memory;
        r = open_memory_group(memory, env);
    } else {
        keys_init(&memory->keys, meminfo_keys, ARRAY_SIZE(meminfo_keys));
    }
    if (r < 0)
        snprintf(why, why_size, "cannot read memory from %s: %s", where, strerror(-r));
    return r;
}

static size_t memory_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return 1;
}

static void memory_close(void *state) {
    struct memory *memory = state;
    source_close(&memory->stat);
    source_close(&memory->usage);
    source_close(&memory->limit);
}

const struct probe probe_memory = {
    .table = &all_tables[TABLE_MEMORY],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct memory),
    .max_rows = memory_max_rows,
    .open = memory_open,
    .sample = memory_sample,
    .close = memory_close,
};
