/* SPDX-License-Identifier: MIT */
/*
 * Plots as gnuplot draws them; plot.c is the only file that knows it. Each function returns an SVG
 * document (free() it), or NULL with errno: ENOENT when gnuplot is not installed, ENODATA when the
 * report has nothing to draw, EIO when gnuplot failed.
 */
#ifndef CHOKEPOINT_REPORTS_PLOT_H
#define CHOKEPOINT_REPORTS_PLOT_H

#include <stdbool.h>

#include "reports/model/model.h"

enum plot_resource {
    PLOT_CPU,      /* user, system, iowait, steal: stacked, of all cores */
    PLOT_NETWORK,  /* send and receive */
    PLOT_MEMORY,   /* used, and the job's */
    PLOT_DISK,     /* read and write */
    PLOT_PRESSURE, /* PSI of CPU, memory, I/O */
    PLOT_RESOURCE_COUNT_
};

const char *plot_resource_title(enum plot_resource resource);

/* F2: one panel a host over a common time axis, phases shaded. Beyond PLOT_HOSTS_MAX hosts the
 * panels give way to a heat map host by time of the resource's sum. */
#define PLOT_HOSTS_MAX 12
char *plot_resource(const struct report *report, enum plot_resource resource);

/* F2: how busy each core of a host was: a heat map core by time. */
char *plot_cores(const struct report *report, size_t host);

/* F2: what the connections between two hosts carried, for the pairs of hosts that moved most. */
char *plot_routes(const struct report *report);

/* F3: duration of each iteration by rank. */
char *plot_iterations(const struct report *report);

/* T8: one iteration, a line a rank, a bar each time an operator ran. */
char *plot_timeline(const struct report *report);

/* F1: the marked value of that name, a curve a run, against time, against the iterations of the
 * rank that marked it, or against the updates of the model, which count the same in all modes.
 * titles: of the curves; NULL: the names of the runs. */
enum plot_axis { PLOT_TIME, PLOT_ITERATION, PLOT_UPDATES };
char *plot_curve(const struct report *const *reports, const char *const *titles, size_t n,
                 const char *name, enum plot_axis axis);

/* The same of one run against time: a curve for each rank that marked it more than once, the first
 * PLOT_MARKED_MAX; and how many ranks did. */
#define PLOT_MARKED_MAX 12
char *plot_marked(const struct report *report, const char *name);
size_t plot_marked_count(const struct report *report, const char *name);

/* Stacked bars, one a rank, of the main phase. SVG as in plot.h. */
#define BUDGET_BARS_MAX 64
char *plot_budget(const struct report *report);

/* A panel a rank, a stacked bar an iteration of the main phase, of the first ranks that have any.
 */
#define BUDGET_PANELS_MAX 8
char *plot_budget_iterations(const struct report *report);

/* The colour of a term in all plots: "#4d9221". */
const char *budget_term_colour(enum budget_term term);

#endif
