/* SPDX-License-Identifier: MIT */
/*
 * The offset of a host's monotonic clock from the collector's: collector = host + offset.
 *
 * An exchange proves that the offset lies in an interval, whatever the delays of the two ways
 * were: the request cannot arrive before it was sent, nor the answer. (Cristian 1989; Marzullo and
 * Owicki 1983.) Many intervals are therefore intersected, not averaged: the bound stays proven, as
 * long as two clocks drift apart by no more than CLOCK_DRIFT_PPM, by which an interval widens as it
 * ages.
 */
#ifndef CHOKEPOINT_COLLECTOR_CLOCK_H
#define CHOKEPOINT_COLLECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Two quartz clocks, each within 50 millionths of the truth. */
#define CLOCK_DRIFT_PPM 100

/* An exchange as the agent reports it. */
struct clock_estimate {
    int64_t mono_ns;   /* of the host, when the answer came */
    int64_t offset_ns; /* the middle of the interval */
    int64_t error_ns;  /* half its width */
};

/* What all exchanges of one host together prove. Begins zeroed. */
struct clock_filter {
    bool known;
    int64_t mono_ns;         /* of the host, when the interval was true */
    int64_t low_ns, high_ns; /* the offset lies between these */
};

/* clock_filter_add(): the exchange contradicts the ones before; the filter began anew with it. */
#define CLOCK_STEPPED 1

/* Whether the numbers can be an exchange at all: they come from the network. Nothing that is
 * valid overflows in the sums here. */
bool clock_estimate_valid(const struct clock_estimate *estimate);

/* 0, CLOCK_STEPPED, or -EINVAL for an estimate that is not valid (the filter is then as before). */
int clock_filter_add(struct clock_filter *filter, const struct clock_estimate *estimate);

/* The best that is known for the host's time mono_ns: the middle and half the width of the
 * interval, widened by the drift since (or until) it was true. False while nothing is known. */
bool clock_filter_read(const struct clock_filter *filter, int64_t mono_ns, int64_t *ret_offset_ns,
                       int64_t *ret_error_ns);

#endif
