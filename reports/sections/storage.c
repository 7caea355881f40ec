/* SPDX-License-Identifier: MIT */
/* Load and tasks, file systems, servers of files: each only where it was recorded. */
#include "reports/sections/sections.h"

static const struct report_column load_columns[] = {
    {KIND_HOST, "host", "host", FIELD(report_load, host)},
    {KIND_NUMBER, "load_1", "1 min", FIELD(report_load, load_1), .digits = 2},
    {KIND_NUMBER, "load_5", "5 min", FIELD(report_load, load_5), .digits = 2},
    {KIND_NUMBER, "load_15", "15 min", FIELD(report_load, load_15), .digits = 2},
    {KIND_NUMBER, "running", "running", FIELD(report_load, running), .digits = DIGITS_NONE},
    {KIND_NUMBER, "sleeping", "sleeping", FIELD(report_load, sleeping), .digits = DIGITS_NONE},
    {KIND_NUMBER, "waiting", "waiting (D)", FIELD(report_load, waiting), .digits = DIGITS_NONE},
    {KIND_NUMBER, "stopped", "stopped", FIELD(report_load, stopped), .digits = DIGITS_NONE},
    {KIND_NUMBER, "zombie", "zombie", FIELD(report_load, zombie), .digits = DIGITS_NONE},
    {KIND_NUMBER, "other", "other", FIELD(report_load, other), .digits = DIGITS_NONE},
    {KIND_DURATION, "uptime_s", "up", FIELD(report_load, uptime_s)},
};

void section_loads(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "loads", report, load_columns);
    TABLE_ADD_ALL(&table, report->loads, report->n_loads);
    table_title(&table, "Load and tasks (at the end)");
    page_table(page, &table);
}

static const struct report_column filesystem_columns[] = {
    {KIND_HOST, "host", "host", FIELD(report_filesystem, host)},
    {KIND_TEXT, "mount", "file system", FIELD_INLINE(report_filesystem, mount), .shrinks = true},
    {KIND_NUMBER, "size_gb", "size", "GB", FIELD(report_filesystem, size_gb)},
    {KIND_NUMBER, "used_gb", "used", "GB", FIELD(report_filesystem, used_gb)},
    {KIND_NUMBER, "available_gb", "available", "GB", FIELD(report_filesystem, available_gb)},
    {KIND_NUMBER, "used_pct", "used", "%", FIELD(report_filesystem, used_pct)},
};

void section_filesystems(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "filesystems", report, filesystem_columns);
    TABLE_ADD_ALL(&table, report->filesystems, report->n_filesystems);
    table_title(&table, "File systems (at the end)");
    page_table(page, &table);
}

static const struct report_column export_columns[] = {
    {KIND_HOST, "host", "host", FIELD(report_export, host)},
    {KIND_TEXT, "export", "export", FIELD_INLINE(report_export, name), .shrinks = true},
    {KIND_NUMBER, "calls", "calls", FIELD(report_export, calls), .digits = DIGITS_NONE},
    {KIND_NUMBER, "execute_ms", "a call", "ms", FIELD(report_export, execute_ms)},
    {KIND_NUMBER, "rtt_ms", "server, network", "ms", FIELD(report_export, rtt_ms)},
    {KIND_NUMBER, "queue_ms", "queue", "ms", FIELD(report_export, queue_ms)},
    {KIND_NUMBER, "receive_mb", "received", "MB", FIELD(report_export, read_mb)},
    {KIND_NUMBER, "send_mb", "sent", "MB", FIELD(report_export, write_mb)},
    {KIND_NUMBER, "retransmissions", "sent again", FIELD(report_export, retransmissions),
     .digits = DIGITS_NONE},
};

void section_exports(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "exports", report, export_columns);
    TABLE_ADD_ALL(&table, report->exports, report->n_exports);
    table_title(&table, "Servers of files (NFS; means of the calls of the whole run)");
    page_table(page, &table);
}
