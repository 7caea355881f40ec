/* SPDX-License-Identifier: MIT */
/*
 * Time budgets in words and tables. A term appears where it is at least half a percent somewhere;
 * what cannot be seen is said, not shown as nothing.
 */
#ifndef CHOKEPOINT_REPORTS_BUDGET_TEXT_H
#define CHOKEPOINT_REPORTS_BUDGET_TEXT_H

#include <stdio.h>

#include "reports/model/model.h"

/* Budgets of one phase: the entries [*ret_first, *ret_first + n) of report->budget. Returns n. */
size_t budget_of_phase(const struct report *report, size_t phase, size_t *ret_first);

/* Whether a term is worth a column among these. */
bool budget_term_shown(const struct report_budget *budgets, size_t n, enum budget_term term);

/* "rank 3 on vm2", "train[123] on vm2". */
void budget_whose(const struct report *report, const struct report_budget *budget, char *text,
                  size_t size);

/* What it rests on: "calls" one by one, "totals" of them, or the "kernel" alone. */
const char *budget_source_words(const struct report_budget *budget);

/* For the screen: a bar for each rank, or the mean and the extremes; at most BUDGET_LINES_MAX
 * lines. Returns how many (or would be written, with out NULL). */
#define BUDGET_LINES_MAX 4
size_t budget_put_bars(FILE *out, const struct report *report);

/* What the letters of those bars stand for, in two lines at most; nothing where there are no bars.
 * Returns lines. */
size_t budget_put_legend(FILE *out, const struct report *report);

/* A table for the whole run and one for the main phase. */
void text_put_budget(FILE *out, const struct report *report);
void md_put_budget(FILE *out, const struct report *report);
void html_put_budget(FILE *out, const struct report *report);

/* Stacked bars, one a rank, of the main phase. SVG as in plot.h. */
#define BUDGET_BARS_MAX 64
char *plot_budget(const struct report *report);

/* A panel a rank, a stacked bar an iteration of the main phase, of the first ranks that have any.
 */
#define BUDGET_PANELS_MAX 8
char *plot_budget_iterations(const struct report *report);

/* The colour of a term in all plots: "#4d9221". */
const char *budget_term_colour(enum budget_term term);

#endif
