/* SPDX-License-Identifier: MIT */
/* Kernels of GPUs that were recorded on request, in bursts, and how far copies hide behind them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/sections/sections.h"

#define KERNELS_SHOWN 15

/* Sum of a level over all rows: each row is one burst. */
static double sum_of(const struct series_set *set, const struct series *series, size_t column) {
    double sum = 0;
    for (size_t row = 0; row < series->n; row++)
        sum += series_amount(series_value(set, series, row, column));
    return sum;
}

/* ---- how far copies hide ---- */

struct burst_sum {
    int host;
    size_t pid;
    double seconds, kernel_pct, copy_pct, hidden_pct, kernels_per_s, copied_mb_per_s;
};

static const struct report_column burst_columns[] = {
    {KIND_HOST, "host", "host", FIELD(burst_sum, host)},
    {KIND_COUNT, "pid", "process", FIELD(burst_sum, pid)},
    {KIND_TEXT, "gpu", "GPU", COMPUTED},
    {KIND_NUMBER, "seconds", "watched", "s", FIELD(burst_sum, seconds)},
    {KIND_NUMBER, "kernel_pct", "kernels", "%", FIELD(burst_sum, kernel_pct)},
    {KIND_NUMBER, "copy_pct", "copies", "%", FIELD(burst_sum, copy_pct)},
    {KIND_NUMBER, "hidden_pct", "copies beside kernels", "%", FIELD(burst_sum, hidden_pct)},
    {KIND_NUMBER, "kernels_per_s", "kernels a second", FIELD(burst_sum, kernels_per_s)},
    {KIND_NUMBER, "copied_mb_per_s", "copied", "MB/s", FIELD(burst_sum, copied_mb_per_s)},
};

static void add_burst(struct report_table *table, const struct series_set *set,
                      const struct series *series) {
    double watched = sum_of(set, series, GPU_BURST_WATCHED);
    double copies = sum_of(set, series, GPU_BURST_COPY);
    const struct key_process *process = &series->key.process;
    if (series->key.form != KEY_PROCESS || process->pid <= 0 || watched <= 0)
        return;
    size_t row = table_add(
        table,
        &(struct burst_sum){
            .host = series->host,
            .pid = (size_t)process->pid,
            .seconds = watched / 1e9,
            .kernel_pct = 100 * sum_of(set, series, GPU_BURST_KERNEL) / watched,
            .copy_pct = 100 * copies / watched,
            .hidden_pct = copies > 0 ? 100 * sum_of(set, series, GPU_BURST_BOTH) / copies : NAN,
            .kernels_per_s = 1e9 * sum_of(set, series, GPU_BURST_KERNELS) / watched,
            .copied_mb_per_s = 1e3 * sum_of(set, series, GPU_BURST_COPIED) / watched});
    table_text(table, row, 2, "%.*s", (int)process->program.size, process->program.data);
}

void section_gpu_bursts(const struct report *report, struct page *page) {
    const struct series_set *set = &report->run->model.recording->tables[RECORDING_GPU_BURST];
    struct report_table table;
    TABLE_INIT(&table, "gpu_bursts", report, burst_columns);
    for (size_t i = 0; i < set->n; i++)
        add_burst(&table, set, &set->items[i]);
    table_title(&table, "GPUs while their kernels were recorded (--gpu-kernels)");
    page_table(page, &table);
}

/* ---- kernels ---- */

struct kernel_use {
    int host;
    struct span name;
    double launches, busy_s, share_pct, mean_us;
};

static const struct report_column kernel_columns[] = {
    {KIND_HOST, "host", "host", FIELD(kernel_use, host)},
    {KIND_TEXT, "kernel", "kernel", COMPUTED, .shrinks = true},
    {KIND_NUMBER, "share_pct", "of all kernels", "%", FIELD(kernel_use, share_pct)},
    {KIND_NUMBER, "launches", "launches", FIELD(kernel_use, launches), .digits = DIGITS_NONE},
    {KIND_NUMBER, "mean_us", "mean", "us", FIELD(kernel_use, mean_us)},
};

static bool is_same(const struct kernel_use *use, const struct series *series) {
    struct span name = series->key.process.program;
    return use->host == series->host && use->name.size == name.size &&
           memcmp(use->name.data, name.data, name.size) == 0;
}

static int compare_uses(const void *a, const void *b) {
    const struct kernel_use *x = a, *y = b;
    return (x->busy_s < y->busy_s) - (x->busy_s > y->busy_s);
}

/* Adds up the processes of a host. Returns the number of kernels; uses: room for each series. */
static size_t sum_kernels(const struct series_set *set, struct kernel_use *uses) {
    size_t n = 0;
    for (size_t i = 0; i < set->n; i++) {
        const struct series *series = &set->items[i];
        size_t k = 0;
        if (series->key.form != KEY_PROCESS)
            continue;
        while (k < n && !is_same(&uses[k], series))
            k++;
        if (k == n)
            uses[n++] =
                (struct kernel_use){.host = series->host, .name = series->key.process.program};
        uses[k].launches += sum_of(set, series, GPU_KERNEL_LAUNCHES);
        uses[k].busy_s += sum_of(set, series, GPU_KERNEL_BUSY) / 1e9;
    }
    qsort(uses, n, sizeof *uses, compare_uses);
    return n;
}

static double busy_of_host(const struct kernel_use *uses, size_t n, int host) {
    double busy_s = 0;
    for (size_t i = 0; i < n; i++)
        busy_s += uses[i].host == host ? uses[i].busy_s : 0;
    return busy_s;
}

void section_gpu_kernels(const struct report *report, struct page *page) {
    const struct series_set *set = &report->run->model.recording->tables[RECORDING_GPU_KERNEL];
    struct kernel_use *uses = calloc(set->n + 1, sizeof *uses);
    struct report_table table;
    TABLE_INIT(&table, "gpu_kernels", report, kernel_columns);
    table.failed |= !uses;
    size_t n = uses ? sum_kernels(set, uses) : 0;
    for (size_t i = 0; i < n && i < KERNELS_SHOWN; i++) {
        struct kernel_use *use = &uses[i];
        double all_s = busy_of_host(uses, n, use->host);
        use->share_pct = all_s > 0 ? 100 * use->busy_s / all_s : NAN;
        use->mean_us = use->launches > 0 ? 1e6 * use->busy_s / use->launches : NAN;
        size_t row = table_add(&table, use);
        table_text(&table, row, 1, "%.*s", (int)use->name.size, use->name.data);
    }
    table_title(&table, "Kernels with the longest time on the GPUs of a host");
    if (n > KERNELS_SHOWN)
        table_note(&table, "The %d of %zu kernels with the longest time.", KERNELS_SHOWN, n);
    page_table(page, &table);
    free(uses);
}
