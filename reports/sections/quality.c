/* SPDX-License-Identifier: MIT */
/* How far to trust the recording: samples and clocks of each host, and what was not seen. */
#include "reports/sections/sections.h"

static const struct report_column columns[] = {
    {KIND_TEXT, "name", "host", FIELD(report_host, name)},
    {KIND_COUNT, "cores", "cores", FIELD(report_host, n_cpus)},
    {KIND_FLAG, "missing", FIELD(report_host, missing)},
    {KIND_COUNT, "samples" INTO "recorded", "samples", FIELD(report_host, samples_recorded)},
    {KIND_COUNT, "samples" INTO "expected", "expected", FIELD(report_host, samples_expected),
     .room = ROOM_FULL},
    {KIND_COUNT, "samples" INTO "missed", "missing", FIELD(report_host, samples_missed)},
    {KIND_COUNT, "samples" INTO "duplicate", "twice", FIELD(report_host, samples_duplicate),
     .room = ROOM_FULL},
    {KIND_COUNT, "calls_missing", "calls missing", FIELD(report_host, calls_missing),
     .room = ROOM_FULL},
    {KIND_COUNT, "marks_missing", "marks missing", FIELD(report_host, marks_missing),
     .room = ROOM_FULL},
    {KIND_COUNT, "gaps", "gaps", FIELD(report_host, gaps), .room = ROOM_FULL},
    {KIND_NUMBER, "clock_offset_s", "clock", "s", FIELD(report_host, clock_offset_s)},
    {KIND_NUMBER, "clock_drift_ppm", "drift", "ppm", FIELD(report_host, clock_drift_ppm)},
    {KIND_NUMBER, "clock_error_s", "known to", "ms", FIELD(report_host, clock_error_s),
     .scale = 1e3},
    {KIND_NUMBER, "beat_us", FIELD(report_host, beat_us)},
};

void section_hosts_table(struct report_table *table, const char *id, const struct report *report) {
    TABLE_INIT(table, id, report, columns);
    TABLE_ADD_ALL(table, report->hosts, report->n_hosts);
}

enum { GRADE, NOTES };

static const struct report_column quality[] = {
    [GRADE] = {KIND_TEXT, "grade", COMPUTED},
    [NOTES] = {KIND_LIST, "notes", FIELD_TEXTS(report_quality, notes)}};

static char grade_of(const struct report *report) {
    return report->quality.grade ? report->quality.grade : '-';
}

void section_quality(const struct report *report, struct page *page) {
    struct report_table document, hosts;
    TABLE_INIT(&document, "quality", report, quality);
    table_add(&document, &report->quality);
    document.shape = SHAPE_ONE;
    document.audience = FOR_DOCUMENT;
    table_text(&document, 0, GRADE, "%c", grade_of(report));
    page_table(page, &document);
    section_hosts_table(&hosts, NULL, report);
    hosts.audience = FOR_READERS;
    page_heading(page, 2, "Quality of the recording: %c", grade_of(report));
    page_table(page, &hosts);
    page_list(page, NULL, report->quality.notes, report->quality.n_notes);
}
