/* SPDX-License-Identifier: MIT */
/* Reads what store_budget_replace() stored: the sums of a phase. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_BUDGET_READ_H
#define CHOKEPOINT_COLLECTOR_STORE_BUDGET_READ_H

#include "collector/store.h"

struct store_budget_sum {
    char *host, *process, *phase;                 /* owned */
    int64_t wall_ns, term_ns[STORE_BUDGET_TERMS]; /* VALUE_ABSENT: not known */
};

/* None if the file has no budgets of the run. */
int store_list_budget_sums(struct store *store, int64_t run, struct store_budget_sum **ret_sums,
                           size_t *ret_n);
void store_budget_sums_free(struct store_budget_sum *sums, size_t n);

#endif
