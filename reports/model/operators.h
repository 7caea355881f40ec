/* SPDX-License-Identifier: MIT */
/* T8 in each format; nothing where a program marks no operators. */
#ifndef CHOKEPOINT_REPORTS_OPERATORS_H
#define CHOKEPOINT_REPORTS_OPERATORS_H

#include <stdio.h>

#include "reports/model/model.h"

/* "Timeline of iteration 17 of rank 0, the one of median length (19.9 ms)"; not escaped. "" where
 * there is none. */
void operators_timeline_title(const struct report *report, char *text, size_t size);

/* Whether roles tell operators apart. */
bool operators_have_roles(const struct report *report);

void text_put_operators(FILE *out, const struct report *report);
void md_put_operators(FILE *out, const struct report *report);
void html_put_operators(FILE *out, const struct report *report);

/* Lines of the tidy table: host is the role, phase "iteration", metric "operator NAME". group: of
 * the run in a comparison, else "". */
void csv_put_operators(FILE *out, const struct report *report, const char *group);

#endif
