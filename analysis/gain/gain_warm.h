/* SPDX-License-Identifier: MIT */
/*
 * A program computes the more slowly the more it waits: its data are no longer near the core when
 * it goes on, and the core may have gone to sleep. For the same work the ranks of 20 programs took
 * 5 % more CPU time in the middle (2 to 13 %) where they waited for one that slept, had a quota or
 * shared its core than in clean runs on cores as fast (docs/accuracy.md). A recording does not tell
 * the amount; so it is taken to be in proportion to the share of the time that is waited: a rank
 * that never waits computes WAITING_COSTS faster than one that always waits.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_GAIN_WARM_H
#define CHOKEPOINT_ANALYSIS_GAIN_GAIN_WARM_H

#define WAITING_COSTS 0.05

/* The gain with that effect, made from a gain that leaves all computing as long as it was; `times`
 * as much of it: 0 for none. Gains below 0 are longer waits. NAN stays NAN. */
double gain_warm(double gain, double times);

/* The same of an estimate and its interval, whose ends are without and with twice as much. */
void gain_warm_all(double *estimate, double *low, double *high);

#endif
