/* SPDX-License-Identifier: MIT */
/* The worth of a change, and the source of that figure. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_H

#include <stdbool.h>

/* Gain of a change, as shares of the run's time. */
struct gain {
    double estimate, low, high; /* NAN: not known */
    bool replayed;              /* by replay of the recorded calls; else by the critical path */
    bool counted;               /* by counters of one process (gain_counted.h) */
};

#endif
