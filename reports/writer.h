/* SPDX-License-Identifier: MIT */
/*
 * The writers: one a format, each a plain function from models to a stream. They compute nothing.
 * Negative errno when the stream fails.
 */
#ifndef CHOKEPOINT_REPORTS_WRITER_H
#define CHOKEPOINT_REPORTS_WRITER_H

#include <stdio.h>

#include "reports/model/model.h"

struct comparison;

struct report_format {
    const char *name; /* text md html csv json */
    int (*report)(const struct report *report, FILE *out);
    int (*comparison)(const struct comparison *comparison, FILE *out);
};

extern const struct report_format report_text, report_md, report_html, report_csv, report_json;

/* NULL if there is no such format. */
const struct report_format *report_find_format(const char *name);

/* The verdict on one screen, as `run` prints it at its end. colour: whether out is a terminal that
 * wants it. */
int report_write_screen(const struct report *report, bool colour, FILE *out);

#endif
