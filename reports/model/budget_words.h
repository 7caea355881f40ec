/* SPDX-License-Identifier: MIT */
/* Choice of the budgets in a report, and words for their owners. */
#ifndef CHOKEPOINT_REPORTS_BUDGET_WORDS_H
#define CHOKEPOINT_REPORTS_BUDGET_WORDS_H

#include "reports/model/model.h"

/* Budgets of one phase: the entries [*ret_first, *ret_first + n) of report->budget. Returns n. */
size_t budget_of_phase(const struct report *report, size_t phase, size_t *ret_first);

/* A term is worth a column if it is at least this share of the wall time in one of the budgets. */
#define BUDGET_SHOWN_MIN 0.005
bool budget_term_shown(const struct report_budget *budgets, size_t n, enum budget_term term);

/* "rank 3 on vm2", "train[123] on vm2". */
void budget_whose(const struct report *report, const struct report_budget *budget, char *text,
                  size_t size);

/* "rank", or "process" if the program has no ranks. */
const char *budget_owner(const struct report *report);

/* "phase " for the name of a main phase that the program did not mark; else "". */
const char *budget_phase_before(const struct report *report);
/* The source of a budget: single "calls", "wait clocks", "totals" of calls, or the "kernel". */
const char *budget_source_words(const struct report_budget *budget);

#endif
