/* SPDX-License-Identifier: MIT */
/* Processes that waited for each other, a line per pair. */
#include <stdlib.h>

#include "reports/facts/waits.h"
#include "reports/sections/sections.h"

static const struct report_column columns[] = {
    {KIND_HOST, "host", "on", FIELD(report_wait, host)},
    {KIND_TEXT, "process", "process", FIELD(report_wait, process)},
    {KIND_NUMBER, "share_pct", "waited", "%", FIELD(report_wait, share_pct)},
    {KIND_NUMBER, "seconds", NULL, FIELD(report_wait, seconds)},
    {KIND_TEXT, "what", "for a", FIELD(report_wait, what)},
    {KIND_TEXT, "whom", "of", FIELD(report_wait, whom)},
    {KIND_HOST, "whom_host", "on", FIELD(report_wait, whom_host)},
};

void section_waits(const struct report *report, struct page *page) {
    struct report_table table;
    struct waits waits = {0};
    TABLE_INIT(&table, "waits", report, columns);
    table.failed |= waits_find(&report->run->model, &waits) < 0;
    TABLE_ADD_ALL(&table, waits.items, waits.n);
    table_title(&table, "Processes that waited for each other, by their wait clocks");
    if (waits.n < waits.n_all)
        table_note(&table, "The %zu of %zu pairs that waited longest.", waits.n, waits.n_all);
    page_table(page, &table);
    free(waits.items);
}
