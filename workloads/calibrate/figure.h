/* SPDX-License-Identifier: MIT */
/*
 * A measured figure, the statistics behind it, and its line of output. Each figure has the range of
 * its parts (low, high), which shows an unsteady value.
 *
 * Nothing here needs MPI.
 */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_FIGURE_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define FIGURES_MAX 6 /* of one host in one step */
#define HOST_NAME_SIZE 256

/* Plain bytes, which ranks send to each other. */
struct figure {
    char metric[24], unit[12];
    int peer; /* rank, -1: none */
    double value, low, high;
    char how[120];
};

struct figures {
    size_t n;
    struct figure items[FIGURES_MAX];
    char trouble[200]; /* why a measurement failed; "" */
};

/* Adds a figure. Leaves out values that are not finite and positive; widens low and high to include
 * the value. */
void figures_add(struct figures *figures, const char *metric, const char *unit, int peer,
                 double value, double low, double high, const char *how, ...)
    __attribute__((format(printf, 8, 9)));
void figures_trouble(struct figures *figures, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sorts the values. q is from 0 to 1, with linear interpolation; NAN for n 0. */
double quantile(double *values, size_t n, double q);

/* ---- a rate from readings of a counter ---- */

#define METER_READINGS 128

struct meter {
    double t_s[METER_READINGS], amount[METER_READINGS];
    size_t n;
};

void meter_read(struct meter *meter, double t_s, double amount);

/* From the first reading at least warm_s after the very first one, to the last. */
struct meter_rates {
    double mean;
    double steady; /* upper quartile over stretches of a quarter of the time: without the measuring
                      process's delays */
    double low, high; /* range over these stretches */
};

/* False with fewer than two such readings. */
bool meter_rate(const struct meter *meter, double warm_s, struct meter_rates *ret_rates);

double now_s(void); /* CLOCK_MONOTONIC */

/* ---- lines of JSON, one object each ---- */

void print_figure(FILE *out, const char *host, const char *peer, const struct figure *figure);
void print_trouble(FILE *out, const char *host, const char *text);
void print_progress(FILE *out, double done, double left_s, const char *what);

#endif
