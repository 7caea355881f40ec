/* SPDX-License-Identifier: MIT */
/* A text as a field of a CSV file. */
#ifndef CHOKEPOINT_REPORTS_CSV_H
#define CHOKEPOINT_REPORTS_CSV_H

#include <stdio.h>

/* In quotes, in one line; text that a spreadsheet would take for a formula gets an apostrophe in
 * front.
 */
void csv_put_text(FILE *out, const char *text);

#endif
