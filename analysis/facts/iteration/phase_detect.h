/* SPDX-License-Identifier: MIT */
/*
 * Phases of a program that marks none: stretches in which its ranks spend their time alike, in
 * shares of computing, MPI, disk and network. Similar stretches have one name.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_PHASE_DETECT_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_PHASE_DETECT_H

#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/iteration/phase.h"

#define PHASE_MIN_NS INT64_C(3000000000)
#define PHASE_ITERATIONS                                                                           \
    3.0                       /* iterations in a phase, at least: shorter changes belong to the    \
                                 iteration */
#define PHASE_DIFFERENCE 0.10 /* of the time: a smaller difference is the same phase */
#define PHASE_SIGNIFICANT 4.0 /* standard errors between the means of neighbours */

/* If there is only one phase, *ret_n is 0. The caller owns *ret_phases. -ENOMEM. */
int phases_detect(const struct recording *recording, const struct iterations *iterations,
                  struct phase **ret_phases, size_t *ret_n);

/* ---- the arithmetic, on plain numbers ---- */

#define PHASE_FEATURES 4

struct phase_signal { /* values[cell * PHASE_FEATURES + feature], shares */
    const double *values;
    size_t n;
};

/* Finds change points by penalised least squares (PELT: Killick, Fearnhead and Eckley, JASA 2012),
 * at least `least` cells apart. ends[] has room for n; the last end is n. -ENOMEM.
 */
int phase_change_points(struct phase_signal signal, size_t least, size_t *ends, size_t *ret_n);

#endif
