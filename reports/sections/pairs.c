/* SPDX-License-Identifier: MIT */
/* F2: traffic of the job's TCP connections from host to host, a line per pair. */
#include <stdlib.h>

#include "reports/facts/connections.h"
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

enum { PORT = 2 };

static const struct report_column connections[] = {
    {KIND_HOST, NULL, "from", FIELD(report_connection, from)},
    {KIND_HOST, NULL, "to", FIELD(report_connection, to)},
    [PORT] = {KIND_FIGURES, NULL, "ports", NULL, COMPUTED},
    {KIND_TEXT, NULL, "process", FIELD(report_connection, process)},
    {KIND_NUMBER, NULL, "sent", "MB", FIELD(report_connection, bytes), .scale = 1e-6},
    {KIND_NUMBER, NULL, "mean", "MB/s", FIELD(report_connection, mean_mb_s)},
    {KIND_NUMBER, NULL, "round trip", "ms", FIELD(report_connection, rtt_ms)},
};

/* Pages only. */
void section_connections(const struct report *report, struct page *page) {
    struct report_table table;
    if (!page_draws(page))
        return;
    struct connections found = {0};
    TABLE_INIT(&table, NULL, report, connections);
    table.failed |= connections_find(&report->run->model, &found) < 0;
    TABLE_ADD_ALL(&table, found.items, found.n);
    table.audience = FOR_READERS;
    for (size_t i = 0; i < found.n; i++)
        if (found.items[i].from_port >= 0)
            table_text(&table, i, PORT, "%d to %d", found.items[i].from_port,
                       found.items[i].to_port);
    table_title(&table, "Connections, one way each");
    if (found.n < found.n_all)
        table_note(&table, "The %zu of %zu that carried most.", found.n, found.n_all);
    page_table(page, &table);
    free(found.items);
}
