/* SPDX-License-Identifier: MIT */
/* Heat maps: rows of something over time, or a square of hosts. */
#ifndef CHOKEPOINT_REPORTS_HEAT_H
#define CHOKEPOINT_REPORTS_HEAT_H

#include "reports/plot/plot.h"

struct heat_map {
    size_t rows;
    const char *unit;
    double top;         /* upper end of the colour scale; 0: the highest value, rounded up */
    const char *colour; /* colour of the highest value */
    /* Adds a row's values to n values, evenly over the run; NAN where there is none. */
    void (*fill)(const struct report *report, size_t row, const void *ctx, double *values,
                 size_t n);
    const char *(*name)(const struct report *report, size_t row, const void *ctx);
    const void *ctx;
};

/* Rows over time, the first row at the top. The plot has no title. NULL with errno ENOMEM. */
struct plot *heat_plot(const struct report *report, const struct heat_map *map);

/* Hosts by hosts: values[from * n_hosts + to]; NAN where there is none. */
struct plot *heat_plot_square(const struct report *report, const double *values, const char *unit);

/* Adds the mean of each of n bins of a series to sums[]; NAN where a bin is empty. n at most
 * HEAT_BINS. */
#define HEAT_BINS 210
void series_add_bin_means(const struct report_series *series, double end_s, double *sums, size_t n);

#endif
