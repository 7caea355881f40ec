/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_MAP_PRIVATE_H
#define CHOKEPOINT_REPORTS_MAP_PRIVATE_H

#include <math.h>
#include <stdio.h>

#include "reports/plot/map.h"

#define MAP_BINS_MAX 160
#define MAP_GPUS_MAX 16 /* rows of a host; with more, one row shows the mean of its GPUs */

/* MAP_GPU and what follows: a row a GPU. */
enum { MAP_CPU, MAP_CORE, MAP_NETWORK, MAP_DISK, MAP_MEMORY, MAP_RESOURCES, MAP_GPU = 5 };
_Static_assert((int)MAP_GPU == (int)MAP_RESOURCES, "GPUs come after what each host has");
#define MAP_NONE SIZE_MAX

#define MAP_LEVELS 4 /* levels: nothing, some, half, most; then full */

/* limited: the words if a control group may use only a part of it; plot: the name of its plot. */
extern const struct map_resource {
    const char *class, *words, *name, *limited, *plot;
} map_resources[MAP_RESOURCES + 1];

/* The entry of a row: all GPUs have one. */
static inline const struct map_resource *map_resource(size_t row) {
    return &map_resources[row < MAP_GPU ? row : MAP_GPU];
}

struct map {
    const struct report *report;
    const struct limit_levels *levels;
    FILE *out;
    size_t bins, rows; /* rows: of the host with most */
    double *values;    /* [(host * rows + row) * bins + bin] */
    double *machines;  /* [host * bins + bin], of the machine with the number host + 1 */
    double y;          /* top of the next row */
};

static inline const double *map_row(const struct map *m, size_t host, size_t resource) {
    return m->values + (host * m->rows + resource) * m->bins;
}

/* Rows of the host: what all have, and its GPUs. */
static inline size_t map_rows(const struct report *report, size_t host) {
    size_t n = report->series[host].n_gpus;
    return MAP_RESOURCES + (n > MAP_GPUS_MAX ? 1 : n);
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

/* One GPU of several has its own name. */
static inline const char *map_name_of(const struct report *report, size_t host, size_t row,
                                      bool full) {
    const struct report_host_series *of = &report->series[host];
    if (row >= MAP_GPU && of->n_gpus > 1 && of->n_gpus <= MAP_GPUS_MAX)
        return of->gpus[row - MAP_GPU].label;
    return full ? map_resource(row)->name : map_resource(row)->words;
}

static inline const char *map_words(const struct report *report, size_t host, size_t resource) {
    return map_allowance(report, host, resource) ? map_resource(resource)->limited
                                                 : map_name_of(report, host, resource, false);
}

/* "CPU", "fullest core", "CPU quota" */
static inline const char *map_name(const struct report *report, size_t host, size_t resource) {
    return map_allowance(report, host, resource) ? map_resource(resource)->limited
                                                 : map_name_of(report, host, resource, true);
}

/* The row of the verdict's limit; MAP_NONE if it is none of these, or has no host. */
size_t map_limit(const struct map *map);

/* How full a resource was, over all samples with a known value: n of them. */
struct map_use {
    double full, mean; /* full: the share of samples that were; mean: NAN if nothing is known */
    size_t n;
};

struct map_use map_use_of(const struct report *report, size_t host, size_t resource);
/* Takes the n values of a machine, whose hosts have samples of different times. */
struct map_use map_use_of_values(const double *values, size_t n);

/* Owned; NULL: no memory. */
char *map_finding(const struct map *map);

/* Fills in the CPU of a machine whose cores several hosts share. */
void map_fill_machine(const struct report *report, size_t machine, double *values, size_t n);

#endif
