/* SPDX-License-Identifier: MIT */
/* Finds where a round of a loop begins. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/iteration/iteration_gram.h"

bool loop_anchor_fits(const struct loop *loop, size_t n_ends) {
    double rounds = (double)(loop->end - loop->begin) / (double)loop->lag;
    return (double)n_ends >= 0.9 * rounds && (double)n_ends <= 1.1 * rounds;
}

struct anchor_count {
    uint64_t hash;
    size_t n;
    size_t last;
    double gap_ns;
    double squares; /* sum over the gaps between occurrences, the ends included, of squared numbers
                       of calls: smallest if no occurrence is missing */
};

static double gap_after(const struct loop_calls *calls, size_t end) {
    return end < calls->n
               ? fmax(0, (double)(calls->items[end].enter_ns - calls->items[end - 1].exit_ns))
               : 0;
}

static void count_anchor(struct anchor_count *count, const struct loop_calls *calls, size_t end) {
    count->squares += (double)(end - count->last) * (double)(end - count->last);
    count->n++;
    count->last = end;
    count->gap_ns += gap_after(calls, end);
}

static double least_squares(const struct loop *loop, const struct anchor_count *counts, size_t n) {
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        if (loop_anchor_fits(loop, counts[i].n))
            least = fmin(least, counts[i].squares);
    return least;
}

/* Tries all rows of k calls, and keeps the best. */
static int try_anchors(const struct loop_calls *calls, const struct loop *loop,
                       const uint64_t *prefix, size_t k, struct loop_anchor *ret_anchor) {
    size_t n = loop->end - loop->begin, n_counts = 0;
    struct anchor_count *counts = malloc((n + 1) * sizeof *counts), *best = NULL;
    struct gram_slots slots = {0};
    uint64_t factor = gram_power(k);
    int result = counts ? gram_slots_init(&slots, n) : -ENOMEM;
    for (size_t i = k; result == 0 && i <= n; i++) {
        uint64_t hash = gram_at(prefix, i, k, factor);
        uint32_t *at = gram_slots_at(&slots, hash);
        if (!*at) {
            counts[n_counts++] = (struct anchor_count){.hash = hash, .last = loop->begin};
            *at = (uint32_t)n_counts;
        }
        count_anchor(&counts[*at - 1], calls, loop->begin + i);
    }
    for (size_t i = 0; i < n_counts; i++) {
        double left = (double)(loop->end - counts[i].last);
        counts[i].squares += left * left;
    }
    double least = least_squares(loop, counts, n_counts);
    for (size_t i = 0; i < n_counts; i++)
        if (loop_anchor_fits(loop, counts[i].n) && counts[i].squares <= 1.05 * least &&
            (!best || counts[i].gap_ns > best->gap_ns))
            best = &counts[i];
    if (best)
        *ret_anchor = (struct loop_anchor){best->hash, k};
    free(counts);
    gram_slots_release(&slots);
    return result;
}

int loop_anchor_find(const struct loop_calls *calls, const struct loop *loop,
                     struct loop_anchor *ret_anchor) {
    uint64_t *prefix = gram_hashes(calls->items + loop->begin, loop->end - loop->begin);
    int result = prefix ? 0 : -ENOMEM;
    *ret_anchor = (struct loop_anchor){0};
    for (size_t k = 1; result == 0 && !ret_anchor->length && k <= 2 * loop->lag; k *= 2)
        result = try_anchors(calls, loop, prefix, k < loop->lag ? k : loop->lag, ret_anchor);
    free(prefix);
    return result;
}

size_t loop_anchor_ends(const struct loop_calls *calls, const struct loop *loop,
                        struct loop_anchor anchor, int64_t *ends) {
    size_t n = 0, k = anchor.length, length = loop->end - loop->begin;
    uint64_t *prefix = k && k <= length ? gram_hashes(calls->items + loop->begin, length) : NULL;
    uint64_t factor = gram_power(k);
    for (size_t i = k; prefix && i <= length; i++)
        if (gram_at(prefix, i, k, factor) == anchor.hash)
            ends[n++] = calls->items[loop->begin + i - 1].exit_ns;
    free(prefix);
    return n;
}
