/* SPDX-License-Identifier: MIT */
/* The period of an evenly sampled series: a peak of the spectrum, confirmed by autocorrelation. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_SPECTRUM_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_SPECTRUM_H

#include <stddef.h>

#define SPECTRUM_MAX ((size_t)1 << 16) /* number of samples */
#define SPECTRUM_REPEATS 8.0           /* periods in the series: fewer are no pace */
#define SPECTRUM_SAMPLES_MIN 3.0       /* samples in a period */
#define SPECTRUM_CHANCE 1e-3           /* probability of so high a peak in noise */
#define SPECTRUM_ALIKE 0.3             /* least autocorrelation at the period */

struct spectrum_period {
    double samples; /* NAN: none */
    double alike;   /* autocorrelation there */
    double phase;   /* the first minimum of the fundamental, in samples: 0 <= phase < samples */
};

/* n <= SPECTRUM_MAX. -ENOMEM, -E2BIG. */
int spectrum_find_period(const double *values, size_t n, struct spectrum_period *ret_period);

/* A Fourier transform in place, n a power of two; the inverse lacks the factor 1/n. */
void spectrum_transform(double *re, double *im, size_t n, int inverse);

#endif
