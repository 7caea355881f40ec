/* SPDX-License-Identifier: MIT */
/* The lines in the pictures of resources, for gnuplot and for the page's script. */
#ifndef CHOKEPOINT_REPORTS_RESOURCE_H
#define CHOKEPOINT_REPORTS_RESOURCE_H

#include "reports/plot/plot.h"

struct resource_line {
    enum metric metric;
    const char *label, *colour;
};

#define RESOURCE_LINES_MAX 4

struct resource_plot {
    const char *name; /* the name in `chokepoint report --plot` */
    const char *title, *unit;
    bool stacked;
    double top; /* upper end of the y axis; 0: the highest value of all hosts */
    struct resource_line lines[RESOURCE_LINES_MAX];
    size_t n;
    bool apart; /* lines are no parts of a sum: of many hosts, only the first is shown */
};

extern const struct resource_plot resource_plots[PLOT_RESOURCE_COUNT_];

#endif
