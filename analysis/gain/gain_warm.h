/* SPDX-License-Identifier: MIT */
/*
 * The more a program waits, the slower it computes: its data have left the caches when it goes on,
 * and the core may have gone to sleep. For the same work, the ranks of 20 programs took 5 % more
 * CPU time in the median (2 to 13 %) when they waited for one that slept, had a quota or shared its
 * core than in clean runs on equally fast cores (docs/accuracy.md). A recording does not tell the
 * amount, so it counts in proportion to the share of time spent waiting: a rank that never waits
 * computes WAITING_COSTS faster than one that always waits.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_WARM_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_WARM_H

#define WAITING_COSTS 0.05

/* Corrects a gain that assumes unchanged computing by `times` this effect. Gains below 0 are longer
 * waits. NAN stays NAN.
 */
double gain_warm(double gain, double times);

/* Corrects an estimate and its interval, whose ends assume none and twice the effect. */
void gain_warm_all(double *estimate, double *low, double *high);

#endif
