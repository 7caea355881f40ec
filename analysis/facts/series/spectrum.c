/* SPDX-License-Identifier: MIT */
/*
 * A short burst in each period has many harmonics, and one of them may be the highest peak, so the
 * peak only says where to look. The period is the shortest multiple of the peak's at which the
 * series is nearly as similar to itself as at any other (Vlachos, Yu and Castelli, SDM 2005). It is
 * measured at the latest repeat that still shows, which divides the error of reading a lag.
 */
#include "analysis/facts/series/spectrum.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"

#define PI 3.14159265358979323846

void spectrum_transform(double *re, double *im, size_t n, int inverse) {
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double r = re[i], m = im[i];
            re[i] = re[j];
            im[i] = im[j];
            re[j] = r;
            im[j] = m;
        }
    }
    for (size_t length = 2; length <= n; length *= 2) {
        double angle = (inverse ? 2 : -2) * PI / (double)length;
        for (size_t k = 0; k < length / 2; k++) {
            double c = cos(angle * (double)k), s = sin(angle * (double)k);
            for (size_t i = k; i < n; i += length) {
                size_t j = i + length / 2;
                double r = re[j] * c - im[j] * s, m = re[j] * s + im[j] * c;
                re[j] = re[i] - r;
                im[j] = im[i] - m;
                re[i] += r;
                im[i] += m;
            }
        }
    }
}

struct work {
    size_t n, size; /* number of samples; padded to at least twice as many */
    double *values; /* samples minus their mean */
    double *power;  /* [0, size / 2] */
    double *alike;  /* autocorrelation by lag, [0, n) */
};

static void work_release(struct work *w) {
    free(w->values);
    free(w->power);
    free(w->alike);
}

static void correlate(struct work *w, double *re, double *im) {
    for (size_t i = 0; i < w->n; i++)
        re[i] = w->values[i];
    spectrum_transform(re, im, w->size, 0);
    for (size_t i = 0; i < w->size; i++) {
        re[i] = re[i] * re[i] + im[i] * im[i];
        im[i] = 0;
        if (i <= w->size / 2)
            w->power[i] = re[i];
    }
    spectrum_transform(re, im, w->size, 1);
    for (size_t lag = 0; lag < w->n; lag++)
        w->alike[lag] = re[lag] / re[0] * (double)w->n / (double)(w->n - lag);
}

static int work_init(struct work *w, const double *values, size_t n) {
    *w = (struct work){.n = n, .size = 1};
    while (w->size < 2 * n)
        w->size *= 2;
    double *re = calloc(w->size, sizeof *re), *im = calloc(w->size, sizeof *im);
    double mean = stats_mean(values, n);
    w->values = malloc((n + 1) * sizeof *w->values);
    w->power = malloc((w->size / 2 + 1) * sizeof *w->power);
    w->alike = malloc((n + 1) * sizeof *w->alike);
    int result = re && im && w->values && w->power && w->alike ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < n; i++)
        w->values[i] = values[i] - mean;
    if (result == 0)
        correlate(w, re, im);
    free(re);
    free(im);
    return result;
}

/* The bin of the highest peak; 0 if noise of the same power would have one as high: the power of
 * white noise is exponential about its mean (Fisher 1929).
 */
static size_t highest(const struct work *w) {
    size_t low = (size_t)ceil(SPECTRUM_REPEATS * (double)w->size / (double)w->n);
    size_t high = (size_t)((double)w->size / SPECTRUM_SAMPLES_MIN), best = 0;
    double sum = 0;
    for (size_t i = low; i <= high; i++) {
        sum += w->power[i];
        if (!best || w->power[i] > w->power[best])
            best = i;
    }
    double mean = best ? sum / (double)(high - low + 1) : 0;
    double least = log((double)w->n / 2 / SPECTRUM_CHANCE);
    return best && w->power[best] >= least * mean ? best : 0;
}

/* The highest autocorrelation near a lag, by a parabola through three points; NAN at an end. */
static double peak_near(const struct work *w, double lag, double reach, double *ret_alike) {
    size_t from = (size_t)fmax(1, floor(lag - reach)), best = from;
    for (size_t i = from; i <= (size_t)ceil(lag + reach) && i + 1 < w->n; i++)
        best = w->alike[i] > w->alike[best] ? i : best;
    if (best + 1 >= w->n)
        return NAN;
    double a = w->alike[best - 1], b = w->alike[best], c = w->alike[best + 1];
    *ret_alike = b;
    double bend = a - 2 * b + c;
    if (a > b || c > b)
        return NAN; /* a slope, not a peak */
    return (double)best + (bend < 0 ? 0.5 * (a - c) / bend : 0);
}

#define MULTIPLES 8
#define NEARLY 0.7  /* of the best multiple's autocorrelation */
#define BETWEEN 0.1 /* mean power of the harmonics between, over that of a harmonic of the peak */

static double power_near(const struct work *w, double bin) {
    double most = 0, reach = (double)w->size / (double)w->n;
    for (double i = fmax(1, floor(bin - reach)); i <= bin + reach; i++)
        if (2 * i <= (double)w->size)
            most = fmax(most, w->power[(size_t)i]);
    return most;
}

/* If the period is m times as long, it has harmonics between those of the peak. */
static bool has_harmonics_between(const struct work *w, size_t peak, int m) {
    double between = 0, own = 0;
    for (int k = 1; k <= 3 * m; k++)
        *(k % m ? &between : &own) += power_near(w, (double)peak * k / m);
    return m == 1 || between / (3.0 * (m - 1)) >= BETWEEN * own / 3;
}

static double shortest_multiple(const struct work *w, size_t peak, double *ret_alike) {
    double lags[MULTIPLES], alike[MULTIPLES], best = 0, lag = (double)w->size / (double)peak;
    for (int m = 0; m < MULTIPLES; m++) {
        double at = lag * (m + 1);
        alike[m] = 0;
        lags[m] =
            at * (SPECTRUM_REPEATS / 2) <= (double)w->n && has_harmonics_between(w, peak, m + 1)
                ? peak_near(w, at, fmax(1, 0.1 * lag), &alike[m])
                : NAN;
        best = isnan(lags[m]) ? best : fmax(best, alike[m]);
    }
    for (int m = 0; m < MULTIPLES; m++)
        if (!isnan(lags[m]) && alike[m] >= SPECTRUM_ALIKE && alike[m] >= NEARLY * best) {
            *ret_alike = alike[m];
            return lags[m];
        }
    return NAN;
}

/* Doubles the lag while the series is still similar there. */
static double sharpen(const struct work *w, double period, double alike) {
    for (double repeats = 2; repeats * period * 3 <= (double)w->n; repeats *= 2) {
        double there = 0;
        double at = peak_near(w, repeats * period, fmax(1, 0.25 * period), &there);
        if (isnan(at) || there < 0.5 * alike)
            break;
        period = at / repeats;
    }
    return period;
}

/* The phase at which the fundamental has its minimum. */
static double lowest_phase(const struct work *w, double period) {
    double re = 0, im = 0;
    for (size_t i = 0; i < w->n; i++) {
        re += w->values[i] * cos(2 * PI * ((double)i + 0.5) / period);
        im += w->values[i] * sin(2 * PI * ((double)i + 0.5) / period);
    }
    double phase = (atan2(im, re) / (2 * PI) + 0.5) * period;
    return phase < 0 ? phase + period : fmod(phase, period);
}

int spectrum_find_period(const double *values, size_t n, struct spectrum_period *ret_period) {
    *ret_period = (struct spectrum_period){NAN, NAN, NAN};
    struct work w;
    if (n > SPECTRUM_MAX)
        return -E2BIG;
    if ((double)n < SPECTRUM_REPEATS * SPECTRUM_SAMPLES_MIN)
        return 0;
    int result = work_init(&w, values, n);
    size_t peak = result == 0 ? highest(&w) : 0;
    double alike = NAN;
    double period = peak ? shortest_multiple(&w, peak, &alike) : NAN;
    if (!isnan(period)) {
        period = sharpen(&w, period, alike);
        *ret_period = (struct spectrum_period){period, alike, lowest_phase(&w, period)};
    }
    work_release(&w);
    return result;
}
