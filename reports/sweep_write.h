/* SPDX-License-Identifier: MIT */
/* Sweeps written, one after the other: a function a format. Negative errno when the stream fails.
 */
#ifndef CHOKEPOINT_REPORTS_SWEEP_WRITE_H
#define CHOKEPOINT_REPORTS_SWEEP_WRITE_H

#include <stdio.h>

#include "reports/sweep_tables.h"

struct sweep_section {
    const char *title;
    const char *words; /* what a reader should know, in plain text; NULL */
    const struct sweep *sweep;
    const struct sweep_tables *tables;
};

typedef int sweep_writer(const struct sweep_section *sections, size_t n, FILE *out);

sweep_writer sweep_write_text, sweep_write_md, sweep_write_html, sweep_write_csv, sweep_write_json;

/* text md html csv json; NULL for anything else. */
sweep_writer *sweep_find_writer(const char *format);

/* "5 of 6 runs ended well, 1 failed; figures are medians ..." */
void sweep_describe_runs(const struct sweep *sweep, char *text, size_t size);

/* A measure by the first two parameters as a picture: an SVG document (free() it), or NULL with
 * errno as plot.h says. */
char *sweep_plot(const struct sweep *sweep, size_t measure);

#endif
