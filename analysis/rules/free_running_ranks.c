/* SPDX-License-Identifier: MIT */
/*
 * Where ranks run freely: a rank that computes more for an iteration than its peers (imbalance),
 * and a server whose own work the others wait for (serial). Shares of time do not tell: nobody
 * waits for a slow rank, so all of them compute all the time. CPU time an iteration does.
 *
 * The server may train as well: what it does for others (serving.h) is no part of that.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/free_running.h"
#include "analysis/facts/series/stats.h"
#include "analysis/gain/throughput.h"
#include "analysis/rules/rules_private.h"
#include "analysis/time/critical_private.h"

#define QUARTERED_MIN 20 /* iterations */

/* A rank that makes progress, or the server, which may do nothing of its own. */
struct free_rank {
    size_t log_rank, budget;
    double done;     /* iterations in the group */
    double cpu_s;    /* in all, for its own iterations */
    double peers_s;  /* CPU time an iteration takes its peers, median */
    double more_s;   /* in all: beyond its peers, for its own iterations */
    double best_s;   /* CPU time of an iteration of its fastest quarter, at most; NAN: not known, or
                        not asked for (find_best()) */
    double served_s; /* in all: for those of others */
};

struct free_ranks {
    struct free_rank items[FREE_RANKS_MAX + 1]; /* those that make progress, then the server */
    size_t n, n_own;
    size_t hub;  /* in items; SIZE_MAX: no rank takes part in all messages */
    double done; /* by all */
};

/* ---- who is who ---- */

static size_t budget_of(const struct run_model *model, size_t log_rank) {
    const struct mpi_rank *rank = &model->recording->calls.ranks[log_rank];
    for (size_t b = 0; b < model->budgets.n; b++)
        if (model->budgets.items[b].host == rank->host && model->budgets.items[b].pid == rank->pid)
            return b;
    return SIZE_MAX;
}

/* ---- CPU time an iteration ---- */

static double median_of(const struct free_ranks *ranks, size_t but) {
    double values[FREE_RANKS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_own; i++)
        if (i != but)
            values[n++] = ranks->items[i].cpu_s / ranks->items[i].done;
    return stats_median(values, n);
}

/* Iterations it marked. */
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

/* Sorts all iterations: only for who compares cores. */
static void find_best(const struct run_model *model, struct free_ranks *ranks) {
    for (size_t i = 0; i < ranks->n_own; i++) {
        struct free_rank *rank = &ranks->items[i];
        rank->best_s = best_of(&model->budgets.items[rank->budget]);
        if (i == ranks->hub && rank->done > 0)
            rank->best_s -= rank->served_s / rank->done;
    }
}

/* The server applies its own results as it does those of others: no peer does that. */
static void part_serving(const struct run_model *model, size_t group, struct free_ranks *ranks) {
    struct free_rank *hub = &ranks->items[ranks->hub];
    double others = ranks->done - hub->done, served = model->critical.served_s[group];
    double beyond = hub->cpu_s - served - median_of(ranks, ranks->hub) * hub->done;
    double own = others > 0 ? served / others * hub->done : 0;
    hub->served_s = served + (hub->done > 0 ? fmin(own, fmax(0, beyond)) : 0);
    hub->cpu_s -= fmin(hub->served_s, hub->cpu_s);
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

/* What ranks compute beyond their peers, in the whole group. */
static void compare_all(struct free_ranks *ranks) {
    for (size_t i = 0; i < ranks->n_own; i++) {
        struct free_rank *rank = &ranks->items[i];
        rank->peers_s = median_of(ranks, i);
        rank->more_s = rank->cpu_s - rank->peers_s * rank->done;
    }
}

/* 1: known, 0: not of all ranks. */
static int free_ranks_make(const struct run_model *model, size_t group, struct free_ranks *ret) {
    size_t hub = model->critical.hub;
    *ret = (struct free_ranks){.hub = SIZE_MAX};
    for (size_t i = 0; i < model->critical.n_own; i++) {
        const struct critical_own *own = &model->critical.own[i];
        if (!add_rank(model, group, own->log_rank, own->done[group], ret))
            return 0;
        ret->done += own->done[group];
        if (own->log_rank == hub)
            ret->hub = i;
    }
    ret->n_own = ret->n;
    if (hub != SIZE_MAX && ret->hub == SIZE_MAX && add_rank(model, group, hub, 0, ret))
        ret->hub = ret->n - 1;
    if (ret->hub != SIZE_MAX)
        part_serving(model, group, ret);
    compare_all(ret);
    return 1;
}

/* ---- candidates ---- */

static struct candidate computing(const struct run_model *model, size_t group,
                                  const struct free_rank *rank, double seconds) {
    const struct rank_budget *b = &model->budgets.items[rank->budget];
    struct candidate c = candidate_of(b->host, group, "imbalance", "skew");
    double host_s = 0;
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].host == b->host &&
            !isnan(model->budgets.items[r].groups[group].term_s[BUDGET_CPU]))
            host_s += model->budgets.items[r].groups[group].term_s[BUDGET_CPU];
    c.rank = b->rank;
    c.supply = true;
    c.terms = 1u << BUDGET_CPU;
    c.part = host_s > 0 ? fmin(1, fmax(0, seconds) / host_s) : 0;
    c.blocked = throughput_cost(model, &c);
    return c;
}

static struct candidate serving_of(const struct run_model *model, size_t group,
                                   const struct free_rank *hub) {
    const struct rank_budget *b = &model->budgets.items[hub->budget];
    struct candidate c = candidate_of(b->host, group, "cpu", "serial");
    double served = model->critical.served_s[group];
    c.rank = b->rank;
    c.supply = true;
    c.terms = 1u << BUDGET_CPU;
    c.part = served > 0 ? hub->served_s / served : 0;
    c.blocked = throughput_cost(model, &c);
    return c;
}

static int look_at_serving(const struct run_model *model, size_t group,
                           const struct free_ranks *ranks, struct candidates *candidates) {
    if (ranks->hub == SIZE_MAX)
        return 0;
    const struct free_rank *hub = &ranks->items[ranks->hub];
    double wall_s = model->budgets.items[hub->budget].groups[group].wall_s;
    struct candidate c = serving_of(model, group, hub);
    if (c.blocked < SERIAL_MIN || hub->served_s < SERIAL_MIN * wall_s)
        return 0;
    c.signals = 2 + (hub->served_s >= 0.5 * wall_s);
    c.cause = text_format("serial: rank %d does work for all others, one after the other", c.rank);
    text_list_add(&c.evidence,
                  "rank %d computed %.0f %% of the time with what had come from others: %.3g ms an "
                  "iteration, which allows %.4g a second at most, of all ranks",
                  c.rank, 100 * hub->served_s / wall_s, 1e3 * hub->served_s / ranks->done,
                  ranks->done / hub->served_s);
    text_list_add(&c.against, "nobody waited for a core: a faster core, or sharing this work out, "
                              "would help; more cores alone would not");
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* CPU time of an iteration. */
static double took_of(const struct free_rank *rank) {
    return rank->peers_s + rank->more_s / rank->done;
}

/* CPU time of an iteration beyond that of its peers, as on a core like theirs; at least what its
 * operators took for what they give more than theirs. */
static double beyond(const struct free_rank *rank, const struct core_speed *core) {
    double took = took_of(rank), more = took / (core ? core->slower : 1) - rank->peers_s;
    return core && core_has_more_to_do(core) && took > rank->peers_s ? fmax(more, took * core->more)
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

/* The core beneath a rank. More work is in each of its iterations; what others do to a core that is
 * known to be slower comes and goes: what its fastest iterations do not share is put down to it. */
static struct core_speed core_of(const struct run_model *model, const struct free_ranks *ranks,
                                 const struct free_rank *rank, const struct core_speed *cores) {
    struct core_speed core = cores[model->budgets.items[rank->budget].host];
    double at_best = rank->best_s / best_of_peers(ranks, rank);
    double slower = took_of(rank) / rank->peers_s / at_best;
    if (core.slower > 1 && !core.by_pace && at_best > 0 && slower > core.slower) {
        core.slower = slower;
        core.at_best = at_best;
    }
    return core;
}

/* cores: of the hosts; NULL: as if all were alike. */
static const struct free_rank *most_beyond(const struct run_model *model,
                                           const struct free_ranks *ranks,
                                           const struct core_speed *cores) {
    const struct free_rank *most = NULL;
    double most_s = NAN;
    for (size_t i = 0; i < ranks->n_own; i++) {
        const struct free_rank *at = &ranks->items[i];
        struct core_speed core;
        if (cores)
            core = core_of(model, ranks, at, cores);
        double s = beyond(at, cores ? &core : NULL);
        if (most && !(s > most_s))
            continue;
        most = at;
        most_s = s;
    }
    return most;
}

static void rule_out(const struct run_model *model, size_t group, const struct free_rank *rank,
                     struct core_speed core, struct candidates *candidates) {
    core_speed_rule_out(model, group, &model->budgets.items[rank->budget],
                        1 + beyond(rank, NULL) / rank->peers_s, core, candidates);
}

static int look_at_skew(const struct run_model *model, size_t group, const struct free_ranks *ranks,
                        const struct core_speed *cores, struct candidates *candidates) {
    const struct free_rank *rank = most_beyond(model, ranks, cores);
    const struct free_rank *longest = most_beyond(model, ranks, NULL);
    struct core_speed core = core_of(model, ranks, rank, cores);
    double took = took_of(rank), more = beyond(rank, &core);
    bool told = core_has_more_to_do(&core) && took > rank->peers_s;
    double like = told ? took - more : rank->peers_s;
    double ratio = isnan(core.pace) ? SKEW_RATIO_UNTOLD : SKEW_RATIO;
    struct candidate c = computing(model, group, rank, more * rank->done);
    if (longest != rank)
        rule_out(model, group, longest, core_of(model, ranks, longest, cores), candidates);
    if (more < (ratio - 1) * like)
        rule_out(model, group, rank, core, candidates);
    if (!(more >= (ratio - 1) * like) || c.blocked < BLOCKED_MIN ||
        candidates_short_of(candidates, c.host, group, "memory"))
        return 0;
    c.signals = 2 + (ranks->n_own >= 4);
    c.cause = text_format("rank %d has %.2f times as much to compute for an iteration as %s",
                          c.rank, 1 + more / like, ranks->n_own == 2 ? "its peer" : "its peers");
    text_list_add(&c.evidence,
                  "an iteration took rank %d %.3g s of CPU time, its peer%s %.3g s; it did %.0f of "
                  "them, the others %.0f in the mean",
                  c.rank, took, ranks->n_own == 2 ? "" : "s", rank->peers_s, rank->done,
                  (ranks->done - rank->done) / (double)(ranks->n_own - 1));
    core_speed_tell(core, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

int saturation_free(const struct run_model *model, size_t group, struct candidates *candidates) {
    struct free_ranks ranks;
    int result = throughput_counts(model, group) ? free_ranks_make(model, group, &ranks) : 0;
    if (result <= 0)
        return result;
    result = look_at_serving(model, group, &ranks, candidates);
    struct core_speed *cores = result == 0 ? core_speeds_of(model, group) : NULL;
    if (cores)
        find_best(model, &ranks);
    if (result == 0)
        result = cores ? look_at_skew(model, group, &ranks, cores, candidates) : -ENOMEM;
    free(cores);
    return result;
}

bool saturation_free_like_peers(const struct run_model *model, size_t group, int rank,
                                struct candidate *ret_candidate) {
    struct free_ranks ranks;
    if (!throughput_counts(model, group) || free_ranks_make(model, group, &ranks) <= 0)
        return false;
    struct core_speed *cores = core_speeds_of(model, group);
    const struct free_rank *who = NULL;
    find_best(model, &ranks);
    for (size_t i = 0; cores && !who && i < ranks.n_own; i++)
        who = model->budgets.items[ranks.items[i].budget].rank == rank ? &ranks.items[i] : NULL;
    if (who) {
        struct core_speed core = core_of(model, &ranks, who, cores);
        *ret_candidate = computing(model, group, who, who->done * beyond(who, &core));
    }
    free(cores);
    return who != NULL;
}

double saturation_free_limit(const struct run_model *model, size_t group) {
    struct free_ranks ranks;
    if (!throughput_counts(model, group) || free_ranks_make(model, group, &ranks) <= 0 ||
        ranks.hub == SIZE_MAX || !(ranks.items[ranks.hub].served_s > 0))
        return INFINITY;
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    return wall_s > 0 ? wall_s / ranks.items[ranks.hub].served_s * (ranks.done / wall_s) : INFINITY;
}
