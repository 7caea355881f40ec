/* SPDX-License-Identifier: MIT */
/* How full hosts' resources were over time, as SVG coloured by the page's style. */
#ifndef CHOKEPOINT_REPORTS_MAP_H
#define CHOKEPOINT_REPORTS_MAP_H

#include "reports/facts/levels.h"
#include "reports/model/model.h"

#define MAP_FULL .9      /* of a resource's capacity */
#define MAP_LEFT 150     /* pixels of 980: names of hosts and resources */
#define MAP_HOSTS_MAX 24 /* with more hosts, each has one row, for its fullest resource */

struct map_drawing {
    char *svg, *finding; /* owned; free both */
    bool limited;        /* a row shows what a control group may use */
};

/* -ENODATA: nothing was recorded. -ENOMEM. */
int map_draw(const struct report *report, const struct limit_levels *levels,
             struct map_drawing *ret_drawing);

/* Fills values[n] with how full a resource (0: CPU, 1: fullest core, ...) of a host was (1: full;
 * NAN: not known). For tests.
 */
void map_fill(const struct report *report, size_t host, size_t resource, double *values, size_t n);

#endif
