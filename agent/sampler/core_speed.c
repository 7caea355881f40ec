/* SPDX-License-Identifier: MIT */
#include "agent/sampler/core_speed.h"

#define STEPS 10000

uint64_t core_speed_work(uint64_t seed) {
    uint64_t a = seed, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (uint64_t step = 0; step < STEPS; step++) {
        a = a * 5 + step;
        b ^= b << 7;
        c += c >> 3;
        d ^= step;
        e += step ^ d;
        f = f * 3 + 1;
        b ^= b >> 9;
        c ^= step;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f)); /* all done */
    }
    return a + b + c + d + e + f;
}

int64_t core_speed_measure(int64_t (*cpu_ns)(void *ctx), void *ctx) {
    int64_t begin = cpu_ns(ctx);
    uint64_t sum = core_speed_work(1);
    int64_t between = cpu_ns(ctx);
    sum = core_speed_work(sum);
    __asm__ volatile("" : : "r"(sum));
    int64_t end = cpu_ns(ctx);
    return end - between < between - begin ? end - between : between - begin;
}
