/* SPDX-License-Identifier: MIT */
/*
 * The kernel is the same on every host and fits in registers: integers of a generator, and a chain
 * of dependent multiplications and additions. It compares the cores of hosts, and says nothing
 * about a program.
 */
#include <stdint.h>
#include <time.h>

#include "workloads/calibrate/host.h"

#define CHUNK (1 << 20)
#define CHUNKS_MAX 4096

static double thread_cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(uint64_t *seed) {
    uint64_t state = *seed;
    double sum = 0;
    for (int i = 0; i < CHUNK; i++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        sum = sum * 0.999999 + (double)(state & 1023);
    }
    __asm__ volatile("" : : "m"(sum)); /* keeps the compiler from removing the work */
    *seed = state;
}

void measure_cpu(double seconds, struct figures *figures) {
    double speeds[CHUNKS_MAX];
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
    double end = now_s() + seconds;
    size_t n = 0;
    work(&seed);
    do {
        double before = thread_cpu_s();
        work(&seed);
        double spent = thread_cpu_s() - before;
        if (spent > 0)
            speeds[n++] = CHUNK / spent * 1e-6;
    } while (now_s() < end && n < CHUNKS_MAX);
    double median = quantile(speeds, n, .5);
    figures_add(figures, "cpu_core", "Msteps/s", -1, median, quantile(speeds, n, 0),
                quantile(speeds, n, 1),
                "fixed arithmetic, one thread, its CPU time, median of %zu pieces", n);
}
