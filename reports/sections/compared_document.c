/* SPDX-License-Identifier: MIT */
/* chokepoint.compare/1 (docs/report-json.md): the parts of a comparison for programs only. */
#include <math.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/sections/compared.h"

/* The finding, which begins the words, as one word. */
static const char *finding(const struct comparison_row *row, const struct comparison_cell *cell) {
    if (!cell->words)
        return NULL;
    switch (cell->finding) {
    case COMPARE_LOWER:
        return row->section == COMPARISON_TIME ? "faster" : "lower";
    case COMPARE_HIGHER:
        return row->section == COMPARISON_TIME ? "slower" : "higher";
    case COMPARE_SAME:
        return "no difference";
    default:
        return row->not_alike ? "not compared" : "not established";
    }
}

/* ---- a row ---- */

enum { FINDING = 4, TESTED, EXACT = 12 };

static const struct report_column cell_columns[] = {
    {KIND_COUNT, "runs", FIELD(comparison_cell, n)},
    {KIND_NUMBER, "mean", FIELD(comparison_cell, mean)},
    {KIND_NUMBER, "median", FIELD(comparison_cell, median)},
    {KIND_NUMBER, "difference", FIELD(comparison_cell, difference)},
    [FINDING] = {KIND_TEXT, "finding", COMPUTED},
    [TESTED] = {KIND_NUMBER, "ratio", FIELD(comparison_cell, test.ratio)},
    {KIND_NUMBER, "ratio_95" INTO "low", FIELD(comparison_cell, test.ratio_low)},
    {KIND_NUMBER, "ratio_95" INTO "high", FIELD(comparison_cell, test.ratio_high)},
    {KIND_NUMBER, "difference_95" INTO "low", FIELD(comparison_cell, test.difference_low)},
    {KIND_NUMBER, "difference_95" INTO "high", FIELD(comparison_cell, test.difference_high)},
    {KIND_NUMBER, "p", FIELD(comparison_cell, test.p)},
    {KIND_NUMBER, "p_holm", FIELD(comparison_cell, p_holm)},
    [EXACT] = {KIND_FLAG, "p_exact", FIELD(comparison_cell, test.exact)},
};

/* The baseline has no test. */
static void put_group_cells(struct report_table *table, const struct comparison *c,
                            const struct comparison_row *row) {
    TABLE_INIT(table, NULL, NULL, cell_columns);
    TABLE_ADD_ALL(table, row->groups, c->n_groups);
    for (size_t g = 0; g < c->n_groups; g++) {
        table_borrow(table, g, FINDING, finding(row, &row->groups[g]));
        for (size_t k = TESTED; k <= EXACT; k++)
            table_cell(table, g, k)->known &= row->groups[g].words != NULL;
        table_cell(table, g, EXACT)->known &= !isnan(row->groups[g].test.p);
    }
}

enum { SECTION = 3, VALUES, DIFFERENCES, JUDGEMENTS, GROUPS };

static const struct report_column row_columns[] = {
    {KIND_TEXT, "label", FIELD(comparison_row, label)},
    {KIND_HOST, "host", FIELD(comparison_row, host)},
    {KIND_TEXT, "unit", FIELD(comparison_row, unit)},
    [SECTION] = {KIND_TEXT, "section", COMPUTED},
    [VALUES] = {KIND_NUMBERS, "values", COMPUTED},
    [DIFFERENCES] = {KIND_NUMBERS, "differences", COMPUTED},
    [JUDGEMENTS] = {KIND_LIST, "judgements", COMPUTED},
    [GROUPS] = {KIND_TABLE, "groups", COMPUTED},
    {KIND_TEXT, "not_compared", FIELD(comparison_row, not_alike)},
};

static void put_comparison_rows(const struct comparison *c, struct page *page, const char *id,
                                const struct comparison_row *rows, size_t n) {
    struct report_table table, cells;
    TABLE_INIT(&table, id, c->runs[c->baseline], row_columns);
    TABLE_ADD_ALL(&table, rows, n);
    for (size_t i = 0; i < n; i++) {
        table_borrow(&table, i, SECTION, comparison_section_title(rows[i].section));
        table_items(&table, i, VALUES, rows[i].value, c->n);
        table_items(&table, i, DIFFERENCES, rows[i].difference, c->n);
        table_items(&table, i, JUDGEMENTS, rows[i].judgement, c->n);
        put_group_cells(&cells, c, &rows[i]);
        table_inner(&table, i, GROUPS, &cells);
    }
    page_table(page, &table);
}

/* ---- groups, runs, what explains the difference ---- */

static const struct report_column group_columns[] = {
    {KIND_TEXT, "label", FIELD(comparison_group, label)},
    {KIND_COUNT, "typical", FIELD(comparison_group, typical)},
    {KIND_TEXT, "command", COMPUTED},
    {KIND_COUNTS, "runs", COMPUTED},
    {KIND_COUNT, "counted", COMPUTED},
    {KIND_TEXT, "command_changed", FIELD(comparison_group, changed)},
};

static void put_groups(const struct comparison *c, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "groups", NULL, group_columns);
    TABLE_ADD_ALL(&table, c->groups, c->n_groups);
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct comparison_group *group = &c->groups[g];
        table_borrow(&table, g, 2, c->runs[group->runs[0]]->command);
        table_items(&table, g, 3, group->runs, group->n);
        table_integer(&table, g, 4, (int64_t)(group->counted ? group->counted : group->n));
    }
    page_table(page, &table);
}

static void put_explanation(const struct comparison *c, struct page *page) {
    static const struct report_column columns[] = {
        {KIND_TEXT, "source", FIELD(comparison, parts_source)}, {KIND_TABLE, "parts", COMPUTED}};
    static const struct report_column part_columns[] = {
        {KIND_TEXT, "part", FIELD(comparison_part, label)}, {KIND_NUMBERS, "seconds", COMPUTED}};
    struct report_table table, parts;
    TABLE_INIT(&table, "explanation", NULL, columns);
    table.shape = SHAPE_ONE;
    if (c->parts_source) {
        TABLE_INIT(&parts, NULL, NULL, part_columns);
        TABLE_ADD_ALL(&parts, c->parts, c->n_parts);
        for (size_t i = 0; i < c->n_parts; i++)
            table_items(&parts, i, 1, c->parts[i].seconds, c->n_groups);
        table_inner(&table, table_add(&table, c), 1, &parts);
    }
    page_table(page, &table);
}

/* `compare --gate`; nothing without it. */
static void put_gate(const struct comparison *c, struct page *page) {
    static const struct report_column gate_columns[] = {
        {KIND_NUMBER, "limit_pct", COMPUTED},
        {KIND_FLAG, "passed", FIELD(comparison, gate.passed)},
        {KIND_TABLE, "groups", COMPUTED}};
    static const struct report_column gated_columns[] = {
        {KIND_TEXT, "label", COMPUTED},
        {KIND_NUMBER, "slower_pct", COMPUTED},
        {KIND_FLAG, "per_work", FIELD(gated, per_work)},
        {KIND_FLAG, "established", FIELD(gated, established)},
        {KIND_FLAG, "passed", FIELD(gated, passed)}};
    struct report_table table, groups;
    if (!c->gate.each)
        return;
    TABLE_INIT(&table, "gate", NULL, gate_columns);
    table.shape = SHAPE_ONE;
    size_t row = table_add(&table, c);
    table_number(&table, row, 0, 100 * c->gate.limit);
    TABLE_INIT(&groups, NULL, NULL, gated_columns);
    for (size_t g = 0; g < c->n_groups; g++) {
        if (g == c->baseline_group)
            continue;
        size_t at = table_add(&groups, &c->gate.each[g]);
        table_borrow(&groups, at, 0, c->groups[g].label);
        table_number(&groups, at, 1, 100 * c->gate.each[g].slower);
    }
    table_inner(&table, row, 2, &groups);
    page_table(page, &table);
}

static void put_compared_runs(const struct comparison *c, struct page *page) {
    static report_section *const sections[] = {section_run, section_verdict, section_iterations,
                                               section_ceilings, section_efficiency};
    for (size_t i = 0; i < c->n; i++) {
        page_record(page, "runs");
        for (size_t k = 0; k < ARRAY_SIZE(sections); k++)
            sections[k](c->runs[i], page);
        page_record_end(page);
    }
}

static const struct report_column columns[] = {
    {KIND_COUNT, "baseline", FIELD(comparison, baseline)},
    {KIND_COUNT, "baseline_group", FIELD(comparison, baseline_group)},
    {KIND_TEXT, "headline", FIELD(comparison, headline)},
    {KIND_LIST, "notes", FIELD_TEXTS(comparison, notes)},
};

void compared_put_document(const struct comparison *c, struct page *page) {
    struct report_table table;
    if (!page_is_for(page, FOR_DOCUMENT))
        return;
    TABLE_INIT(&table, "", NULL, columns);
    table_add(&table, c);
    page_table(page, &table);
    put_groups(c, page);
    put_explanation(c, page);
    put_gate(c, page);
    put_compared_runs(c, page);
    put_comparison_rows(c, page, "summary", c->summary, c->n_summary);
    put_comparison_rows(c, page, "resources", c->resources, c->n_resources);
}
