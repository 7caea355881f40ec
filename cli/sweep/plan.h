/* SPDX-License-Identifier: MIT */
/*
 * The runs of a sweep that are still to be made, and their duration. Cells take turns (A B C A B
 * C), so that a change on the hosts affects all cells alike.
 */
#ifndef CHOKEPOINT_CLI_SWEEP_PLAN_H
#define CHOKEPOINT_CLI_SWEEP_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct sweep_step {
    size_t cell;
    int repeat; /* from 1 */
};

/* made[cell]: finished runs of the cell. steps: room for cells * repeats. Returns their number. */
size_t plan_steps(const size_t *made, size_t n_cells, int repeats, struct sweep_step *steps);

/* Time of the runs so far, with starting and storing; at most INT64_MAX. */
struct sweep_pace {
    int64_t sum_ns;
    size_t n;
};

/* Adds a run of at least 0 ns. */
void plan_take(struct sweep_pace *pace, int64_t took_ns);

/* Time that the steps will take: as the cell's runs so far, else as the runs of all cells. -1: no
 * cell has run yet. pace[cell]. */
int64_t plan_left_ns(const struct sweep_step *steps, size_t n_steps, const struct sweep_pace *pace,
                     size_t n_cells);

#endif
