/* SPDX-License-Identifier: MIT */
#include "reports/sections/sections.h"

#include <string.h>

#include "common/error.h"
#include "reports/model/budget_words.h"
#include "reports/sections/compared.h"

/* The first DETAILS_AT are what a reader must know. */
static report_section *const of_report[] = {
    section_run,        section_phases,        section_verdict,     section_phase_verdicts,
    section_ranking,    section_stragglers,    section_changes,     section_budget,
    section_waits,      section_critical_path, section_efficiency,  section_resources,
    section_job,        section_peaks,         section_roles,       section_pairs,
    section_arithmetic, section_iterations,    section_operators,   section_pictures,
    section_processes,  section_loads,         section_filesystems, section_exports,
    section_alerts,     section_ceilings,      section_quality,     section_figures,
};
#define DETAILS_AT 5

/* A page is read from the top: the limit, full resources over time, where time went, advice; then
 * ranks and processes, the data that all of this rests on, and the tables. */
static const struct part {
    const char *id, *title;
    report_section *const *sections; /* the last is NULL */
} parts[] = {
    {"verdict", "Verdict", (report_section *const[]){section_headline, NULL}},
    {"map", "Full resources over time", (report_section *const[]){section_map, NULL}},
    {"budget", "Where each rank's time went",
     (report_section *const[]){section_budget, section_waits, section_efficiency, NULL}},
    {"changes", "Gains of changes", (report_section *const[]){section_changes, NULL}},
    {"iterations", "Iterations",
     (report_section *const[]){section_iterations, section_stragglers, section_operators, NULL}},
    {"over-time", "Over time", (report_section *const[]){section_pictures, NULL}},
    {"pairs", "Traffic between hosts",
     (report_section *const[]){section_matrix, section_pairs, section_connections, section_exports,
                               NULL}},
    {"processes", "Processes", (report_section *const[]){section_roles, section_processes, NULL}},
    {"evidence", "Evidence, and its gaps",
     (report_section *const[]){section_evidence, section_phase_verdicts, section_arithmetic,
                               section_ceilings, section_quality, NULL}},
    {"tables", "Tables",
     (report_section *const[]){section_resources, section_job, section_peaks, section_loads,
                               section_filesystems, section_alerts, NULL}},
};

static const char *title_of(const struct report *report, const struct part *part) {
    bool of_processes = strcmp(budget_owner(report), "process") == 0;
    return strcmp(part->id, "budget") == 0 && of_processes ? "Where each process's time went"
                                                           : part->title;
}

/* Pictures take as long as all else: they are drawn while the page is written. */
static void begin_pictures(const struct report *report, struct page *page) {
    int result = pictures_make(report, NULL, &page->pictures);
    page->error = page->error ? page->error : result;
    pictures_begin(&page->pictures);
}

static void put_page(const struct report *report, struct page *page) {
    begin_pictures(report, page);
    section_run(report, page);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        page_part(page, parts[i].id, title_of(report, &parts[i]));
        for (report_section *const *section = parts[i].sections; *section; section++)
            (*section)(report, page);
    }
    page_data(page, report);
}

static comparison_section *const of_comparison[] = {
    section_compared,        section_compared_groups,  section_compared_parts,
    section_compared_runs,   section_compared_hosts,   section_compared_tests,
    section_compared_curves, section_compared_details, section_compared_figures,
};

void sections_put_report(const struct report *report, struct page *page) {
    if (page_draws(page))
        put_page(report, page);
    else
        for (size_t i = 0; i < ARRAY_SIZE(of_report); i++)
            of_report[i](report, page);
}

void sections_put_alerts(const struct report *report, struct page *page) {
    run_put_head(report, page, 1);
    alerts_put(report, page, FOR_READERS | FOR_DOCUMENT | FOR_CSV);
}

void sections_put_details(const struct report *report, struct page *page) {
    for (size_t i = DETAILS_AT; i < ARRAY_SIZE(of_report); i++)
        of_report[i](report, page);
}

static const struct compared_part {
    const char *id, *title;
    comparison_section *section;
} compared_parts[] = {
    {"times", "Run times", section_compared_times},
    {"limits", "Limits of each", section_compared_groups},
    {"differences", "Differences", section_compared_tests},
    {"runs", "The runs as a whole", section_compared_runs},
    {"hosts", "Host by host", section_compared_hosts},
    {"progress", "Progress", section_compared_curves},
    {"all", "All of each", section_compared_details},
};

static void put_compared_page(const struct comparison *comparison, struct page *page) {
    compared_put_head(comparison, page);
    for (size_t i = 0; i < ARRAY_SIZE(compared_parts); i++) {
        page_part(page, compared_parts[i].id, compared_parts[i].title);
        compared_parts[i].section(comparison, page);
    }
}

void sections_put_comparison(const struct comparison *comparison, struct page *page) {
    if (page_draws(page)) {
        put_compared_page(comparison, page);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(of_comparison); i++)
        of_comparison[i](comparison, page);
}

size_t section_number_column(struct report_table *table, const char *name, const char *unit) {
    return table_add_column(
        table, &(struct report_column){.kind = KIND_NUMBER, .name = name, .unit = unit});
}

void section_put_culprit(struct report_table *table, size_t row, size_t column, const char *process,
                         int64_t pid, int host) {
    if (!process)
        return;
    table_borrow(table, row, column, process);
    table_integer(table, row, column + 1, pid);
    table_integer(table, row, column + 2, host);
}
