/* SPDX-License-Identifier: MIT */
/*
 * Plots, and how they are drawn. Each function plot_NAME() returns a plot that is not drawn yet
 * (plot_free() it) and has a title, or NULL with errno: ENODATA if the report has nothing to draw,
 * ENOMEM. Functions that draw set ENOENT if gnuplot is not installed, and EIO if it failed.
 */
#ifndef CHOKEPOINT_REPORTS_PLOT_H
#define CHOKEPOINT_REPORTS_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/facts/iteration_budgets.h"
#include "reports/model/model.h"

struct plot;

/* NULL is fine. */
void plot_free(struct plot *plot);

/* The same plot with another title; NULL stays NULL, with errno unchanged. */
struct plot *plot_titled(struct plot *plot, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

const char *plot_title(const struct plot *plot);

/* Its kind of picture (pictures.h), or NULL. */
const char *plot_name(const struct plot *plot);

/* The pixels at its left, of 980, that name its rows or number its axis. */
int plot_held(const struct plot *plot);
#define PLOT_HELD 88        /* numbers of an axis and its unit */
#define PLOT_HELD_NAMES 167 /* names of rows: the left margin is 0.17 of the screen */

/* ---- drawing ---- */

/* The plot alone, without its title: an SVG document (free() it), or NULL with errno. If plot is
 * NULL, errno is unchanged.
 */
char *plot_svg(struct plot *plot);
/* Begins to draw it, for plot_svg() to take: plots that were begun are drawn at the same time. */
void plot_svg_begin(struct plot *plot);

enum plot_file {
    PLOT_FILE_SVG, /* one column */
    PLOT_FILE_PNG, /* one column */
    PLOT_FILE_PDF  /* pages */
};

#define PLOT_COLUMN_MAX 15000 /* pixels: viewers and cairo refuse pictures that are much taller */

/* The number of plots, from the first on, that one file of that kind holds: a column of at most
 * PLOT_COLUMN_MAX pixels, but at least one plot; pages hold all.
 */
size_t plots_that_fit(struct plot *const *plots, size_t n, enum plot_file kind);

/* Writes those that fit into one file, below one another, each under its title and all under the
 * heading. -ENOENT, -EIO, -ENOMEM.
 */
int plots_write(struct plot *const *plots, size_t n, const char *heading, enum plot_file kind,
                FILE *out);

/* ---- plots ---- */

enum plot_resource {
    PLOT_CPU,      /* user, system, iowait, steal: stacked, of all cores */
    PLOT_NETWORK,  /* send and receive */
    PLOT_MEMORY,   /* used, and the job's */
    PLOT_DISK,     /* read and write */
    PLOT_PRESSURE, /* PSI of CPU, memory, I/O */
    PLOT_GPU,      /* units of a host's GPUs, their mean */
    PLOT_GPU_LINK, /* to them and from them over PCIe */
    PLOT_GPU_MEMORY,
    PLOT_GPU_POWER,
    PLOT_RESOURCE_COUNT_
};

/* F2: a panel for each host over a common time axis, with shaded phases. With more than
 * PLOT_HOSTS_MAX hosts, a heat map of the resource's sum, host by time.
 */
#define PLOT_HOSTS_MAX 12
struct plot *plot_resource(const struct report *report, enum plot_resource resource);

/* F2: how full each GPU of all hosts was: a heat map, GPU by time. */
struct plot *plot_gpus(const struct report *report);

/* F2: how busy each core of a host was: a heat map, core by time. */
struct plot *plot_cores(const struct report *report, size_t host);

/* F2: traffic of the connections between two hosts, for all pairs: a line each. For more than
 * PLOT_ROUTE_LINES_MAX pairs, a heat map, pair by time; for more than PLOT_ROUTE_ROWS_MAX, one of
 * their means, sender by receiver.
 */
#define PLOT_ROUTE_LINES_MAX 12
#define PLOT_ROUTE_ROWS_MAX 64
struct plot *plot_routes(const struct report *report);

/* F3: duration of each iteration by rank. */
struct plot *plot_iterations(const struct report *report);

/* The budgets of the given iterations, a bar for each. */
struct plot *budget_iterations_drawn(const struct report *report, struct iteration_budgets its);

/* T8: one iteration, a line for each rank, a bar for each run of an operator. */
struct plot *plot_timeline(const struct report *report);

/* F1: the marked value with that name, a curve for each run, against time, against the iterations
 * of the rank that marked it, or against the updates of the model, which mean the same in all
 * modes. titles: of the curves; NULL: the names of the runs.
 */
enum plot_axis { PLOT_TIME, PLOT_ITERATION, PLOT_UPDATES };
struct plot *plot_curve(const struct report *const *reports, const char *const *titles, size_t n,
                        const char *name, enum plot_axis axis);

/* The marked value of one run: a curve for each rank that marked it more than once, at most
 * PLOT_MARKED_MAX; and how many ranks did.
 */
#define PLOT_MARKED_MAX 12
struct plot *plot_marked(const struct report *report, const char *name, enum plot_axis axis);
size_t plot_marked_count(const struct report *report, const char *name);

/* Stacked bars of the main phase, one for each rank. */
#define BUDGET_BARS_MAX 64
struct plot *plot_budget(const struct report *report);

/* A panel for each rank, with a stacked bar for each iteration of the main phase; only the first
 * ranks that have any.
 */
#define BUDGET_PANELS_MAX 8
struct plot *plot_budget_iterations(const struct report *report);

/* The name of the main phase; "the whole run" if there is none. Static or owned by the report. */
const char *budget_main_phase(const struct report *report);

/* The colour of a term in all plots: "#4d9221". */
const char *budget_term_colour(enum budget_term term);

#endif
