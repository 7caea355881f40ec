/* SPDX-License-Identifier: MIT */
/* POP ratios: the terms that performance experts look for first, and what they leave open. */
#include <string.h>

#include "reports/model/layout.h"
#include "reports/sections/sections.h"

enum { SERIALISATION = 4, TRANSFER };

static const struct report_column columns[] = {
    {KIND_TEXT, "phase", "phase", FIELD(report_efficiency, phase)},
    {KIND_NUMBER, "parallel_pct", "parallel", FIELD(report_efficiency, parallel_pct), .digits = 1},
    {KIND_NUMBER, "load_balance_pct", "load balance", FIELD(report_efficiency, load_balance_pct),
     .digits = 1},
    {KIND_NUMBER, "communication_pct", "communication", FIELD(report_efficiency, communication_pct),
     .digits = 1},
    [SERIALISATION] = {KIND_NUMBER, "serialisation_pct", "serialisation",
                       FIELD(report_efficiency, serialisation_pct), .digits = 1},
    [TRANSFER] = {KIND_NUMBER, "transfer_pct", "transfer", FIELD(report_efficiency, transfer_pct),
                  .digits = 1},
    {KIND_NUMBER, "computing_pct", "computing", FIELD(report_efficiency, computing_pct),
     .digits = 1},
    {KIND_COUNT, "ranks", FIELD(report_efficiency, n_ranks)},
    {KIND_NUMBER, "elapsed_s", FIELD(report_efficiency, elapsed_s)},
    {KIND_NUMBER, "useful_mean_s", FIELD(report_efficiency, useful_mean_s)},
    {KIND_NUMBER, "useful_max_s", FIELD(report_efficiency, useful_max_s)},
    {KIND_HOST, "longest_host", FIELD(report_efficiency, longest_host)},
    {KIND_COUNT, "longest_rank", FIELD(report_efficiency, longest_rank)},
    {KIND_TEXT, "transfer_source", FIELD(report_efficiency, source)},
};

/* Only phases that are worth a table are worth a line. */
static bool phase_has_table(const struct report *report, const struct report_efficiency *e) {
    for (size_t i = 0; i < report->n_resources; i++)
        if (strcmp(report->resources[i].phase, e->phase) == 0)
            return i == 0 || layout_worth_a_table(report, &report->resources[i]);
    return false;
}

void section_efficiency(const struct report *report, struct page *page) {
    struct report_table table;
    bool bounds = false;
    TABLE_INIT(&table, "efficiency", report, columns);
    table_title(&table, "Efficiency (POP, %%)");
    for (size_t i = 0; i < report->n_efficiency; i++) {
        const struct report_efficiency *e = &report->efficiency[i];
        size_t row = table_add(&table, e);
        if (!table.failed && !phase_has_table(report, e))
            table.rows[row].room = ROOM_NONE;
        if (strcmp(e->source, "bound") != 0) /* the ideal network is known */
            continue;
        table_cell(&table, row, SERIALISATION)->before = "<= ";
        table_cell(&table, row, TRANSFER)->before = ">= ";
        bounds = true;
    }
    table_note(&table,
               "Parallel = load balance x communication, communication = serialisation x "
               "transfer. Useful is what lies outside MPI, whatever it was spent on; computing "
               "says how much of it was on a core.%s",
               bounds ? " <= and >=: no replay tells how long an ideal network would have taken."
                      : "");
    page_table(page, &table);
}
