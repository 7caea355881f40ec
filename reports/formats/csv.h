/* SPDX-License-Identifier: MIT */
/* A text as a field of a CSV file. */
#ifndef CHOKEPOINT_REPORTS_CSV_H
#define CHOKEPOINT_REPORTS_CSV_H

#include <stdio.h>

/* Writes the text in quotes, on one line; text that a spreadsheet would take for a formula gets a
 * leading apostrophe.
 */
void csv_put_text(FILE *out, const char *text);

#endif
