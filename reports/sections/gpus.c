/* SPDX-License-Identifier: MIT */
/* Each GPU: what it did, and what it used. */
#include <math.h>
#include <stdlib.h>

#include "reports/facts/gpus.h"
#include "reports/model/layout.h"
#include "reports/sections/sections.h"

static const struct report_column columns[] = {
    {KIND_HOST, "host", "on", FIELD(report_gpu, host)},
    {KIND_TEXT, "gpu", NULL, FIELD(report_gpu, name)},
    {KIND_TEXT, "model", NULL, COMPUTED},
    {KIND_TEXT, NULL, "GPU", COMPUTED},
    {KIND_NUMBER, "busy_pct", "busy", "%", FIELD(report_gpu, busy_pct)},
    {KIND_NUMBER, "sm_pct", "SM", "%", FIELD(report_gpu, sm_pct)},
    {KIND_NUMBER, "tensor_pct", "tensor", "%", FIELD(report_gpu, tensor_pct)},
    {KIND_NUMBER, "dram_pct", "DRAM", "%", FIELD(report_gpu, dram_pct)},
    {KIND_NUMBER, "pcie_to_mb_s", "PCIe to", "MB/s", FIELD(report_gpu, to_mb_s)},
    {KIND_NUMBER, "pcie_from_mb_s", "from", "MB/s", FIELD(report_gpu, from_mb_s)},
    {KIND_NUMBER, "memory_peak_gb", NULL, "GB", FIELD(report_gpu, peak_gb)},
    {KIND_NUMBER, "memory_gb", NULL, "GB", FIELD(report_gpu, memory_gb)},
    {KIND_FIGURES, NULL, "memory", "GB", COMPUTED},
    {KIND_NUMBER, "watts", NULL, "W", FIELD(report_gpu, watts)},
    {KIND_NUMBER, "watts_limit", NULL, "W", FIELD(report_gpu, watts_limit)},
    {KIND_FIGURES, NULL, "power", "W", COMPUTED},
    {KIND_NUMBER, "joules", "energy", "J", FIELD(report_gpu, joules)},
    {KIND_NUMBER, "power_cap_pct", NULL, "%", FIELD(report_gpu, power_cap_pct)},
    {KIND_NUMBER, "heat_cap_pct", NULL, "%", FIELD(report_gpu, heat_cap_pct)},
    {KIND_FIGURES, NULL, "capped", "%", COMPUTED},
    {KIND_RANK, "xids", NULL, FIELD(report_gpu, xids)},
};
enum { MODEL = 2, NAMED = 3, MEMORY = 12, POWER = 15, CAPPED = 19 };

/* "1.70 of 151" */
static void put_of(struct report_table *table, size_t row, size_t column, double used,
                   double most) {
    char number[LAYOUT_NUMBER_SIZE], all[LAYOUT_NUMBER_SIZE];
    if (!isnan(used))
        table_text(table, row, column, isnan(most) ? "%s" : "%s of %s", layout_number(number, used),
                   layout_number(all, most));
}

/* "77.7 power": by what, if it was. */
static void put_capped(struct report_table *table, size_t row, const struct report_gpu *gpu) {
    char number[LAYOUT_NUMBER_SIZE];
    bool heat = gpu->heat_cap_pct > gpu->power_cap_pct || isnan(gpu->power_cap_pct);
    double most = heat ? gpu->heat_cap_pct : gpu->power_cap_pct;
    if (!isnan(most))
        table_text(table, row, CAPPED, "%s%s", layout_number(number, most),
                   !(most > 0) ? ""
                   : heat      ? " heat"
                               : " power");
}

void section_gpus(const struct report *report, struct page *page) {
    struct report_table table;
    struct gpus gpus = {0};
    TABLE_INIT(&table, "gpus", report, columns);
    table.failed |= gpus_summarize(&report->run->model, &gpus) < 0;
    for (size_t i = 0; i < gpus.n; i++) {
        const struct report_gpu *gpu = &gpus.items[i];
        size_t row = table_add(&table, gpu);
        if (*gpu->model)
            table_text(&table, row, MODEL, "%s", gpu->model);
        table_text(&table, row, NAMED, *gpu->model ? "%s %s" : "%s", gpu->name, gpu->model);
        put_of(&table, row, MEMORY, gpu->peak_gb, gpu->memory_gb);
        put_of(&table, row, POWER, gpu->watts, gpu->watts_limit);
        put_capped(&table, row, gpu);
    }
    table_title(&table, "GPUs: means of the whole run");
    if (gpus.n)
        table_note(&table, "SM, tensor, DRAM: the part of its multiprocessors, of its tensor cores "
                           "and of the bandwidth of its memory that was in use; PCIe: to it and "
                           "from it; memory: the most; capped: the part of the time in which "
                           "power or heat held its clock down.");
    page_table(page, &table);
    free(gpus.items);
}
