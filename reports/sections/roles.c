/* SPDX-License-Identifier: MIT */
/* T5: accuracy, time, CPU, memory and bytes of each rank, by its role. */
#include <string.h>

#include "reports/sections/sections.h"

enum { ROLE = 2, RECEIVED = 9 };

static const struct report_column columns[] = {
    {KIND_RANK, "rank", "rank", FIELD(report_role, rank)},
    {KIND_HOST, "host", "host", FIELD(report_role, host), .shrinks = true},
    [ROLE] = {KIND_TEXT, "role", "role", FIELD(report_role, role)},
    {KIND_NUMBER, "accuracy_pct", "accuracy", "%", FIELD(report_role, accuracy_pct), .digits = 2},
    {KIND_NUMBER, "time_s", "time", "s", FIELD(report_role, time_s)},
    {KIND_NUMBER, "lived_s", FIELD(report_role, lived_s)},
    {KIND_NUMBER, "cpu_s", FIELD(report_role, cpu_s)},
    {KIND_NUMBER, "cpu_pct", "CPU", "%", FIELD(report_role, cpu_pct)},
    {KIND_NUMBER, "peak_memory_gb", "memory", "GB", FIELD(report_role, peak_memory_gb)},
    [RECEIVED] = {KIND_NUMBER, "received_mb", "received", "MB", FIELD(report_role, received_mb)},
    {KIND_NUMBER, "sent_mb", "sent", "MB", FIELD(report_role, sent_mb)},
    {KIND_FLAG, "received_at_most", FIELD(report_role, received_at_most)},
    {KIND_WORD, "bytes_source", FIELD(report_role, bytes_source)},
};

static bool ranks_have_roles(const struct report *report) {
    for (size_t i = 0; i < report->n_roles; i++)
        if (*report->roles[i].role)
            return true;
    return false;
}

static bool any_from(const struct report *report, const char *source) {
    for (size_t i = 0; i < report->n_roles; i++)
        if (report->roles[i].bytes_source && strcmp(report->roles[i].bytes_source, source) == 0)
            return true;
    return false;
}

/* Explains the columns whose titles do not suffice. */
static void put_columns_note(struct report_table *table, const struct report *report) {
    table_note(table,
               "Time is %s; CPU is of that time, 100 %% is one core; memory is the most that the "
               "process held. Bytes are those of the process alone%s%s.",
               report->n_ranks ? "from the first iteration of a rank to its last, or that of its "
                                 "process without iterations"
                               : "that of the process",
               any_from(report, "mpi") ? ", as its MPI calls counted them" : "",
               any_from(report, "connections") ? ", or of its TCP connections where its MPI calls "
                                                 "are not known"
                                               : "");
}

void section_roles(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "roles", report, columns);
    TABLE_ADD_ALL(&table, report->roles, report->n_roles);
    table_title(&table, ranks_have_roles(report) ? "Ranks by role" : "Ranks");
    if (!ranks_have_roles(report) && !table.failed)
        table.columns[ROLE].name = NULL;
    for (size_t i = 0; i < report->n_roles; i++)
        if (report->roles[i].received_at_most)
            table_cell(&table, i, RECEIVED)->before = "<= ";
    put_columns_note(&table, report);
    page_table(page, &table);
}
