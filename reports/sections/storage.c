/* SPDX-License-Identifier: MIT */
/* Facts about a host besides cores, memory and links: file servers, file systems, load. */
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/remote_storage.h"
#include "common/error.h"
#include "reports/sections/sections.h"

static double last_of(const struct series_set *set, const struct series *series, size_t column,
                      double scale) {
    int64_t value = series_last(set, series, column);
    return value == VALUE_ABSENT ? NAN : (double)value * scale;
}

typedef void add_series(struct report_table *table, const struct series_set *set,
                        const struct series *series);

/* Adds a row for each series, host by host. */
static void add_by_host(struct report_table *table, const struct run_model *model,
                        enum recording_table of, add_series *add) {
    const struct series_set *set = &model->recording->tables[of];
    for (size_t h = 0; h < model->n_hosts; h++)
        for (size_t s = 0; s < set->n; s++)
            if (set->items[s].host == (int)h)
                add(table, set, &set->items[s]);
}

/* ---- load ---- */

static const struct load_column {
    struct report_column column;
    size_t of;
    double scale;
} load_columns[] = {
    {{KIND_NUMBER, "load_1", "1 min", COMPUTED, .digits = 2}, LOAD_1, 1e-9},
    {{KIND_NUMBER, "load_5", "5 min", COMPUTED, .digits = 2}, LOAD_5, 1e-9},
    {{KIND_NUMBER, "load_15", "15 min", COMPUTED, .digits = 2}, LOAD_15, 1e-9},
    {{KIND_NUMBER, "running", "running", COMPUTED, .digits = DIGITS_NONE}, LOAD_RUNNING, 1},
    {{KIND_NUMBER, "sleeping", "sleeping", COMPUTED, .digits = DIGITS_NONE}, LOAD_SLEEPING, 1},
    {{KIND_NUMBER, "waiting", "waiting (D)", COMPUTED, .digits = DIGITS_NONE}, LOAD_WAITING, 1},
    {{KIND_NUMBER, "stopped", "stopped", COMPUTED, .digits = DIGITS_NONE}, LOAD_STOPPED, 1},
    {{KIND_NUMBER, "zombie", "zombie", COMPUTED, .digits = DIGITS_NONE}, LOAD_ZOMBIE, 1},
    {{KIND_NUMBER, "other", "other", COMPUTED, .digits = DIGITS_NONE}, LOAD_OTHER, 1},
    {{KIND_DURATION, "uptime_s", "up", COMPUTED}, LOAD_UPTIME, 1e-9},
};

static const struct report_column host_column = {KIND_HOST, "host", "host", COMPUTED};

static void add_load(struct report_table *table, const struct series_set *set,
                     const struct series *series) {
    size_t row = table_add(table, NULL);
    table_integer(table, row, 0, series->host);
    for (size_t i = 0; i < ARRAY_SIZE(load_columns); i++)
        table_number(table, row, i + 1,
                     last_of(set, series, load_columns[i].of, load_columns[i].scale));
}

void section_loads(const struct report *report, struct page *page) {
    struct report_table table;
    table_init(&table, "loads", report, &host_column, 1);
    for (size_t i = 0; i < ARRAY_SIZE(load_columns); i++)
        table_add_column(&table, &load_columns[i].column);
    add_by_host(&table, &report->run->model, RECORDING_LOAD, add_load);
    table_title(&table, "Load and tasks (at the end)");
    page_table(page, &table);
}

/* ---- file systems ---- */

struct filesystem {
    int host;
    const char *mount;
    double size_gb, used_gb, available_gb, used_pct;
};

static const struct report_column filesystem_columns[] = {
    {KIND_HOST, "host", "host", FIELD(filesystem, host)},
    {KIND_TEXT, "mount", "file system", FIELD(filesystem, mount), .shrinks = true},
    {KIND_NUMBER, "size_gb", "size", "GB", FIELD(filesystem, size_gb)},
    {KIND_NUMBER, "used_gb", "used", "GB", FIELD(filesystem, used_gb)},
    {KIND_NUMBER, "available_gb", "available", "GB", FIELD(filesystem, available_gb)},
    {KIND_NUMBER, "used_pct", "used", "%", FIELD(filesystem, used_pct)},
};

static void add_filesystem(struct report_table *table, const struct series_set *set,
                           const struct series *series) {
    double size = last_of(set, series, FILESYSTEM_SIZE, 1e-9);
    double used = size - last_of(set, series, FILESYSTEM_FREE, 1e-9);
    double available = last_of(set, series, FILESYSTEM_AVAILABLE, 1e-9);
    table_add(table, &(struct filesystem){.host = series->host,
                                          .mount = series->name,
                                          .size_gb = size,
                                          .used_gb = used,
                                          .available_gb = available,
                                          .used_pct = 100 * used / (used + available)});
}

void section_filesystems(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "filesystems", report, filesystem_columns);
    add_by_host(&table, &report->run->model, RECORDING_FILESYSTEM, add_filesystem);
    table_title(&table, "File systems (at the end)");
    page_table(page, &table);
}

/* ---- servers of files ---- */

struct export {
    int host;
    const char *name;
    double calls, retransmissions, read_mb, write_mb, queue_ms, rtt_ms, execute_ms;
};

static const struct report_column export_columns[] = {
    {KIND_HOST, "host", "host", FIELD(export, host)},
    {KIND_TEXT, "export", "export", FIELD(export, name), .shrinks = true},
    {KIND_NUMBER, "calls", "calls", FIELD(export, calls), .digits = DIGITS_NONE},
    {KIND_NUMBER, "execute_ms", "a call", "ms", FIELD(export, execute_ms)},
    {KIND_NUMBER, "rtt_ms", "server, network", "ms", FIELD(export, rtt_ms)},
    {KIND_NUMBER, "queue_ms", "queue", "ms", FIELD(export, queue_ms)},
    {KIND_NUMBER, "receive_mb", "received", "MB", FIELD(export, read_mb)},
    {KIND_NUMBER, "send_mb", "sent", "MB", FIELD(export, write_mb)},
    {KIND_NUMBER, "retransmissions", "sent again", FIELD(export, retransmissions),
     .digits = DIGITS_NONE},
};

static void add_export(struct report_table *table, int host, const struct remote_storage *from) {
    size_t row =
        table_add(table, &(struct export){.host = host,
                                          .calls = from->calls,
                                          .retransmissions = from->retransmissions,
                                          .read_mb = from->receive_bytes / 1e6,
                                          .write_mb = from->send_bytes / 1e6,
                                          .queue_ms = 1e3 * from->queue_s / from->calls,
                                          .rtt_ms = 1e3 * from->rtt_s / from->calls,
                                          .execute_ms = 1e3 * from->execute_s / from->calls});
    table_text(table, row, 1, "%s", from->export);
}

void section_exports(const struct report *report, struct page *page) {
    const struct run_model *model = &report->run->model;
    struct report_table table;
    TABLE_INIT(&table, "exports", report, export_columns);
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct remote_storage *items = NULL;
        size_t n = 0;
        if (remote_storage_make(model, (int)h, phase_windows(&model->groups[0]), &items, &n) < 0)
            table.failed = true;
        for (size_t i = 0; i < n; i++)
            add_export(&table, (int)h, &items[i]);
        free(items);
    }
    table_title(&table, "Servers of files (NFS; means of the calls of the whole run)");
    page_table(page, &table);
}
