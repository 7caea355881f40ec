/* SPDX-License-Identifier: MIT */
/* Writes gnuplot scripts, for all plots. No other file knows gnuplot's language; draw.c runs it. */
#ifndef CHOKEPOINT_REPORTS_GNUPLOT_H
#define CHOKEPOINT_REPORTS_GNUPLOT_H

#include <stdio.h>
#include <sys/types.h>

#include "reports/model/model.h"

/* A gnuplot process that draws a picture. */
struct plot_running {
    pid_t pid;   /* 0: none */
    int picture; /* the file in memory that it writes to */
};

/* The script of one plot. Variables set before it give its position: `bottom` and `part`, of the
 * height of the canvas, and `px(y)`, the screen position of a point y pixels below the upper edge
 * of the plot.
 */
struct plot {
    char *script; /* owned */
    size_t size;
    int height, held; /* in pixels; held: left of its axis */
    char *title;      /* owned; NULL: none */
    const char *name; /* static; of pictures.c; NULL: none */
    struct plot_running running;
};

struct script {
    FILE *file; /* the script is written here */
    char *text;
    size_t size;
    int height, held; /* as in the plot */
};

/* Begins the script of a plot with that height in pixels, in the common look. -ENOMEM. */
int script_open(struct script *script, int height);

/* Ends it: the plot (plot_free()), or NULL with errno ENOMEM. */
struct plot *script_close(struct script *script);

/* NULL with errno ENODATA. */
struct plot *script_no_data(void);

/* The colour of the i-th line or bar of a picture: ten colours without a meaning, then the same
 * again.
 */
const char *script_colour(size_t i);

/* Writes a string so that gnuplot interprets no part of it. */
void script_put_string(FILE *out, const char *text);

/* Writes such a string of a text cut to that many characters; a longer one ends with dots. */
void script_put_short(FILE *out, const char *text, size_t characters);

/* Shades the phases of the run; their names go into the top margin, up to `right` (of the width),
 * and are cleared again for the panels that follow.
 */
void script_put_phases(FILE *out, const struct report *report);
void script_put_phase_words(FILE *out, const struct report *report, double right);
void script_clear_phase_words(FILE *out);

/* Writes a series as here-document $name, thinned; a gap becomes an empty line, which interrupts
 * the curve.
 */
void script_put_series(FILE *out, const char *name, const struct report_series *series,
                       double end_s);

/* The end of the time axis, never 0. */
double report_end_s(const struct report *report);

/* The next of 1, 2, 3, 4, 5, 6, 8, 10 times a power of ten, half of which is also a short number.
 * value > 0.
 */
double axis_round_up(double value);

#endif
