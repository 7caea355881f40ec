/* SPDX-License-Identifier: MIT */
/* The formats, and functions of single ones that others use. */
#ifndef CHOKEPOINT_REPORTS_FORMATS_H
#define CHOKEPOINT_REPORTS_FORMATS_H

#include "reports/sections/page.h"

extern const struct format format_text, format_md, format_html, format_csv, format_json;

/* NULL if there is no such format. */
const struct format *format_find(const char *name);

/* The rows of a table alone, for a screen laid out by hand. */
void text_put_table(FILE *out, const struct report_table *table, size_t indent);

#endif
