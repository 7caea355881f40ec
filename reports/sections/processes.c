/* SPDX-License-Identifier: MIT */
/* The busiest processes, the job's first. */
#include <math.h>
#include <stdlib.h>

#include "reports/facts/processes.h"
#include "reports/facts/programs.h"
#include "reports/sections/sections.h"

enum { WHOSE = 2, PROGRAM_WHOSE = 1, PROGRAM_PROCESSES };

#define UNOWNED_MIN_MB 0.1

static const struct report_column columns[] = {
    {KIND_HOST, "host", "host", FIELD(report_process, host)},
    {KIND_TEXT, "process", "process", FIELD(report_process, name), .shrinks = true, .names = true},
    [WHOSE] = {KIND_TEXT, NULL, "belongs to", COMPUTED},
    {KIND_RANK, "rank", FIELD(report_process, rank)},
    {KIND_FLAG, "job", FIELD(report_process, job)},
    {KIND_NUMBER, "cpu_pct", "CPU", "%", FIELD(report_process, cpu_pct)},
    {KIND_NUMBER, "run_queue_pct", "queue", "%", FIELD(report_process, run_queue_pct)},
    {KIND_NUMBER, "rss_gb", "memory", "GB", FIELD(report_process, rss_gb)},
    {KIND_NUMBER, "read_mb_s", "read", "MB/s", FIELD(report_process, read_mb_s)},
    {KIND_NUMBER, "write_mb_s", "write", "MB/s", FIELD(report_process, write_mb_s)},
    {KIND_NUMBER, "received_mb_s", "received", "MB/s", FIELD(report_process, received_mb_s)},
    {KIND_NUMBER, "sent_mb_s", "sent", "MB/s", FIELD(report_process, sent_mb_s)},
};

/* The source of the last two columns, and the bytes that they lack. */
static void put_bytes_note(struct report_table *table, const struct processes *processes,
                           double unowned_mb) {
    bool any = false;
    for (size_t i = 0; i < processes->n; i++)
        any |= !isnan(processes->items[i].sent_mb_s);
    if (!any)
        return;
    const char *text = "Received and sent: what its TCP connections carried, within a host too.";
    if (unowned_mb < UNOWNED_MIN_MB)
        table_note(table, "%s", text);
    else
        table_note(table,
                   "%s No row has the %.1f MB of connections that began and ended between two "
                   "samples.",
                   text, unowned_mb);
}

static void put_processes(struct report_table *table, const struct processes *processes) {
    TABLE_ADD_ALL(table, processes->items, processes->n);
    for (size_t i = 0; i < processes->n; i++)
        if (processes->items[i].rank >= 0)
            table_text(table, i, WHOSE, "rank %d", processes->items[i].rank);
        else
            table_borrow(table, i, WHOSE, processes->items[i].job ? "job" : "other");
}

static const struct report_column program_columns[] = {
    {KIND_TEXT, NULL, "program", FIELD_INLINE(report_program, name)},
    [PROGRAM_WHOSE] = {KIND_TEXT, NULL, "belongs to", COMPUTED},
    [PROGRAM_PROCESSES] = {KIND_COUNT, NULL, "processes", FIELD(report_program, processes)},
    {KIND_COUNT, NULL, "hosts", FIELD(report_program, hosts)},
    {KIND_NUMBER, NULL, "CPU", "s", FIELD(report_program, cpu_s)},
    {KIND_NUMBER, NULL, "queue", "s", FIELD(report_program, run_queue_s)},
    {KIND_NUMBER, NULL, "read", "MB", FIELD(report_program, read_mb)},
    {KIND_NUMBER, NULL, "written", "MB", FIELD(report_program, write_mb)},
    {KIND_NUMBER, NULL, "received", "MB", FIELD(report_program, received_mb)},
    {KIND_NUMBER, NULL, "sent", "MB", FIELD(report_program, sent_mb)},
};

/* Returns whether programs of several processes are shown. */
static bool put_programs(const struct report *report, struct page *page,
                         const struct process_traffic *traffic) {
    struct programs programs = {0};
    struct report_table table;
    int result = page_draws(page) ? programs_find(&report->run->model, traffic, &programs) : 0;
    bool shown = programs.n < programs.processes || result < 0;
    if (shown) {
        TABLE_INIT(&table, NULL, report, program_columns);
        table.failed |= result < 0;
        table.audience = FOR_READERS;
        table_title(&table, "Programs (sums over their processes)");
        TABLE_ADD_ALL(&table, programs.items, programs.n);
        for (size_t i = 0; i < programs.n && !table.failed; i++) {
            table_borrow(&table, i, PROGRAM_WHOSE, programs.items[i].job ? "job" : "other");
            table_cell(&table, i, PROGRAM_PROCESSES)->known = programs.items[i].processes > 0;
        }
        page_table(page, &table);
    }
    free(programs.items);
    return shown;
}

void section_processes(const struct report *report, struct page *page) {
    const struct run_model *model = &report->run->model;
    struct process_traffic traffic = {0};
    struct processes processes = {0};
    struct report_table table;
    TABLE_INIT(&table, "processes", report, columns);
    int result = process_traffic_make(model->recording, &traffic);
    if (result == 0)
        result = processes_find(model, &traffic, &processes);
    table.failed |= result < 0;
    table_title(&table, "Processes (shares of the whole run)");
    put_processes(&table, &processes);
    put_bytes_note(&table, &processes, traffic.unowned_bytes / 1e6);
    bool folded = result == 0 && put_programs(report, page, &traffic);
    if (folded)
        page_fold(page, "The busiest processes of each host");
    page_table(page, &table);
    if (folded)
        page_unfold(page);
    process_traffic_release(&traffic);
    free(processes.items);
}
