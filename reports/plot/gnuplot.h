/* SPDX-License-Identifier: MIT */
/* Writing scripts for gnuplot, for all plots. No other file knows gnuplot; draw.c runs it. */
#ifndef CHOKEPOINT_REPORTS_GNUPLOT_H
#define CHOKEPOINT_REPORTS_GNUPLOT_H

#include <stdio.h>
#include <sys/types.h>

#include "reports/model/model.h"

/* A gnuplot at work on a picture. */
struct plot_running {
    pid_t pid;   /* 0: none */
    int picture; /* the file in memory that it writes */
};

/* The script of one plot. It draws where the variables that stand before it say: `bottom` and
 * `part`, of the height of the canvas, and `px(y)`, the place on the screen of a point that is y
 * pixels below the upper edge of the plot. */
struct plot {
    char *script; /* owned */
    size_t size;
    int height;       /* in pixels */
    char *title;      /* owned; NULL: none */
    const char *name; /* static; of pictures.c; NULL: none */
    struct plot_running running;
};

/* Waits for what was begun, and drops it. */
void plot_svg_drop(struct plot *plot);

struct script {
    FILE *file; /* write the script here */
    char *text;
    size_t size;
    int height;
};

/* Begins the script of a plot of that height in pixels, in the house's look. -ENOMEM. */
int script_open(struct script *script, int height);

/* Ends it: the plot (plot_free()), or NULL with errno ENOMEM. */
struct plot *script_close(struct script *script);

/* NULL with errno ENODATA. */
struct plot *script_no_data(void);

/* The colour of the i-th line or bar of a picture: as far apart as twelve can be, then again. */
const char *script_colour(size_t i);

/* A string no part of which gnuplot reads as anything else. */
void script_put_string(FILE *out, const char *text);

/* The same of a text of which so many characters are shown at most; a longer one ends with dots. */
void script_put_short(FILE *out, const char *text, size_t characters);

/* Shades the phases of the run; the words that name the shades go into the top margin as far as
 * `right` (of the width), and are cleared again for the panels that follow. */
void script_put_phases(FILE *out, const struct report *report);
void script_put_phase_words(FILE *out, const struct report *report, double right);
void script_clear_phase_words(FILE *out);

/* A series as here-document $name, thinned; a gap becomes an empty line, which lifts the pen. */
void script_put_series(FILE *out, const char *name, const struct report_series *series,
                       double end_s);

/* End of the time axis, never 0. */
double report_end_s(const struct report *report);

/* The next of 1, 2, 3, 4, 5, 6, 8, 10 times a power of ten, so that half of it reads well, too.
 * value > 0. */
double axis_round_up(double value);

#endif
