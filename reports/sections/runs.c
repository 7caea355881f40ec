/* SPDX-License-Identifier: MIT */
#include "reports/runs.h"

#include <stdlib.h>
#include <string.h>

#include "reports/sections/sections.h"

enum { EXIT_STATUS = 3, EXPECTED = 7, REPEAT = 9, REPEATS, GROUP, NOTES };

static const struct report_column columns[] = {
    {KIND_COUNT, "id", FIELD(listed_run, id)},
    {KIND_TEXT, "name", FIELD(listed_run, name)},
    {KIND_WORD, "state", FIELD(listed_run, state)},
    [EXIT_STATUS] = {KIND_COUNT, "exit_status", COMPUTED},
    {KIND_INSTANT, "started_at", FIELD(listed_run, started_wall_ns)},
    {KIND_NUMBER, "duration_s", FIELD(listed_run, duration_s)},
    {KIND_COUNT, "hosts", FIELD(listed_run, n_hosts)},
    [EXPECTED] = {KIND_COUNT, "hosts_expected", COMPUTED},
    {KIND_TEXT, "command", FIELD(listed_run, command)},
    [REPEAT] = {KIND_COUNT, "repeat", COMPUTED},
    [REPEATS] = {KIND_COUNT, "repeats", COMPUTED},
    [GROUP] = {KIND_COUNT, "group", COMPUTED},
    [NOTES] = {KIND_LIST, "notes", FIELD_TEXTS(listed_run, notes)},
    {KIND_TEXT, "limit", FIELD(listed_run, limit)},
    {KIND_NUMBER, "confidence", FIELD(listed_run, confidence)},
    {KIND_NUMBER, "cores", FIELD(listed_run, cores)},
    {KIND_NUMBER, "cores_used", FIELD(listed_run, cores_used)},
    {KIND_NUMBER, "memory_gb", FIELD(listed_run, memory_gb)},
    {KIND_NUMBER, "memory_peak_gb", FIELD(listed_run, memory_peak_gb)},
    {KIND_NUMBER, "gpus", FIELD(listed_run, gpus)},
    {KIND_NUMBER, "gpus_used", FIELD(listed_run, gpus_used)},
    {KIND_TEXT, "file", FIELD(listed_run, file)},
};
#define N_COLUMNS (sizeof columns / sizeof *columns)

static void put_known(struct report_table *table, size_t row, const struct listed_run *run) {
    if (run->exit_status >= 0)
        table_integer(table, row, EXIT_STATUS, run->exit_status);
    if (run->n_hosts_expected >= 0)
        table_integer(table, row, EXPECTED, run->n_hosts_expected);
    if (run->repeats == 0)
        return;
    table_integer(table, row, REPEAT, run->repeat);
    table_integer(table, row, REPEATS, run->repeats);
    table_integer(table, row, GROUP, run->group);
}

/* A spreadsheet has all notes in one field. */
static void join_notes(struct report_table *table, size_t row, const struct listed_run *run) {
    size_t size = 1;
    for (size_t i = 0; i < run->n_notes; i++)
        size += strlen(run->notes[i]) + 2;
    char *joined = calloc(1, size), *to = joined;
    for (size_t i = 0; joined && i < run->n_notes; i++)
        to += sprintf(to, "%s%s", i ? "; " : "", run->notes[i]);
    table->failed |= !joined;
    table_text(table, row, NOTES, "%s", joined ? joined : "");
    free(joined);
}

int runs_write(const struct listed_run *runs, size_t n, const struct format *format, FILE *out) {
    struct report_column of[N_COLUMNS];
    struct report_table table;
    struct page page;
    memcpy(of, columns, sizeof of);
    page_begin(&page, format, out, "Runs", "chokepoint.list/1");
    bool joins = page_is_for(&page, FOR_CSV);
    if (joins)
        of[NOTES] = (struct report_column){KIND_TEXT, "notes", COMPUTED};
    TABLE_INIT(&table, "runs", NULL, of);
    table.audience = FOR_DOCUMENT | FOR_CSV;
    TABLE_ADD_ALL(&table, runs, n);
    for (size_t i = 0; i < n; i++) {
        put_known(&table, i, &runs[i]);
        if (joins)
            join_notes(&table, i, &runs[i]);
    }
    page_table(&page, &table);
    return page_end(&page);
}
