/* SPDX-License-Identifier: MIT */
#include "analysis/critical_path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/critical_private.h"
#include "analysis/scene.h"

#define SLICES 20 /* without iterations */

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

static void add_budget(size_t r, int on_host, const struct budget *b, struct critical_part *part) {
    size_t host = (size_t)on_host;
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

static void follow_busiest(const struct rank_budgets *ranks, size_t group,
                           struct critical_part *part) {
    size_t best = 0;
    for (size_t r = 1; r < ranks->n; r++)
        if (busy_s(&ranks->items[r].groups[group]) > busy_s(&ranks->items[best].groups[group]))
            best = r;
    if (ranks->n)
        add_budget(best, ranks->items[best].host, &ranks->items[best].groups[group], part);
}

/* ---- blocks ---- */

static size_t ending_within(const struct rank_iterations *its, struct windows windows,
                            size_t *ret_first) {
    size_t n = 0;
    for (size_t i = 0; i < its->n; i++) {
        int64_t end = its->items[i].end_ns;
        bool inside = false;
        for (size_t w = 0; !inside && w < windows.n; w++)
            inside = end > windows.items[w].begin_ns && end <= windows.items[w].end_ns;
        if (inside && n++ == 0)
            *ret_first = i;
    }
    return n;
}

/* Consecutive iterations of the reference rank, from the end of one to the end of another. */
static void blocks_of_iterations(const struct rank_iterations *its, size_t first, size_t n,
                                 struct critical_path *path) {
    size_t per = (n + CRITICAL_BLOCKS_MAX - 1) / CRITICAL_BLOCKS_MAX;
    path->iterations_per_block = per;
    for (size_t i = 0; i + per <= n && path->n_blocks < CRITICAL_BLOCKS_MAX; i += per) {
        const struct iteration *a = &its->items[first + i], *b = &its->items[first + i + per - 1];
        int64_t begin = a->end_ns - a->duration_ns;
        if (path->n_blocks && begin < path->block_windows[path->n_blocks - 1].end_ns)
            begin = path->block_windows[path->n_blocks - 1].end_ns;
        if (b->end_ns > begin)
            path->block_windows[path->n_blocks++] = (struct window){begin, b->end_ns};
    }
}

static void blocks_of_time(struct windows windows, struct critical_path *path) {
    int64_t begin = windows.n ? windows.items[0].begin_ns : 0;
    int64_t length = (windows.n ? windows.items[windows.n - 1].end_ns : 0) - begin;
    for (int64_t i = 0; i < SLICES && length >= SLICES; i++)
        path->block_windows[path->n_blocks++] =
            (struct window){begin + length / SLICES * i, begin + length / SLICES * (i + 1)};
}

#define ITERATIONS_MIN 8 /* fewer say nothing of how much they differ */

static void choose_blocks(const struct scene *scene, struct critical_path *path) {
    struct windows windows = phase_windows(&scene->groups[scene->main_group]);
    const struct rank_iterations *its = iterations_reference(&scene->iterations);
    size_t first = 0, n = its ? ending_within(its, windows, &first) : 0;
    if (n >= ITERATIONS_MIN)
        blocks_of_iterations(its, first, n, path);
    else
        blocks_of_time(windows, path);
}

/* ---- all ---- */

int critical_path_begin(const struct scene *scene, size_t n_ranks, struct critical_path *ret_path) {
    struct critical_path path = {.source = n_ranks ? CRITICAL_PER_PROCESS : CRITICAL_NONE,
                                 .n_hosts = scene->n_hosts,
                                 .n_ranks = n_ranks,
                                 .groups = calloc(scene->n_groups + 1, sizeof *path.groups),
                                 .blocks = calloc(CRITICAL_BLOCKS_MAX, sizeof *path.blocks),
                                 .block_windows =
                                     calloc(CRITICAL_BLOCKS_MAX, sizeof *path.block_windows)};
    int result = path.groups && path.blocks && path.block_windows ? 0 : -ENOMEM;
    for (size_t g = 0; result == 0 && g < scene->n_groups; g++) {
        struct critical_part *part = &path.groups[path.n_groups++];
        part->length_s = (double)windows_length(phase_windows(&scene->groups[g])) / 1e9;
        result = part_init(&path, true, part);
    }
    if (result == 0)
        choose_blocks(scene, &path);
    for (size_t b = 0; result == 0 && b < path.n_blocks; b++) {
        struct windows block = {&path.block_windows[b], 1};
        path.blocks[b].length_s = (double)windows_length(block) / 1e9;
        result = part_init(&path, false, &path.blocks[b]);
    }
    if (result < 0)
        critical_path_release(&path);
    else
        *ret_path = path;
    return result;
}

static void add_all(const struct critical_path *path, size_t index, int host,
                    const struct budget *budgets) {
    for (size_t g = 0; g < path->n_groups; g++)
        add_budget(index, host, &budgets[g], &path->groups[g]);
    for (size_t b = 0; b < path->n_blocks; b++)
        add_budget(index, host, &budgets[path->n_groups + b], &path->blocks[b]);
}

int critical_path_add(const struct scene *scene, const struct critical_walk *walk, size_t index,
                      const struct budget_subject *subject, struct critical_path *path) {
    size_t n = path->n_groups + path->n_blocks, rank = subject->log_rank;
    if (!subject->log || rank >= walk->n_ranks || !walk->n[rank])
        return 0;
    struct windows *windows = calloc(n + 1, sizeof *windows);
    double **moved = calloc(n + 1, sizeof *moved);
    struct budget *budgets = calloc(n + 1, sizeof *budgets);
    for (size_t w = 0; windows && moved && w < n; w++) {
        bool group = w < path->n_groups;
        windows[w] = group ? phase_windows(&scene->groups[w])
                           : (struct windows){&path->block_windows[w - path->n_groups], 1};
        moved[w] = group ? path->groups[w].transfers : NULL;
    }
    struct budget_parts parts = {
        .only = {walk->stretches[rank], walk->n[rank]}, .n_hosts = path->n_hosts, .moved_s = moved};
    int result = windows && moved && budgets
                     ? budget_make_parts(subject, &parts, windows, n, budgets)
                     : -ENOMEM;
    if (result == 0) {
        add_all(path, index, subject->log->ranks[rank].host, budgets);
        path->source = CRITICAL_FROM_EVENTS;
    }
    free(windows);
    free(moved);
    free(budgets);
    return result;
}

/* What moved while the rank was kept from running is waiting for a core: as far as that goes,
 * transfers are no longer than the term. */
static void fit_transfers(struct critical_part *part, size_t n_hosts) {
    double sum = 0, term = 0;
    for (size_t i = 0; i < (n_hosts + 1) * (n_hosts + 1); i++)
        sum += part->transfers[i];
    for (size_t h = 0; h < n_hosts; h++)
        term += critical_seconds(part, (int)h, BUDGET_TRANSFER);
    for (size_t i = 0; sum > term && i < (n_hosts + 1) * (n_hosts + 1); i++)
        part->transfers[i] *= term / sum;
}

void critical_path_finish(const struct scene *scene, const struct rank_budgets *ranks,
                          struct critical_path *path) {
    const struct call_matches *m = &scene->matches;
    uint64_t unmatched = m->unmatched_sends + m->unmatched_receives + m->unmatched_groups;
    uint64_t all = unmatched + 2 * m->messages + m->groups - m->unmatched_groups;
    path->unmatched = all ? (double)unmatched / (double)all : 0;
    for (size_t g = 0; g < path->n_groups; g++) {
        if (path->source == CRITICAL_PER_PROCESS)
            follow_busiest(ranks, g, &path->groups[g]);
        fit_transfers(&path->groups[g], path->n_hosts);
    }
    for (; path->source != CRITICAL_FROM_EVENTS && path->n_blocks; path->n_blocks--)
        part_release(&path->blocks[path->n_blocks - 1]);
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
