/* SPDX-License-Identifier: MIT */
/* Writing scripts for gnuplot and having them drawn: what the plots share. Nobody else knows it. */
#ifndef CHOKEPOINT_REPORTS_GNUPLOT_H
#define CHOKEPOINT_REPORTS_GNUPLOT_H

#include <stdio.h>

#include "reports/model/model.h"

struct script {
    FILE *file; /* write the script here */
    char *text;
    size_t size;
};

/* Begins a script for an SVG of that height in pixels, in the house's look. -ENOMEM. */
int script_open(struct script *script, int height);

/* Ends the script and has it drawn: an SVG document (free() it), or NULL with errno: ENOENT
 * without gnuplot, EIO when it failed. */
char *script_run(struct script *script);

/* NULL with errno ENODATA. */
char *script_no_data(void);

/* The colour of the i-th line or bar of a picture: as far apart as twelve can be, then again. */
const char *script_colour(size_t i);

/* A string no part of which gnuplot reads as anything else. */
void script_put_string(FILE *out, const char *text);

/* Shades the phases of the run; the words that name the shades go into the top margin, and are
 * cleared again for the panels that follow. */
void script_put_phases(FILE *out, const struct report *report);
void script_put_phase_words(FILE *out, const struct report *report);
void script_clear_phase_words(FILE *out);

/* A series as here-document $name, thinned; a gap becomes an empty line, which lifts the pen. */
void script_put_series(FILE *out, const char *name, const struct report_series *series,
                       double end_s);

#define HEAT_BINS 210

/* Adds the mean of each of n <= HEAT_BINS bins of a series to sums[]; NAN where a bin is empty. */
void series_add_bin_means(const struct report_series *series, double end_s, double *sums, size_t n);

/* End of the time axis, never 0. */
double report_end_s(const struct report *report);

#endif
