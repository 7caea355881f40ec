/* SPDX-License-Identifier: MIT */
#include "cli/remote/hosts.h"

#include <stdio.h>

#include "common/error.h"
#include "reports/export/family.h"

#define BIT(column) (UINT64_C(1) << (column))

/* A host of 128 cores has a thousand numbers of cores, which say less than their sum. Columns of a
 * GPU that count number formats, or what another column counts, are left out: eight GPUs fit. */
static const struct {
    enum table_id table;
    bool summed;
    uint64_t left_out;
} sent[REMOTE_TABLES] = {
    {TABLE_CPU, true, 0},
    {TABLE_MEMORY, false, 0},
    {TABLE_VMSTAT, false, 0},
    {TABLE_PSI, false, 0},
    {TABLE_LOAD, false, 0},
    {TABLE_CGROUP, false, 0},
    {TABLE_NET, false, BIT(NET_NETWORK)},
    {TABLE_DISK, false, 0},
    {TABLE_GPU, false,
     BIT(GPU_FP16) | BIT(GPU_FP32) | BIT(GPU_FP64) | BIT(GPU_GRAPHICS) | BIT(GPU_MEMORY_BUSY) |
         BIT(GPU_MEMORY_CLOCK) | BIT(GPU_LAST_XID) | BIT(GPU_PCIE_REPLAYS) |
         BIT(GPU_ECC_CORRECTED) | BIT(GPU_CLOCK_REASONS)},
    {TABLE_ENERGY, false, 0},
    {TABLE_FILESYSTEM, false, 0},
    {TABLE_NFS, false, 0},
};

static void fill_names(struct remote_table *to) {
    const struct table *table = to->table;
    for (size_t c = 0; c < table->n_columns && c < REMOTE_COLUMNS_MAX - REMOTE_SUMS; c++) {
        char name[FAMILY_NAME_MAX];
        family_name(table->name, table->columns[c].name, table->columns[c].unit, name);
        snprintf(to->names[c], sizeof to->names[c], "%s%s", name,
                 table->columns[c].kind == COLUMN_COUNTER ? "_total" : "");
    }
    for (size_t i = 0; to->summed && i < REMOTE_SUMS; i++)
        snprintf(to->names[table->n_columns + i], sizeof *to->names,
                 FAMILY_PREFIX "%s_%s_seconds_total", table->name,
                 i == REMOTE_BUSY ? "busy" : "passed");
}

void remote_sum_cores(const int64_t values[CPU_COLUMNS], int64_t ret_sums[REMOTE_SUMS]) {
    const uint64_t parts[REMOTE_SUMS] = {[REMOTE_BUSY] = BIT(CPU_USER) | BIT(CPU_NICE) |
                                                         BIT(CPU_SYSTEM) | BIT(CPU_IRQ) |
                                                         BIT(CPU_SOFTIRQ),
                                         [REMOTE_PASSED] = ~BIT(CPU_OUTSIDE)};
    for (size_t i = 0; i < REMOTE_SUMS; i++) {
        ret_sums[i] = VALUE_ABSENT;
        for (size_t c = 0; c < CPU_COLUMNS; c++)
            if ((parts[i] >> c & 1) && values[c] != VALUE_ABSENT)
                ret_sums[i] = values[c] + (ret_sums[i] == VALUE_ABSENT ? 0 : ret_sums[i]);
    }
}

void remote_tables_fill(struct remote_table tables[REMOTE_TABLES]) {
    for (size_t t = 0; t < REMOTE_TABLES; t++) {
        tables[t] = (struct remote_table){.table = &all_tables[sent[t].table],
                                          .summed = sent[t].summed,
                                          .left_out = sent[t].left_out};
        fill_names(&tables[t]);
    }
}

size_t remote_table_columns(const struct remote_table *table) {
    return table->table->n_columns + (table->summed ? REMOTE_SUMS : 0) -
           (size_t)__builtin_popcountll(table->left_out);
}
