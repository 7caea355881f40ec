/* SPDX-License-Identifier: MIT */
/*
 * Answers by chains of waits, without calls to replay: a change shortens the path by what it takes
 * from the processes on it. No run is shorter than the own time of any process, so if two processes
 * are equally slow, a change of one gains little.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "analysis/gain/gain_private.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/number.h"

#define DRAWINGS 1000

/* asleep_s: the part of its sleep that others waited for. */
static double busy_s(const struct budget *b, double asleep_s) {
    double asleep = budget_sum(b, 1u << BUDGET_IDLE);
    return budget_sum(b, budget_outside_terms() | 1u << BUDGET_TRANSFER) - asleep +
           fmin(asleep, asleep_s);
}

/* The most seconds that the changes take from a process, by its own budget; below 0 if they add
 * time.
 */
static double taken_s(const struct whatif *w, const struct rank_budget *who, const struct budget *b,
                      const struct whatif_scenario *scenarios, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct whatif_scenario *s = &scenarios[i];
        if (s->host < 0 || s->host == who->host || s->kind == WHATIF_LINK)
            sum += whatif_part_saved(whatif_speed(w, s)) * budget_sum(b, 1u << whatif_term(s));
    }
    return sum;
}

/* The seconds that a process is busy itself after the changes. It was so for its whole life at
 * most, whatever terms that overlap sum to.
 */
static double left_s(const struct whatif *w, const struct rank_budget *who, double asleep_s,
                     const struct whatif_scenario *scenarios, size_t n) {
    const struct budget *b = &who->groups[w->model->main_group];
    double length_s = w->model->critical.groups[w->model->main_group].length_s;
    double busy = busy_s(b, asleep_s), taken = taken_s(w, who, b, scenarios, n);
    return taken > 0 ? fmin(busy - taken, length_s) : fmin(busy, length_s) - taken;
}

/* The largest share of its life that a process is busy itself after the changes, above 1 if they
 * make it longer. Several threads may do its work at once.
 */
static double least_left(const struct whatif *w, const struct whatif_scenario *scenarios,
                         size_t n) {
    const struct run_model *model = w->model;
    size_t group = model->main_group;
    const struct critical_part *part = &model->critical.groups[group];
    double most = 0;
    for (size_t r = 0; r < model->critical.n_ranks; r++) {
        const struct rank_budget *who = &model->budgets.items[r];
        const struct budget *b = &who->groups[group];
        double on_path = 0;
        for (size_t term = 0; term < BUDGET_TERMS; term++)
            on_path += part->rank_seconds[r * BUDGET_TERMS + term];
        if (b->wall_s > 0 && on_path >= number_of(model, WAITS_BOUND_MIN) * part->total_s &&
            b->other_cpu_s <= number_of(model, WAITS_ONE_THREAD) * b->wall_s)
            most =
                fmax(most, left_s(w, who, part->rank_asleep_s[r], scenarios, n) / part->length_s);
    }
    return most;
}

static double transfers_s(const struct run_model *model, const struct critical_part *part) {
    double sum = 0;
    for (size_t h = 0; h < model->n_hosts; h++)
        sum += critical_seconds(part, (int)h, BUDGET_TRANSFER);
    return sum;
}

/* The share of a part of the path that the changes take away. Blocks do not tell between which
 * hosts their transfers are, so the share of the whole path counts.
 */
static double share_taken(const struct whatif *w, const struct critical_part *block,
                          const struct whatif_scenario *scenarios, size_t n) {
    const struct critical_part *whole = &w->model->critical.groups[w->model->main_group];
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        bool link = scenarios[i].kind == WHATIF_LINK;
        double all = transfers_s(w->model, whole), part = 0;
        if (link && all > 0)
            part = whatif_taken_of(w, whole, &scenarios[i], 1) / all;
        sum += link ? part * transfers_s(w->model, block)
                    : whatif_taken_of(w, block, &scenarios[i], 1);
    }
    return block->total_s > 0 ? sum / block->total_s : 0;
}

/* Bootstrap over blocks: how much of them the changes take away. -ENOMEM. */
static int bootstrap_path(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                          double *ret_low, double *ret_high) {
    const struct critical_path *path = &w->model->critical;
    double *shares = malloc((path->n_blocks + 1) * sizeof *shares);
    double *means = malloc(DRAWINGS * sizeof *means);
    uint64_t random = 1;
    for (size_t b = 0; shares && b < path->n_blocks; b++)
        shares[b] = share_taken(w, &path->blocks[b], scenarios, n);
    for (size_t d = 0; shares && means && path->n_blocks && d < DRAWINGS; d++) {
        double sum = 0;
        for (size_t i = 0; i < path->n_blocks; i++)
            sum += shares[stats_random_below(&random, path->n_blocks)];
        means[d] = sum / (double)path->n_blocks;
    }
    bool ok = shares && means;
    if (ok && path->n_blocks) {
        *ret_low = stats_quantile(means, DRAWINGS, 0.025);
        *ret_high = stats_quantile(means, DRAWINGS, 0.975);
    }
    free(shares);
    free(means);
    return ok ? 0 : -ENOMEM;
}

int whatif_by_waits(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                    struct whatif_answer *a) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    double gain = share_taken(w, part, scenarios, n), low = gain, high = gain;
    if (isnan(gain))
        return 0; /* it adds work, or compares ranks, or asks for a rate, and the present one is not
                     known */
    int result = bootstrap_path(w, scenarios, n, &low, &high);
    double most = 1 - least_left(w, scenarios, n);
    a->counted = true;
    a->gain = fmin(gain, most);
    a->gain_low = fmin(fmin(low, gain), most);
    a->gain_high = fmax(high, gain);
    a->predicted_s = a->measured_s * (1 - a->gain);
    a->low_s = a->measured_s * (1 - a->gain_high);
    a->high_s = a->measured_s * (1 - a->gain_low);
    a->bound_s = fmin(a->bound_s, a->low_s);
    a->gain_max = 1 - a->bound_s / a->measured_s;
    return result;
}
