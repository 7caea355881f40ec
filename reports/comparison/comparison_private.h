/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_COMPARISON_PRIVATE_H
#define CHOKEPOINT_REPORTS_COMPARISON_PRIVATE_H

#include "reports/comparison/comparison.h"
#include "reports/says/text_list.h"

/* The steps of comparison_build. All return -ENOMEM. */
/* group_of NULL: by name. */
int comparison_fill_groups(struct comparison *c, const size_t *group_of, size_t baseline);
int comparison_fill_rows(struct comparison *c);
/* Room for the values of a row with a label. */
int comparison_init_row(struct comparison_row *row, const struct comparison *c);
/* A row without known values is not kept: then NULL, with *ret_error 0. */
struct comparison_row *comparison_add_row(struct comparison *c, struct comparison_row **rows,
                                          size_t *n, const struct comparison_row *row,
                                          const double *values, int *ret_error);
/* Index of the host with that name; -1 if there is none. */
int comparison_find_host(const struct report *report, const char *name);
/* Accuracy and similar values at equal time and at equal updates. */
int comparison_fill_progress(struct comparison *c);
int comparison_fill_commands(struct comparison *c);
/* "`-O3` instead of `-O2`; `-v` added": the words of a command that differ. Owned; NULL: no memory.
 */
char *comparison_say_command(const char *base, const char *is);
int comparison_judge(struct comparison *c);
int comparison_explain(struct comparison *c);
int comparison_fill_notes(struct comparison *c, struct text_list *notes);

#endif
