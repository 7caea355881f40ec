/* SPDX-License-Identifier: MIT */
/* The period of an evenly sampled series: a peak of the spectrum, confirmed by autocorrelation. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_SPECTRUM_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_SPECTRUM_H

#include <stddef.h>

#define SPECTRUM_MAX ((size_t)1 << 16) /* samples */
#define SPECTRUM_REPEATS 8.0           /* a slower pace repeats too seldom to be one */
#define SPECTRUM_SAMPLES_MIN 3.0       /* in a period */
#define SPECTRUM_CHANCE 1e-3           /* of so high a peak in noise */
#define SPECTRUM_ALIKE 0.3             /* autocorrelation at the period, at least */

struct spectrum_period {
    double samples; /* NAN: none */
    double alike;   /* autocorrelation there */
    double phase;   /* where the basic wave is lowest first, in samples: 0 <= phase < samples */
};

/* n <= SPECTRUM_MAX. -ENOMEM, -E2BIG. */
int spectrum_find_period(const double *values, size_t n, struct spectrum_period *ret_period);

/* In place, n a power of two; inverse without the factor 1/n. */
void spectrum_transform(double *re, double *im, size_t n, int inverse);

#endif
