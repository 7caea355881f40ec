/* SPDX-License-Identifier: MIT */
/* P1: the time that an iteration's bytes need at the rate of a link, against its duration. */
#include <string.h>

#include "reports/sections/sections.h"

#define SHOWN 6
#define MIN_PCT 20

enum { RATE = 5, BOUND, SHARE = 8, CALIBRATED };

static const struct report_column columns[] = {
    {KIND_HOST, "host", "host", FIELD(report_arithmetic, host), .shrinks = true},
    {KIND_TEXT, "direction", "direction", FIELD(report_arithmetic, direction)},
    {KIND_TEXT, "phase", "phase", FIELD(report_arithmetic, phase)},
    {KIND_NUMBER, "bytes_per_iteration", "bytes", "MB",
     FIELD(report_arithmetic, bytes_per_iteration), .scale = 1e-6},
    {KIND_NUMBER, "bandwidth_mb_s", "rate", "MB/s", FIELD(report_arithmetic, bandwidth_mb_s)},
    [RATE] = {KIND_TEXT, "rate", "rate is", COMPUTED},
    [BOUND] = {KIND_NUMBER, "bound_s", "needs", "s", FIELD(report_arithmetic, bound_s)},
    {KIND_NUMBER, "iteration_s", "takes", "s", FIELD(report_arithmetic, iteration_s)},
    [SHARE] = {KIND_NUMBER, "share_pct", "share", "%", FIELD(report_arithmetic, share_pct),
               .digits = DIGITS_NONE},
    [CALIBRATED] = {KIND_FLAG, "calibrated", COMPUTED},
};

/* Whether the rate looks like a limit. */
static const char *doubt(const struct report *report) {
    for (size_t i = 0; i < report->n_ranking; i++)
        if (strncmp(report->ranking[i].resource, "net-", 4) == 0)
            return "";
    for (size_t i = 0; i < report->n_arithmetic; i++)
        if (report->arithmetic[i].known != ARITHMETIC_SEEN)
            return "";
    return " (no link held one rate as if at a limit: bounds from the highest rate seen)";
}

/* On a terminal the first ones, and of those what is not small. */
static enum report_room room_of(const struct report_arithmetic *a, size_t i) {
    return i < 2 || (i < SHOWN && a->share_pct >= MIN_PCT) ? ROOM_SCREEN : ROOM_FULL;
}

void section_arithmetic(const struct report *report, struct page *page) {
    enum report_room room = ROOM_SCREEN;
    struct report_table table;
    TABLE_INIT(&table, "arithmetic", report, columns);
    table_title(&table, "By arithmetic%s", doubt(report));
    for (size_t i = 0; i < report->n_arithmetic; i++) {
        const struct report_arithmetic *a = &report->arithmetic[i];
        size_t row = table_add(&table, a);
        room = room == ROOM_FULL ? ROOM_FULL : room_of(a, i);
        if (!table.failed)
            table.rows[row].room = room;
        table_borrow(&table, row, RATE, report_arithmetic_rate(a->known));
        table_integer(&table, row, CALIBRATED, a->known == ARITHMETIC_MEASURED);
        if (a->known == ARITHMETIC_SEEN)
            table_cell(&table, row, BOUND)->before = table_cell(&table, row, SHARE)->before = "<= ";
    }
    table_note(&table,
               "The table says how long the bytes of an iteration take at a rate. The rate is "
               "measured (calibrate found it), set (the interface is limited to it) or seen (the "
               "highest one that any host reached again and again; the link may carry more, so "
               "the bytes take at most that long).");
    page_table(page, &table);
}
