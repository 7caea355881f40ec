/* SPDX-License-Identifier: MIT */
/* Intersection of offset intervals; see clock.h for why not a mean. */
#include "collector/clock.h"

#include <errno.h>
#include <stdlib.h>

/* 2^62 ns are 146 years: a sum of two such values is still an int64. */
#define CLOCK_LIMIT_NS (INT64_C(1) << 61)

bool clock_estimate_valid(const struct clock_estimate *e) {
    return e->mono_ns >= 0 && e->mono_ns < CLOCK_LIMIT_NS && e->offset_ns > -CLOCK_LIMIT_NS &&
           e->offset_ns < CLOCK_LIMIT_NS && e->error_ns >= 0 && e->error_ns < CLOCK_LIMIT_NS / 2;
}

static int64_t drift_ns(int64_t from_ns, int64_t to_ns) {
    int64_t age_ns = llabs(to_ns - from_ns);
    /* Rounded up: a ns lost in every push would add up to a bound that is not one. */
    return age_ns / (1000000 / CLOCK_DRIFT_PPM) + 1;
}

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

int clock_filter_add(struct clock_filter *filter, const struct clock_estimate *estimate) {
    if (!clock_estimate_valid(estimate))
        return -EINVAL;
    struct clock_filter fresh = {true, estimate->mono_ns, estimate->offset_ns - estimate->error_ns,
                                 estimate->offset_ns + estimate->error_ns};
    struct clock_filter both = fresh;
    if (filter->known) {
        int64_t wider_ns = drift_ns(filter->mono_ns, estimate->mono_ns);
        both.low_ns = greater(fresh.low_ns, filter->low_ns - wider_ns);
        both.high_ns = smaller(fresh.high_ns, filter->high_ns + wider_ns);
    }
    bool stepped = both.low_ns > both.high_ns;
    *filter = stepped ? fresh : both;
    return stepped ? CLOCK_STEPPED : 0;
}

bool clock_filter_read(const struct clock_filter *filter, int64_t mono_ns, int64_t *ret_offset_ns,
                       int64_t *ret_error_ns) {
    if (!filter->known)
        return false;
    int64_t half_ns = (filter->high_ns - filter->low_ns) / 2;
    *ret_offset_ns = filter->low_ns + half_ns;
    /* One more for the half ns that the division drops. */
    *ret_error_ns = half_ns + 1 + drift_ns(filter->mono_ns, mono_ns);
    return true;
}
