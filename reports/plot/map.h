/* SPDX-License-Identifier: MIT */
/* Full resources over time: hosts and their resources over time, as SVG that the page's style
 * colours. */
#ifndef CHOKEPOINT_REPORTS_MAP_H
#define CHOKEPOINT_REPORTS_MAP_H

#include "reports/facts/levels.h"
#include "reports/model/model.h"

#define MAP_FULL .9      /* of what a resource can do */
#define MAP_HOSTS_MAX 24 /* more have a row each, of the resource that is fullest */

struct map_drawing {
    char *svg, *finding; /* owned; free both */
    bool limited;        /* a row is of what a control group may use */
};

/* -ENODATA: nothing was recorded. -ENOMEM. */
int map_draw(const struct report *report, const struct limit_levels *levels,
             struct map_drawing *ret_drawing);

/* Into values[n] how full a resource (0: CPU, 1: fullest core, ...) of a host was, 1: full; NAN:
 * not known. For tests. */
void map_fill(const struct report *report, size_t host, size_t resource, double *values, size_t n);

#endif
