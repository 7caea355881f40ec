/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/free_ranks.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "analysis/time/critical_path.h"

#define QUARTERED_MIN 20 /* iterations: with fewer, a quarter tells nothing */

static size_t budget_of(const struct run_model *model, size_t log_rank) {
    const struct mpi_rank *rank = &model->recording->calls.ranks[log_rank];
    for (size_t b = 0; b < model->budgets.n; b++)
        if (model->budgets.items[b].host == rank->host && model->budgets.items[b].pid == rank->pid)
            return b;
    return SIZE_MAX;
}

static double median_of(const struct free_ranks *ranks, size_t but) {
    double values[FREE_RANKS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_own; i++)
        if (i != but)
            values[n++] = ranks->items[i].cpu_s / ranks->items[i].done;
    return stats_median(values, n);
}

/* The lower quartile of the CPU time of its marked iterations. */
static double best_of(const struct rank_budget *b) {
    double *values = malloc((b->n_iterations + 1) * sizeof *values);
    size_t n = 0;
    for (size_t i = 0; values && i < b->n_iterations; i++)
        if (budget_closes(&b->iterations[i]) && !isnan(b->iterations[i].term_s[BUDGET_CPU]))
            values[n++] = b->iterations[i].term_s[BUDGET_CPU];
    double best = n >= QUARTERED_MIN ? stats_quantile(values, n, .25) : NAN;
    free(values);
    return best;
}

/* Sorts all iterations, so only callers that compare cores ask for it. */
void free_ranks_find_best(const struct run_model *model, struct free_ranks *ranks) {
    for (size_t i = 0; i < ranks->n_own; i++) {
        struct free_rank *rank = &ranks->items[i];
        rank->best_s = best_of(&model->budgets.items[rank->budget]);
        if (i == ranks->server && rank->done > 0)
            rank->best_s -= rank->served_s / rank->done;
    }
}

/* The server applies its own results, too, which no peer does: that is serving. */
static void part_serving(const struct run_model *model, size_t group, struct free_ranks *ranks) {
    struct free_rank *server = &ranks->items[ranks->server];
    double others = ranks->done - server->done, served = model->critical.served_s[group];
    double beyond = server->cpu_s - served - median_of(ranks, ranks->server) * server->done;
    double own = others > 0 ? served / others * server->done : 0;
    server->served_s = served + (server->done > 0 ? fmin(own, fmax(0, beyond)) : 0);
    server->cpu_s -= fmin(server->served_s, server->cpu_s);
}

static bool add_rank(const struct run_model *model, size_t group, size_t log_rank, double done,
                     struct free_ranks *ranks) {
    size_t budget = budget_of(model, log_rank);
    const struct budget *b =
        budget != SIZE_MAX ? &model->budgets.items[budget].groups[group] : NULL;
    if (!b || b->source != BUDGET_FROM_EVENTS || !budget_closes(b) || isnan(b->term_s[BUDGET_CPU]))
        return false;
    ranks->items[ranks->n++] = (struct free_rank){.log_rank = log_rank,
                                                  .budget = budget,
                                                  .done = done,
                                                  .cpu_s = b->term_s[BUDGET_CPU],
                                                  .best_s = NAN};
    return true;
}

/* Fills in the computing of ranks beyond their peers, in the whole group. */
static void compare_ranks(struct free_ranks *ranks) {
    for (size_t i = 0; i < ranks->n_own; i++) {
        struct free_rank *rank = &ranks->items[i];
        rank->peers_s = median_of(ranks, i);
        rank->more_s = rank->cpu_s - rank->peers_s * rank->done;
    }
}

/* Returns 1 if known, 0 if not for all ranks. */
int free_ranks_make(const struct run_model *model, size_t group, struct free_ranks *ret) {
    size_t server = model->critical.server_rank;
    *ret = (struct free_ranks){.server = SIZE_MAX};
    for (size_t i = 0; i < model->critical.n_own; i++) {
        const struct critical_own *own = &model->critical.own[i];
        if (!add_rank(model, group, own->log_rank, own->done[group], ret))
            return 0;
        ret->done += own->done[group];
        if (own->log_rank == server)
            ret->server = i;
    }
    ret->n_own = ret->n;
    if (server != SIZE_MAX && ret->server == SIZE_MAX && add_rank(model, group, server, 0, ret))
        ret->server = ret->n - 1;
    if (ret->server != SIZE_MAX)
        part_serving(model, group, ret);
    compare_ranks(ret);
    return 1;
}

/* CPU time of an iteration. */
double free_rank_took(const struct free_rank *rank) {
    return rank->peers_s + rank->more_s / rank->done;
}

/* CPU time of an iteration beyond its peers', as on a core like theirs; at least the time that its
 * operators took for their additional output.
 */
double free_rank_beyond(const struct run_model *model, const struct free_rank *rank,
                        const struct core_speed *core) {
    double took = free_rank_took(rank), more = took / (core ? core->slower : 1) - rank->peers_s;
    return core && core_has_more_to_do(model, core) && took > rank->peers_s
               ? fmax(more, took * core->more)
               : more;
}

static double best_of_peers(const struct free_ranks *ranks, const struct free_rank *but) {
    double values[FREE_RANKS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_own; i++)
        if (&ranks->items[i] != but && ranks->items[i].best_s > 0)
            values[n++] = ranks->items[i].best_s;
    return stats_median(values, n);
}

/* The core of a rank. More work is in each of its iterations, but the load of others on a core
 * known to be slower comes and goes. So time that its fastest iterations do not need is due to the
 * core.
 */
struct core_speed free_rank_core(const struct run_model *model, const struct free_ranks *ranks,
                                 const struct free_rank *rank, const struct core_speed *cores) {
    struct core_speed core = cores[model->budgets.items[rank->budget].host];
    double at_best = rank->best_s / best_of_peers(ranks, rank);
    double slower = free_rank_took(rank) / rank->peers_s / at_best;
    if (core.slower > 1 && !core.by_operators && at_best > 0 && slower > core.slower) {
        core.slower = slower;
        core.at_best = at_best;
    }
    return core;
}

double free_ranks_limit(const struct run_model *model, size_t group) {
    struct free_ranks ranks;
    if (!throughput_counts(model, group) || free_ranks_make(model, group, &ranks) <= 0 ||
        ranks.server == SIZE_MAX || !(ranks.items[ranks.server].served_s > 0))
        return INFINITY;
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    return wall_s > 0 ? wall_s / ranks.items[ranks.server].served_s * (ranks.done / wall_s)
                      : INFINITY;
}
