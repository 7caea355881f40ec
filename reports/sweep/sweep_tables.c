/* SPDX-License-Identifier: MIT */
/* The tables that a sweep has, and its two main ones: figures and verdicts by its parameters. */
#include "reports/sweep/sweep_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"

/* ---- somebody else's figures ---- */

static bool says(const struct sweep_table *table, size_t row, size_t column, const char *text) {
    const char *cell = table->cells[row * table->columns + column];
    return cell && strcmp(cell, text) == 0;
}

/* Makes room for a row of published figures below that one. */
static int insert_row(struct sweep_table *table, size_t below, const char *words) {
    size_t width = table->columns, at = below + 1;
    char **cells = calloc((table->rows + 1) * width + 1, sizeof *cells);
    bool *beside = calloc(table->rows + 2, sizeof *beside);
    char *label = strdup(words);
    if (!cells || !beside || !label) {
        free(cells);
        free(beside);
        free(label);
        return -ENOMEM;
    }
    memcpy(cells, table->cells, at * width * sizeof *cells);
    memcpy(cells + (at + 1) * width, table->cells + at * width,
           (table->rows - at) * width * sizeof *cells);
    memcpy(beside, table->beside, at * sizeof *beside);
    memcpy(beside + at + 1, table->beside + at, (table->rows - at) * sizeof *beside);
    free(table->cells);
    free(table->beside);
    table->cells = cells;
    table->beside = beside;
    table->rows++;
    cells[at * width] = label;
    beside[at] = true;
    return 0;
}

static bool is_theirs_alone(const char *row) {
    return strncmp(row, SWEEP_BESIDE, strlen(SWEEP_BESIDE)) == 0;
}

static int put_beside(struct sweep_table *table, const char *row, const char *column,
                      const char *text) {
    bool alone = is_theirs_alone(row);
    size_t r = 1, c = 1;
    while (r < table->rows && (table->beside[r] != alone || !says(table, r, 0, row)))
        r++;
    while (c < table->columns && !says(table, 0, c, column))
        c++;
    if (c >= table->columns || (r >= table->rows && !alone))
        return 0;
    const char *label = alone ? row : SWEEP_BESIDE;
    size_t at = alone ? r : r + 1;
    bool there = at < table->rows && table->beside[at] && says(table, at, 0, label);
    int result = there ? 0 : insert_row(table, at - 1, label);
    return result < 0 ? result : sweep_table_set(table, at, c, "%s", text);
}

int sweep_tables_put_beside(struct sweep_tables *tables, const char *id, const char *of,
                            const char *row, const char *column, const char *text) {
    int result = 0;
    for (size_t i = 0; i < tables->n && result == 0; i++)
        if (strcmp(tables->items[i].id, id) == 0 && strcmp(tables->items[i].of, of) == 0)
            result = put_beside(&tables->items[i], row, column, text);
    return result;
}

/* ---- by parameters ---- */

typedef int cell_text(const struct sweep *sweep, const struct sweep_cell *cell, size_t measure,
                      char *text, size_t size);

/* A figure such as "12.3 (11.9 to 13.0)"; with a note if some runs of the cell failed. */
static int figure_text(const struct sweep *sweep, const struct sweep_cell *cell, size_t measure,
                       char *text, size_t size) {
    const struct sweep_figure *f = &cell->figures[measure];
    char median[LAYOUT_NUMBER_SIZE], low[LAYOUT_NUMBER_SIZE], high[LAYOUT_NUMBER_SIZE];
    (void)sweep;
    if (!cell->n_done) {
        sweep_verdict(cell, text, size);
        return 0;
    }
    int n = f->n > 1 ? snprintf(text, size, "%s (%s to %s)", layout_number(median, f->median),
                                layout_number(low, f->low), layout_number(high, f->high))
                     : snprintf(text, size, "%s", layout_number(median, f->median));
    if (cell->n_failed && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ", %zu failed", cell->n_failed);
    return 0;
}

static int verdict_text(const struct sweep *sweep, const struct sweep_cell *cell, size_t measure,
                        char *text, size_t size) {
    (void)sweep;
    (void)measure;
    sweep_verdict(cell, text, size);
    return 0;
}

static size_t n_values(const struct sweep *sweep, size_t p) {
    return p < sweep->of.n_parameters ? sweep->of.parameters[p].n_values : 1;
}

/* "nodes \ batch" */
static int put_corner(const struct sweep *sweep, struct sweep_table *table) {
    return sweep->of.n_parameters > 1
               ? sweep_table_set(table, 0, 0, "%s \\ %s", sweep->of.parameters[0].name,
                                 sweep->of.parameters[1].name)
               : sweep_table_set(table, 0, 0, "%s", sweep->of.parameters[0].name);
}

/* The first two parameters are rows and columns; the others have the values of `rest`. */
static int fill_grid(const struct sweep *sweep, struct sweep_table *table, size_t rest,
                     size_t measure, cell_text *write) {
    size_t rows = n_values(sweep, 0), columns = n_values(sweep, 1),
           step = sweep->n_cells / (rows * columns);
    char text[300];
    int result = put_corner(sweep, table);
    for (size_t r = 0; result == 0 && r < rows; r++)
        result = sweep_table_set(table, r + 1, 0, "%s", sweep->of.parameters[0].values[r]);
    for (size_t c = 0; result == 0 && c < columns; c++)
        result = sweep_table_set(table, 0, c + 1, "%s", sweep->of.parameters[1].values[c]);
    for (size_t r = 0; result == 0 && r < rows; r++)
        for (size_t c = 0; result == 0 && c < columns; c++) {
            const struct sweep_cell *cell = &sweep->cells[(r * columns + c) * step + rest];
            write(sweep, cell, measure, text, sizeof text);
            result = sweep_table_set(table, r + 1, c + 1, "%s", text);
        }
    return result;
}

/* Values that a whole table shares: "; seed=1, rate=0.5". */
static void describe_rest(const struct sweep *sweep, size_t rest, char *text, size_t size) {
    size_t at = 0;
    *text = '\0';
    for (size_t p = 2; p < sweep->of.n_parameters && at < size; p++)
        at += (size_t)snprintf(text + at, size - at, "%s%s=%s", p > 2 ? ", " : "; ",
                               sweep->of.parameters[p].name,
                               sweep->of.parameters[p].values[sweep->cells[rest].value[p]]);
}

static int add_grids(struct sweep_tables *tables, const struct sweep *sweep, const char *id,
                     const char *of, const char *title, size_t measure, cell_text *write) {
    size_t rows = n_values(sweep, 0), columns = n_values(sweep, 1);
    size_t step = sweep->n_cells / (rows * columns);
    int result = 0;
    for (size_t rest = 0; rest < step && result == 0; rest++) {
        char tail[600];
        describe_rest(sweep, rest, tail, sizeof tail);
        struct sweep_table *table =
            sweep_table_new(tables, id, of, rows + 1, columns + 1, "%s%s", title, tail);
        result = table ? fill_grid(sweep, table, rest, measure, write) : -ENOMEM;
    }
    return result;
}

/* With one parameter all measures fit beside each other, including the verdict. */
static int add_list(struct sweep_tables *tables, const struct sweep *sweep) {
    size_t rows = n_values(sweep, 0), m = 0;
    char text[300];
    struct sweep_table *table = sweep_table_new(tables, "grid", "", rows + 1, sweep->n_measures + 2,
                                                "By %s", sweep->of.parameters[0].name);
    int result = table ? put_corner(sweep, table) : -ENOMEM;
    for (; result == 0 && m < sweep->n_measures; m++)
        result = sweep_table_set(table, 0, m + 1, "%s", sweep->measures[m].title);
    if (result == 0)
        result = sweep_table_set(table, 0, m + 1, "verdict");
    for (size_t r = 0; result == 0 && r < rows; r++) {
        result = sweep_table_set(table, r + 1, 0, "%s", sweep->of.parameters[0].values[r]);
        for (m = 0; result == 0 && m < sweep->n_measures; m++) {
            figure_text(sweep, &sweep->cells[r], m, text, sizeof text);
            result = sweep_table_set(table, r + 1, m + 1, "%s", text);
        }
        sweep_verdict(&sweep->cells[r], text, sizeof text);
        if (result == 0)
            result = sweep_table_set(table, r + 1, m + 1, "%s", text);
    }
    return result;
}

static bool any_known(const struct sweep *sweep, size_t measure) {
    for (size_t i = 0; i < sweep->n_cells; i++)
        if (sweep->cells[i].figures[measure].n)
            return true;
    return false;
}

static int add_grid(struct sweep_tables *tables, const struct sweep *sweep) {
    int result = 0;
    if (sweep->of.n_parameters == 1)
        return add_list(tables, sweep);
    for (size_t m = 0; m < sweep->n_measures && result == 0; m++)
        if (any_known(sweep, m) || m == 0)
            result = add_grids(tables, sweep, "grid", sweep->measures[m].name,
                               sweep->measures[m].title, m, figure_text);
    return result;
}

static int add_verdicts(struct sweep_tables *tables, const struct sweep *sweep) {
    return sweep->of.n_parameters == 1
               ? 0
               : add_grids(tables, sweep, "verdicts", "",
                           "Limits of the runs of median length (?: suspected)", 0, verdict_text);
}

/* ---- kinds ---- */

const char sweep_table_words[] =
    "grid, means, verdicts, hosts, phases, differences, job, peaks, roles, operators, timeline, "
    "arithmetic, pace, curves";

static const char *const of_runs[] = {"means",    "hosts",      "phases", "differences",
                                      "job",      "peaks",      "roles",  "operators",
                                      "timeline", "arithmetic", "pace",   "curves"};

static bool is_of_runs(const char *word) {
    for (size_t i = 0; i < ARRAY_SIZE(of_runs); i++)
        if (strcmp(word, of_runs[i]) == 0)
            return true;
    return false;
}

bool sweep_is_table(const char *word) {
    return strcmp(word, "grid") == 0 || strcmp(word, "verdicts") == 0 || is_of_runs(word);
}

int sweep_tables_add(struct sweep_tables *tables, const struct sweep *sweep, const char *kind,
                     size_t hosts_max) {
    if (!sweep_is_table(kind))
        return -EINVAL;
    if (!sweep->n_cells)
        return 0;
    if (strcmp(kind, "grid") == 0)
        return add_grid(tables, sweep);
    if (strcmp(kind, "verdicts") == 0)
        return add_verdicts(tables, sweep);
    return sweep_tables_add_runs(tables, sweep, kind, hosts_max);
}
