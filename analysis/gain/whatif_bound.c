/* SPDX-License-Identifier: MIT */
/*
 * The most that a change can save: the rest of the critical path is still a chain of things that
 * follow each other. A bound needs no replay, so every program has one. Waits for cores that only a
 * replay finds are taken off the path up to the time that the path spends inside MPI.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/facts/calls/parameter_server.h"
#include "analysis/facts/series/stats.h"
#include "analysis/gain/throughput.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/run_model.h"
#include "analysis/time/critical_path.h"
#include "analysis/time/free_running.h"

static double own_time_s(const struct budget *b) {
    return budget_sum(b, budget_outside_terms());
}

/* Transfers that pass the host's link. Where answers queue behind what a host sends itself, its
 * receiving depends on its sending, too.
 */
static double transfers_of(const struct whatif *w, const struct critical_part *part,
                           const struct whatif_scenario *s) {
    bool depend = w->replay && w->replay->n_behind;
    size_t n = w->model->n_hosts + 1;
    double sum = 0;
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            bool sends = from == n - 1 || s->host < 0 || from == (size_t)s->host;
            bool receives = to == n - 1 || s->host < 0 || to == (size_t)s->host;
            bool concerns = s->direction == WHATIF_BOTH || depend ? sends || receives
                            : s->direction == WHATIF_SEND         ? sends
                                                                  : receives;
            sum += concerns ? part->transfers[from * n + to] : 0;
        }
    return sum;
}

static double iterations_of(const struct whatif *w, const struct rank_budget *who, size_t group) {
    const struct critical_path *path = &w->model->critical;
    for (size_t i = 0; i < path->n_own; i++) {
        const struct mpi_rank *rank = &w->model->recording->calls.ranks[path->own[i].log_rank];
        if (rank->host == who->host && rank->pid == who->pid)
            return path->own[i].done[group];
    }
    return 0;
}

/* A rank's own time. If ranks run freely, it is the time of one of its iterations, since each rank
 * does as many as it can; NAN if it does none.
 */
static double own_pace(const struct whatif *w, size_t r, size_t group) {
    const struct rank_budget *who = &w->model->budgets.items[r];
    double done = throughput_counts(w->model, group) ? iterations_of(w, who, group) : 1;
    return done > 0 ? own_time_s(&who->groups[group]) / done : NAN;
}

/* Time of the path in a rank's own time beyond that of its peers. NAN if it has no peer, or if the
 * path goes through processes that are no ranks.
 */
static double work_beyond_peers(const struct whatif *w, const struct critical_part *part,
                                const struct whatif_scenario *s) {
    const struct rank_budgets *b = &w->model->budgets;
    size_t group = w->model->main_group;
    double removed = s->kind == WHATIF_LIKE_PEERS && s->rank < 0 ? NAN : 0;
    if (!part->rank_seconds) /* no path */
        return NAN;
    for (size_t r = 0; r < b->n; r++) {
        bool asked = s->kind == WHATIF_LIKE_PEERS && b->items[r].rank == s->rank;
        double self = own_pace(w, r, group), least = NAN, path = 0;
        if (s->kind == WHATIF_LIKE_PEERS && !asked)
            continue;
        for (size_t k = 0; k < b->n; k++)
            least = k == r ? least : fmin(least, own_pace(w, k, group));
        if (asked && (isnan(self) || isnan(least)))
            return NAN;
        for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
            if (budget_term_class(term) != BUDGET_CLASS_MPI)
                path += part->rank_seconds[r * BUDGET_TERMS + (size_t)term];
        removed += self > least ? path * (1 - least / self) : 0;
    }
    return removed;
}

/* Waits for cores that the path does not show: at most the path's time inside MPI, since they may
 * be of other ranks and other times.
 */
static double hidden_on_path(const struct whatif *w, const struct critical_part *part, int host,
                             enum budget_term term) {
    double hidden = 0, inside = 0;
    for (size_t h = 0; h < w->model->n_hosts; h++) {
        if (host < 0 || host == (int)h)
            hidden += replay_hidden_s(w->refused.code ? NULL : w->replay, (int)h, term);
        for (enum budget_term mpi = 0; mpi < BUDGET_TERMS; mpi++)
            if (budget_term_class(mpi) == BUDGET_CLASS_MPI)
                inside += critical_seconds(part, (int)h, mpi);
    }
    return fmin(hidden, inside);
}

/* Time of the path in a rank outside its calls. */
static double path_of_rank(const struct whatif *w, const struct critical_part *part, int rank) {
    double sum = 0;
    for (size_t r = 0; part->rank_seconds && r < w->model->budgets.n; r++)
        for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
            if (w->model->budgets.items[r].rank == rank &&
                budget_term_class(term) != BUDGET_CLASS_MPI)
                sum += part->rank_seconds[r * BUDGET_TERMS + (size_t)term];
    return sum;
}

/* Time of the path that passes faster or slower by the scenario's factor. */
static double concerned(const struct whatif *w, const struct critical_part *part,
                        const struct whatif_scenario *s) {
    enum budget_term term = whatif_term(s);
    double sum = 0;
    if (s->kind == WHATIF_LINK)
        return transfers_of(w, part, s);
    if (s->kind == WHATIF_RANK)
        return path_of_rank(w, part, s->rank);
    for (size_t h = 0; h < w->model->n_hosts; h++)
        if (s->host < 0 || s->host == (int)h)
            sum += critical_seconds(part, (int)h, term);
    return sum + (s->kind == WHATIF_WITHOUT ? hidden_on_path(w, part, s->host, term) : 0);
}

/* The seconds of the critical path that a scenario takes away, below 0 if it adds time: what is
 * left is still a chain of things that follow each other. NAN if it adds work.
 */
static double taken(const struct whatif *w, const struct critical_part *part,
                    const struct whatif_scenario *s) {
    switch (s->kind) {
    case WHATIF_LIKE_PEERS:
    case WHATIF_BALANCED:
        return work_beyond_peers(w, part, s);
    case WHATIF_QUOTA:
    case WHATIF_WORKERS:
        return NAN;
    default:
        return concerned(w, part, s) * whatif_part_saved(whatif_speed(w, s));
    }
}

/* The most of it. A transfer need not take longer over a slower link, which it may not have filled,
 * and a quota may never be used up.
 */
static double removable(const struct whatif *w, const struct critical_part *part,
                        const struct whatif_scenario *s) {
    if (s->kind == WHATIF_QUOTA)
        return 0;
    if (s->kind != WHATIF_LINK && s->kind != WHATIF_LATENCY)
        return taken(w, part, s);
    double speed = s->kind == WHATIF_LINK ? whatif_asked_most(w, s) : whatif_speed(w, s);
    return speed > 1 ? concerned(w, part, s) * whatif_part_saved(speed) : 0;
}

/* ---- where ranks run freely ---- */

/* The bound by each rank's own path, and the iterations that all ranks then get done. NAN if not
 * known.
 */
static double gain_freely(const struct whatif *w, const struct whatif_scenario *scenarios,
                          size_t n) {
    const struct critical_path *path = &w->model->critical;
    size_t group = w->model->main_group;
    double done[FREE_RANKS_MAX], freed[FREE_RANKS_MAX];
    for (size_t i = 0; i < path->n_own; i++) {
        const struct critical_part *part = &path->own[i].path.groups[group];
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += removable(w, part, &scenarios[k]);
        if (isnan(sum))
            return NAN;
        done[i] = path->own[i].done[group];
        freed[i] = part->total_s > 0 ? sum / part->total_s : 0;
    }
    return parameter_server_gain(done, freed, path->n_own, INFINITY);
}

/* A rank's own time in the group. */
static double own_s_of(const struct run_model *model, size_t log_rank, size_t group) {
    const struct mpi_rank *rank = &model->recording->calls.ranks[log_rank];
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].host == rank->host && model->budgets.items[r].pid == rank->pid)
            return own_time_s(&model->budgets.items[r].groups[group]);
    return 0;
}

/* Fills the seconds that each rank but the server needs for an iteration; returns their number.
 * alone: without all that others may take less time for when there are fewer of them.
 */
static size_t worker_cycles(const struct run_model *model, size_t group, bool alone,
                            double *cycle_s, double *ret_done) {
    const struct critical_path *path = &model->critical;
    size_t n = 0;
    *ret_done = 0;
    for (size_t i = 0; i < path->n_own; i++) {
        const struct critical_own *own = &path->own[i];
        if (own->log_rank == path->server_rank || !(own->done[group] > 0))
            continue;
        double all_s = own->path.groups[group].total_s;
        if (alone)
            all_s = fmin(all_s, own_s_of(model, own->log_rank, group));
        cycle_s[n++] = all_s / own->done[group];
        *ret_done += own->done[group];
    }
    return n;
}

/* Adds the bytes of an update through the server's link, in the direction nearer to its known
 * capacity.
 */
static void add_link(const struct whatif *w, double done, struct parameter_server *server) {
    const struct run_model *model = w->model;
    size_t group = model->main_group, server_rank = model->critical.server_rank;
    if (server_rank == SIZE_MAX)
        return;
    int host = model->recording->calls.ranks[server_rank].host;
    for (int receives = 0; receives < 2; receives++) {
        enum metric way = receives ? METRIC_NET_RECV : METRIC_NET_SEND;
        struct network_limit limit = network_limit_of(model, host, way);
        double bytes = 1e6 * model_mean(model, host, way, group) *
                       model->critical.groups[group].length_s / done;
        double carries = 1e6 * limit.mb_s;
        if (limit.measured && bytes * server->server_bytes_s > carries * server->bytes) {
            server->server_bytes_s = carries;
            server->bytes = bytes;
        }
    }
}

/* The gain of more (or fewer) workers like the median one. The server's work for one update, and
 * its link if its capacity is known, are their only limits; fewer workers may wait for nothing. NAN
 * if there are no workers, or none would be left.
 */
static double gain_of_workers(const struct whatif *w, int more) {
    const struct critical_path *path = &w->model->critical;
    size_t group = w->model->main_group;
    double cycle_s[2 * FREE_RANKS_MAX], sorted[FREE_RANKS_MAX], done;
    size_t n = worker_cycles(w->model, group, more < 0, cycle_s, &done);
    if (n == 0 || more <= -(int)n || more > FREE_RANKS_MAX)
        return NAN;
    for (size_t i = 0; i < n; i++)
        sorted[i] = cycle_s[i];
    struct parameter_server server = {.cycle_s = cycle_s,
                                      .n = n,
                                      .server_bytes_s = INFINITY,
                                      .apply_s = path->served_s[group] / done};
    add_link(w, done, &server);
    double is =
        more < 0 ? done / path->groups[group].length_s : parameter_server_async_per_s(&server);
    double median_s = stats_quantile(sorted, n, 0.5);
    for (int i = 0; i < more; i++)
        cycle_s[n++] = median_s;
    for (size_t i = 0; more < 0 && i < n; i++)
        cycle_s[i] *= (double)n / (double)((int)n + more); /* as if average workers left */
    server.n = n;
    return 1 - is / parameter_server_async_per_s(&server);
}

/* ---- all programs ---- */

double whatif_taken_of(const struct whatif *w, const struct critical_part *part,
                       const struct whatif_scenario *scenarios, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += taken(w, part, &scenarios[i]);
    return sum;
}

double whatif_removable(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    bool freely = throughput_counts(w->model, w->model->main_group);
    if (freely && n == 1 && scenarios[0].kind == WHATIF_WORKERS)
        return part->length_s * gain_of_workers(w, scenarios[0].workers);
    if (freely)
        return part->length_s * gain_freely(w, scenarios, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += removable(w, part, &scenarios[i]);
    return sum;
}

double whatif_elsewhere(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n) {
    const struct critical_path *path = &w->model->critical;
    double sum = 0;
    if (path->n_groups < 2 || w->model->main_group == 0 || path->n_own)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (scenarios[i].kind == WHATIF_LINK || scenarios[i].kind == WHATIF_WITHOUT ||
            scenarios[i].kind == WHATIF_CPU || scenarios[i].kind == WHATIF_DISK)
            sum += removable(w, &path->groups[0], &scenarios[i]) -
                   removable(w, &path->groups[w->model->main_group], &scenarios[i]);
    return sum;
}
