/* SPDX-License-Identifier: MIT */
#include "analysis/gain/throughput.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/calls/parameter_server.h"
#include "analysis/facts/series/stats.h"
#include "analysis/gain/gain_warm.h"
#include "analysis/time/critical_path.h"
#include "analysis/time/free_running.h"

#define DRAWINGS 400

static const struct critical_own *own_of(const struct run_model *model, size_t i) {
    return &model->critical.own[i];
}

/* ---- what is freed of one rank's path ---- */

typedef double seconds_of(const struct run_model *model, const struct critical_own *own, size_t at,
                          const void *what);

/* One rank's path in a group or in one of its blocks. */
static const struct critical_part *part_of(const struct critical_own *own, size_t at) {
    return at < own->path.n_groups ? &own->path.groups[at]
                                   : &own->path.blocks[at - own->path.n_groups];
}

static double gain_of(const struct run_model *model, size_t group, seconds_of *seconds,
                      const void *what) {
    double per_s[FREE_RANKS_MAX], freed[FREE_RANKS_MAX];
    if (!throughput_counts(model, group))
        return 0;
    for (size_t i = 0; i < model->critical.n_own; i++) {
        const struct critical_part *part = &own_of(model, i)->path.groups[group];
        per_s[i] = own_of(model, i)->done[group];
        freed[i] =
            part->total_s > 0 ? seconds(model, own_of(model, i), group, what) / part->total_s : 0;
    }
    return parameter_server_gain(per_s, freed, model->critical.n_own, INFINITY);
}

struct place {
    size_t at; /* host, or index of a budget */
    enum budget_term term;
};

static double seconds_on_host(const struct run_model *model, const struct critical_own *own,
                              size_t at, const void *what) {
    const struct place *place = what;
    (void)model;
    return critical_seconds(part_of(own, at), (int)place->at, place->term);
}

static double seconds_in_rank(const struct run_model *model, const struct critical_own *own,
                              size_t at, const void *what) {
    const struct place *place = what;
    (void)model;
    return part_of(own, at)->rank_seconds[place->at * BUDGET_TERMS + (size_t)place->term];
}

double throughput_loss(const struct run_model *model, size_t group, int host,
                       enum budget_term term) {
    struct place place = {(size_t)host, term};
    return gain_of(model, group, seconds_on_host, &place);
}

double throughput_rank_loss(const struct run_model *model, size_t group, size_t rank_budget,
                            enum budget_term term) {
    struct place place = {rank_budget, term};
    return gain_of(model, group, seconds_in_rank, &place);
}

/* ---- losses ---- */

double loss_seconds(const struct loss *loss, const struct critical_part *part, size_t n_hosts) {
    size_t first = loss->all_hosts ? 0 : (size_t)loss->host;
    size_t end = loss->all_hosts ? n_hosts : first + 1;
    double seconds = 0;
    for (size_t host = first; host < end; host++)
        for (int term = 0; term < BUDGET_TERMS; term++)
            if (loss->terms >> term & 1)
                seconds += critical_seconds(part, (int)host, (enum budget_term)term);
    return seconds * loss->part;
}
static bool is_link(const struct loss *c) {
    return c->all_hosts && c->link;
}

/* Seconds of transfers from or to a host (-1: any); transfers between several hosts count for all.
 */
static double through(const struct run_model *model, const struct critical_part *part, int host,
                      enum whatif_direction way) {
    size_t several = model->n_hosts, n = several + 1;
    double sum = 0;
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            bool sends = host < 0 || from == (size_t)host || from == several;
            bool receives = host < 0 || to == (size_t)host || to == several;
            bool through = way == WHATIF_SEND      ? sends
                           : way == WHATIF_RECEIVE ? receives
                                                   : sends || receives;
            if (through && (from != to || from == several))
                sum += part->transfers[from * n + to];
        }
    return sum;
}

/* Time of an iteration without the rank's own work: transfers and waits. */
static double exchange_s(const struct run_model *model, size_t i, size_t group) {
    const struct critical_own *own = own_of(model, i);
    const struct critical_part *part = &own->path.groups[group];
    const struct mpi_rank *rank = &model->recording->calls.ranks[own->log_rank];
    double busy_s = 0;
    for (size_t b = 0; b < model->budgets.n; b++)
        for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
            if (budget_term_class(term) != BUDGET_CLASS_MPI &&
                model->budgets.items[b].host == rank->host &&
                model->budgets.items[b].pid == rank->pid)
                busy_s += part->rank_seconds[b * BUDGET_TERMS + (size_t)term];
    return own->done[group] > 0 ? (part->total_s - busy_s) / own->done[group] : NAN;
}

static bool is_worker_at(const struct run_model *model, size_t i, int host) {
    size_t rank = own_of(model, i)->log_rank;
    return rank != model->critical.server_rank && model->recording->calls.ranks[rank].host == host;
}

/* Seconds that the exchanges of a worker behind a slow link take beyond those of workers elsewhere.
 * It is more than its transfers if the other end answers late because of it, and less if all
 * workers are slow.
 */
static double exchange_beyond_peers(const struct run_model *model, const struct critical_own *own,
                                    const struct loss *c) {
    double peers[FREE_RANKS_MAX], mine = NAN;
    size_t n = 0;
    for (size_t i = 0; i < model->critical.n_own; i++) {
        double takes = exchange_s(model, i, c->group);
        if (own_of(model, i) == own && is_worker_at(model, i, c->host))
            mine = takes;
        else if (own_of(model, i)->log_rank != model->critical.server_rank &&
                 !is_worker_at(model, i, c->host) && !isnan(takes))
            peers[n++] = takes;
    }
    return n && !isnan(mine) ? (mine - stats_median(peers, n)) * own->done[c->group] : 0;
}

/* Work of the server for others; `part` of it counts for its own iterations. */
static double served(const struct run_model *model, const struct critical_own *own, size_t at,
                     const struct loss *c) {
    return own->served_s[at] * (own->log_rank == model->critical.server_rank ? c->part : 1);
}

static double seconds_of_loss(const struct run_model *model, const struct critical_own *own,
                              size_t at, const void *what) {
    const struct loss *c = what;
    const struct critical_part *part = part_of(own, at);
    if (c->serves)
        return served(model, own, at, c);
    if (is_link(c) && part->transfers)
        return fmax(through(model, part, c->change.host, c->change.direction),
                    exchange_beyond_peers(model, own, c));
    if (!c->everywhere)
        return loss_seconds(c, part, model->n_hosts);
    struct loss all = *c;
    all.all_hosts = true;
    return loss_seconds(&all, part, model->n_hosts);
}

double throughput_cost(const struct run_model *model, const struct loss *c) {
    return gain_of(model, c->group, seconds_of_loss, c);
}

/* The share of time that the host's ranks lost this way. */
static double lost_share(const struct run_model *model, const struct loss *c) {
    double lost_s = 0, wall_s = 0;
    for (size_t b = 0; b < model->budgets.n; b++) {
        const struct budget *budget = &model->budgets.items[b].groups[c->group];
        if (model->budgets.items[b].host != c->host || model->budgets.items[b].rank < 0)
            continue;
        wall_s += budget->wall_s;
        lost_s += budget_sum(budget, c->terms);
    }
    return wall_s > 0 ? lost_s / wall_s : 0;
}

/* The gain in seconds. A rank without a core also delays the ranks that it exchanges data with, and
 * those count that as transfer.
 */
static double gained_seconds(const struct run_model *model, const struct critical_own *own,
                             const struct loss *c) {
    const struct critical_part *part = &own->path.groups[c->group];
    double seconds = seconds_of_loss(model, own, c->group, c);
    bool for_core = c->terms && !(c->terms & ~THROUGHPUT_FOR_A_CORE) && !c->serves &&
                    !c->all_hosts && !c->everywhere && c->host >= 0;
    if (for_core && part->transfers)
        seconds += lost_share(model, c) * through(model, part, c->host, WHATIF_BOTH);
    return fmin(seconds, part->total_s);
}

/* ---- with an interval ---- */

/* The loss of one rank in one block. Blocks do not tell transfers by pair of hosts, so they count
 * in the group's proportion.
 */
struct drawn {
    double done, total_s, freed_s;
};

static void fill_blocks(const struct run_model *model, const struct loss *c, struct drawn *drawn) {
    const struct critical_path *path = &model->critical;
    for (size_t i = 0; i < path->n_own; i++) {
        const struct critical_own *own = own_of(model, i);
        double part = 1, freed = gained_seconds(model, own, c);
        double all = seconds_of_loss(model, own, c->group, c);
        all = is_link(c) ? loss_seconds(c, &own->path.groups[c->group], model->n_hosts) : all;
        double total = own->path.groups[c->group].total_s;
        bool more =
            is_link(c) && freed > all; /* its waits shrink, too, in proportion to the block */
        if (is_link(c))                /* blocks count all transfers */
            part = more ? (total > 0 ? freed / total : 0) : all > 0 ? freed / all : 0;
        else if (all > 0)
            part = freed / all;
        for (size_t b = 0; b < path->n_blocks; b++) {
            double of = more ? own->path.blocks[b].total_s
                             : seconds_of_loss(model, own, path->n_groups + b, c);
            drawn[i * path->n_blocks + b] = (struct drawn){own->done[path->n_groups + b],
                                                           own->path.blocks[b].total_s, part * of};
        }
    }
}

static double draw_gain(const struct run_model *model, const struct drawn *drawn, double part,
                        double limit_done, uint64_t *random) {
    const struct critical_path *path = &model->critical;
    double done[FREE_RANKS_MAX] = {0}, freed[FREE_RANKS_MAX] = {0}, total[FREE_RANKS_MAX] = {0};
    for (size_t n = 0; n < path->n_blocks; n++) {
        size_t b = stats_random_below(random, path->n_blocks);
        for (size_t i = 0; i < path->n_own; i++) {
            const struct drawn *at = &drawn[i * path->n_blocks + b];
            done[i] += at->done;
            freed[i] += at->freed_s;
            total[i] += at->total_s;
        }
    }
    for (size_t i = 0; i < path->n_own; i++)
        freed[i] = total[i] > 0 ? part * freed[i] / total[i] : 0;
    return parameter_server_gain(done, freed, path->n_own, limit_done);
}

static void interval(const struct run_model *model, const struct drawn *drawn, double part,
                     double limit_done, struct gain *gain) {
    double gains[DRAWINGS];
    uint64_t random = 1;
    for (size_t d = 0; d < DRAWINGS; d++)
        gains[d] = draw_gain(model, drawn, part, limit_done, &random);
    gain->low = fmin(gain->estimate, stats_quantile(gains, DRAWINGS, 0.025));
    gain->high = fmax(gain->estimate, stats_quantile(gains, DRAWINGS, 0.975));
}

static double estimate(const struct run_model *model, const struct loss *c, double part,
                       double limit_done) {
    double done[FREE_RANKS_MAX], freed[FREE_RANKS_MAX];
    for (size_t i = 0; i < model->critical.n_own; i++) {
        const struct critical_own *own = own_of(model, i);
        double total_s = own->path.groups[c->group].total_s;
        done[i] = own->done[c->group];
        freed[i] = total_s > 0 ? part * gained_seconds(model, own, c) / total_s : 0;
    }
    return parameter_server_gain(done, freed, model->critical.n_own, limit_done);
}

static void scale(struct gain *gain, double by) {
    gain->estimate *= by;
    gain->low *= by;
    gain->high *= by;
}

int throughput_gain(const struct run_model *model, const struct loss *c, double part,
                    double limit_per_s, struct gain *ret_gain) {
    double length = (double)windows_length(phase_windows(&model->groups[c->group]));
    double run = (double)windows_length(phase_windows(&model->groups[0]));
    double limit_done = limit_per_s * length / 1e9;
    struct drawn *drawn =
        calloc(model->critical.n_own * model->critical.n_blocks + 1, sizeof *drawn);
    if (!drawn)
        return -ENOMEM;
    fill_blocks(model, c, drawn);
    *ret_gain = (struct gain){.estimate = estimate(model, c, part, limit_done), .replayed = true};
    interval(model, drawn, part, limit_done, ret_gain);
    gain_warm_all(&ret_gain->estimate, &ret_gain->low, &ret_gain->high);
    scale(ret_gain, run > 0 ? length / run : 0);
    free(drawn);
    return 0;
}

double throughput_severity(const struct run_model *model, int host, int64_t pid, double slowdown) {
    const struct mpi_log *log = &model->recording->calls;
    double done[FREE_RANKS_MAX], freed[FREE_RANKS_MAX], gain = NAN;
    if (!throughput_counts(model, model->main_group) || !(slowdown >= 1))
        return NAN;
    for (size_t i = 0; i < model->critical.n_own; i++) {
        const struct mpi_rank *rank = &log->ranks[own_of(model, i)->log_rank];
        bool meant = rank->host == host && rank->pid == pid;
        done[i] = own_of(model, i)->done[model->main_group];
        freed[i] = meant ? 1 - 1 / slowdown : 0;
        gain = meant ? 0 : gain;
    }
    if (!isnan(gain))
        gain = parameter_server_gain(done, freed, model->critical.n_own, INFINITY);
    return 1 / (1 - gain);
}

/* ---- outside the main phase ---- */

static double lost_outside_s(const struct run_model *model, const struct rank_budget *b,
                             unsigned terms) {
    const struct budget *all = &b->groups[0], *main = &b->groups[model->main_group];
    double lost_s = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (terms >> term & 1 && all->term_s[term] > main->term_s[term])
            lost_s += all->term_s[term] - main->term_s[term];
    return lost_s;
}

double throughput_lost_beside(const struct run_model *model, int host, int rank, unsigned terms) {
    double run_s = (double)windows_length(phase_windows(&model->groups[0])) / 1e9;
    double most_s = 0, others_s = INFINITY;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *b = &model->budgets.items[r];
        double lost_s = lost_outside_s(model, b, terms);
        if (b->host != host)
            others_s = fmin(others_s, lost_s);
        else if (rank < 0 || rank == b->rank)
            most_s = fmax(most_s, lost_s);
    }
    return terms & ~THROUGHPUT_FOR_A_CORE || isinf(others_s) || !(run_s > 0)
               ? 0
               : fmax(0, most_s - others_s) / run_s;
}
