/* SPDX-License-Identifier: MIT */
#include "workloads/calibrate/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void figures_add(struct figures *figures, const char *metric, const char *unit, int peer,
                 double value, double low, double high, const char *how, ...) {
    va_list values;
    if (figures->n == FIGURES_MAX || !isfinite(value) || value <= 0)
        return;
    struct figure *f = &figures->items[figures->n++];
    *f = (struct figure){
        .peer = peer, .value = value, .low = fmin(low, value), .high = fmax(high, value)};
    snprintf(f->metric, sizeof f->metric, "%s", metric);
    snprintf(f->unit, sizeof f->unit, "%s", unit);
    va_start(values, how);
    vsnprintf(f->how, sizeof f->how, how, values);
    va_end(values);
}

void figures_trouble(struct figures *figures, const char *format, ...) {
    va_list values;
    if (figures->trouble[0])
        return; /* the first trouble is the cause */
    va_start(values, format);
    vsnprintf(figures->trouble, sizeof figures->trouble, format, values);
    va_end(values);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(double *values, size_t n, double q) {
    if (n == 0)
        return NAN;
    qsort(values, n, sizeof *values, ascending);
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    return below + 1 < n
               ? values[below] + (at - (double)below) * (values[below + 1] - values[below])
               : values[n - 1];
}

void meter_read(struct meter *meter, double t_s, double amount) {
    if (meter->n == METER_READINGS)
        return;
    meter->t_s[meter->n] = t_s;
    meter->amount[meter->n++] = amount;
}

/* Rates over stretches of a quarter of the time, one for each reading from `first` on. */
static size_t stretches(const struct meter *meter, size_t first, double *ret_rates) {
    size_t last = meter->n - 1, n = 0;
    double length = (meter->t_s[last] - meter->t_s[first]) / 4;
    for (size_t i = first, j = first; i < last; i++) {
        while (j < last && meter->t_s[j] < meter->t_s[i] + length)
            j++;
        if (meter->t_s[j] < meter->t_s[i] + length)
            break;
        ret_rates[n++] = (meter->amount[j] - meter->amount[i]) / (meter->t_s[j] - meter->t_s[i]);
    }
    return n;
}

bool meter_rate(const struct meter *meter, double warm_s, struct meter_rates *ret_rates) {
    double rates[METER_READINGS];
    size_t first = 0, last = meter->n - 1;
    while (first < meter->n && meter->t_s[first] < meter->t_s[0] + warm_s)
        first++;
    if (meter->n < 2 || first >= last || !(meter->t_s[last] > meter->t_s[first]))
        return false;
    size_t n = stretches(meter, first, rates);
    ret_rates->mean =
        (meter->amount[last] - meter->amount[first]) / (meter->t_s[last] - meter->t_s[first]);
    ret_rates->steady = n ? quantile(rates, n, .75) : ret_rates->mean;
    ret_rates->low = n ? rates[0] : ret_rates->mean;
    ret_rates->high = n ? rates[n - 1] : ret_rates->mean;
    return true;
}

double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- lines ---- */

static void put_text(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p >= 0x7f) /* names and reasons are ASCII */
            fputc('?', out);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

void print_figure(FILE *out, const char *host, const char *peer, const struct figure *f) {
    fputs("{\"host\": ", out);
    put_text(out, host);
    if (peer) {
        fputs(", \"peer\": ", out);
        put_text(out, peer);
    }
    fprintf(
        out,
        ", \"metric\": \"%s\", \"unit\": \"%s\", \"value\": %.6g, \"low\": %.6g, \"high\": %.6g",
        f->metric, f->unit, f->value, f->low, f->high);
    fputs(", \"how\": ", out);
    put_text(out, f->how);
    fputs("}\n", out);
    fflush(out);
}

void print_trouble(FILE *out, const char *host, const char *text) {
    fputs("{\"host\": ", out);
    put_text(out, host);
    fputs(", \"trouble\": ", out);
    put_text(out, text);
    fputs("}\n", out);
    fflush(out);
}

void print_progress(FILE *out, double done, double left_s, const char *what) {
    fprintf(out, "{\"done\": %.4f, \"left_s\": %.1f, \"what\": ", done, left_s);
    put_text(out, what);
    fputs("}\n", out);
    fflush(out);
}
