/* SPDX-License-Identifier: MIT */
#include "analysis/facts/calls/call_match.h"
#include "analysis/facts/series/series.h" /* TIME_SANE_NS */

int64_t call_clock_bound(const struct call_clock *clock, int host_a, int host_b) {
    if (host_a == host_b || !clock || !clock->bound_ns)
        return 0;
    if (host_a < 0 || host_b < 0 || (size_t)host_a >= clock->n_hosts ||
        (size_t)host_b >= clock->n_hosts)
        return INT64_MAX;
    int64_t a = clock->bound_ns[host_a], b = clock->bound_ns[host_b];
    return a < 0 || b < 0 || a > TIME_SANE_NS || b > TIME_SANE_NS ? INT64_MAX : a + b;
}
