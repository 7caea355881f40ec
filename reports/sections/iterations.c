/* SPDX-License-Identifier: MIT */
/* F3: how long iterations took, rank by rank. */
#include <string.h>

#include "reports/model/summary.h"
#include "reports/sections/sections.h"

static const struct report_column by_rank[] = {
    {KIND_RANK, "rank", "rank", FIELD(report_rank, rank)},
    {KIND_HOST, "host", "host", FIELD(report_rank, host)},
    {KIND_TEXT, "role", "role", FIELD(report_rank, role)},
    {KIND_COUNT, "count", "iterations", FIELD(report_rank, n)},
    {KIND_NUMBER, "median_s", "median", "s", FIELD(report_rank, median_s)},
    {KIND_NUMBER, "p95_s", "95 %", "s", FIELD(report_rank, p95_s)},
};

enum { SOURCE = 4, IN_STEP };

static const struct report_column all_ranks[] = {
    {KIND_COUNT, "count", FIELD(report_summary, iterations)},
    {KIND_NUMBER, "median_s", FIELD(report_summary, iteration_median_s)},
    {KIND_NUMBER, "p95_s", FIELD(report_summary, iteration_p95_s)},
    {KIND_NUMBER, "per_s", FIELD(report_summary, iterations_per_s)},
    [SOURCE] = {KIND_TEXT, "source", COMPUTED},
    [IN_STEP] = {KIND_FLAG, "in_step", COMPUTED},
};

static const char *source_of(const struct report *report) {
    return iteration_source_name(report->run->model.iterations.source);
}

static void put_summary(const struct report *report, struct page *page) {
    struct report_summary summary = report_summarize(report);
    struct report_table table;
    TABLE_INIT(&table, "iterations", report, all_ranks);
    table_add(&table, &summary);
    table.shape = SHAPE_ONE;
    table_borrow(&table, 0, SOURCE, source_of(report));
    table_integer(&table, 0, IN_STEP, report->ranks_in_step);
    page_table(page, &table);
}

void section_iterations(const struct report *report, struct page *page) {
    struct report_table table;
    if (page_is_for(page, FOR_DOCUMENT))
        put_summary(report, page);
    TABLE_INIT(&table, "iterations" INTO "by_rank", report, by_rank);
    TABLE_ADD_ALL(&table, report->ranks, report->n_ranks);
    table_title(&table, "Iterations by rank%s%s",
                strcmp(source_of(report), "calls") == 0      ? ", found in their MPI calls"
                : strcmp(source_of(report), "counters") == 0 ? ", by the pace of their bytes"
                                                             : "",
                report->ranks_in_step ? " (the ranks move together)" : "");
    page_table(page, &table);
    section_put_pictures(report, page, "iterations");
}
