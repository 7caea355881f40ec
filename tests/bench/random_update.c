/* SPDX-License-Identifier: MIT */
/*
 * The rate at which memory allows updates of single weights: w[i] += value for all features of a
 * libsvm file in their order, and nothing else; and for as many features drawn evenly. Usage:
 * bench_random_update FILE FEATURES. Prints the updates per second of CPU time of both, the best of
 * some rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "workloads/common/libsvm.h"

#define ROUNDS 7
#define HUGE_PAGE ((size_t)1 << 21)

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double updates_per_s(float *w, const uint32_t *at, const float *value, size_t n) {
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_s();
        for (size_t i = 0; i < n; i++)
            w[at[i]] += value[i];
        double rate = (double)n / (cpu_s() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

/* xorshift64 (G. Marsaglia, 2003) */
static void draw_evenly(uint32_t *at, size_t n, uint32_t n_features) {
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        at[i] = (uint32_t)((x >> 32) * n_features >> 32);
    }
}

static int read_all(const char *path, uint32_t n_features, struct batch *ret) {
    struct libsvm_reader reader;
    struct libsvm_error error;
    int r = libsvm_open_file(&reader, path, n_features, &error);
    if (r == 0) {
        r = libsvm_read(&reader, SIZE_MAX, ret, &error) < 0 ? -1 : 0;
        libsvm_release(&reader);
    }
    if (r < 0)
        fprintf(stderr, "bench_random_update: %s\n", error.text);
    return r;
}

/* In huge pages if possible, as training has them. NULL: no memory. */
static float *make_weights(size_t n) {
    size_t bytes = (n * sizeof(float) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    float *w = n ? aligned_alloc(HUGE_PAGE, bytes) : NULL;
    if (w) {
        madvise(w, bytes, MADV_HUGEPAGE);
        memset(w, 0, bytes);
    }
    return w;
}

int main(int argc, char **argv) {
    uint32_t n_features = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    struct batch batch = {0};
    float *w = make_weights(n_features);
    if (!w) {
        fprintf(stderr, "usage: bench_random_update FILE FEATURES\n");
        return 2;
    }
    if (read_all(argv[1], n_features, &batch) < 0)
        return 1;
    size_t n = batch.row_start[batch.n_rows];
    double in_file = updates_per_s(w, batch.index, batch.value, n);
    draw_evenly(batch.index, n, n_features);
    printf("%.0f %.0f\n", in_file, updates_per_s(w, batch.index, batch.value, n));
    batch_release(&batch);
    free(w);
    return 0;
}
