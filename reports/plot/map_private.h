/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_MAP_PRIVATE_H
#define CHOKEPOINT_REPORTS_MAP_PRIVATE_H

#include <math.h>
#include <stdio.h>

#include "reports/plot/map.h"

#define MAP_BINS_MAX 160

enum { MAP_CPU, MAP_CORE, MAP_NETWORK, MAP_DISK, MAP_MEMORY, MAP_RESOURCES };

#define MAP_LEVELS 4 /* levels: nothing, some, half, most; then full */

/* limited: the words if a control group may use only a part of it. */
extern const struct map_resource {
    const char *class, *words, *name, *limited;
} map_resources[MAP_RESOURCES];

struct map {
    const struct report *report;
    const struct limit_levels *levels;
    FILE *out;
    size_t bins;
    double *values;   /* [(host * MAP_RESOURCES + resource) * bins + bin] */
    double *machines; /* [host * bins + bin], of the machine with the number host + 1 */
    double y;         /* top of the next row */
};

static inline const double *map_row(const struct map *m, size_t host, size_t resource) {
    return m->values + (host * MAP_RESOURCES + resource) * m->bins;
}

/* The first of a machine's hosts stands for the machine. */
static inline bool map_begins_machine(const struct report *report, size_t host) {
    return report->hosts[host].machine == host + 1;
}

/* 0: not worth a mark, or not known; MAP_LEVELS: full. */
static inline int map_level(double value) {
    return isnan(value)        ? 0
           : value >= MAP_FULL ? MAP_LEVELS
           : value >= .6       ? 3
           : value >= .3       ? 2
           : value >= .1       ? 1
                               : 0;
}

/* The share that a host used of what its control groups may use; NULL if they may use everything.
 */
const struct report_series *map_allowance(const struct report *report, size_t host,
                                          size_t resource);

static inline const char *map_words(const struct report *report, size_t host, size_t resource) {
    return map_allowance(report, host, resource) ? map_resources[resource].limited
                                                 : map_resources[resource].words;
}

/* "CPU", "fullest core", "CPU quota" */
static inline const char *map_name(const struct report *report, size_t host, size_t resource) {
    return map_allowance(report, host, resource) ? map_resources[resource].limited
                                                 : map_resources[resource].name;
}

/* The resource of the verdict's limit; MAP_RESOURCES if it is none of these, or has no host. */
size_t map_limit(const struct map *map);

/* Owned; NULL: no memory. */
char *map_finding(const struct map *map);

/* Fills in the CPU of a machine whose cores several hosts share. */
void map_fill_machine(const struct report *report, size_t machine, double *values, size_t n);

#endif
