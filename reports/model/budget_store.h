/* SPDX-License-Identifier: MIT */
/* A report's budgets as rows of the database (table budget), for questions in SQL. */
#ifndef CHOKEPOINT_REPORTS_BUDGET_STORE_H
#define CHOKEPOINT_REPORTS_BUDGET_STORE_H

#include "reports/model/model.h"

/* Replaces the rows of the report's run. Negative errno: nothing was changed; store_error may say
 * why. */
int report_store_budget(const struct report *report, struct store *store);

#endif
