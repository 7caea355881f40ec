/* SPDX-License-Identifier: MIT */
/*
 * Where memory stands: /proc/meminfo, or the files of a memory cgroup.
 *
 * In a group, total is the smaller of its limit and the machine's memory (v2: its own memory.max;
 * limits above it may not be visible), free is the rest that it may charge, and available adds the
 * file pages that it could drop at once. Columns a group has no figure for are absent.
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
    TOTAL,
    FREE,
    AVAILABLE,
    BUFFERS,
    CACHED,
    SLAB,
    ANON,
    SHMEM,
    DIRTY,
    WRITEBACK,
    SWAP_TOTAL,
    SWAP_FREE,
    N_COLUMNS,
    INACTIVE_FILE = N_COLUMNS, /* of groups, to know what is available */
    LIMIT,                     /* v1: the tightest one on the way to the root */
    N_VALUES
};

static const struct key meminfo_keys[] = {
    {"MemTotal", TOTAL, 1024},
    {"MemFree", FREE, 1024},
    {"MemAvailable", AVAILABLE, 1024},
    {"Buffers", BUFFERS, 1024},
    {"Cached", CACHED, 1024},
    {"Slab", SLAB, 1024},
    {"AnonPages", ANON, 1024},
    {"Shmem", SHMEM, 1024},
    {"Dirty", DIRTY, 1024},
    {"Writeback", WRITEBACK, 1024},
    {"SwapTotal", SWAP_TOTAL, 1024},
    {"SwapFree", SWAP_FREE, 1024},
};

static const struct key v1_keys[] = {
    {"total_cache", CACHED, 1},
    {"total_rss", ANON, 1},
    {"total_shmem", SHMEM, 1},
    {"total_dirty", DIRTY, 1},
    {"total_writeback", WRITEBACK, 1},
    {"total_inactive_file", INACTIVE_FILE, 1},
    {"hierarchical_memory_limit", LIMIT, 1},
};

static const struct key v2_keys[] = {
    {"file", CACHED, 1},
    {"anon", ANON, 1},
    {"shmem", SHMEM, 1},
    {"file_dirty", DIRTY, 1},
    {"slab", SLAB, 1},
    {"file_writeback", WRITEBACK, 1},
    {"inactive_file", INACTIVE_FILE, 1},
};

struct memory {
    struct source stat;  /* meminfo, or the group's memory.stat */
    struct source usage; /* of a group */
    struct source limit; /* of a v2 group */
    struct keys keys;
    int64_t machine_bytes; /* MemTotal, for groups */
};

/* A file of one number; VALUE_ABSENT for "max" and for nonsense. */
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
    int64_t total = values[TOTAL] = smaller(limit, memory->machine_bytes);
    if (total == VALUE_ABSENT || used == VALUE_ABSENT)
        return 0;
    int64_t reclaimable = values[INACTIVE_FILE] > 0 ? values[INACTIVE_FILE] : 0;
    values[FREE] = used < total ? total - used : 0;
    values[AVAILABLE] = reclaimable < total - values[FREE] ? values[FREE] + reclaimable : total;
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
        memcpy(row->values, values, N_COLUMNS * sizeof *values);
    return r;
}

static int open_group(struct memory *memory, const struct probe_env *env) {
    const struct scope *scope = env->scope;
    int64_t values[N_VALUES];
    keys_init(&memory->keys, meminfo_keys, ARRAY_SIZE(meminfo_keys));
    values[TOTAL] = VALUE_ABSENT;
    keys_read(&memory->keys, memory->stat.data, source_end(&memory->stat), env->page_size, values);
    memory->machine_bytes = values[TOTAL];
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
        r = open_group(memory, env);
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

static const struct column memory_columns[N_COLUMNS] = {
    [TOTAL] = {"total_bytes", UNIT_BYTES, COLUMN_LEVEL, "memory there is, or the group may use"},
    [FREE] = {"free_bytes", UNIT_BYTES, COLUMN_LEVEL, "memory used for nothing"},
    [AVAILABLE] = {"available_bytes", UNIT_BYTES, COLUMN_LEVEL,
                   "memory programs could get without swapping, as estimated by the kernel"},
    [BUFFERS] = {"buffers_bytes", UNIT_BYTES, COLUMN_LEVEL, "cache of raw block devices"},
    [CACHED] = {"cached_bytes", UNIT_BYTES, COLUMN_LEVEL, "cache of files, shared memory included"},
    [SLAB] = {"slab_bytes", UNIT_BYTES, COLUMN_LEVEL, "the kernel's own small objects"},
    [ANON] = {"anon_bytes", UNIT_BYTES, COLUMN_LEVEL, "memory of programs that is no file"},
    [SHMEM] = {"shmem_bytes", UNIT_BYTES, COLUMN_LEVEL, "shared memory and tmpfs"},
    [DIRTY] = {"dirty_bytes", UNIT_BYTES, COLUMN_LEVEL, "file pages waiting to be written"},
    [WRITEBACK] = {"writeback_bytes", UNIT_BYTES, COLUMN_LEVEL, "file pages being written"},
    [SWAP_TOTAL] = {"swap_total_bytes", UNIT_BYTES, COLUMN_LEVEL, "swap space there is"},
    [SWAP_FREE] = {"swap_free_bytes", UNIT_BYTES, COLUMN_LEVEL, "swap space not in use"},
};

const struct probe probe_memory = {
    .table = {.name = "memory",
              .instance = "memory",
              .help = "where the memory of the host stands",
              .kind = TABLE_SAMPLES,
              .columns = memory_columns,
              .n_columns = N_COLUMNS},
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct memory),
    .max_rows = memory_max_rows,
    .open = memory_open,
    .sample = memory_sample,
    .close = memory_close,
};
