/* SPDX-License-Identifier: MIT */
/*
 * Each source's statement of a process's time: of the term about which they disagree most, else of
 * the one that most of them tell of. A process is left out if no two sources tell of one term.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/says/term_words.h"
#include "reports/sections/sections.h"

#define SHOWN_MAX 8
#define SAME 0.005 /* of seconds: digits that are not shown */

struct source_row {
    int host, rank;
    const char *process, *term, *words;
    double wall_s, taken_s, low_s, high_s;
    double lows_s[CLAIM_SOURCES], highs_s[CLAIM_SOURCES]; /* NAN: says nothing of the term */
    size_t n_said;
    bool disputed;
    double gap_s;
};

enum { SAID = 4, TAKEN = SAID + CLAIM_SOURCES };

#define OF_SOURCE(source, key)                                                                     \
    {KIND_NUMBER, key "_low_s", .type = FIELD_DOUBLE,                                              \
     .at = offsetof(struct source_row, lows_s) + (source) * sizeof(double)},                       \
    {                                                                                              \
        KIND_NUMBER, key "_high_s",                                                                \
            .type = FIELD_DOUBLE,                                                                  \
            .at = offsetof(struct source_row, highs_s) + (source) * sizeof(double)                 \
    }

static const struct report_column columns[] = {
    {KIND_HOST, "host", "on", FIELD(source_row, host)},
    {KIND_TEXT, "process", "process", FIELD(source_row, process), .shrinks = true},
    {KIND_WORD, "term", NULL, FIELD(source_row, term)},
    {KIND_TEXT, NULL, "time", FIELD(source_row, words)},
    [SAID] = {KIND_FIGURES, NULL, "counters", "s", COMPUTED},
    {KIND_FIGURES, NULL, "clocks", "s", COMPUTED},
    {KIND_FIGURES, NULL, "slices", "s", COMPUTED},
    {KIND_FIGURES, NULL, "calls", "s", COMPUTED},
    {KIND_FIGURES, NULL, "connections", "s", COMPUTED},
    [TAKEN] = {KIND_NUMBER, "taken_s", "taken", "s", FIELD(source_row, taken_s)},
    {KIND_RANK, "rank", FIELD(source_row, rank)},
    {KIND_NUMBER, "wall_s", FIELD(source_row, wall_s)},
    {KIND_NUMBER, "low_s", FIELD(source_row, low_s)},
    {KIND_NUMBER, "high_s", FIELD(source_row, high_s)},
    {KIND_FLAG, "disputed", FIELD(source_row, disputed)},
    OF_SOURCE(CLAIM_COUNTERS, "counters"),
    OF_SOURCE(CLAIM_CLOCKS, "clocks"),
    OF_SOURCE(CLAIM_SLICES, "slices"),
    OF_SOURCE(CLAIM_CALLS, "calls"),
    OF_SOURCE(CLAIM_CONNECTIONS, "connections"),
};

static size_t count_said(const struct claimed *c) {
    size_t n = 0;
    for (int s = 0; s < CLAIM_SOURCES; s++)
        n += c->by[s].made;
    return n;
}

/* The largest of the terms of which most sources say something. */
static enum budget_term most_said(const struct claims *claims) {
    enum budget_term most = BUDGET_CPU;
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++) {
        const struct claimed *c = &claims->terms[term], *first = &claims->terms[most];
        size_t n = count_said(c), best = count_said(first);
        if (n > best || (n == best && c->taken_s > first->taken_s))
            most = term;
    }
    return most;
}

static struct source_row row_of(const struct rank_budget *process, const struct claims *claims) {
    struct source_row row = {.host = process->host,
                             .rank = process->rank,
                             .process = process->process,
                             .wall_s = claims->wall_s};
    enum budget_term term = claims_worst(claims, ~0U, &row.gap_s);
    term = term < BUDGET_TERMS ? term : most_said(claims);
    const struct claimed *c = &claims->terms[term];
    row.term = budget_term_name(term);
    row.words = budget_term_words(term);
    row.taken_s = c->taken_s;
    row.low_s = c->low_s;
    row.high_s = c->high_s;
    row.disputed = c->disputed;
    row.n_said = count_said(c);
    for (int s = 0; s < CLAIM_SOURCES; s++) {
        row.lows_s[s] = c->by[s].made ? c->by[s].low_s : NAN;
        row.highs_s[s] = c->by[s].made ? c->by[s].high_s : NAN;
    }
    return row;
}

static int compare_rows(const void *a, const void *b) {
    const struct source_row *x = a, *y = b;
    if (x->gap_s != y->gap_s)
        return x->gap_s < y->gap_s ? 1 : -1;
    if (x->wall_s != y->wall_s)
        return x->wall_s < y->wall_s ? 1 : -1;
    return x->host != y->host ? (x->host > y->host) - (x->host < y->host)
                              : strcmp(x->process, y->process);
}

static void put_row(struct report_table *table, const struct source_row *row) {
    size_t at = table_add(table, row);
    for (size_t s = 0; s < CLAIM_SOURCES; s++)
        if (row->highs_s[s] > (1 + SAME) * row->lows_s[s])
            table_text(table, at, SAID + s, "%.3g to %.3g", row->lows_s[s], row->highs_s[s]);
        else if (!isnan(row->lows_s[s]))
            table_text(table, at, SAID + s, "%.3g", row->lows_s[s]);
    table_cell(table, at, TAKEN)->after = row->disputed ? " !" : NULL;
}

/* Hides the columns of sources that say nothing. */
static void hide_silent(struct report_table *table, const struct source_row *rows, size_t n) {
    for (size_t s = 0; !table->failed && s < CLAIM_SOURCES; s++) {
        bool says = false;
        for (size_t i = 0; i < n; i++)
            says |= !isnan(rows[i].lows_s[s]);
        if (!says)
            table->columns[SAID + s].name = NULL;
    }
}

/* -ENOMEM as a failed table. */
static struct source_row *find_rows(const struct run_model *model, struct report_table *table,
                                    size_t *ret_n) {
    struct source_row *rows = calloc(model->budgets.n + 1, sizeof *rows);
    table->failed |= !rows;
    *ret_n = 0;
    for (size_t r = 0; rows && r < model->budgets.n; r++) {
        const struct rank_budget *process = &model->budgets.items[r];
        rows[*ret_n] = row_of(process, &process->claims[model->main_group]);
        *ret_n += rows[*ret_n].n_said > 1;
    }
    if (*ret_n)
        qsort(rows, *ret_n, sizeof *rows, compare_rows);
    return rows;
}

void section_sources(const struct report *report, struct page *page) {
    struct report_table table;
    size_t n;
    TABLE_INIT(&table, "sources", report, columns);
    struct source_row *rows = find_rows(&report->run->model, &table, &n);
    size_t shown = n < SHOWN_MAX ? n : SHOWN_MAX;
    for (size_t i = 0; i < shown; i++)
        put_row(&table, &rows[i]);
    hide_silent(&table, rows, shown);
    table_title(&table, "Time of a process as each source tells it");
    table_note(&table,
               "The term about which sources disagree most, else the one that most of them tell "
               "of%s. They disagree about what is marked !.",
               shown < n ? "; the processes with the largest disagreement" : "");
    page_table(page, &table);
    free(rows);
}
