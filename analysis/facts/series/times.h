/* SPDX-License-Identifier: MIT */
/* Search by time in sorted arrays. */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_SERIES_TIMES_H
#define CHOKEPOINT_ANALYSIS_FACTS_SERIES_TIMES_H

#include <stddef.h>
#include <stdint.h>

/* For qsort() and bsearch() of times. */
static inline int times_compare(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts times that are mostly runs in order, which it merges. -ENOMEM. */
int times_sort(int64_t *times, size_t n);

/* The number of times, of n non-decreasing ones that are `stride` bytes apart, that are not later
 * than t.
 */
static inline size_t times_until(const int64_t *times, size_t stride, size_t n, int64_t t) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const int64_t *)(const void *)((const char *)times + middle * stride) <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* times_until() for a member of an array's items; the array may be NULL if n is 0. */
#define TIMES_UNTIL(items, n, member, t)                                                           \
    ((n) ? times_until(&(items)->member, sizeof *(items), (n), (t)) : 0)

/* The number of times earlier than t, which is a sane time. */
#define TIMES_BEFORE(items, n, member, t) TIMES_UNTIL(items, n, member, (t)-1)

#endif
