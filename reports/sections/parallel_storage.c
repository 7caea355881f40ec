/* SPDX-License-Identifier: MIT */
/* Parallel file systems: calls to Lustre with its servers, and servers of BeeGFS. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/lustre_use.h"
#include "common/error.h"
#include "reports/sections/sections.h"

/* ---- Lustre ---- */

struct lustre_row {
    int host;
    const char *name, *slowest;
    double calls, call_ms, read_mb, written_mb, requests, request_ms, slowest_pct, lost;
};

static const struct report_column lustre_columns[] = {
    {KIND_HOST, "host", "host", FIELD(lustre_row, host)},
    {KIND_TEXT, "filesystem", "file system", FIELD(lustre_row, name), .shrinks = true,
     .names = true},
    {KIND_NUMBER, "calls", "calls", FIELD(lustre_row, calls), .digits = DIGITS_NONE},
    {KIND_NUMBER, "call_ms", "a call", "ms", FIELD(lustre_row, call_ms)},
    {KIND_NUMBER, "read_mb", "read", "MB", FIELD(lustre_row, read_mb)},
    {KIND_NUMBER, "written_mb", "written", "MB", FIELD(lustre_row, written_mb)},
    {KIND_NUMBER, "requests", "requests", FIELD(lustre_row, requests), .digits = DIGITS_NONE},
    {KIND_NUMBER, "request_ms", "a request", "ms", FIELD(lustre_row, request_ms)},
    {KIND_TEXT, "slowest", "waited for most", FIELD(lustre_row, slowest), .shrinks = true},
    {KIND_NUMBER, "slowest_pct", "of the waiting", "%", FIELD(lustre_row, slowest_pct)},
    {KIND_NUMBER, "lost", "targets lost", FIELD(lustre_row, lost), .digits = DIGITS_NONE},
};

static void add_lustre(struct report_table *table, int host, const struct lustre_use *use) {
    size_t row = table_add(
        table, &(struct lustre_row){.host = host,
                                    .calls = use->calls,
                                    .call_ms = 1e3 * use->calls_s / use->calls,
                                    .read_mb = use->read_bytes / 1e6,
                                    .written_mb = use->write_bytes / 1e6,
                                    .requests = isnan(use->requests_s) ? NAN : use->requests,
                                    .request_ms = 1e3 * use->requests_s / use->requests,
                                    .slowest_pct = 100 * use->slowest_s / use->requests_s,
                                    .lost = isnan(use->requests_s) ? NAN : (double)use->lost});
    table_text(table, row, 1, "%s", use->name);
    if (use->slowest)
        table_text(table, row, 8, "%s", use->slowest->name);
}

void section_lustre(const struct report *report, struct page *page) {
    const struct run_model *model = &report->run->model;
    struct report_table table;
    TABLE_INIT(&table, "lustre", report, lustre_columns);
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct lustre_use *items = NULL;
        size_t n = 0;
        if (lustre_use_make(model, (int)h, phase_windows(&model->groups[0]), &items, &n) < 0)
            table.failed = true;
        for (size_t i = 0; i < n; i++)
            add_lustre(&table, (int)h, &items[i]);
        free(items);
    }
    table_title(&table, "Lustre (calls of the whole run, and its requests to servers)");
    page_table(page, &table);
}

/* ---- BeeGFS ---- */

struct beegfs_row {
    int host;
    const char *server, *kind;
    double tcp, rdma, fallback, targets, offline;
};

static const struct report_column beegfs_columns[] = {
    {KIND_HOST, "host", "host", FIELD(beegfs_row, host)},
    {KIND_TEXT, "server", "server", FIELD(beegfs_row, server), .shrinks = true},
    {KIND_TEXT, "kind", "kind", FIELD(beegfs_row, kind)},
    {KIND_NUMBER, "rdma", "RDMA", FIELD(beegfs_row, rdma), .digits = DIGITS_NONE},
    {KIND_NUMBER, "tcp", "TCP", FIELD(beegfs_row, tcp), .digits = DIGITS_NONE},
    {KIND_NUMBER, "fallback", "second choice", FIELD(beegfs_row, fallback), .digits = DIGITS_NONE},
    {KIND_NUMBER, "targets", "targets", FIELD(beegfs_row, targets), .digits = DIGITS_NONE},
    {KIND_NUMBER, "offline", "of them not in order", FIELD(beegfs_row, offline),
     .digits = DIGITS_NONE},
};

static double level_of(const struct series_set *set, const struct series *series, size_t column) {
    int64_t value = series_last(set, series, column);
    return value == VALUE_ABSENT ? NAN : (double)value;
}

/* A series is named "storage storage01". */
static void add_server(struct report_table *table, const struct series_set *set,
                       const struct series *series) {
    const char *blank = strchr(series->name, ' ');
    int kind = blank ? (int)(blank - series->name) : 0;
    size_t row =
        table_add(table, &(struct beegfs_row){.host = series->host,
                                              .tcp = level_of(set, series, BEEGFS_TCP),
                                              .rdma = level_of(set, series, BEEGFS_RDMA),
                                              .fallback = level_of(set, series, BEEGFS_FALLBACK),
                                              .targets = level_of(set, series, BEEGFS_TARGETS),
                                              .offline = level_of(set, series, BEEGFS_OFFLINE)});
    table_text(table, row, 1, "%s", blank ? blank + 1 : series->name);
    table_text(table, row, 2, "%.*s", kind, series->name);
}

void section_beegfs(const struct report *report, struct page *page) {
    const struct run_model *model = &report->run->model;
    const struct series_set *set = &model->recording->tables[RECORDING_BEEGFS];
    struct report_table table;
    TABLE_INIT(&table, "beegfs", report, beegfs_columns);
    for (size_t h = 0; h < model->n_hosts; h++)
        for (size_t s = 0; s < set->n; s++)
            if (set->items[s].host == (int)h)
                add_server(&table, set, &set->items[s]);
    table_title(&table, "Servers of BeeGFS (connections and targets at the end; it counts no bytes "
                        "here)");
    page_table(page, &table);
}
