/* SPDX-License-Identifier: MIT */
/* The prediction for a program that computes faster when it waits less (gain_warm.h), given its
 * time by calls alone.
 */
#ifndef CHOKEPOINT_TESTS_UNIT_WARM_H
#define CHOKEPOINT_TESTS_UNIT_WARM_H

#include "analysis/gain/gain_warm.h"

static inline double warm_s(double calls_s, double measured_s) {
    return measured_s * (1 - gain_warm(1 - calls_s / measured_s, 1));
}

#endif
