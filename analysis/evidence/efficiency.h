/* SPDX-License-Identifier: MIT */
/*
 * Efficiency in the field's terms, phase by phase, from the budgets of the ranks. The definitions
 * are those of the POP Centre of Excellence ("POP Standard Metrics for Parallel Performance
 * Analysis"; Rosas, Gimenez, Labarta: "Scalability prediction for fundamental performance factors",
 * Supercomputing Frontiers and Innovations 1(2), 2014):
 *
 *   useful(r)                 time of rank r outside MPI
 *   elapsed                   time of the phase: that of the rank which lived longest in it
 *   parallel efficiency       mean of useful / elapsed = load balance x communication efficiency
 *   load balance              mean of useful / largest useful
 *   communication efficiency  largest useful / elapsed = serialisation x transfer
 *   serialisation             largest useful / ideal
 *   transfer                  ideal / elapsed
 *
 * `ideal` is the length of the phase on a network without latency and with unlimited bandwidth. No
 * recording holds it. A replay computes it (source: replay). Otherwise it is at least the longest
 * useful time, and at least the time that the critical path spends outside MPI, since who waited
 * for whom stays (source: bound; then `transfer` is a lower bound and `serialisation` an upper
 * bound).
 *
 * Useful time is wall time outside MPI, as in POP: a rank that waits for a core or sleeps is as
 * "useful" as one that computes, so these ratios do not show causes. `computing` is the part of it
 * in which the ranks were on a core. A wait for a core inside MPI that no wait for a peer covers
 * (see budget.h) counts as useful, too.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_EFFICIENCY_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_EFFICIENCY_H

#include "analysis/time/budget.h"

enum efficiency_source {
    EFFICIENCY_NO_IDEAL,   /* the ideal network is not known: transfer is NAN */
    EFFICIENCY_FROM_BOUND, /* transfer is a lower bound */
    EFFICIENCY_FROM_REPLAY,
};

/* Ratios are in 0..1; NAN if not known. */
struct efficiency {
    size_t n_ranks;
    double elapsed_s, useful_mean_s, useful_max_s;
    size_t longest; /* index of the rank with the largest useful time */
    double parallel, load_balance, communication;
    double serialisation, transfer;
    enum efficiency_source source;
    double computing; /* CPU time of the ranks / useful */
};

/* Time outside MPI; NAN if the rank's time inside MPI is not known. */
double efficiency_useful(const struct budget *budget);

/* budgets[i] is that of rank i in one phase. Ranks that did not live in it (wall_s 0) are left out.
 * ideal_s: the replayed length of the phase on an ideal network, or NAN. ideal_bound_s: a lower
 * bound of that, or NAN. All ratios are NAN if some rank's useful time is not known, or if there
 * are fewer than two ranks.
 */
struct efficiency efficiency_of(const struct budget *const *budgets, size_t n, double ideal_s,
                                double ideal_bound_s);

#endif
