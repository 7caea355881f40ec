/* SPDX-License-Identifier: MIT */
/* Pieces of text that the report, the screen, Markdown and comparisons share. */
#ifndef CHOKEPOINT_REPORTS_TEXT_H
#define CHOKEPOINT_REPORTS_TEXT_H

#include <stdio.h>

#include "reports/comparison/comparison.h"

/* Run, when, how long, how it ended; the command. */
void text_put_head(FILE *out, const struct report *report);
void text_put_verdict(FILE *out, const struct report *report);
void text_put_list(FILE *out, const char *label, char *const *items, size_t n);

void text_put_heading(FILE *out, const char *text);
/* Everything below the tables of resources. */
void text_put_details(FILE *out, const struct report *report);

/* How many lines of P1 are worth showing, and what stands over them: whether the rate they are made
 * with looks like a limit. */
size_t text_arithmetic_shown(const struct report *report);
const char *text_arithmetic_heading(const struct report *report);

/* Where iterations come from that the program did not mark: ", found in ...", else "". */
const char *text_iterations_found(const struct report *report);

/* P1 as a sentence; not escaped. */
void text_arithmetic(const struct report *report, const struct report_arithmetic *a, char *text,
                     size_t size);

/* A1: "2019-10-11 19:51:40 (0:00:04) CRITICAL on CPU_SYSTEM (90.6) vm1"; not escaped. */
void text_alert(const struct report *report, const struct report_alert *alert, char *text,
                size_t size);

int text_write_comparison(const struct comparison *comparison, FILE *out);

#endif
