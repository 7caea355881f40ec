/* SPDX-License-Identifier: MIT */
/*
 * The rows of budgets under the verdict. Ranks are alike: each has a row, or their mean and the two
 * extremes. Processes without ranks are not: the one with most of the time that the verdict is
 * about comes first, processes of one program share a row if there are too many, and those that
 * hardly lived are one row.
 */
#ifndef CHOKEPOINT_REPORTS_BUDGET_ROWS_H
#define CHOKEPOINT_REPORTS_BUDGET_ROWS_H

#include "reports/model/model.h"

#define BUDGET_LINES_MAX 4

struct budget_row {
    char who[96];     /* "rank 3 vm2", "gzip[4711] vm1", "4 cc1 vm1", "3 more, 0.2 s" */
    bool brief;       /* it covers a moment of the phase */
    size_t processes; /* of which `budget` is the sum */
    struct report_budget budget;
};

/* The rows of the verdict's phase. width: columns of a name; a longer one loses its process number
 * first. Returns their number, at most BUDGET_LINES_MAX. */
size_t budget_rows_make(const struct report *report, size_t width,
                        struct budget_row rows[BUDGET_LINES_MAX]);

/* The share of a budget's wall time in a term; 0 where it is not known. */
double budget_row_share(const struct report_budget *budget, enum budget_term term);

#endif
