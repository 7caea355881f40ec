/* SPDX-License-Identifier: MIT */
#include "reports/sections/sections.h"

#include "common/error.h"

/* The first DETAILS_AT are what a reader must know. */
static report_section *const of_report[] = {
    section_run,         section_phases,     section_verdict,    section_phase_verdicts,
    section_ranking,     section_stragglers, section_budget,     section_critical_path,
    section_efficiency,  section_resources,  section_job,        section_peaks,
    section_roles,       section_pairs,      section_arithmetic, section_iterations,
    section_operators,   section_pictures,   section_processes,  section_loads,
    section_filesystems, section_exports,    section_alerts,     section_ceilings,
    section_quality,     section_figures,
};
#define DETAILS_AT 5

static comparison_section *const of_comparison[] = {
    section_compared,        section_compared_groups,  section_compared_parts,
    section_compared_runs,   section_compared_hosts,   section_compared_tests,
    section_compared_curves, section_compared_details, section_compared_figures,
};

void sections_put_report(const struct report *report, struct page *page) {
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

void sections_put_comparison(const struct comparison *comparison, struct page *page) {
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
