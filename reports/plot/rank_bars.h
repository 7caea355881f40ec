/* SPDX-License-Identifier: MIT */
/* The budgets of the main phase that have a bar each, and the terms that are shown in them. */
#ifndef CHOKEPOINT_REPORTS_RANK_BARS_H
#define CHOKEPOINT_REPORTS_RANK_BARS_H

#include "reports/plot/plot.h"

struct rank_bars {
    const struct report_budget *items[BUDGET_BARS_MAX]; /* owned by the report */
    size_t n;
    enum budget_term terms[BUDGET_TERMS];
    size_t n_terms;
};

/* n is 0 if no budget is known. */
struct rank_bars rank_bars_of(const struct report *report);

/* The share of a bar that the term takes, 0 to 1; 0 if it is not known. */
double rank_bar_share(const struct report_budget *bar, enum budget_term term);

/* "Share of the wall time of training, by rank"; the caller frees it. NULL: no memory. */
char *rank_bars_title(const struct report *report);

#endif
