/* SPDX-License-Identifier: MIT */
/*
 * Efficiency in the field's terms, phase by phase, from the budgets of the ranks. The definitions
 * are those of the POP Centre of Excellence ("POP Standard Metrics for Parallel Performance
 * Analysis"; Rosas, Gimenez, Labarta: "Scalability prediction for fundamental performance factors",
 * Supercomputing Frontiers and Innovations 1(2), 2014):
 *
 *   useful(r)                time of rank r outside MPI
 *   elapsed                  time of the phase: that of the rank which lived longest in it
 *   parallel efficiency      mean of useful / elapsed = load balance x communication efficiency
 *   load balance             mean of useful / largest useful
 *   communication efficiency largest useful / elapsed = serialisation x transfer
 *   serialisation            largest useful / ideal
 *   transfer                 ideal / elapsed
 *
 * where `ideal` is how long the phase would take on a network without latency and with no limit to
 * bandwidth. No recording holds that. A replay can tell it (source: replay); otherwise it is at
 * least the longest useful time, and at least what the critical path spends outside MPI, since who
 * waited for whom stays (source: bound; then `transfer` is the least it can be, `serialisation` the
 * most).
 *
 * Useful time is wall time outside MPI, as there: a rank that waits for a core or sleeps is as
 * "useful" as one that computes, so these ratios are blind to causes. `computing` says which part
 * of it the ranks were on a core. A wait for a core inside MPI which no wait for a peer covers (see
 * budget.h) counts as useful, too.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_EFFICIENCY_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_EFFICIENCY_H

#include "analysis/time/budget.h"

enum efficiency_source {
    EFFICIENCY_NO_IDEAL,   /* nothing is known of an ideal network: transfer is NAN */
    EFFICIENCY_FROM_BOUND, /* transfer is a lower bound */
    EFFICIENCY_FROM_REPLAY,
};

/* Ratios are in 0..1; NAN where not known. */
struct efficiency {
    size_t n_ranks;
    double elapsed_s, useful_mean_s, useful_max_s;
    size_t longest; /* index of the rank with the largest useful time */
    double parallel, load_balance, communication;
    double serialisation, transfer;
    enum efficiency_source source;
    double computing; /* CPU time of the ranks / useful */
};

/* Time outside MPI; NAN if it is not known how long the rank was inside MPI. */
double efficiency_useful(const struct budget *budget);

/* budgets[i] of rank i in one phase. Ranks that did not live in it (wall_s 0) are left out.
 * ideal_s: the phase's length on an ideal network, as replayed; NAN. ideal_bound_s: what it cannot
 * be shorter than; NAN. All ratios are NAN if some rank's useful time is not known, or there are
 * fewer than two ranks. */
struct efficiency efficiency_of(const struct budget *const *budgets, size_t n, double ideal_s,
                                double ideal_bound_s);

#endif
