/* SPDX-License-Identifier: MIT */
#include "analysis/time/critical_path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/run_model.h"
#include "analysis/time/critical_private.h"
#include "analysis/time/free_running.h"

#define SLICES 20      /* slices of a group without iterations */
#define FREE_SLICES 40 /* slices where ranks run freely: no iteration is common to all */

/* ---- parts ---- */

static int part_init(const struct critical_path *path, bool full, struct critical_part *part) {
    size_t hosts = path->n_hosts + 1;
    part->seconds = calloc(hosts * BUDGET_TERMS, sizeof *part->seconds);
    if (full) {
        part->rank_seconds = calloc(path->n_ranks * BUDGET_TERMS + 1, sizeof *part->rank_seconds);
        part->rank_asleep_s = calloc(path->n_ranks + 1, sizeof *part->rank_asleep_s);
        part->transfers = calloc(hosts * hosts, sizeof *part->transfers);
    }
    bool has_all = part->rank_seconds && part->rank_asleep_s && part->transfers;
    return part->seconds && (!full || has_all) ? 0 : -ENOMEM;
}

static void part_release(struct critical_part *part) {
    free(part->seconds);
    free(part->rank_seconds);
    free(part->rank_asleep_s);
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
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (budget_term_class(term) != BUDGET_CLASS_ASLEEP && term != BUDGET_PEER_WAIT &&
            !isnan(b->term_s[term]))
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

/* Blocks of consecutive iterations of the reference rank, each from the end of one iteration to the
 * end of another.
 */
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

static void blocks_of_time(struct windows windows, int64_t n, struct critical_path *path) {
    int64_t begin = windows.n ? windows.items[0].begin_ns : 0;
    int64_t length = (windows.n ? windows.items[windows.n - 1].end_ns : 0) - begin;
    for (int64_t i = 0; i < n && length >= n; i++)
        path->block_windows[path->n_blocks++] =
            (struct window){begin + length / n * i, begin + length / n * (i + 1)};
}

#define ITERATIONS_MIN 8 /* fewer iterations do not show how much they differ */

static void choose_blocks(const struct run_model *model, bool freely, struct critical_path *path) {
    struct windows windows = phase_windows(&model->groups[model->main_group]);
    const struct rank_iterations *its = iterations_reference(&model->iterations);
    size_t first = 0, n = its ? ending_within(its, windows, &first) : 0;
    if (freely)
        blocks_of_time(windows, FREE_SLICES, path);
    else if (n >= ITERATIONS_MIN)
        blocks_of_iterations(its, first, n, path);
    else
        blocks_of_time(windows, SLICES, path);
}

/* ---- all ---- */

static int path_init(const struct run_model *model, size_t n_ranks, bool freely,
                     struct critical_path *ret_path) {
    struct critical_path path = {.source = n_ranks ? CRITICAL_PER_PROCESS : CRITICAL_NONE,
                                 .n_hosts = model->n_hosts,
                                 .n_ranks = n_ranks,
                                 .groups = calloc(model->n_groups + 1, sizeof *path.groups),
                                 .blocks = calloc(CRITICAL_BLOCKS_MAX, sizeof *path.blocks),
                                 .block_windows =
                                     calloc(CRITICAL_BLOCKS_MAX, sizeof *path.block_windows)};
    int result = path.groups && path.blocks && path.block_windows ? 0 : -ENOMEM;
    for (size_t g = 0; result == 0 && g < model->n_groups; g++) {
        struct critical_part *part = &path.groups[path.n_groups++];
        part->length_s = (double)windows_length(phase_windows(&model->groups[g])) / 1e9;
        result = part_init(&path, true, part);
    }
    if (result == 0)
        choose_blocks(model, freely, &path);
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

int critical_path_begin(const struct run_model *model, size_t n_ranks,
                        struct critical_path *ret_path) {
    return path_init(model, n_ranks, free_running(model, NULL) > 0, ret_path);
}

/* ---- ranks that run freely ---- */

static struct windows windows_at(const struct run_model *model, const struct critical_path *path,
                                 size_t at) {
    return at < path->n_groups ? phase_windows(&model->groups[at])
                               : (struct windows){&path->block_windows[at - path->n_groups], 1};
}

static int divide_one(const struct run_model *model, struct critical_walker *walker,
                      const struct critical_walk *walk, const struct serving *serving,
                      struct critical_path *of, struct critical_own *own) {
    const struct rank_iterations *its = free_running_iterations(model, own->log_rank);
    struct windows main_windows = phase_windows(&model->groups[model->main_group]);
    int result = path_init(model, of->n_ranks, true, &own->path);
    if (result == 0)
        result = critical_walk_own(walker, own->log_rank, main_windows, &own->walk);
    if (result == 0)
        result = critical_walk_fill(&own->walk, walk, main_windows);
    size_t n = own->path.n_groups + own->path.n_blocks;
    own->done = calloc(n + 1, sizeof *own->done);
    own->served_s = calloc(n + 1, sizeof *own->served_s);
    if (result < 0 || !own->done || !own->served_s)
        return result < 0 ? result : -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct windows windows = windows_at(model, &own->path, i);
        own->done[i] = free_running_done(its, windows);
        if (serving->server_rank != SIZE_MAX)
            own->served_s[i] =
                serving_within(serving,
                               (struct windows){own->walk.stretches[serving->server_rank],
                                                own->walk.n[serving->server_rank]},
                               windows);
    }
    return 0;
}

/* Finds the server's work for others, and its own work that holds them up. -ENOMEM. */
static int find_serving(const struct run_model *model, const size_t *log_ranks, size_t n,
                        struct serving *ret_others, struct serving *ret_all) {
    double n_others = 0;
    int result = serving_find(&model->recording->calls, &model->matches, ret_others);
    if (result < 0)
        return result;
    size_t server_rank = ret_others->server_rank;
    for (size_t i = 0; i < n; i++)
        n_others += log_ranks[i] == server_rank
                        ? 0
                        : (double)free_running_iterations(model, log_ranks[i])->n;
    result = serving_with_own(
        ret_others, server_rank == SIZE_MAX ? NULL : free_running_iterations(model, server_rank),
        n_others, ret_all);
    if (result < 0)
        serving_release(ret_others);
    return result;
}

static int divide_all(const struct run_model *model, struct critical_walker *walker,
                      const struct critical_walk *walk, const size_t *log_ranks, size_t n,
                      struct critical_path *path) {
    struct serving serving, all;
    path->own = calloc(n, sizeof *path->own);
    path->served_s = calloc(path->n_groups + 1, sizeof *path->served_s);
    if (!path->own || !path->served_s)
        return -ENOMEM;
    int result = find_serving(model, log_ranks, n, &serving, &all);
    if (result < 0)
        return result;
    path->server_rank = serving.server_rank;
    for (size_t g = 0; g < path->n_groups; g++)
        path->served_s[g] = serving_within(&serving, phase_windows(&model->groups[g]),
                                           phase_windows(&model->groups[g]));
    for (size_t i = 0; result == 0 && i < n; i++) {
        path->own[path->n_own++].log_rank = log_ranks[i];
        result =
            divide_one(model, walker, walk, log_ranks[i] == path->server_rank ? &serving : &all,
                       path, &path->own[i]);
    }
    serving_release(&serving);
    serving_release(&all);
    return result;
}

int critical_path_divide(const struct run_model *model, struct critical_walker *walker,
                         const struct critical_walk *walk, struct critical_path *path) {
    size_t log_ranks[FREE_RANKS_MAX];
    size_t n = free_running(model, log_ranks);
    return n ? divide_all(model, walker, walk, log_ranks, n, path) : 0;
}

static double done_of_all(const struct critical_path *path, size_t at) {
    double sum = 0;
    for (size_t i = 0; i < path->n_own; i++)
        sum += path->own[i].done[at];
    return sum;
}

static void add_weighted(const double *from, double weight, size_t n, double *to) {
    for (size_t i = 0; to && i < n; i++)
        to[i] += weight * from[i];
}

/* Adds one rank's part to the common path, weighted by its share of the main group's iterations. */
static void weigh(const struct critical_path *path, const struct critical_part *from, double weight,
                  struct critical_part *to) {
    size_t hosts = path->n_hosts + 1;
    add_weighted(from->seconds, weight, hosts * BUDGET_TERMS, to->seconds);
    add_weighted(from->rank_seconds, weight, path->n_ranks * BUDGET_TERMS, to->rank_seconds);
    add_weighted(from->transfers, weight, hosts * hosts, to->transfers);
    to->total_s += weight * from->total_s;
}

/* Makes the run's path from the paths of its ranks. */
static void join(const struct run_model *model, struct critical_path *path) {
    double all = done_of_all(path, model->main_group);
    for (size_t i = 0; i < path->n_own && all > 0; i++) {
        const struct critical_own *own = &path->own[i];
        double weight = own->done[model->main_group] / all;
        for (size_t g = 0; g < path->n_groups; g++)
            weigh(path, &own->path.groups[g], weight, &path->groups[g]);
        for (size_t b = 0; b < path->n_blocks; b++)
            weigh(path, &own->path.blocks[b], weight, &path->blocks[b]);
    }
    path->source = path->n_own ? path->own[0].path.source : path->source;
}

/* ---- one rank after the other ---- */

static void add_all(const struct critical_path *path, size_t index, int host,
                    const struct budget *budgets) {
    for (size_t g = 0; g < path->n_groups; g++)
        add_budget(index, host, &budgets[g], &path->groups[g]);
    for (size_t b = 0; b < path->n_blocks; b++)
        add_budget(index, host, &budgets[path->n_groups + b], &path->blocks[b]);
}

static int add_rank(const struct run_model *model, const struct critical_walk *walk, size_t index,
                    const struct budget_subject *subject, struct critical_path *path) {
    size_t n = path->n_groups + path->n_blocks, rank = subject->log_rank;
    if (!subject->log || rank >= walk->n_ranks || !walk->n[rank])
        return 0;
    struct windows *windows = calloc(n + 1, sizeof *windows);
    double **moved = calloc(n + 1, sizeof *moved);
    struct budget *budgets = calloc(n + 1, sizeof *budgets);
    for (size_t w = 0; windows && moved && w < n; w++) {
        bool group = w < path->n_groups;
        windows[w] = group ? phase_windows(&model->groups[w])
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

int critical_path_add(const struct run_model *model, const struct critical_walk *walk, size_t index,
                      const struct budget_subject *subject, struct critical_path *path) {
    int result = path->n_own ? 0 : add_rank(model, walk, index, subject, path);
    for (size_t i = 0; result == 0 && i < path->n_own; i++)
        result = add_rank(model, &path->own[i].walk, index, subject, &path->own[i].path);
    return result;
}

/* Transfer time in which the rank waited for a core is moved to that term, so transfers between
 * hosts are cut to the transfer term.
 */
static void fit_transfers(struct critical_part *part, size_t n_hosts) {
    double sum = 0, term = 0;
    for (size_t i = 0; i < (n_hosts + 1) * (n_hosts + 1); i++)
        sum += part->transfers[i];
    for (size_t h = 0; h < n_hosts; h++)
        term += critical_seconds(part, (int)h, BUDGET_TRANSFER);
    for (size_t i = 0; sum > term && i < (n_hosts + 1) * (n_hosts + 1); i++)
        part->transfers[i] *= term / sum;
}

void critical_path_finish(const struct run_model *model, const struct rank_budgets *ranks,
                          struct critical_path *path) {
    const struct call_matches *m = &model->matches;
    uint64_t unmatched = m->unmatched_sends + m->unmatched_receives + m->unmatched_groups;
    uint64_t all = unmatched + 2 * m->messages + m->groups - m->unmatched_groups;
    path->unmatched = all ? (double)unmatched / (double)all : 0;
    for (size_t i = 0; i < path->n_own; i++)
        for (size_t g = 0; g < path->n_groups; g++)
            fit_transfers(&path->own[i].path.groups[g], path->n_hosts);
    join(model, path);
    for (size_t g = 0; g < path->n_groups; g++) {
        if (path->source == CRITICAL_PER_PROCESS)
            follow_busiest(ranks, g, &path->groups[g]);
        fit_transfers(&path->groups[g], path->n_hosts);
    }
    for (; path->source > CRITICAL_FROM_WAITS && path->n_blocks; path->n_blocks--)
        part_release(&path->blocks[path->n_blocks - 1]);
}

void critical_path_release(struct critical_path *path) {
    for (size_t i = 0; i < path->n_own; i++) {
        critical_walk_release(&path->own[i].walk);
        critical_path_release(&path->own[i].path);
        free(path->own[i].done);
        free(path->own[i].served_s);
    }
    free(path->own);
    free(path->served_s);
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

double critical_share_of_all(const struct critical_part *part, size_t n_hosts,
                             enum budget_term term) {
    double share = 0;
    for (size_t h = 0; h < n_hosts; h++)
        share += critical_share(part, (int)h, term);
    return isnan(share) ? 0 : share;
}
