/* SPDX-License-Identifier: MIT */
/*
 * The writers: one a format, each a plain function from models to a stream. They compute nothing.
 * Negative errno when the stream fails.
 */
#ifndef CHOKEPOINT_REPORTS_WRITER_H
#define CHOKEPOINT_REPORTS_WRITER_H

#include <stdio.h>

#include "reports/model.h"

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

/* Plots, as gnuplot makes them (plot.c is the only file that knows gnuplot). Each returns an SVG
 * document, owned by the caller, or NULL with errno (ENOENT: gnuplot is not installed). */
char *plot_metric(const struct report *report, enum metric metric); /* F2: all hosts over time */
char *plot_cores(const struct report *report, size_t host);         /* F2: heat map core x time */
char *plot_iterations(const struct report *report);                 /* F3: by rank */
char *plot_curve(const struct report *const *reports, size_t n, const char *name,
                 bool against_time); /* F1: a curve a run */

#endif
