/* SPDX-License-Identifier: MIT */
/*
 * Work of memory management: /proc/vmstat, or memory.stat and the OOM counter of a memory cgroup.
 * Pages are counted in bytes. Names have changed (per-zone counters before 4.8, one refault counter
 * before 5.9): all are listed, and no kernel has two forms at once.
 *
 * A v1 group has no figures of its own for swapping and paging: its pgpgin counts charges, not
 * reads. Those columns are absent there.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/keys.h"
#include "agent/base/scope.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define ZONES(prefix, column)                                                                      \
    {prefix, column, KEY_PAGES}, {prefix "_dma", column, KEY_PAGES},                               \
        {prefix "_dma32", column, KEY_PAGES}, {prefix "_normal", column, KEY_PAGES},               \
        {prefix "_high", column, KEY_PAGES}, {                                                     \
        prefix "_movable", column, KEY_PAGES                                                       \
    }

static const struct key host_keys[] = {
    {"pgfault", VMSTAT_FAULTS, 1},
    {"pgmajfault", VMSTAT_MAJOR_FAULTS, 1},
    {"pswpin", VMSTAT_SWAP_IN, KEY_PAGES},
    {"pswpout", VMSTAT_SWAP_OUT, KEY_PAGES},
    {"pgpgin", VMSTAT_PAGE_IN_BYTES, 1024}, /* the kernel counts these two in kB */
    {"pgpgout", VMSTAT_PAGE_OUT_BYTES, 1024},
    {"workingset_refault", VMSTAT_REFAULT, KEY_PAGES},
    {"workingset_refault_anon", VMSTAT_REFAULT, KEY_PAGES},
    {"workingset_refault_file", VMSTAT_REFAULT, KEY_PAGES},
    ZONES("pgscan_kswapd", VMSTAT_RECLAIM_SCANNED_BYTES),
    ZONES("pgscan_direct", VMSTAT_RECLAIM_SCANNED_BYTES),
    {"pgscan_khugepaged", VMSTAT_RECLAIM_SCANNED_BYTES, KEY_PAGES},
    {"pgscan_proactive", VMSTAT_RECLAIM_SCANNED_BYTES, KEY_PAGES},
    {"pgsteal_direct", VMSTAT_RECLAIM_DIRECT, KEY_PAGES},
    {"pgsteal_direct_dma", VMSTAT_RECLAIM_DIRECT, KEY_PAGES},
    {"pgsteal_direct_dma32", VMSTAT_RECLAIM_DIRECT, KEY_PAGES},
    {"pgsteal_direct_normal", VMSTAT_RECLAIM_DIRECT, KEY_PAGES},
    {"pgsteal_direct_high", VMSTAT_RECLAIM_DIRECT, KEY_PAGES},
    {"pgsteal_direct_movable", VMSTAT_RECLAIM_DIRECT, KEY_PAGES},
    {"oom_kill", VMSTAT_OOM, 1},
};

static const struct key v1_keys[] = {
    {"total_pgfault", VMSTAT_FAULTS, 1},
    {"total_pgmajfault", VMSTAT_MAJOR_FAULTS, 1},
    {"total_workingset_refault", VMSTAT_REFAULT, KEY_PAGES},
    {"total_workingset_refault_anon", VMSTAT_REFAULT, KEY_PAGES},
    {"total_workingset_refault_file", VMSTAT_REFAULT, KEY_PAGES},
    {"oom_kill", VMSTAT_OOM, 1},
};

static const struct key v2_keys[] = {
    {"pgfault", VMSTAT_FAULTS, 1},
    {"pgmajfault", VMSTAT_MAJOR_FAULTS, 1},
    {"pswpin", VMSTAT_SWAP_IN, KEY_PAGES},
    {"pswpout", VMSTAT_SWAP_OUT, KEY_PAGES},
    {"workingset_refault", VMSTAT_REFAULT, KEY_PAGES},
    {"workingset_refault_anon", VMSTAT_REFAULT, KEY_PAGES},
    {"workingset_refault_file", VMSTAT_REFAULT, KEY_PAGES},
    {"pgscan", VMSTAT_RECLAIM_SCANNED_BYTES, KEY_PAGES},
    {"pgsteal_direct", VMSTAT_RECLAIM_DIRECT, KEY_PAGES},
    {"oom_kill", VMSTAT_OOM, 1},
};

struct vmstat {
    struct source stat;
    struct source oom; /* group */
    struct keys keys;
};

static void add_source(const struct vmstat *vmstat, const struct source *source,
                       const struct probe_env *env, struct row *row) {
    keys_read(&vmstat->keys, source->data, source_end(source), env->page_size, row->values);
}

static int vmstat_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct vmstat *vmstat = state;
    bool has_oom = source_is_open(&vmstat->oom);
    int r = source_read(&vmstat->stat);
    if (r == 0 && has_oom)
        r = source_read(&vmstat->oom);
    struct row *row = r == 0 ? rows_append(rows, "vm", 2) : NULL;
    if (!row)
        return r;
    add_source(vmstat, &vmstat->stat, env, row);
    if (has_oom)
        add_source(vmstat, &vmstat->oom, env, row);
    return 0;
}

/* A group without a count of OOM kills (v1 before 4.13) leaves that column absent. */
static int open_vmstat_group(struct vmstat *vmstat, const struct scope *scope) {
    const char *oom = scope->v2_memory ? "memory.events" : "memory.oom_control";
    if (scope->v2_memory)
        keys_init(&vmstat->keys, v2_keys, ARRAY_SIZE(v2_keys));
    else
        keys_init(&vmstat->keys, v1_keys, ARRAY_SIZE(v1_keys));
    int r = source_open(&vmstat->stat, scope->memory, "memory.stat");
    if (r == 0 && source_open(&vmstat->oom, scope->memory, oom) < 0)
        vmstat->oom = (struct source){0};
    return r;
}

static int vmstat_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct vmstat *vmstat = state;
    bool of_group = env->scope->kind == SCOPE_CGROUP && *env->scope->memory;
    int r;
    if (of_group) {
        r = open_vmstat_group(vmstat, env->scope);
    } else {
        keys_init(&vmstat->keys, host_keys, ARRAY_SIZE(host_keys));
        r = source_open(&vmstat->stat, env->proc, "vmstat");
    }
    if (r < 0)
        snprintf(why, why_size, "cannot read memory events from %s: %s",
                 of_group ? env->scope->memory : env->proc, strerror(-r));
    return r;
}

static size_t vmstat_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return 1;
}

static void vmstat_close(void *state) {
    struct vmstat *vmstat = state;
    source_close(&vmstat->stat);
    source_close(&vmstat->oom);
}

const struct probe probe_vmstat = {
    .table = &all_tables[TABLE_VMSTAT],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct vmstat),
    .max_rows = vmstat_max_rows,
    .open = vmstat_open,
    .sample = vmstat_sample,
    .close = vmstat_close,
};
