/* SPDX-License-Identifier: MIT */
/* P1: the time that an iteration's bytes need at the rate of a link, against its duration. */
#include "reports/sections/sections.h"

#define SHOWN 6
#define MIN_PCT 20

enum { DIRECTION = 1, PHASE, RATE = 5, BOUND, SHARE = 8, CALIBRATED };

static const struct report_column columns[] = {
    {KIND_HOST, "host", "host", FIELD(arithmetic, host), .shrinks = true},
    [DIRECTION] = {KIND_TEXT, "direction", "direction", COMPUTED},
    [PHASE] = {KIND_TEXT, "phase", "phase", COMPUTED},
    {KIND_NUMBER, "bytes_per_iteration", "bytes", "MB", FIELD(arithmetic, bytes_per_iteration),
     .scale = 1e-6},
    {KIND_NUMBER, "bandwidth_mb_s", "rate", "MB/s", FIELD(arithmetic, bandwidth_mb_s)},
    [RATE] = {KIND_TEXT, "rate", "rate is", COMPUTED},
    [BOUND] = {KIND_NUMBER, "bound_s", "needs", "s", FIELD(arithmetic, bound_s)},
    {KIND_NUMBER, "iteration_s", "takes", "s", FIELD(arithmetic, iteration_s)},
    [SHARE] = {KIND_NUMBER, "share_pct", "share", "%", COMPUTED, .digits = DIGITS_NONE},
    [CALIBRATED] = {KIND_FLAG, "calibrated", COMPUTED},
};

/* Whether the rate looks like a limit. */
static const char *doubt(const struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++)
        if (!candidates->items[i].repeated && candidate_is_link(&candidates->items[i]))
            return "";
    for (size_t i = 0; i < candidates->n_arithmetic; i++)
        if (candidates->arithmetic[i].known != ARITHMETIC_SEEN)
            return "";
    return " (no link held one rate as if at a limit: bounds from the highest rate seen)";
}

/* Terminals show the first rows, and of these only rows that are not small. */
static enum report_room room_of(const struct arithmetic *a, size_t i) {
    return i < 2 || (i < SHOWN && 100 * a->share >= MIN_PCT) ? ROOM_SCREEN : ROOM_FULL;
}

static void put_direction_row(struct report_table *table, const struct report *report,
                              const struct arithmetic *a) {
    size_t row = table_add(table, a);
    table_borrow(table, row, DIRECTION, a->direction == METRIC_NET_SEND ? "send" : "receive");
    table_borrow(table, row, PHASE, report->resources[a->group].phase);
    table_borrow(table, row, RATE, report_arithmetic_rate(a->known));
    table_number(table, row, SHARE, 100 * a->share);
    table_integer(table, row, CALIBRATED, a->known == ARITHMETIC_MEASURED);
    if (a->known == ARITHMETIC_SEEN)
        table_cell(table, row, BOUND)->before = table_cell(table, row, SHARE)->before = "<= ";
}

void section_arithmetic(const struct report *report, struct page *page) {
    const struct candidates *candidates = &report->run->judgement.candidates;
    enum report_room room = ROOM_SCREEN;
    struct report_table table;
    TABLE_INIT(&table, "arithmetic", report, columns);
    table_title(&table, "By arithmetic%s", doubt(candidates));
    for (size_t i = 0; i < candidates->n_arithmetic; i++) {
        put_direction_row(&table, report, &candidates->arithmetic[i]);
        room = room == ROOM_FULL ? ROOM_FULL : room_of(&candidates->arithmetic[i], i);
        if (!table.failed)
            table.rows[i].room = room;
    }
    table_note(&table,
               "The table says how long the bytes of an iteration take at a rate. The rate is "
               "measured (calibrate found it), set (the interface is limited to it) or seen (the "
               "highest one that any host reached again and again; the link may carry more, so "
               "the bytes take at most that long).");
    page_table(page, &table);
}
