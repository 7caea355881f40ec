/* SPDX-License-Identifier: MIT */
/*
 * A program's own totals of its calls, to compare with those that the shim saw. Every rank ends
 * with lines "total RANK FUNCTION CALLS SENT RECEIVED" in the file EXPECT.RANK ($EXPECT).
 */
#ifndef CHOKEPOINT_TESTS_MPI_EXPECT_H
#define CHOKEPOINT_TESTS_MPI_EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    const char *function;
    long long calls, sent, received;
} expected[256];
static int n_expected;

static inline void expect(const char *function, long long calls, long long sent,
                          long long received) {
    int i = 0;
    while (i < n_expected && strcmp(expected[i].function, function) != 0)
        i++;
    if (i == n_expected)
        expected[n_expected++].function = function;
    expected[i].calls += calls;
    expected[i].sent += sent;
    expected[i].received += received;
}

static inline FILE *expect_file(int rank) {
    char path[1024];
    snprintf(path, sizeof path, "%s.%d", getenv("EXPECT"), rank);
    return fopen(path, "w");
}

static inline int expect_write(int rank) {
    FILE *f = expect_file(rank);
    for (int i = 0; f && i < n_expected; i++)
        fprintf(f, "total %d MPI_%s %lld %lld %lld\n", rank, expected[i].function,
                expected[i].calls, expected[i].sent, expected[i].received);
    return f ? fclose(f) : -1;
}

static inline long long clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void sleep_ms(int ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

#endif
