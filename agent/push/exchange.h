/* SPDX-License-Identifier: MIT */
/*
 * The offset of two clocks from one request and its answer. Both arrived after they were sent,
 * whatever the delays were, so the true offset lies within the error.
 */
#ifndef CHOKEPOINT_AGENT_EXCHANGE_H
#define CHOKEPOINT_AGENT_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Two quartz clocks drift apart by at most this much, also during an exchange. */
#define EXCHANGE_DRIFT_PPM 200

struct exchange {
    int64_t sent_ns;     /* own clock, before the first byte of the request left */
    int64_t received_ns; /* the other clock, after the request arrived */
    int64_t replied_ns;  /* the other clock, before the answer left */
    int64_t heard_ns;    /* own clock, after the first byte of the answer came */
};

struct exchange_result {
    int64_t offset_ns; /* the other clock minus the own one, when the answer came */
    int64_t error_ns;  /* the true offset is at most this far away */
};

/* False if the times cannot be true: a clock ran backwards, or the other side lies. */
static inline bool exchange_solve(const struct exchange *x, struct exchange_result *ret_result) {
    int64_t out_ns, back_ns, sum_ns, spread_ns;
    if (__builtin_sub_overflow(x->received_ns, x->sent_ns, &out_ns) ||
        __builtin_sub_overflow(x->replied_ns, x->heard_ns, &back_ns) ||
        __builtin_add_overflow(out_ns, back_ns, &sum_ns) ||
        __builtin_sub_overflow(out_ns, back_ns, &spread_ns))
        return false;
    if (spread_ns < 0 || x->replied_ns < x->received_ns || x->heard_ns < x->sent_ns)
        return false;
    /* Rounded outwards, so that the bound holds to the ns. */
    int64_t drift_ns = (x->heard_ns - x->sent_ns) / (1000000 / EXCHANGE_DRIFT_PPM) + 1;
    *ret_result = (struct exchange_result){sum_ns / 2, spread_ns / 2 + 1 + drift_ns};
    return true;
}

#endif
