/* SPDX-License-Identifier: MIT */
/* T1, T3 and T4: use of each host and of the job, on average and at most. */
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/model/summary.h"
#include "reports/sections/sections.h"

/* ---- for programs: a row for each phase, host and metric ---- */

struct measured {
    int host;
    const char *phase, *metric, *unit;
    double mean, p95, peak, ceiling;
};

static const struct report_column measured_columns[] = {
    {KIND_HOST, "host", FIELD(measured, host)},
    {KIND_TEXT, "phase", FIELD(measured, phase)},
    {KIND_TEXT, "metric", FIELD(measured, metric)},
    {KIND_TEXT, "unit", FIELD(measured, unit)},
    {KIND_NUMBER, "mean", FIELD(measured, mean)},
    {KIND_NUMBER, "p95", FIELD(measured, p95)},
    {KIND_NUMBER, "peak", FIELD(measured, peak)},
    {KIND_NUMBER, "ceiling", FIELD(measured, ceiling)},
};

static void put_measured(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "resources", report, measured_columns);
    table.audience = FOR_DOCUMENT;
    for (size_t i = 0; i < report->n_resources; i++)
        for (size_t h = 0; h < report->n_hosts; h++)
            for (int m = 0; m < METRIC_COUNT_; m++) {
                const struct report_value *v =
                    &report->resources[i].values[h * METRIC_COUNT_ + (size_t)m];
                if (metric_is_of_gpu(m) && isnan(v->mean))
                    continue;
                table_add(&table,
                          &(struct measured){(int)h, report->resources[i].phase, metric_name(m),
                                             metric_unit(m), v->mean, v->p95, v->peak,
                                             layout_ceiling(report, h, m)});
            }
    page_table(page, &table);
}

/* ---- for readers: a row a metric, a column a host ---- */

static void init_hosts(struct report_table *table, const struct report *report) {
    table_init(table, NULL, report, &(struct report_column){KIND_TEXT, NULL, "", COMPUTED}, 1);
    table->audience = FOR_READERS;
    for (size_t h = 0; h < report->n_hosts; h++)
        table_add_number_column(table, report->hosts[h].name, NULL);
}

static void put_hosts(struct report_table *table, const struct report *report,
                      const struct report_resources *resources, const struct layout_row *rows,
                      size_t n_rows, bool peaks) {
    struct layout_row shown[LAYOUT_ROWS_MAX];
    size_t n = layout_expand(report, rows, n_rows, shown);
    for (size_t i = 0; i < n; i++) {
        size_t row = table_add(table, NULL);
        table_borrow(table, row, 0, shown[i].label);
        for (size_t h = 0; h < report->n_hosts; h++)
            table_number(table, row, h + 1, layout_value(report, resources, h, &shown[i], peaks));
    }
}

/* With enough room, metrics whose means say little have rows, too. */
static void put_averages(const struct report *report, struct page *page, size_t phase) {
    const struct report_resources *r = &report->resources[phase];
    char duration[LAYOUT_NUMBER_SIZE];
    struct report_table table;
    if (phase && !layout_worth_a_table(report, r) && !page_has_room(page, ROOM_FULL))
        return;
    init_hosts(&table, report);
    table.level = phase ? 3 : 2;
    table_title(&table, "Averages, %s%s (%s)", phase ? "phase " : "whole run",
                phase ? r->phase : "", layout_duration(duration, r->duration_s));
    put_hosts(&table, report, r, layout_averages, layout_averages_size, false);
    page_table(page, &table);
}

static void put_short_phases(const struct report *report, struct page *page) {
    char *text = NULL, duration[LAYOUT_NUMBER_SIZE];
    size_t size, n = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 1; out && i < report->n_resources; i++)
        if (!layout_worth_a_table(report, &report->resources[i]))
            fprintf(out, "%s%s (%s)", n++ ? ", " : "", report->resources[i].phase,
                    layout_duration(duration, report->resources[i].duration_s));
    if (out && fclose(out) == 0 && n) {
        page_paragraph(page, STYLE_NOTE,
                       "Phases of fewer than three samples, of which averages say little: %s",
                       text);
    }
    free(text);
}

void section_resources(const struct report *report, struct page *page) {
    if (page_is_for(page, FOR_DOCUMENT))
        put_measured(report, page);
    if (!page_is_for(page, FOR_READERS))
        return;
    for (size_t i = 0; i < report->n_resources; i++)
        put_averages(report, page, i);
    put_short_phases(report, page);
}

static const struct report_column job_columns[] = {
    {KIND_NUMBER, NULL, "CPU", "%", FIELD(report_summary, job_cpu_pct)},
    {KIND_NUMBER, NULL, "network read", "MB/s", FIELD(report_summary, net_recv_mb_s)},
    {KIND_NUMBER, NULL, "network write", "MB/s", FIELD(report_summary, net_send_mb_s)},
    {KIND_NUMBER, NULL, "disk read", "MB/s", FIELD(report_summary, disk_read_mb_s)},
    {KIND_NUMBER, NULL, "disk write", "MB/s", FIELD(report_summary, disk_write_mb_s)},
};

void section_job(const struct report *report, struct page *page) {
    struct report_table table;
    if (!report->n_resources || !page_is_for(page, FOR_READERS))
        return;
    struct report_summary summary = report_summarize(report);
    TABLE_INIT(&table, NULL, report, job_columns);
    table.audience = FOR_READERS;
    table_title(&table, "The job as a whole (sums over hosts; CPU 100 %% is one core)");
    table_add(&table, &summary);
    page_table(page, &table);
}

void section_peaks(const struct report *report, struct page *page) {
    struct report_table table;
    if (!report->n_resources)
        return;
    init_hosts(&table, report);
    table_title(&table, "Peaks (highest sample)");
    put_hosts(&table, report, &report->resources[0], layout_peaks, layout_peaks_size, true);
    page_table(page, &table);
}
