/* SPDX-License-Identifier: MIT */
#include "reports/plot/thin.h"

#include <math.h>

struct bin {
    double low, high;
    size_t low_at, high_at, n;
};

static void bin_add(struct bin *bin, double value, size_t at) {
    if (bin->n == 0 || value < bin->low) {
        bin->low = value;
        bin->low_at = at;
    }
    if (bin->n == 0 || value > bin->high) {
        bin->high = value;
        bin->high_at = at;
    }
    bin->n++;
}

static size_t put(const struct report_series *series, size_t at, size_t number,
                  struct thin_point *to) {
    *to = (struct thin_point){number, series->t_s[at], series->value[at]};
    return 1;
}

static size_t put_bin(const struct report_series *series, const struct bin *bin, size_t number,
                      struct thin_point *to) {
    if (bin->n == 0)
        return 0;
    bool low_first = bin->low_at <= bin->high_at;
    size_t n = put(series, low_first ? bin->low_at : bin->high_at, number, to);
    if (bin->n > 1 && bin->low != bin->high)
        n += put(series, low_first ? bin->high_at : bin->low_at, number, to + n);
    return n;
}

static size_t bin_of(double t_s, double end_s, size_t bins) {
    double at = t_s / end_s * (double)bins;
    return at <= 0 ? 0 : at >= (double)bins ? bins - 1 : (size_t)at;
}

size_t series_thin(const struct report_series *series, double end_s, size_t bins,
                   struct thin_point *ret_points) {
    struct bin bin = {0};
    size_t current = 0, n = 0;
    for (size_t i = 0; i < series->n; i++) {
        size_t at = bin_of(series->t_s[i], end_s, bins);
        if (at != current || isnan(series->value[i])) {
            n += put_bin(series, &bin, current, ret_points + n);
            bin = (struct bin){0};
            current = at;
        }
        if (isnan(series->value[i]))
            n += put(series, i, at, ret_points + n);
        else
            bin_add(&bin, series->value[i], i);
    }
    return n + put_bin(series, &bin, current, ret_points + n);
}
