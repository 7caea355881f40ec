/* SPDX-License-Identifier: MIT */
/*
 * The argument by arithmetic (P1): the bytes of an iteration, at the rate that the link was
 * measured to carry or its interface is set to, take a certain time, which is compared with the
 * iteration's. If neither rate is known, the highest rate that was seen repeatedly counts, over all
 * hosts and both directions: links of one cluster are mostly equal, and a worker's own highest rate
 * is often only its share of the server's link.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_ARITHMETIC_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_ARITHMETIC_H

#include <stdbool.h>

#include "analysis/run_model.h"

enum arithmetic_rate { ARITHMETIC_SEEN, ARITHMETIC_SET, ARITHMETIC_MEASURED };

struct arithmetic {
    int host;
    enum metric direction; /* METRIC_NET_SEND or METRIC_NET_RECV */
    size_t group;
    double bytes_per_iteration;
    double bandwidth_mb_s;
    enum arithmetic_rate known;  /* the source of bandwidth_mb_s */
    double bound_s, iteration_s; /* least time; measured median, or time over count if ranks do not
                                    move together */
    double share;                /* bound / measured */
};

/* The ceiling of one host and direction seen in the run, MB/s (see rate_ceiling); NAN if none. */
double network_ceiling_of(const struct run_model *model, int host, enum metric direction);

/* Capacity of a link: as measured, else the highest rate seen. A measured rate that the run
 * exceeded by more than CEILING_SLACK does not count (another link, another day).
 */
struct network_limit {
    double mb_s; /* NAN: not known */
    bool measured;
    double seen_mb_s;     /* NAN: no rate was seen */
    double outdated_mb_s; /* the measured rate that the run exceeded; else NAN */
};
#define CEILING_SLACK 1.05

struct network_limit network_limit_of(const struct run_model *model, int host,
                                      enum metric direction);

/* The rate set for the host's queue that carried more than half of its bytes, MB/s. NAN if none is
 * set, or if the queue let out more (another interface, another layer's bytes).
 */
double network_set_rate(const struct run_model *model, int host);

/* The rate that a host probably receives at most, MB/s, where only a queue of its own is set and
 * nothing was measured: a link is set at both ends, and what arrives queues at the other one. NAN
 * if no rate is set, or if more was received.
 */
double network_set_receiving(const struct run_model *model, int host);

/* The known capacity of a host's link in one direction, used or not, MB/s: the measured rate or the
 * rate of its queue, the lower of the two; else the speed of the interface that carried more than
 * half of its bytes. NAN if none is known, or if the run exceeded it.
 */
double network_known_rate(const struct run_model *model, int host, enum metric direction);

/* The capacity of a link, MB/s, and its source: the measured or the set rate, the lower of the two
 * (a link that was set to less after it was measured carries no more than that), else `seen`, MB/s.
 */
enum arithmetic_rate network_rate_of(const struct run_model *model, int host, enum metric direction,
                                     double seen, double *ret_mb_s);

/* The highest rate seen over all hosts and directions; NAN if none. */
double network_ceiling(const struct run_model *model);

/* One line for each host, direction and phase that has iterations and moves more than a little;
 * those at a known rate first, then by share. The caller owns *ret_items. -ENOMEM.
 */
int arithmetic_make(const struct run_model *model, struct arithmetic **ret_items, size_t *ret_n);

/* The line of a host, direction and group, or NULL. */
const struct arithmetic *arithmetic_find(const struct arithmetic *items, size_t n, int host,
                                         enum metric direction, size_t group);

#endif
