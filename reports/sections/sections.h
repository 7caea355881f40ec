/* SPDX-License-Identifier: MIT */
/*
 * The sections of each kind of report, in their order: a new section is one file and one line of
 * sections.def, or of compared_sections.c if it belongs to a comparison. A section gives all
 * content for readers and programs; the page takes what its format can show.
 */
#ifndef CHOKEPOINT_REPORTS_SECTIONS_H
#define CHOKEPOINT_REPORTS_SECTIONS_H

#include "reports/comparison/comparison.h"
#include "reports/sections/page.h"

typedef void report_section(const struct report *report, struct page *page);
typedef void comparison_section(const struct comparison *comparison, struct page *page);

#define SECTION(name, part, place) extern report_section section_##name;
#define SECTION_HEAD SECTION
#define SECTION_PAGE SECTION
#include "reports/sections/sections.def"
#undef SECTION
#undef SECTION_HEAD
#undef SECTION_PAGE

extern comparison_section section_compared, section_compared_groups, section_compared_parts,
    section_compared_runs, section_compared_hosts, section_compared_tests, section_compared_curves,
    section_compared_details, section_compared_figures, section_compared_times;

void sections_put_report(const struct report *report, struct page *page);
/* Writes only the run's name and its alerts. */
void sections_put_alerts(const struct report *report, struct page *page);
/* Writes the report below the verdict. */
void sections_put_details(const struct report *report, struct page *page);
void sections_put_comparison(const struct comparison *comparison, struct page *page);

/* ---- what sections share ---- */

/* Adds the pictures of these names (pictures.h), each with its finding, if the format has
 * pictures. */
void section_put_pictures(const struct report *report, struct page *page, const char *names);
/* Bars of where the time of each rank went: a part of "budget" on a page. */
void section_put_rank_bars(const struct report *report, struct page *page);
/* Sentences about the peers for which ranks waited and about what held up their data: a part of
 * "budget". */
void section_budget_said(const struct report *report, struct page *page);

/* One sentence on the main phase, if calls or clocks tell which process waited for which; its names
 * come from outside. Owned by the caller; NULL: nothing to say, or no memory. */
char *critical_sentence(const struct report *report);

/* Writes the parts of the head for readers. level: of the heading. */
void run_put_head(const struct report *report, struct page *page, int level);
void verdict_put(const struct report *report, struct page *page);

/* Changes that the user asked for; a part of "changes". */
struct changes;
void changes_put(const struct changes *changes, const struct report *report, struct page *page);

/* Writes the alert log for an audience (bits). */
void alerts_put(const struct report *report, struct page *page, unsigned audience);

/* Columns of a culprit: fills cells column, column + 1 and column + 2 if there is one. */
#define CULPRIT_COLUMNS                                                                            \
    {KIND_TEXT, "culprit" INTO_OR_NULL "process", NULL, NULL, COMPUTED},                           \
        {KIND_COUNT, "culprit" INTO_OR_NULL "pid", NULL, NULL, COMPUTED}, {                        \
        KIND_HOST, "culprit" INTO_OR_NULL "host", NULL, NULL                                       \
    }
void section_put_culprit(struct report_table *table, size_t row, size_t column, const char *process,
                         int64_t pid, int host);

/* Makes the table of hosts, with what was recorded of each. */
void section_hosts_table(struct report_table *table, const char *id, const struct report *report);

/* Limits of all phases except the main one, "loading (12.0 s): ...; ...": for the screen, whose
 * verdict covers the main phase. Owned by the caller; NULL: nothing to say, or no memory. */
char *phase_verdicts_beside(const struct report *report);

/* Measured limits of hosts and links: tables for readers, and all figures for programs. */
struct store_ceiling;
void ceilings_put(struct page *page, const struct store_ceiling *ceilings, size_t n);
void ceilings_put_document(struct page *page, const struct store_ceiling *ceilings, size_t n);

/* The predicted time of a run for each scenario. */
struct prediction;
void prediction_put(const struct prediction *prediction, struct page *page);

/* A sweep, with its tables and pictures. */
struct sweep_section;
/* The sweep's title, or its name. */
const char *sweep_title(const struct sweep_section *section);
void sweep_put(const struct sweep_section *section, struct page *page);

/* The tidy table of one run: measured values by host and phase. */
void figures_init(struct report_table *table);
void figures_add(struct report_table *table, const struct report *report, const char *group);

#endif
