/* SPDX-License-Identifier: MIT */
/* F2: what the job's TCP connections carried from host to host, a line a pair. */
#include "reports/sections/sections.h"

static const struct report_column columns[] = {
    {KIND_HOST, "from", "from", FIELD(report_route, from)},
    {KIND_HOST, "to", "to", FIELD(report_route, to)},
    {KIND_NUMBER, "bytes", NULL, FIELD(report_route, bytes)},
    {KIND_NUMBER, NULL, "sent", "MB", FIELD(report_route, bytes), .scale = 1e-6},
    {KIND_NUMBER, "mean_mb_s", "mean", "MB/s", FIELD(report_route, mean_mb_s)},
    {KIND_NUMBER, "peak_mb_s", "peak", "MB/s", FIELD(report_route, peak_mb_s)},
    {KIND_NUMBER, "share_pct", "share", "%", FIELD(report_route, share_pct)},
};

void section_pairs(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "pairs", report, columns);
    TABLE_ADD_ALL(&table, report->routes, report->n_routes);
    table_title(&table, "Between hosts: what the job's TCP connections carried");
    if (report->n_routes < report->n_routes_all)
        table_note(&table, "The %zu of %zu pairs that moved most.", report->n_routes,
                   report->n_routes_all);
    page_table(page, &table);
}
