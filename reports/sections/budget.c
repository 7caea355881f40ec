/* SPDX-License-Identifier: MIT */
/*
 * Where the time of each rank went. A term has a column if it is at least half a percent in some
 * row; terms that cannot be observed are named, not shown as zero. A terminal shows the whole run
 * and its main phase.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/facts/iteration_budgets.h"
#include "reports/model/budget_words.h"
#include "reports/model/layout.h"
#include "reports/says/term_words.h"
#include "reports/sections/sections.h"

/* For tables in which the words of all terms need too much room. */
static const char *const short_names[BUDGET_TERMS] = {
    [BUDGET_RUN_QUEUE] = "core",  [BUDGET_QUOTA] = "quota",       [BUDGET_STEAL] = "steal",
    [BUDGET_DISK] = "disk",       [BUDGET_MEMORY] = "memory",     [BUDGET_IDLE] = "asleep",
    [BUDGET_PEER_WAIT] = "peer",  [BUDGET_TRANSFER] = "transfer", [BUDGET_OVERHEAD] = "overhead",
    [BUDGET_UNSPLIT] = "in MPI?", [BUDGET_GPU] = "GPU",           [BUDGET_GPU_COPY] = "GPU copy"};

enum { WHO, WALL };

static const struct report_column first_columns[] = {
    [WHO] = {KIND_TEXT, NULL, "", .shrinks = true},
    [WALL] = {KIND_NUMBER, "wall_s", "wall", NULL, FIELD(report_budget, wall_s)},
};

enum { SOURCE_WORDS = 1 };

static const struct report_column last_columns[] = {
    {KIND_NUMBER, "closure_pct", "sum %", NULL, FIELD(report_budget, closure_pct), .digits = 1},
    [SOURCE_WORDS] = {KIND_TEXT, NULL, "from", COMPUTED},
    {KIND_HOST, "host", FIELD(report_budget, host)},
    {KIND_RANK, "rank", FIELD(report_budget, rank)},
    {KIND_TEXT, "phase", FIELD(report_budget, phase)},
    {KIND_TEXT, "process", FIELD_INLINE(report_budget, process)},
    {KIND_TEXT, "source", FIELD(report_budget, source)},
    {KIND_FLAG, "trusted", FIELD(report_budget, trusted)},
    {KIND_HOST, "awaited_host", FIELD(report_budget, awaited_host)},
    {KIND_RANK, "awaited_rank", FIELD(report_budget, awaited_rank)},
    {KIND_NUMBER, "unknown_s", FIELD(report_budget, unknown_s)},
    {KIND_NUMBER, "other_threads_cpu_s", FIELD(report_budget, other_cpu_s)},
    {KIND_NUMBER, "awaited_s", FIELD(report_budget, awaited_s)},
    {KIND_NUMBER, "path_limited_pct", FIELD(report_budget, path_pct)},
    {KIND_NUMBER, "receiver_limited_pct", FIELD(report_budget, receiver_pct)},
    {KIND_NUMBER, "send_buffer_limited_pct", FIELD(report_budget, send_buffer_pct)},
};

static const char *term_name(const struct page *page, enum budget_term term) {
    bool whole = page_has_room(page, ROOM_FULL) || !short_names[term];
    return whole ? budget_term_words(term) : short_names[term];
}

typedef char term_keys[BUDGET_TERMS][32]; /* for example "cpu_s" */

static void make_keys(term_keys keys) {
    for (int term = 0; term < BUDGET_TERMS; term++)
        snprintf(keys[term], sizeof keys[term], "%s_s", budget_term_name((enum budget_term)term));
}

/* Most runs use no GPU: its terms are left out then. */
static bool is_of_no_gpu(const struct report *report, enum budget_term term) {
    for (size_t i = 0; i < report->n_budget; i++)
        if (report->budget[i].term_s[term] > 0)
            return false;
    return term == BUDGET_GPU || term == BUDGET_GPU_COPY;
}

static void add_terms(struct report_table *table, const struct report *report,
                      const struct page *page, term_keys keys) {
    for (int term = 0; term < BUDGET_TERMS; term++) {
        if (is_of_no_gpu(report, (enum budget_term)term))
            continue;
        bool shown = term == BUDGET_CPU ||
                     budget_term_shown(report->budget, report->n_budget, (enum budget_term)term);
        table_add_column(
            table, &(struct report_column){KIND_NUMBER, keys[term],
                                           shown ? term_name(page, (enum budget_term)term) : NULL,
                                           .type = FIELD_DOUBLE,
                                           .at = offsetof(struct report_budget, term_s) +
                                                 (size_t)term * sizeof(double)});
    }
}

static const char *phase_name(const struct report *report, size_t phase) {
    return phase < report->n_resources ? report->resources[phase].phase : "";
}

static void put_rank_row(struct report_table *table, const struct report *report, size_t i,
                         size_t closes) {
    const struct report_budget *b = &report->budget[i];
    bool main = strcmp(b->phase, phase_name(report, 0)) == 0 ||
                strcmp(b->phase, phase_name(report, report->shown_phase)) == 0;
    char who[128];
    size_t row = table_add(table, b);
    if (table->failed)
        return;
    budget_whose(report, b, who, sizeof who);
    table_text(table, row, WHO, "%s", who);
    table_cell(table, row, closes)->after = b->trusted ? NULL : " !";
    table_borrow(table, row, closes + 1, budget_source_words(b));
    table->rows[row].room = main ? ROOM_SCREEN : ROOM_FULL;
    if (i == 0 || strcmp(b->phase, report->budget[i - 1].phase) != 0)
        table_group(table, row, strcmp(b->phase, "all") == 0 ? "whole run%.0s" : "phase %s",
                    b->phase);
}

/* The common source of the times of all rows; NULL: sources differ. */
static const char *common_source(const struct report *report) {
    const char *first = report->n_budget ? budget_source_words(&report->budget[0]) : NULL;
    for (size_t i = 1; i < report->n_budget; i++)
        if (strcmp(budget_source_words(&report->budget[i]), first) != 0)
            return NULL;
    return first;
}

static bool all_close(const struct report *report) {
    for (size_t i = 0; i < report->n_budget; i++)
        if (!report->budget[i].trusted)
            return false;
    return true;
}

/* If all rows of a column agree, the title says it instead. */
static void add_last_columns(struct report_table *table, bool alike) {
    for (size_t i = 0; i < ARRAY_SIZE(last_columns); i++) {
        struct report_column column = last_columns[i];
        if (alike && i == SOURCE_WORDS)
            column.name = NULL;
        table_add_column(table, &column);
    }
}

static void put_closure_note(struct report_table *table, const struct report *report) {
    const struct rank_budgets *budgets = &report->run->model.budgets;
    char windows[96] = "";
    if (budgets->windows)
        snprintf(windows, sizeof windows, " %zu of %zu iterations add up.", budgets->closing,
                 budgets->windows);
    if (budgets->windows || !all_close(report))
        table_note(table,
                   "Terms exclude each other; a row marked ! does not add up to its wall time "
                   "within %.0f %%.%s",
                   BUDGET_CLOSURE_PCT, windows);
}

static void put_budget_table(const struct report *report, struct page *page) {
    struct report_table table;
    const char *source = common_source(report);
    term_keys keys;
    make_keys(keys);
    TABLE_INIT(&table, "budget", report, first_columns);
    add_terms(&table, report, page, keys);
    size_t closes = table.n_columns;
    add_last_columns(&table, source != NULL);
    for (size_t i = 0; i < report->n_budget; i++)
        put_rank_row(&table, report, i, closes);
    table_title(&table, "Where the time of each %s went (s%s%s)", budget_owner(report),
                source ? "; source: " : "", source ? source : "");
    put_closure_note(&table, report);
    page_table(page, &table);
}

/* ---- iterations, for programs: rows of numbers under one list of columns; enough for a picture,
 * the table `budget` of the database has the others ---- */

#define ROWS_MAX 1000

static bool term_is_seen(const struct iteration_budgets *its, int term) {
    bool seen = false;
    for (size_t i = 0; i < its->n; i++)
        seen |= its->items[i].budget.term_s[term] > 0;
    return seen;
}

enum { NUMBER, PHASE, START, ITERATION_FIXED };

/* Their keys form the list of columns. */
static void init_iterations(struct report_table *table, const struct report *report,
                            const struct iteration_budgets *its, term_keys keys) {
    static const struct report_column fixed[] = {
        [NUMBER] = {KIND_COUNT, "iteration", FIELD(report_iteration_budget, number)},
        [PHASE] = {KIND_TEXT, "phase", COMPUTED},
        [START] = {KIND_NUMBER, "start_s", COMPUTED},
        [ITERATION_FIXED] = {KIND_NUMBER, "wall_s", FIELD(report_iteration_budget, budget.wall_s)},
    };
    static const struct report_column last[] = {
        {KIND_NUMBER, "unknown_s", FIELD(report_iteration_budget, budget.unknown_s)},
        {KIND_NUMBER, "closure_pct", FIELD(report_iteration_budget, budget.closure_pct)},
    };
    TABLE_INIT(table, NULL, report, fixed);
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (term_is_seen(its, term))
            table_add_column(table,
                             &(struct report_column){
                                 KIND_NUMBER, keys[term], .type = FIELD_DOUBLE,
                                 .at = offsetof(struct report_iteration_budget, budget.term_s) +
                                       (size_t)term * sizeof(double)});
    for (size_t i = 0; i < ARRAY_SIZE(last); i++)
        table_add_column(table, &last[i]);
    table->shape = SHAPE_ARRAYS;
}

static void put_iteration(struct report_table *table, const struct report *report,
                          const struct report_iteration_budget *i) {
    size_t row = table_add(table, i);
    table_borrow(table, row, PHASE, report->resources[i->phase].phase);
    table_number(table, row, START, (double)i->begin_ns / 1e9);
}

static const struct report_column rank_columns[] = {
    {KIND_HOST, "host", FIELD(report_budget, host)},
    {KIND_RANK, "rank", FIELD(report_budget, rank)},
    {KIND_TEXT, "process", FIELD_INLINE(report_budget, process)},
    {KIND_TABLE, "rows", COMPUTED},
};

static void put_ranks(struct report_table *ranks, const struct report *report,
                      const struct iteration_budgets *its, term_keys keys, size_t step) {
    const struct report_iteration_budget *items = its->items;
    for (size_t i = 0, end; i < its->n; i = end) {
        struct report_table rows;
        init_iterations(&rows, report, its, keys);
        for (end = i; end < its->n && items[end].whose == items[i].whose; end++)
            if ((end - i) % step == 0)
                put_iteration(&rows, report, &items[end]);
        table_inner(ranks, table_add(ranks, &report->budget[items[i].whose]), 3, &rows);
    }
}

static void put_iterations(const struct report *report, const struct iteration_budgets *its,
                           struct page *page) {
    static const struct report_column columns[] = {{KIND_COUNT, "every", COMPUTED},
                                                   {KIND_LIST, "columns", COMPUTED},
                                                   {KIND_TABLE, "ranks", COMPUTED}};
    size_t step = its->n / (ROWS_MAX + 1) + 1;
    struct report_table table, ranks, names;
    const char *list[BUDGET_TERMS + 8];
    term_keys keys;
    make_keys(keys);
    init_iterations(&names, report, its, keys);
    for (size_t c = 0; c < names.n_columns; c++)
        list[c] = names.columns[c].key;
    TABLE_INIT(&ranks, NULL, report, rank_columns);
    put_ranks(&ranks, report, its, keys, step);
    TABLE_INIT(&table, "budget_iterations", report, columns);
    table_add(&table, NULL);
    table.shape = SHAPE_ONE;
    table_integer(&table, 0, 0, (int64_t)(its->every * step));
    table_items(&table, 0, 1, list, names.n_columns);
    table_inner(&table, 0, 2, &ranks);
    page_table(page, &table);
    table_release(&names);
}

static void put_all_iterations(const struct report *report, struct page *page) {
    struct iteration_budgets its = {.every = 1};
    int result = iteration_budgets_of(&report->run->model, &its);
    page->error = page->error ? page->error : result;
    put_iterations(report, &its, page);
    free(its.items);
}

/* A page begins with the picture. */
void section_budget(const struct report *report, struct page *page) {
    bool draws = report->n_budget && page_draws(page);
    if (draws) {
        section_put_rank_bars(report, page);
        section_budget_said(report, page);
        section_put_pictures(report, page, "budget-iterations");
    }
    put_budget_table(report, page);
    if (page_is_for(page, FOR_DOCUMENT))
        put_all_iterations(report, page);
    if (report->n_budget && !draws && page_is_for(page, FOR_READERS))
        section_budget_said(report, page);
}
