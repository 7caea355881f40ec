/* SPDX-License-Identifier: MIT */
#include "analysis/critical_path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/scene.h"

/* ---- parts ---- */

static int part_init(const struct critical_path *path, bool full, struct critical_part *part) {
    size_t hosts = path->n_hosts + 1;
    part->seconds = calloc(hosts * BUDGET_TERMS, sizeof *part->seconds);
    if (full) {
        part->rank_seconds = calloc(path->n_ranks * BUDGET_TERMS + 1, sizeof *part->rank_seconds);
        part->transfers = calloc(hosts * hosts, sizeof *part->transfers);
    }
    return part->seconds && (!full || (part->rank_seconds && part->transfers)) ? 0 : -ENOMEM;
}

static void part_release(struct critical_part *part) {
    free(part->seconds);
    free(part->rank_seconds);
    free(part->transfers);
}

static void add_budget(const struct rank_budgets *ranks, size_t r, const struct budget *b,
                       struct critical_part *part) {
    size_t host = (size_t)ranks->items[r].host;
    for (int term = 0; term < BUDGET_TERMS; term++) {
        double s = isnan(b->term_s[term]) ? 0 : b->term_s[term];
        part->seconds[host * BUDGET_TERMS + (size_t)term] += s;
        if (part->rank_seconds)
            part->rank_seconds[r * BUDGET_TERMS + (size_t)term] += s;
        part->total_s += s;
    }
}

/* ---- without events ---- */

static double busy_s(const struct budget *b) {
    double sum = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (term != BUDGET_IDLE && term != BUDGET_PEER_WAIT && !isnan(b->term_s[term]))
            sum += b->term_s[term];
    return sum;
}

static void follow_busiest(const struct scene *scene, size_t group, struct critical_part *part) {
    const struct rank_budgets *ranks = &scene->budgets;
    size_t best = 0;
    for (size_t r = 1; r < ranks->n; r++)
        if (busy_s(&ranks->items[r].groups[group]) > busy_s(&ranks->items[best].groups[group]))
            best = r;
    if (ranks->n)
        add_budget(ranks, best, &ranks->items[best].groups[group], part);
}

/* ---- all ---- */

int critical_path_make(const struct scene *scene, struct critical_path *ret_path) {
    struct critical_path path = {.source = scene->budgets.n ? CRITICAL_PER_PROCESS : CRITICAL_NONE,
                                 .n_hosts = scene->n_hosts,
                                 .n_ranks = scene->budgets.n};
    path.groups = calloc(scene->n_groups + 1, sizeof *path.groups);
    int result = path.groups ? 0 : -ENOMEM;
    for (size_t g = 0; result == 0 && g < scene->n_groups; g++) {
        struct critical_part *part = &path.groups[path.n_groups++];
        result = part_init(&path, true, part);
        part->length_s = (double)windows_length(phase_windows(&scene->groups[g])) / 1e9;
        if (result == 0)
            follow_busiest(scene, g, part);
    }
    if (result < 0)
        critical_path_release(&path);
    else
        *ret_path = path;
    return result;
}

void critical_path_release(struct critical_path *path) {
    for (size_t g = 0; g < path->n_groups; g++)
        part_release(&path->groups[g]);
    for (size_t b = 0; b < path->n_blocks; b++)
        part_release(&path->blocks[b]);
    free(path->groups);
    free(path->blocks);
    free(path->block_windows);
    *path = (struct critical_path){0};
}

double critical_share(const struct critical_part *part, int host, enum budget_term term) {
    return part->total_s > 0 ? critical_seconds(part, host, term) / part->total_s : 0;
}
