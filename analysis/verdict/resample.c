/* SPDX-License-Identifier: MIT */
#include "analysis/verdict/resample.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"

#define SLICES 24
#define DRAWINGS 200
#define CANDIDATES_MAX 32

/* Blocked time of each candidate in each block, and the length of the blocks, in s. */
struct blocks {
    size_t n, n_candidates;
    double run_part; /* part of the run that all blocks represent */
    double *length_s;
    double *seconds; /* [candidate * n + block] */
};

/* ---- from the critical path ---- */

static bool is_on_path(const struct run_model *model, const struct candidates *candidates) {
    return model_has_path(model) && model->critical.n_blocks > 1 &&
           candidates->items[0].group == model->main_group && candidates->items[0].path.terms;
}

static double on_path(const struct run_model *model, const struct candidate *c, size_t block) {
    const struct critical_part *part = &model->critical.blocks[block];
    const struct critical_part *whole = &model->critical.groups[c->group];
    if (c->group != model->main_group || !c->path.terms || isnan(c->path.part) ||
        !(whole->total_s > 0))
        return 0;
    /* the sum is the candidate's demand, however the terms spread over the blocks */
    struct loss loss = candidate_loss(c);
    double all = loss_seconds(&loss, whole, model->n_hosts) / whole->total_s;
    double seconds = loss_seconds(&loss, part, model->n_hosts);
    return all > 0 ? seconds * c->blocked / all : 0;
}

static void fill_path(const struct run_model *model, const struct candidates *candidates,
                      struct blocks *b) {
    double length = 0;
    for (size_t i = 0; i < b->n; i++) {
        /* without time outside the job's life, like the candidates' shares */
        b->length_s[i] = model->critical.blocks[i].total_s;
        length += b->length_s[i];
        for (size_t c = 0; c < b->n_candidates; c++)
            b->seconds[c * b->n + i] = on_path(model, &candidates->items[c], i);
    }
    double main_s = (double)windows_length(phase_windows(&model->groups[model->main_group])) / 1e9;
    double run_s = (double)model->recording->duration_ns / 1e9;
    b->run_part = run_s > 0 && length > 0 ? main_s / run_s : 0;
}

/* ---- from slices of time ---- */

/* Cuts the group's windows to a slice of the run. */
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

static int fill_slices_of(const struct run_model *model, const struct candidate *candidate,
                          double *seconds) {
    const struct phase_group *group = &model->groups[candidate->group];
    struct window *room = malloc((group->n + 1) * sizeof *room);
    if (!room)
        return -ENOMEM;
    for (int s = 0; s < SLICES; s++) {
        int64_t length = model->recording->duration_ns;
        struct window slice = {length / SLICES * s, length / SLICES * (s + 1)};
        struct windows parts = {room, cut(group, slice, room)};
        double share = candidate->blocked;
        if (candidate->metric.signal)
            share = parts.n ? candidate_blocked(candidate, parts) : 0;
        seconds[s] = isnan(share) ? 0 : share * (double)windows_length(parts) / 1e9;
    }
    free(room);
    return 0;
}

static int fill_slices(const struct run_model *model, const struct candidates *candidates,
                       struct blocks *b) {
    b->run_part = 1;
    for (size_t i = 0; i < b->n; i++)
        b->length_s[i] = (double)model->recording->duration_ns / 1e9 / SLICES;
    for (size_t c = 0; c < b->n_candidates; c++) {
        int result = fill_slices_of(model, &candidates->items[c], &b->seconds[c * b->n]);
        if (result < 0)
            return result;
    }
    return 0;
}

/* ---- drawing ---- */

/* The other direction of the first candidate's link is no rival: both count together. */
static bool is_same_link(const struct candidate *first, const struct candidate *other) {
    return first->ceiling > 0 && other->ceiling > 0 && other->host == first->host &&
           other->group == first->group;
}

/* Weight of a second of a candidate: its gain over its share, reduced without evidence. */
static double weight_of(const struct candidate *c) {
    double gain = c->fallback ? c->gain.estimate : c->weight;
    return c->run_share > 0 ? gain / c->run_share : 0;
}

/* The best other candidate in these blocks. A fallback is no rival: it holds only if nothing is
 * short. */
static double second_of(const struct candidates *candidates, const struct blocks *b,
                        const double *sums) {
    double second = 0;
    for (size_t c = 1; c < b->n_candidates; c++)
        if (!candidates->items[c].repeated && !candidates->items[c].fallback &&
            !(candidates->items[0].everywhere &&
              candidate_is_alike(&candidates->items[0], &candidates->items[c])) &&
            !is_same_link(&candidates->items[0], &candidates->items[c]))
            second = fmax(second, weight_of(&candidates->items[c]) * sums[c]);
    return second;
}

static void draw(const struct blocks *b, const struct candidates *candidates, uint64_t *random,
                 double *sums, double *ret_length, double *ret_first) {
    memset(sums, 0, b->n_candidates * sizeof *sums);
    *ret_length = 0;
    for (size_t i = 0; i < b->n; i++) {
        size_t block = stats_random_below(random, b->n);
        *ret_length += b->length_s[block];
        for (size_t c = 0; c < b->n_candidates; c++)
            sums[c] += b->seconds[c * b->n + block];
    }
    *ret_first = weight_of(&candidates->items[0]) * sums[0];
    for (size_t c = 1; c < b->n_candidates; c++)
        if (is_same_link(&candidates->items[0], &candidates->items[c]))
            *ret_first += weight_of(&candidates->items[c]) * sums[c];
}

static struct resampled draw_all(const struct blocks *b, const struct candidates *candidates) {
    double shares[DRAWINGS], sums[CANDIDATES_MAX], margin = 0;
    uint64_t random = 1;
    size_t first = 0;
    for (size_t d = 0; d < DRAWINGS; d++) {
        double length, mine;
        draw(b, candidates, &random, sums, &length, &mine);
        double second = second_of(candidates, b, sums);
        first += mine >= second;
        shares[d] = length > 0 ? sums[0] / length * b->run_part : 0;
        margin += mine > 0 ? fmax(0, 1 - second / mine) : 0;
    }
    return (struct resampled){.first = (double)first / DRAWINGS,
                              .low = stats_quantile(shares, DRAWINGS, 0.025),
                              .high = stats_quantile(shares, DRAWINGS, 0.975),
                              .margin = margin / DRAWINGS};
}

int resample_candidates(const struct run_model *model, const struct candidates *candidates,
                        struct resampled *ret_resampled) {
    struct blocks b = {.n = SLICES,
                       .n_candidates =
                           candidates->n < CANDIDATES_MAX ? candidates->n : CANDIDATES_MAX};
    *ret_resampled = (struct resampled){0};
    if (!b.n_candidates)
        return 0;
    bool path = is_on_path(model, candidates);
    if (path)
        b.n = model->critical.n_blocks;
    b.length_s = calloc(b.n, sizeof *b.length_s);
    b.seconds = calloc(b.n * b.n_candidates, sizeof *b.seconds);
    int result = b.length_s && b.seconds ? 0 : -ENOMEM;
    if (result == 0 && path)
        fill_path(model, candidates, &b);
    else if (result == 0)
        result = fill_slices(model, candidates, &b);
    if (result == 0)
        *ret_resampled = draw_all(&b, candidates);
    free(b.length_s);
    free(b.seconds);
    return result;
}
