/* SPDX-License-Identifier: MIT */
/* Time budgets on a screen, a bar of letters a rank. */
#ifndef CHOKEPOINT_REPORTS_BUDGET_BARS_H
#define CHOKEPOINT_REPORTS_BUDGET_BARS_H

#include <stdio.h>

#include "reports/text/budget_rows.h"

/* The letter of a term in a bar. */
char budget_letter(enum budget_term term);

/* Writes a bar for each row of budget_rows_make(). Returns the number of lines, even if out is
 * NULL.
 */
size_t budget_put_bars(FILE *out, const struct report *report);

/* Writes the legend of those letters in at most two lines; nothing if there are no bars. Returns
 * the number of lines. */
size_t budget_put_legend(FILE *out, const struct report *report);

#endif
