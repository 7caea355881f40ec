/* SPDX-License-Identifier: MIT */
#include "analysis/facts/series/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int stats_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_mean(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : NAN;
}

double stats_median(const double *values, size_t n) {
    return stats_quantile(values, n, 0.5);
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Moves the values so that the one of rank k is at its place, smaller ones before it and larger
 * ones behind it (Hoare 1961, algorithm 65: Find; the pivot is the median of three). */
static double select_rank(double *values, size_t n, size_t k) {
    size_t from = 0, to = n - 1;
    while (from < to) {
        size_t middle = from + (to - from) / 2, i = from, j = to;
        if (values[middle] < values[from])
            swap(&values[middle], &values[from]);
        if (values[to] < values[from])
            swap(&values[to], &values[from]);
        if (values[to] < values[middle])
            swap(&values[to], &values[middle]);
        double pivot = values[middle];
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i > j)
                break;
            swap(&values[i++], &values[j]);
            if (j-- == 0)
                break;
        }
        if (k <= j && j < n)
            to = j;
        else if (k >= i)
            from = i;
        else
            break;
    }
    return values[k];
}

static double least(const double *values, size_t n) {
    double value = values[0];
    for (size_t i = 1; i < n; i++)
        value = fmin(value, values[i]);
    return value;
}

double stats_quantile(const double *values, size_t n, double q) {
    double *moved = n ? malloc(n * sizeof *moved) : NULL;
    if (!moved)
        return NAN;
    memcpy(moved, values, n * sizeof *moved);
    double at = q * (double)(n - 1);
    size_t low = (size_t)at;
    double value = select_rank(moved, n, low);
    if (low + 1 < n)
        value += (at - (double)low) * (least(moved + low + 1, n - low - 1) - value);
    free(moved);
    return value;
}

/* Orders doubles as numbers without sign. */
static uint64_t order_of(double value) {
    double positive = value == 0 ? 0 : value; /* of -0, too */
    uint64_t bits;
    memcpy(&bits, &positive, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)

static void sort_by_digit(const struct weighted *from, size_t n, unsigned shift, size_t *counts,
                          struct weighted *to) {
    size_t at = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = counts[d];
        counts[d] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        to[counts[order_of(from[i].value) >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts by value, digit by digit from the last on: each pass keeps the order of equal digits. A
 * digit that all values share needs no pass.
 */
static bool sort_weighted(struct weighted *items, size_t n) {
    struct weighted *room = malloc((n + 1) * sizeof *room), *from = items, *to = room;
    size_t *counts = malloc(DIGITS * sizeof *counts);
    for (unsigned shift = 0; room && counts && n && shift < 64; shift += DIGIT_BITS) {
        memset(counts, 0, DIGITS * sizeof *counts);
        for (size_t i = 0; i < n; i++)
            counts[order_of(from[i].value) >> shift & (DIGITS - 1)]++;
        if (counts[order_of(from[0].value) >> shift & (DIGITS - 1)] == n)
            continue;
        sort_by_digit(from, n, shift, counts, to);
        struct weighted *swap = from;
        from = to;
        to = swap;
    }
    if (room && from != items)
        memcpy(items, from, n * sizeof *items);
    bool good = room && counts;
    free(room);
    free(counts);
    return good;
}

double stats_weighted_quantile(struct weighted *items, size_t n, double q) {
    double all = 0, sum = 0;
    if (!sort_weighted(items, n))
        return NAN;
    for (size_t i = 0; i < n; i++)
        all += items[i].weight;
    for (size_t i = 0; i < n; i++) {
        sum += items[i].weight;
        if (sum >= q * all * (1 - 1e-12))
            return items[i].value;
    }
    return n ? items[n - 1].value : NAN;
}

double stats_binomial_tail(size_t k, size_t n, double p) {
    double tail = 0;
    for (size_t i = k; i <= n; i++)
        tail += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                    (double)i * log(p) + (double)(n - i) * log1p(-p));
    return tail < 1 ? tail : 1;
}

uint64_t stats_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

size_t stats_random_below(uint64_t *state, size_t n) {
    return (size_t)(((unsigned __int128)stats_random(state) * n) >> 64);
}
