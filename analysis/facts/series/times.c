/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The end of the run in order that begins at `at`. */
static size_t run_end(const int64_t *times, size_t n, size_t at) {
    for (at++; at < n && times[at - 1] <= times[at];)
        at++;
    return at < n ? at : n;
}

/* Merges each two runs into one; returns the number of runs left. */
static size_t merge_runs(const int64_t *from, size_t n, int64_t *to) {
    size_t runs = 0;
    for (size_t a = 0, end = 0; a < n; a = end, runs++) {
        size_t middle = run_end(from, n, a), i = a, j = middle;
        end = middle < n ? run_end(from, n, middle) : n;
        for (size_t k = a; k < end; k++)
            to[k] = i < middle && (j >= end || from[i] <= from[j]) ? from[i++] : from[j++];
    }
    return runs;
}

int times_sort(int64_t *times, size_t n) {
    if (n == 0 || run_end(times, n, 0) == n)
        return 0;
    int64_t *room = malloc(n * sizeof *room), *from = times, *to = room;
    if (!room)
        return -ENOMEM;
    for (size_t runs = 2; runs > 1;) {
        runs = merge_runs(from, n, to);
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != times)
        memcpy(times, from, n * sizeof *times);
    free(room);
    return 0;
}
