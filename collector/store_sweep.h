/* SPDX-License-Identifier: MIT */
/*
 * Sweeps in the store: a command with parameters, the values of each, and the runs of the sweep.
 * The values of a run (run_label) determine its cell, and not its position, so that values and
 * repeats can be added later.
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_SWEEP_H
#define CHOKEPOINT_COLLECTOR_STORE_SWEEP_H

#include "collector/store_read.h"

#define SWEEP_PARAMETERS_MAX 8
#define SWEEP_VALUES_MAX 1000 /* of one parameter */
#define SWEEP_TEXT_MAX 256    /* bytes of a name or value, with the NUL */

struct store_sweep_parameter {
    char *name;
    char **values;
    size_t n_values;
};

/* The caller owns the texts on writing, the sweep on reading. */
struct store_sweep {
    int64_t id;
    char *name, *command; /* the command with its placeholders */
    int repeats;          /* planned runs of each cell */
    struct store_sweep_parameter parameters[SWEEP_PARAMETERS_MAX];
    size_t n_parameters;
};

/* A run of a sweep, and the index of its value for each parameter. */
struct store_sweep_run {
    struct store_run run; /* owned */
    size_t value[SWEEP_PARAMETERS_MAX];
};

/* Creates the sweep, or adds new values and repeats to the one of that name. -EEXIST: that one has
 * another command or other parameters; -E2BIG beyond the limits above. sweep->id is not read. */
int store_sweep_join(struct store *store, const struct store_sweep *sweep, int64_t *ret_id);

/* The sweep of that name (NULL: the newest). -ENOENT. */
int store_find_sweep(struct store *store, const char *name, struct store_sweep *ret_sweep);
void store_sweep_release(struct store_sweep *sweep);

/* The sweep's runs, oldest first; runs whose labels are not values of the sweep are left out. */
int store_list_sweep_runs(struct store *store, const struct store_sweep *sweep,
                          struct store_sweep_run **ret_runs, size_t *ret_n);
void store_sweep_runs_free(struct store_sweep_run *runs, size_t n);

#endif
