/* SPDX-License-Identifier: MIT */
/* T8: the operators that a program marks, and one iteration as a timeline. Formats without pictures
 * have the timeline in characters. */
#include <math.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/sections/sections.h"

#define BAR_COLUMNS 56
#define LINES_MAX 40

enum { ROLE = 1 };

static const struct report_column columns[] = {
    {KIND_TEXT, "name", "operator", FIELD(report_operator, name), .shrinks = true},
    [ROLE] = {KIND_TEXT, "role", "role", FIELD(report_operator, role)},
    {KIND_COUNT, "ranks", "ranks", FIELD(report_operator, n_ranks)},
    {KIND_COUNT, "calls", "calls", FIELD(report_operator, calls)},
    {KIND_NUMBER, "output_bytes", "output", "MB", FIELD(report_operator, output_bytes),
     .scale = 1e-6},
    {KIND_NUMBER, "total_s", "total", "s", FIELD(report_operator, total_s)},
    {KIND_NUMBER, "mean_s", "mean", "ms", FIELD(report_operator, mean_s), .scale = 1e3},
    {KIND_NUMBER, "p95_s", "95 %", "ms", FIELD(report_operator, p95_s), .scale = 1e3,
     .room = ROOM_PAGE},
    {KIND_NUMBER, "longest_s", FIELD(report_operator, longest_s)},
    {KIND_NUMBER, "share_pct", "share", "%", FIELD(report_operator, share_pct)},
};

/* ---- the timeline in characters ---- */

static bool same_line(const struct report_bar *a, const struct report_bar *b) {
    return a->rank == b->rank && a->host == b->host && strcmp(a->name, b->name) == 0;
}

static bool line_is_drawn(const struct report_timeline *t, size_t at) {
    for (size_t i = at; i-- > 0 && t->bars[i].rank == t->bars[at].rank;)
        if (same_line(&t->bars[i], &t->bars[at]))
            return true;
    return false;
}

/* Fills every column that the operator touches, so that the shortest is visible, too. */
static void draw_line(const struct report_timeline *t, size_t at, char line[BAR_COLUMNS + 1]) {
    memset(line, '.', BAR_COLUMNS);
    line[BAR_COLUMNS] = '\0';
    for (size_t i = at; i < t->n_bars; i++) {
        if (!same_line(&t->bars[i], &t->bars[at]))
            continue;
        double scale = BAR_COLUMNS / t->duration_s;
        size_t from = (size_t)fmax(0, t->bars[i].start_s * scale), to = from + 1,
               end = (size_t)fmax(0, ceil(t->bars[i].end_s * scale - 0.5));
        to = end > to ? end : to;
        for (size_t c = from; c < to && c < BAR_COLUMNS; c++)
            line[c] = '#';
    }
}

static void put_drawn(const struct report *report, struct page *page) {
    static const struct report_column drawn[] = {
        {KIND_RANK, NULL, "rank", FIELD(report_bar, rank)},
        {KIND_TEXT, NULL, "operator", FIELD(report_bar, name), .shrinks = true},
        {KIND_DRAWN, NULL, "when", COMPUTED}};
    const struct report_timeline *t = &report->timeline;
    char title[160], line[BAR_COLUMNS + 1];
    size_t more = 0;
    struct report_table table;
    layout_timeline_title(report, title, sizeof title);
    TABLE_INIT(&table, NULL, report, drawn);
    table.audience = FOR_READERS;
    table.picture_text = true;
    table.level = 3;
    table_title(&table, "%s", title);
    for (size_t i = 0; t->duration_s > 0 && i < t->n_bars; i++) {
        if (line_is_drawn(t, i) || (table.n_rows == LINES_MAX && ++more))
            continue;
        draw_line(t, i, line);
        table_text(&table, table_add(&table, &t->bars[i]), 2, "%s", line);
    }
    if (more)
        table_note(&table, "... and %zu lines more (all are in --format json)", more);
    page_table(page, &table);
}

/* ---- the timeline for programs ---- */

static const struct report_column bar_columns[] = {
    {KIND_RANK, "rank", FIELD(report_bar, rank)},
    {KIND_HOST, "host", FIELD(report_bar, host)},
    {KIND_TEXT, "operator", FIELD(report_bar, name)},
    {KIND_NUMBER, "start_s", FIELD(report_bar, start_s)},
    {KIND_NUMBER, "end_s", FIELD(report_bar, end_s)},
};

enum { BARS = 6 };

static const struct report_column timeline_columns[] = {
    {KIND_RANK, "rank", FIELD(report_timeline, rank)},
    {KIND_HOST, "host", FIELD(report_timeline, host)},
    {KIND_RANK, "number", FIELD(report_timeline, number)},
    {KIND_NUMBER, "start_s", FIELD(report_timeline, start_s)},
    {KIND_NUMBER, "duration_s", FIELD(report_timeline, duration_s)},
    {KIND_COUNT, "bars_left_out", FIELD(report_timeline, n_bars_left_out)},
    [BARS] = {KIND_TABLE, "bars", COMPUTED},
};

static void put_timeline(const struct report *report, struct page *page) {
    const struct report_timeline *t = &report->timeline;
    struct report_table table, bars;
    TABLE_INIT(&table, "timeline", report, timeline_columns);
    table.shape = SHAPE_ONE;
    if (t->n_bars) {
        TABLE_INIT(&bars, NULL, report, bar_columns);
        TABLE_ADD_ALL(&bars, t->bars, t->n_bars);
        table_inner(&table, table_add(&table, t), BARS, &bars);
    }
    page_table(page, &table);
}

static bool operators_have_roles(const struct report *report) {
    for (size_t i = 0; i < report->n_operators; i++)
        if (*report->operators[i].role)
            return true;
    return false;
}

void section_operators(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "operators", report, columns);
    TABLE_ADD_ALL(&table, report->operators, report->n_operators);
    if (!operators_have_roles(report) && !table.failed)
        table.columns[ROLE].name = NULL;
    table_title(&table, "Operators (share: of the time in iterations of the ranks that ran them)");
    page_table(page, &table);
    if (page_is_for(page, FOR_DOCUMENT))
        put_timeline(report, page);
    if (!report->n_operators || !page_is_for(page, FOR_READERS))
        return;
    put_drawn(report, page);
    section_put_pictures(report, page, "timeline");
}
