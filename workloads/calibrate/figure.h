/* SPDX-License-Identifier: MIT */
/*
 * A measured figure, the statistics that make it, and its line of output. A figure says how far its
 * parts were apart (low, high), so that a reader sees a value that was not steady.
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

/* Plain bytes: it travels between ranks. */
struct figure {
    char metric[24], unit[12];
    int peer; /* rank, -1: none */
    double value, low, high;
    char how[120];
};

struct figures {
    size_t n;
    struct figure items[FIGURES_MAX];
    char trouble[200]; /* why something could not be measured; "" */
};

/* Adds one; a value that is not finite and positive is left out. Low and high are made to enclose
 * the value. */
void figures_add(struct figures *figures, const char *metric, const char *unit, int peer,
                 double value, double low, double high, const char *how, ...)
    __attribute__((format(printf, 8, 9)));
void figures_trouble(struct figures *figures, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sorts values. q from 0 to 1, linear between neighbours; NAN for n 0. */
double quantile(double *values, size_t n, double q);

/* ---- a rate, from a counter that is read now and then ---- */

#define METER_READINGS 128

struct meter {
    double t_s[METER_READINGS], amount[METER_READINGS];
    size_t n;
};

void meter_read(struct meter *meter, double t_s, double amount);

/* From the first reading at or after warm_s past the very first one to the last. */
struct meter_rates {
    double mean;
    double steady;    /* upper quartile over stretches of a quarter of the time: what can be kept
                         up, whatever the measuring process was held up by */
    double low, high; /* of those stretches */
};

/* False with fewer than two such readings. */
bool meter_rate(const struct meter *meter, double warm_s, struct meter_rates *ret_rates);

double now_s(void); /* CLOCK_MONOTONIC */

/* ---- lines of JSON, one object each ---- */

void print_figure(FILE *out, const char *host, const char *peer, const struct figure *figure);
void print_trouble(FILE *out, const char *host, const char *text);
void print_progress(FILE *out, double done, double left_s, const char *what);

#endif
