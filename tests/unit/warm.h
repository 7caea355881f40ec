/* SPDX-License-Identifier: MIT */
/* Prediction for a program that computes faster as it waits less (gain_warm.h), where its calls
 * alone would take so long. */
#ifndef CHOKEPOINT_TESTS_UNIT_WARM_H
#define CHOKEPOINT_TESTS_UNIT_WARM_H

#include "analysis/gain/gain_warm.h"

static inline double warm_s(double calls_s, double measured_s) {
    return measured_s * (1 - gain_warm(1 - calls_s / measured_s, 1));
}

#endif
