/* SPDX-License-Identifier: MIT */
#include "analysis/resample.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/stats.h"

#define SLICES 20
#define DRAWINGS 500
#define CANDIDATES_MAX 16

/* The parts of a phase within a slice; returns how many of `room`. */
static size_t cut(const struct phase_group *group, struct window slice, struct window *room) {
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++) {
        struct window w = group->items[i];
        w.begin_ns = w.begin_ns > slice.begin_ns ? w.begin_ns : slice.begin_ns;
        w.end_ns = w.end_ns < slice.end_ns ? w.end_ns : slice.end_ns;
        if (w.end_ns > w.begin_ns)
            room[n++] = w;
    }
    return n;
}

/* Seconds that the candidate blocked within each slice. */
static int fill(const struct scene *scene, const struct candidate *candidate,
                double seconds[SLICES]) {
    const struct phase_group *group = &scene->groups[candidate->group];
    struct window *room = malloc((group->n + 1) * sizeof *room);
    if (!room)
        return -ENOMEM;
    for (int s = 0; s < SLICES; s++) {
        int64_t length = scene->recording->duration_ns;
        struct window slice = {length / SLICES * s, length / SLICES * (s + 1)};
        struct windows parts = {room, cut(group, slice, room)};
        double share = parts.n ? candidate_blocked(candidate, parts) : 0;
        seconds[s] = isnan(share) ? 0 : share * (double)windows_length(parts) / 1e9;
    }
    free(room);
    return 0;
}

/* The other direction of the first candidate's link is no rival: the two count together. */
static size_t merge_directions(const struct candidates *candidates, size_t n,
                               double seconds[][SLICES]) {
    const struct candidate *first = &candidates->items[0];
    size_t kept = 1;
    for (size_t c = 1; c < n; c++) {
        const struct candidate *other = &candidates->items[c];
        bool same = first->ceiling > 0 && other->ceiling > 0 && other->host == first->host &&
                    other->group == first->group;
        for (int s = 0; s < SLICES; s++)
            if (same)
                seconds[0][s] += seconds[c][s];
            else
                seconds[kept][s] = seconds[c][s];
        kept += !same;
    }
    return kept;
}

int resample_candidates(const struct scene *scene, const struct candidates *candidates,
                        struct resampled *ret_resampled) {
    double seconds[CANDIDATES_MAX][SLICES], shares[DRAWINGS];
    size_t n = candidates->n < CANDIDATES_MAX ? candidates->n : CANDIDATES_MAX, first = 0;
    double run_s = (double)scene->recording->duration_ns / 1e9, margin = 0;
    uint64_t random = 1;
    for (size_t c = 0; c < n; c++) {
        int result = fill(scene, &candidates->items[c], seconds[c]);
        if (result < 0)
            return result;
    }
    n = n ? merge_directions(candidates, n, seconds) : 0;
    for (size_t d = 0; d < DRAWINGS; d++) {
        double sums[CANDIDATES_MAX] = {0}, second = 0;
        for (int s = 0; s < SLICES; s++) {
            size_t slice = stats_random_below(&random, SLICES);
            for (size_t c = 0; c < n; c++)
                sums[c] += seconds[c][slice];
        }
        for (size_t c = 1; c < n; c++)
            second = fmax(second, sums[c]);
        first += n && sums[0] >= second;
        shares[d] = n ? sums[0] / run_s : 0;
        margin += n && sums[0] > 0 ? fmax(0, 1 - second / sums[0]) : 0;
    }
    *ret_resampled = (struct resampled){.first = (double)first / DRAWINGS,
                                        .low = stats_quantile(shares, DRAWINGS, 0.025),
                                        .high = stats_quantile(shares, DRAWINGS, 0.975),
                                        .margin = margin / DRAWINGS};
    return 0;
}
