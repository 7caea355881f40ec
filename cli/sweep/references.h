/* SPDX-License-Identifier: MIT */
/*
 * The ready sweeps: each an experiment that somebody has published figures of, as data. A further
 * one is an entry of the list and nothing else.
 *
 * In a command {bin} is where our programs are, {data} the data it needs, {ranks} one rank a host,
 * {extent} how much of it there is; the word {mpirun} becomes mpirun and the hosts; all other names
 * are parameters of the sweep.
 */
#ifndef CHOKEPOINT_CLI_SWEEP_REFERENCES_H
#define CHOKEPOINT_CLI_SWEEP_REFERENCES_H

#include <stddef.h>

#include "reports/sweep/sweep_tables.h"

enum reference_size { REFERENCE_SHORT, REFERENCE_FULL, REFERENCE_SIZES };

struct reference_data {
    const char *name;
    const char *generate[REFERENCE_SIZES]; /* the words that make it, {out} and {bin} in them */
};

struct reference_parameter {
    const char *name;
    const char *values[REFERENCE_SIZES];
};

/* A figure of somebody else, for the table of that kind (and, of a grid, measure), row, column. */
struct sweep_theirs {
    const char *table, *of, *row, *column, *text;
};

struct reference {
    const char *name;                  /* "r2-lenet" */
    const char *title;                 /* what it was */
    const char *words;                 /* where our figures and theirs differ, and why */
    const struct reference_data *data; /* NULL: needs none */
    size_t hosts;                      /* how many it was made with */
    const char *command, *extent[REFERENCE_SIZES];
    int repeats[REFERENCE_SIZES];
    struct reference_parameter parameters[2]; /* name NULL: none */
    const char *measures, *tables;            /* with commas */
    const struct sweep_theirs *theirs;
    size_t n_theirs;
};

extern const struct reference references[];
extern const size_t n_references;

/* The ready sweep that a sweep of that name is, of either size ("r2-lenet-short"); NULL: none. */
const struct reference *reference_find(const char *sweep);

#endif
