/* SPDX-License-Identifier: MIT */
/* Series thinned to the resolution of a picture. */
#ifndef CHOKEPOINT_REPORTS_THIN_H
#define CHOKEPOINT_REPORTS_THIN_H

#include "reports/model/model.h"

struct thin_point {
    size_t bin;
    double t_s, value; /* NAN: a gap */
};

/* The lowest and the highest value of each of so many bins over the run, in the order in which they
 * came, rather than means: a burst of one sample stays visible. Into ret_points, which has room for
 * all of the series; returns how many. */
size_t series_thin(const struct report_series *series, double end_s, size_t bins,
                   struct thin_point *ret_points);

#endif
