/* SPDX-License-Identifier: MIT */
/* Markdown (GitHub's tables): escaped pieces that reports and comparisons share. */
#ifndef CHOKEPOINT_REPORTS_MD_H
#define CHOKEPOINT_REPORTS_MD_H

#include <stdio.h>

#include "reports/comparison/comparison.h"

/* Text from outside: what Markdown or HTML would read as more than text is escaped. */
void md_put(FILE *out, const char *text);
/* "| text " */
void md_cell(FILE *out, const char *text);
void md_number(FILE *out, double value);
/* Ends a table's header line and draws the line under it; all columns but the first to the right.
 */
void md_header_end(FILE *out, size_t columns);
void md_list(FILE *out, const char *heading, char *const *items, size_t n);
void md_put_head(FILE *out, const struct report *report);
void md_put_verdict(FILE *out, const struct report *report);

int md_write_comparison(const struct comparison *comparison, FILE *out);

#endif
