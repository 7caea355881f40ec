/* SPDX-License-Identifier: MIT */
/* Facts about the run: its time, duration, hosts, end and command; and its phases. */
#include <errno.h>
#include <stdlib.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/sections/sections.h"

enum { EXPECTED = 8, HOSTS = 12, COMMENTS };

static const struct report_column columns[] = {
    {KIND_COUNT, "id", FIELD(report, run_id)},
    {KIND_TEXT, "name", FIELD(report, run_name)},
    {KIND_TEXT, "command", FIELD(report, command)},
    {KIND_TEXT, "state", FIELD(report, state)},
    {KIND_RANK, "exit_status", FIELD(report, exit_status)},
    {KIND_INSTANT, "started_at", FIELD(report, started_wall_ns)},
    {KIND_NUMBER, "duration_s", FIELD(report, duration_s)},
    {KIND_NUMBER, "period_s", FIELD(report, period_s)},
    [EXPECTED] = {KIND_COUNT, "samples" INTO "expected", COMPUTED},
    {KIND_COUNT, "samples" INTO "recorded", COMPUTED},
    {KIND_COUNT, "samples" INTO "missed", COMPUTED},
    {KIND_COUNT, "samples" INTO "duplicate", COMPUTED},
    [HOSTS] = {KIND_LIST, "hosts", COMPUTED},
    [COMMENTS] = {KIND_LIST, "notes", COMPUTED},
};

/* Comments of the run's owner (`chokepoint note`). The caller owns the list, the report its texts;
 * NULL: no memory. */
static char **comments_of(const struct report *report) {
    const struct report_input *input = &report->run->input;
    char **texts = calloc(input->n_comments + 1, sizeof *texts);
    for (size_t i = 0; texts && i < input->n_comments; i++)
        texts[i] = input->comments[i].text;
    return texts;
}

static void put_samples(struct report_table *table, const struct report *report) {
    uint64_t sums[4] = {0};
    for (size_t h = 0; h < report->n_hosts; h++) {
        sums[0] += report->hosts[h].samples_expected;
        sums[1] += report->hosts[h].samples_recorded;
        sums[2] += report->hosts[h].samples_missed;
        sums[3] += report->hosts[h].samples_duplicate;
    }
    for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
        table_integer(table, 0, EXPECTED + i, (int64_t)sums[i]);
}

static void put_run_document(const struct report *report, struct page *page) {
    struct report_table table, hosts;
    char **names = calloc(report->n_hosts + 1, sizeof *names), **comments = comments_of(report);
    TABLE_INIT(&table, "run", report, columns);
    table_add(&table, report);
    table.shape = SHAPE_ONE;
    table.failed |= !names || !comments;
    for (size_t h = 0; names && h < report->n_hosts; h++)
        names[h] = report->hosts[h].name;
    put_samples(&table, report);
    table_items(&table, 0, HOSTS, names, report->n_hosts);
    table_items(&table, 0, COMMENTS, comments, report->run->input.n_comments);
    page_table(page, &table);
    free(names);
    free(comments);
    section_hosts_table(&hosts, "run" INTO "host_details", report);
    hosts.audience = FOR_DOCUMENT;
    page_table(page, &hosts);
}

void run_put_head(const struct report *report, struct page *page, int level) {
    char started[LAYOUT_NUMBER_SIZE], duration[LAYOUT_NUMBER_SIZE], status[40] = "";
    if (report->exit_status >= 0)
        snprintf(status, sizeof status, ", exit status %d", report->exit_status);
    page_heading(page, level, "Run %lld %s", (long long)report->run_id, report->run_name);
    page_paragraph(page, STYLE_NOTE, "%s, %s, %zu host%s, %s%s",
                   layout_time(started, report->started_wall_ns),
                   layout_duration(duration, report->duration_s), report->n_hosts,
                   report->n_hosts == 1 ? "" : "s", report->state, status);
    page_command(page, report->command);
    char **comments = comments_of(report);
    page->error = page->error || comments ? page->error : -ENOMEM;
    page_list(page, "noted", comments, comments ? report->run->input.n_comments : 0);
    free(comments);
}

void section_run(const struct report *report, struct page *page) {
    if (page_is_for(page, FOR_DOCUMENT))
        put_run_document(report, page);
    run_put_head(report, page, 1);
}

static const struct report_column phase_columns[] = {
    {KIND_TEXT, "name", FIELD(report_phase, name)},
    {KIND_NUMBER, "start_s", FIELD(report_phase, start_s)},
    {KIND_NUMBER, "end_s", FIELD(report_phase, end_s)},
    {KIND_TEXT, "source", FIELD(report_phase, source)},
};

void section_phases(const struct report *report, struct page *page) {
    struct report_table table;
    TABLE_INIT(&table, "phases", report, phase_columns);
    TABLE_ADD_ALL(&table, report->phases, report->n_phases);
    table.audience = FOR_DOCUMENT;
    page_table(page, &table);
}
