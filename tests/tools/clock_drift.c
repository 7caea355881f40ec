/* SPDX-License-Identifier: MIT */
/*
 * A library to preload into one process: its monotonic clock then gains CLOCK_DRIFT_PPM millionths
 * on all others, from CLOCK_DRIFT_ORIGIN_NS of that clock on. A time namespace can shift a clock,
 * but not change its rate.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double ppm;
static int64_t origin_ns;

__attribute__((constructor)) static void read_environment(void) {
    const char *rate = getenv("CLOCK_DRIFT_PPM"), *origin = getenv("CLOCK_DRIFT_ORIGIN_NS");
    ppm = rate ? strtod(rate, NULL) : 0;
    origin_ns = origin ? strtoll(origin, NULL, 10) : 0;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts) {
    int r = (int)syscall(SYS_clock_gettime, id, ts);
    if (r != 0 || id != CLOCK_MONOTONIC)
        return r;
    int64_t ns = (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
    ns += (int64_t)((double)(ns - origin_ns) * ppm / 1e6);
    ts->tv_sec = ns / 1000000000;
    ts->tv_nsec = ns % 1000000000;
    return 0;
}
