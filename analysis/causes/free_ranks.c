/* SPDX-License-Identifier: MIT */
/*
 * For ranks that run freely: a rank that computes more per iteration than its peers (imbalance),
 * and a server whose own work delays the others (serial). Shares of time do not show these: no rank
 * waits for a slow one, so all compute all the time. CPU time per iteration does.
 *
 * The server may train as well: the work that it does for others (serving.h) is not included.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/causes_private.h"
#include "analysis/facts/series/stats.h"
#include "analysis/time/critical_path.h"
#include "analysis/time/free_running.h"

#define OWN_REMARKS                                                                                \
    REMARK(RANK_SERVES, "serial: rank %d does work for all others, one after the other",           \
           SLOTS("rank"), SLOTS(), .label = "serial: ", .is_clause = true)                         \
    REMARK(SERVED,                                                                                 \
           "rank %d computed for the other ranks %.0f %% of the time: %.3g ms an iteration, so "   \
           "that all ranks together can do at most %.4g iterations a second",                      \
           SLOTS("rank", "of the time, %", "ms an iteration", "iterations a second"), SLOTS())     \
    REMARK(HAS_MORE_EACH,                                                                          \
           "rank %d has %.2f times as much to compute for an iteration as its peer%[|s]",          \
           SLOTS("rank", "times", "peers"), SLOTS(), .is_clause = true)                            \
    REMARK(ITERATION_TOOK,                                                                         \
           "rank %d used %.3g s of CPU time an iteration, its peer%[|s] %.3g s; it did %.0f "      \
           "iterations, the others %.0f on average",                                               \
           SLOTS("rank", "s", "peers", "their s", "iterations", "mean of the others"), SLOTS())
#include "analysis/causes/own.h"

static struct candidate computing(const struct run_model *model, size_t group,
                                  const struct free_rank *rank, double seconds) {
    struct loss loss = free_loss(model, group, rank, seconds);
    struct candidate c = candidate_of(loss.host, group, RESOURCE_IMBALANCE, CAUSE_SKEW);
    c.rank = loss.rank;
    c.saturated = true;
    c.path.terms = loss.terms;
    c.path.part = loss.part;
    c.blocked = throughput_cost(model, &loss);
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_LIKE_PEERS, .host = c.host, .rank = c.rank, .factor = 1};
    return c;
}

static struct candidate serving_of(const struct run_model *model, size_t group,
                                   const struct free_rank *server) {
    const struct rank_budget *b = &model->budgets.items[server->budget];
    struct candidate c = candidate_of(b->host, group, RESOURCE_CPU, CAUSE_SERIAL);
    double served = model->critical.served_s[group];
    c.rank = b->rank;
    c.saturated = true;
    c.path.terms = 1u << BUDGET_CPU;
    c.path.part = served > 0 ? server->served_s / served : 0;
    struct loss loss = candidate_loss(&c);
    c.blocked = throughput_cost(model, &loss);
    return c;
}

static int look_at_serving(const struct run_model *model, size_t group,
                           const struct free_ranks *ranks, struct candidates *candidates) {
    if (ranks->server == SIZE_MAX)
        return 0;
    const struct free_rank *server = &ranks->items[ranks->server];
    double wall_s = model->budgets.items[server->budget].groups[group].wall_s;
    struct candidate c = serving_of(model, group, server);
    if (c.blocked < number_of(model, SERIAL_MIN) ||
        server->served_s < number_of(model, SERIAL_MIN) * wall_s)
        return 0;
    c.signals = 2 + (server->served_s >= 0.5 * wall_s);
    remark_set(&c.cause, RANK_SERVES, NUMBERS(c.rank), NAMES());
    remarks_add(&c.evidence, SERVED,
                NUMBERS(c.rank, 100 * server->served_s / wall_s,
                        1e3 * server->served_s / ranks->done, ranks->done / server->served_s),
                NAMES());
    remarks_add(&c.against, FASTER_CORE_OR_SHARING, NUMBERS(), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* cores: of the hosts; NULL: all cores count as equal. */
static const struct free_rank *most_beyond(const struct run_model *model,
                                           const struct free_ranks *ranks,
                                           const struct core_speed *cores) {
    const struct free_rank *most = NULL;
    double most_s = NAN;
    for (size_t i = 0; i < ranks->n_own; i++) {
        const struct free_rank *at = &ranks->items[i];
        struct core_speed core;
        if (cores)
            core = free_rank_core(model, ranks, at, cores);
        double s = free_rank_beyond(model, at, cores ? &core : NULL);
        if (most && !(s > most_s))
            continue;
        most = at;
        most_s = s;
    }
    return most;
}

static void rule_out_core(const struct run_model *model, size_t group, const struct free_rank *rank,
                          struct core_speed core, struct candidates *candidates) {
    core_speed_rule_out(model, group, &model->budgets.items[rank->budget],
                        1 + free_rank_beyond(model, rank, NULL) / rank->peers_s, core, candidates);
}

static int look_at_skew(const struct run_model *model, size_t group, const struct free_ranks *ranks,
                        const struct core_speed *cores, struct candidates *candidates) {
    const struct free_rank *rank = most_beyond(model, ranks, cores);
    const struct free_rank *longest = most_beyond(model, ranks, NULL);
    struct core_speed core = free_rank_core(model, ranks, rank, cores);
    double took = free_rank_took(rank), more = free_rank_beyond(model, rank, &core);
    bool told = core_has_more_to_do(model, &core) && took > rank->peers_s;
    double like = told ? took - more : rank->peers_s;
    double ratio =
        isnan(core.operators) ? number_of(model, SKEW_RATIO_UNTOLD) : number_of(model, SKEW_RATIO);
    struct candidate c = computing(model, group, rank, more * rank->done);
    if (longest != rank)
        rule_out_core(model, group, longest, free_rank_core(model, ranks, longest, cores),
                      candidates);
    if (more < (ratio - 1) * like)
        rule_out_core(model, group, rank, core, candidates);
    if (!(more >= (ratio - 1) * like) || c.blocked < number_of(model, BLOCKED_MIN) ||
        candidates_short_of(candidates, c.host, group, SHORT_OF_MEMORY))
        return 0;
    c.signals = 2 + (ranks->n_own >= 4);
    double others = (double)(ranks->n_own - 1);
    remark_set(&c.cause, HAS_MORE_EACH, NUMBERS(c.rank, 1 + more / like, others), NAMES());
    remarks_add(&c.evidence, ITERATION_TOOK,
                NUMBERS(c.rank, took, others, rank->peers_s, rank->done,
                        (ranks->done - rank->done) / others),
                NAMES());
    core_speed_tell(model, core, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    struct free_ranks ranks;
    int result = throughput_counts(model, group) ? free_ranks_make(model, group, &ranks) : 0;
    if (result <= 0)
        return result;
    result = look_at_serving(model, group, &ranks, candidates);
    struct core_speed *cores = result == 0 ? core_speeds_of(model, group) : NULL;
    if (cores)
        free_ranks_find_best(model, &ranks);
    if (result == 0)
        result = cores ? look_at_skew(model, group, &ranks, cores, candidates) : -ENOMEM;
    free(cores);
    return result;
}

static void advise(const struct advised *advised) {
    if (advised->c->kind == CAUSE_SERIAL)
        advise_divide(advised);
    else
        advise_less_work(advised);
}

const struct cause cause_free_ranks = {
    .name = "free-ranks",
    .resource = RESOURCE_IMBALANCE,
    .kind = CAUSE_SKEW,
    .needs = 1u << SOURCE_CALLS,
    .remarks = own_remarks,
    .reason = "of ranks that run freely, the one with more to do for an iteration does fewer",
    .yields_to = YIELDS_TO(&cause_memory),
    .detect = detect,
    .advise = advise,
};
