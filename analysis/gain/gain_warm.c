/* SPDX-License-Identifier: MIT */
#include "analysis/gain/gain_warm.h"

#include <math.h>

double gain_warm(double gain, double times) {
    double still = gain > 0 ? 1 - gain : 1; /* the share of time that remains after the gain */
    return gain * (1 + times * WAITING_COSTS * still);
}

void gain_warm_all(double *estimate, double *low, double *high) {
    *estimate = gain_warm(*estimate, 1);
    *low = fmin(*low, gain_warm(*low, 2));
    *high = fmax(*high, gain_warm(*high, 2));
}
