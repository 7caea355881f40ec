/* SPDX-License-Identifier: MIT */
/*
 * The ready sweeps: each is an experiment with published figures, as data. Another one is only
 * another entry in the list.
 *
 * In a command {bin} is the directory of these programs, {data} the data, {ranks} one rank a host,
 * {extent} the length of the training; the word {mpirun} becomes mpirun with the hosts; all other
 * names are parameters of the sweep.
 */
#ifndef CHOKEPOINT_CLI_SWEEP_REFERENCES_H
#define CHOKEPOINT_CLI_SWEEP_REFERENCES_H

#include <stddef.h>

#include "reports/sweep/sweep_tables.h"

enum reference_size { REFERENCE_SHORT, REFERENCE_FULL, REFERENCE_SIZES };

struct reference_data {
    const char *name;
    const char *generate[REFERENCE_SIZES]; /* the words that make it, with {out} and {bin} */
};

struct reference_parameter {
    const char *name;
    const char *values[REFERENCE_SIZES];
};

/* A published figure for the table of that kind (and, for a grid, measure), row, column. */
struct sweep_theirs {
    const char *table, *of, *row, *column, *text;
};

struct reference {
    const char *name;                  /* "r2-lenet" */
    const char *title;                 /* what the experiment was */
    const char *words;                 /* how measured figures and published ones differ, and why */
    const struct reference_data *data; /* NULL: none needed */
    size_t hosts;                      /* number of repeats */
    const char *command, *extent[REFERENCE_SIZES];
    int repeats[REFERENCE_SIZES];
    struct reference_parameter parameters[2]; /* name NULL: none */
    const char *measures, *tables;            /* separated by commas */
    const struct sweep_theirs *theirs;
    size_t n_theirs;
};

extern const struct reference references[];
extern const size_t n_references;

/* The ready sweep behind the name of a sweep, of either size ("r2-lenet-short"); NULL: none. */
const struct reference *reference_find(const char *sweep);

#endif
