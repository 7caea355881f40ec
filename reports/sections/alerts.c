/* SPDX-License-Identifier: MIT */
/* A1: resources near their limit for three seconds or longer. */
#include <stdlib.h>

#include "reports/facts/alerts.h"
#include "reports/sections/sections.h"

#define SHOWN 40 /* on a terminal */

enum { TIME, LEVEL = 2, LEVEL_KEY = 8 };

static const struct report_column columns[] = {
    [TIME] = {KIND_INSTANT, NULL, "time", COMPUTED},
    {KIND_DURATION, "duration_s", "lasted", FIELD(report_alert, duration_s)},
    [LEVEL] = {KIND_TEXT, NULL, "level", COMPUTED},
    {KIND_WORD, "resource", "resource", FIELD(report_alert, resource)},
    {KIND_NUMBER, "peak", "peak", FIELD(report_alert, peak), .digits = 1},
    {KIND_WORD, "unit", "", FIELD(report_alert, unit)},
    {KIND_HOST, "host", "host", FIELD(report_alert, host)},
    {KIND_NUMBER, "start_s", FIELD(report_alert, start_s)},
    [LEVEL_KEY] = {KIND_WORD, "level", COMPUTED},
};

void alerts_put(const struct report *report, struct page *page, unsigned audience) {
    struct alerts alerts = {0};
    struct report_table table;
    TABLE_INIT(&table, "alerts", report, columns);
    table.failed |= alerts_find(&report->run->model, &alerts) < 0;
    TABLE_ADD_ALL(&table, alerts.items, alerts.n);
    table_title(&table, "Alerts (three seconds and longer)");
    table.empty = "none";
    table.audience = audience;
    for (size_t i = 0; !table.failed && i < alerts.n; i++) {
        const struct report_alert *a = &alerts.items[i];
        bool critical = a->level == ALERT_CRITICAL;
        table_integer(&table, i, TIME, report->started_wall_ns + (int64_t)(a->start_s * 1e9));
        table_borrow(&table, i, LEVEL, critical ? "CRITICAL" : "WARNING");
        table_borrow(&table, i, LEVEL_KEY, critical ? "critical" : "warning");
        table_cell(&table, i, LEVEL)->mark = critical ? "CRITICAL" : "WARNING";
        table.rows[i].room = i < SHOWN ? ROOM_SCREEN : ROOM_PAGE;
    }
    if (alerts.n > SHOWN && !page_has_room(page, ROOM_PAGE))
        table_note(&table, "... and %zu more (all are in --format json)", alerts.n - SHOWN);
    page_table(page, &table);
    free(alerts.items);
}

void section_alerts(const struct report *report, struct page *page) {
    alerts_put(report, page, FOR_READERS | FOR_DOCUMENT);
}
