/* SPDX-License-Identifier: MIT */
/* A sweep: the tables that the user asked for, its pictures, each run for a spreadsheet, and all
 * figures for programs (chokepoint.sweep/1, docs/report-json.md). */
#include <errno.h>
#include <string.h>

#include "common/error.h"
#include "reports/sections/sections.h"
#include "reports/sweep/sweep_write.h"

static const char *const states[] = {"unfinished", "done",        "failed",
                                     "killed",     "interrupted", "not-started"};

/* ---- for readers ---- */

static const char *text_of(const struct sweep_table *table, size_t row, size_t column) {
    const char *text = table->cells[row * table->columns + column];
    return text ? text : "";
}

/* The first row holds the names of the columns. */
static void put_sweep_table(const struct sweep_table *of, struct page *page) {
    struct report_table table;
    table_init(&table, NULL, NULL, NULL, 0);
    table.audience = FOR_READERS;
    table.level = 3;
    table_title(&table, "%s", of->title);
    for (size_t c = 0; c < of->columns; c++)
        table_add_column(&table, &(struct report_column){c && c == of->drawn ? KIND_DRAWN
                                                         : c                 ? KIND_FIGURES
                                                                             : KIND_TEXT,
                                                         NULL, text_of(of, 0, c), COMPUTED});
    for (size_t r = 1; r < of->rows; r++) {
        size_t row = table_add(&table, NULL);
        for (size_t c = 0; c < of->columns; c++)
            table_borrow(&table, row, c, text_of(of, r, c));
        if (!table.failed)
            table.rows[row].reference = of->beside[r];
    }
    page_table(page, &table);
}

static void put_pictures(const struct sweep_section *s, struct page *page) {
    char link[1024];
    for (size_t i = 0; s->pictures && i < s->pictures->n; i++) {
        const struct sweep_picture *picture = &s->pictures->items[i];
        snprintf(link, sizeof link, "%s/%s.svg", s->pictures_at ? s->pictures_at : "",
                 picture->name);
        page_drawn(page, &(struct page_picture){.svg = picture->svg,
                                                .why = picture->why,
                                                .caption = picture->caption,
                                                .held = PLOT_HELD,
                                                .link = s->pictures_at ? link : NULL});
    }
}

const char *sweep_title(const struct sweep_section *s) {
    return s->title ? s->title : s->sweep->of.name;
}

static void put_readable(const struct sweep_section *s, struct page *page) {
    char runs[300];
    sweep_describe_runs(s->sweep, runs, sizeof runs);
    page_heading(page, 2, "%s%s", s->title ? "" : "Sweep ", sweep_title(s));
    page_command(page, s->sweep->of.command);
    page_paragraph(page, STYLE_NOTE, "%s.", runs);
    if (s->words)
        page_paragraph(page, STYLE_PLAIN, "%s", s->words);
    for (size_t t = 0; t < s->tables->n; t++)
        put_sweep_table(&s->tables->items[t], page);
    put_pictures(s, page);
}

/* ---- for a spreadsheet: a row for each run and measure ---- */

static void put_run(struct report_table *table, const struct sweep *sweep,
                    const struct sweep_cell *cell, const struct sweep_run *run,
                    const char *verdict) {
    for (size_t m = 0; m < sweep->n_measures; m++) {
        size_t row = table_add(table, NULL), c = 0;
        table_borrow(table, row, c++, sweep->of.name);
        for (size_t p = 0; p < sweep->of.n_parameters; p++)
            table_borrow(table, row, c++, sweep->of.parameters[p].values[cell->value[p]]);
        table_integer(table, row, c++, run->id);
        table_borrow(table, row, c++, states[run->state]);
        table_integer(table, row, c++, run->exit_status);
        table_borrow(table, row, c++, sweep->measures[m].name);
        table_borrow(table, row, c++, sweep->measures[m].unit);
        table_number(table, row, c++, run->measures[m]);
        table_text(table, row, c, "%s", verdict);
    }
}

static void put_figures(const struct sweep *sweep, struct page *page) {
    static const struct report_column first = {KIND_TEXT, "sweep", COMPUTED},
                                      last[] = {{KIND_COUNT, "run", COMPUTED},
                                                {KIND_WORD, "state", COMPUTED},
                                                {KIND_COUNT, "exit_status", COMPUTED},
                                                {KIND_TEXT, "measure", COMPUTED},
                                                {KIND_WORD, "unit", COMPUTED},
                                                {KIND_NUMBER, "value", COMPUTED},
                                                {KIND_TEXT, "verdict_of_cell", COMPUTED}};
    struct report_table table;
    table_init(&table, NULL, NULL, &first, 1);
    table.audience = FOR_CSV;
    for (size_t p = 0; p < sweep->of.n_parameters; p++) {
        const char *name = sweep->of.parameters[p].name;
        table_add_column(&table, &(struct report_column){KIND_TEXT, name, name, COMPUTED});
    }
    for (size_t c = 0; c < ARRAY_SIZE(last); c++)
        table_add_column(&table, &last[c]);
    for (size_t i = 0; i < sweep->n_cells; i++) {
        char verdict[300];
        sweep_verdict(&sweep->cells[i], verdict, sizeof verdict);
        for (size_t r = 0; r < sweep->cells[i].n_runs; r++)
            put_run(&table, sweep, &sweep->cells[i], &sweep->cells[i].runs[r], verdict);
    }
    page_table(page, &table);
}

/* ---- for programs ---- */

/* An object whose members have names from users. */
static void init_named(struct report_table *table, const char *id) {
    table_init(table, id, NULL, NULL, 0);
    table->shape = SHAPE_ONE;
    table->audience = FOR_DOCUMENT;
}

static void put_values(const struct sweep *sweep, const struct sweep_cell *cell,
                       struct page *page) {
    struct report_table table;
    init_named(&table, "values");
    for (size_t p = 0; p < sweep->of.n_parameters; p++)
        table_add_column(
            &table, &(struct report_column){KIND_TEXT, sweep->of.parameters[p].name, COMPUTED});
    table_add(&table, NULL);
    for (size_t p = 0; p < sweep->of.n_parameters; p++)
        table_borrow(&table, 0, p, sweep->of.parameters[p].values[cell->value[p]]);
    page_table(page, &table);
}

static void init_measures(struct report_table *table, const char *id, const struct sweep *sweep,
                          enum kind kind) {
    init_named(table, id);
    for (size_t m = 0; m < sweep->n_measures; m++)
        table_add_column(table, &(struct report_column){kind, sweep->measures[m].name, COMPUTED});
    table_add(table, NULL);
}

static void put_cell_runs(const struct sweep *sweep, const struct sweep_cell *cell,
                          struct page *page) {
    static const struct report_column columns[] = {
        {KIND_COUNT, "run", FIELD(sweep_run, id)},
        {KIND_RANK, "exit_status", FIELD(sweep_run, exit_status)},
        {KIND_TEXT, "state", COMPUTED},
        {KIND_TABLE, "measures", COMPUTED}};
    struct report_table table, measures;
    TABLE_INIT(&table, "runs", NULL, columns);
    TABLE_ADD_ALL(&table, cell->runs, cell->n_runs);
    for (size_t i = 0; i < cell->n_runs; i++) {
        table_borrow(&table, i, 2, states[cell->runs[i].state]);
        init_measures(&measures, NULL, sweep, KIND_NUMBER);
        for (size_t m = 0; m < sweep->n_measures; m++)
            table_number(&measures, 0, m, cell->runs[i].measures[m]);
        table_inner(&table, i, 3, &measures);
    }
    page_table(page, &table);
}

static void put_medians(const struct sweep *sweep, const struct sweep_cell *cell,
                        struct page *page) {
    static const struct report_column columns[] = {
        {KIND_COUNT, "runs", FIELD(sweep_figure, n)},
        {KIND_NUMBER, "median", FIELD(sweep_figure, median)},
        {KIND_NUMBER, "mean", FIELD(sweep_figure, mean)},
        {KIND_NUMBER, "low", FIELD(sweep_figure, low)},
        {KIND_NUMBER, "high", FIELD(sweep_figure, high)},
        {KIND_TEXT, "unit", COMPUTED}};
    struct report_table table, figure;
    init_measures(&table, "figures", sweep, KIND_TABLE);
    for (size_t m = 0; m < sweep->n_measures; m++) {
        TABLE_INIT(&figure, NULL, NULL, columns);
        figure.shape = SHAPE_ONE;
        table_add(&figure, &cell->figures[m]);
        table_borrow(&figure, 0, 5, sweep->measures[m].unit);
        table_inner(&table, 0, m, &figure);
    }
    page_table(page, &table);
}

static void put_cell(const struct sweep *sweep, const struct sweep_cell *cell, struct page *page) {
    static const struct report_column columns[] = {{KIND_COUNT, "typical_run", COMPUTED},
                                                   {KIND_TEXT, "in_short", COMPUTED}};
    char words[300];
    struct report_table table, none;
    page_record(page, "cells");
    put_values(sweep, cell, page);
    put_cell_runs(sweep, cell, page);
    put_medians(sweep, cell, page);
    TABLE_INIT(&table, "", NULL, columns);
    table_add(&table, NULL);
    if (cell->typical)
        table_integer(&table, 0, 0, cell->typical->run_id);
    sweep_verdict(cell, words, sizeof words);
    table_text(&table, 0, 1, "%s", words);
    page_table(page, &table);
    init_named(&none, "verdict");
    page_table(page, &none);
    if (cell->typical)
        section_verdict(cell->typical, page);
    page_record_end(page);
}

static void put_parameters(const struct sweep *sweep, struct page *page) {
    static const struct report_column columns[] = {
        {KIND_TEXT, "name", FIELD(store_sweep_parameter, name)},
        {KIND_LIST, "values", FIELD_TEXTS(store_sweep_parameter, values)}};
    struct report_table table;
    TABLE_INIT(&table, "parameters", NULL, columns);
    TABLE_ADD_ALL(&table, sweep->of.parameters, sweep->of.n_parameters);
    page_table(page, &table);
}

/* Writes the tables as they are printed. */
static void put_tables(const struct sweep_tables *tables, struct page *page) {
    static const struct report_column columns[] = {{KIND_TEXT, "kind", FIELD(sweep_table, id)},
                                                   {KIND_TEXT, "title", FIELD(sweep_table, title)},
                                                   {KIND_TABLE, "rows", COMPUTED}};
    static const struct report_column row_columns[] = {{KIND_FLAG, "reference", COMPUTED},
                                                       {KIND_LIST, "cells", COMPUTED}};
    struct report_table table, rows;
    TABLE_INIT(&table, "tables", NULL, columns);
    TABLE_ADD_ALL(&table, tables->items, tables->n);
    for (size_t i = 0; i < tables->n; i++) {
        const struct sweep_table *of = &tables->items[i];
        TABLE_INIT(&rows, NULL, NULL, row_columns);
        for (size_t r = 0; r < of->rows; r++) {
            size_t row = table_add(&rows, NULL);
            table_integer(&rows, row, 0, of->beside[r]);
            table_items(&rows, row, 1, of->cells + r * of->columns, of->columns);
        }
        table_inner(&table, i, 2, &rows);
    }
    page_table(page, &table);
}

static void put_sweep_document(const struct sweep_section *s, struct page *page) {
    static const struct report_column columns[] = {{KIND_TEXT, "name", COMPUTED},
                                                   {KIND_TEXT, "title", COMPUTED},
                                                   {KIND_TEXT, "command", COMPUTED},
                                                   {KIND_COUNT, "repeats", COMPUTED}};
    struct report_table table;
    page_record(page, "sweeps");
    TABLE_INIT(&table, "", NULL, columns);
    table_add(&table, NULL);
    table_borrow(&table, 0, 0, s->sweep->of.name);
    table_borrow(&table, 0, 1, sweep_title(s));
    table_borrow(&table, 0, 2, s->sweep->of.command);
    table_integer(&table, 0, 3, (int64_t)s->sweep->of.repeats);
    page_table(page, &table);
    put_parameters(s->sweep, page);
    for (size_t i = 0; i < s->sweep->n_cells; i++)
        put_cell(s->sweep, &s->sweep->cells[i], page);
    put_tables(s->tables, page);
    page_record_end(page);
}

void sweep_put(const struct sweep_section *section, struct page *page) {
    if (page_is_for(page, FOR_READERS))
        put_readable(section, page);
    else if (page_is_for(page, FOR_CSV))
        put_figures(section->sweep, page);
    else
        put_sweep_document(section, page);
}
