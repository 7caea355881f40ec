/* SPDX-License-Identifier: MIT */
/* Time budgets on a screen, a bar of letters a rank. */
#ifndef CHOKEPOINT_REPORTS_BUDGET_BARS_H
#define CHOKEPOINT_REPORTS_BUDGET_BARS_H

#include <stdio.h>

#include "reports/model/model.h"

/* The letter for a term in a bar. */
char budget_letter(enum budget_term term);

/* A bar for each rank, or the mean and the extremes; at most BUDGET_LINES_MAX
 * lines. Returns how many (or would be written, with out NULL). */
#define BUDGET_LINES_MAX 4
size_t budget_put_bars(FILE *out, const struct report *report);

/* The legend of those letters, in two lines at most; nothing where there are no bars. Returns
 * lines. */
size_t budget_put_legend(FILE *out, const struct report *report);

#endif
