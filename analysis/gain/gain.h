/* SPDX-License-Identifier: MIT */
/* The gain of a change, and how it was estimated. */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_H

#include <stdbool.h>

/* Gain of a change, as shares of the run's time. */
struct gain {
    double estimate, low, high; /* NAN: not known */
    bool replayed;              /* by a replay of the recorded calls; else by the critical path */
    bool counted;               /* by one process's counters (gain_counted.h) */
};

#endif
