/* SPDX-License-Identifier: MIT */
/*
 * Ranks that get as much to do as their peers, and more or fewer of them. Surplus work of a rank
 * does not vanish: it is shared out among them. The rest of its delay does vanish (its core is
 * slower, or taken, or it sleeps).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/cores.h"
#include "analysis/facts/series/stats.h"
#include "analysis/gain/whatif_private.h"

struct ranks_time {          /* by rank: time between calls in the main phase */
    double *own_ns, *cpu_ns; /* all of it; the part that would be computing on an equal core */
    double *told_ns;         /* the part of cpu_ns beyond the others', by the work that operators
                                report */
    double *room;
};

static void ranks_time_release(struct ranks_time *t) {
    free(t->own_ns);
    free(t->cpu_ns);
    free(t->told_ns);
    free(t->room);
}

static void add_gaps(const struct whatif *w, const struct replay_change *c, size_t r,
                     struct ranks_time *t) {
    const struct replay *p = w->replay;
    for (size_t i = 0; i < p->ranks[r].n; i++) {
        const struct replay_op *op = &p->ranks[r].ops[i];
        if (op->kind != REPLAY_GAP || !whatif_in_group(w, op->end_ns))
            continue;
        t->own_ns[r] += (double)replay_gap_ns(p, c, r, op);
        t->cpu_ns[r] += (double)replay_gap_cpu_ns(p, c, r, op);
    }
}

static bool is_alone(const struct replay *p, size_t r) {
    for (size_t k = 0; k < p->n_ranks; k++)
        if (k != r && p->ranks[k].n && p->ranks[k].host == p->ranks[r].host)
            return false;
    return true;
}

/* Evidence about a host's core, and about the work on it, counts for a rank that is alone on the
 * host.
 */
static void weigh(const struct whatif *w, const struct core_speed *core, size_t r,
                  struct ranks_time *t) {
    if (core_has_more_to_do(w->model, core) && is_alone(w->replay, r))
        t->told_ns[r] = t->cpu_ns[r] * core->more;
    t->cpu_ns[r] /= fmax(core->slower, 1);
}

static int ranks_time_init(const struct whatif *w, const struct replay_change *c,
                           struct ranks_time *t) {
    size_t n = w->replay->n_ranks;
    struct core_speed *cores = core_speeds_of(w->model, w->model->main_group);
    *t = (struct ranks_time){.own_ns = calloc(n + 1, sizeof *t->own_ns),
                             .cpu_ns = calloc(n + 1, sizeof *t->cpu_ns),
                             .told_ns = calloc(n + 1, sizeof *t->told_ns),
                             .room = calloc(n + 1, sizeof *t->room)};
    bool ok = cores && t->own_ns && t->cpu_ns && t->told_ns && t->room;
    for (size_t r = 0; ok && r < n; r++) {
        add_gaps(w, c, r, t);
        weigh(w, &cores[w->replay->ranks[r].host], r, t);
    }
    free(cores);
    if (!ok)
        ranks_time_release(t);
    return ok ? 0 : -ENOMEM;
}

/* ---- who is held against whom ---- */

#define ALIKE 0.25 /* of its own time: a rank with less time between calls only serves */

static bool plays_its_role(const struct whatif *w, const double *own, size_t r, size_t k) {
    return k != r && w->roles[k] == w->roles[r] && own[k] > 0;
}

static bool computes_as_well(const double *own, size_t r, size_t k) {
    return k != r && own[k] >= ALIKE * own[r] && own[r] >= ALIKE * own[k];
}

static bool have_peers(const struct whatif *w, const double *own) {
    for (size_t r = 0; r < w->replay->n_ranks; r++)
        for (size_t k = 0; own[r] > 0 && k < r; k++)
            if (plays_its_role(w, own, r, k))
                return true;
    return false;
}

/* Finds the others in the role of rank r. If it is alone in its role (a server that works itself,
 * and one worker) and `any`, all ranks that compute. ret_peers is by rank.
 */
static size_t peers_of(const struct whatif *w, size_t r, bool any, const double *own,
                       bool *ret_peers) {
    size_t n = 0;
    for (size_t k = 0; k < w->replay->n_ranks; k++)
        n += ret_peers[k] = plays_its_role(w, own, r, k);
    for (size_t k = 0; any && !n && k < w->replay->n_ranks; k++)
        ret_peers[k] = computes_as_well(own, r, k);
    for (size_t k = n = 0; k < w->replay->n_ranks; k++)
        n += ret_peers[k];
    return n;
}

static size_t values_of(const bool *peers, size_t n, const double *of, double *ret_values) {
    size_t found = 0;
    for (size_t k = 0; k < n; k++)
        if (peers[k])
            ret_values[found++] = of[k];
    return found;
}

/* ---- what each has to do then ---- */

/* All ranks share alike only if no two have the same role: a server does other work than its
 * workers.
 */
static void divide_evenly(const struct whatif *w, size_t r, const bool *peers, struct ranks_time *t,
                          double *speed) {
    size_t n = values_of(peers, w->replay->n_ranks, t->own_ns, t->room);
    t->room[n++] = t->own_ns[r];
    speed[r] *= t->own_ns[r] / stats_mean(t->room, n);
}

/* Gives the rank the median of its peers and its part of the surplus work. At most so much is
 * shared out that all take equally long, whatever operators report: a rank on a faster core than
 * its peers keeps more of the work, or the peers would become the slow ones.
 */
static void share_out(const struct whatif *w, size_t r, const bool *peers, struct ranks_time *t,
                      double *speed) {
    size_t ranks = w->replay->n_ranks;
    size_t n = values_of(peers, ranks, t->cpu_ns, t->room);
    double work = fmax(t->cpu_ns[r] - stats_median(t->room, n), t->told_ns[r]);
    values_of(peers, ranks, t->own_ns, t->room);
    double excess = fmax(t->own_ns[r] - stats_median(t->room, n), 0);
    double part = fmax(fmin(work, excess), 0) / (double)(n + 1);
    speed[r] *= t->own_ns[r] / (t->own_ns[r] - excess + part);
    for (size_t k = 0; k < ranks; k++)
        if (peers[k])
            speed[k] *= t->own_ns[k] / (t->own_ns[k] + part);
}

int whatif_change_ranks(const struct whatif *w, const struct whatif_scenario *s,
                        struct replay_change *c) {
    size_t n = w->replay->n_ranks;
    struct ranks_time t;
    bool *peers = calloc(n + 1, sizeof *peers), balanced = s->kind == WHATIF_BALANCED;
    int result = peers ? ranks_time_init(w, c, &t) : -ENOMEM;
    if (result < 0) {
        free(peers);
        return result;
    }
    bool any = !balanced || !have_peers(w, t.own_ns);
    result = -ENODATA;
    for (size_t r = 0; r < n; r++) {
        bool meant = balanced || w->replay->ranks[r].number == s->rank;
        if (!meant || !(t.own_ns[r] > 0) || !peers_of(w, r, any, t.own_ns, peers))
            continue;
        (balanced ? divide_evenly : share_out)(w, r, peers, &t, c->speed);
        result = 0;
    }
    ranks_time_release(&t);
    free(peers);
    return result;
}

/* ---- more workers, or fewer ---- */

/* The part of the server's own time that it works for others: what it takes longer than the median
 * worker, if it does a worker's work as well; else all.
 */
static double serving_part(const struct whatif *w, const struct ranks_time *t) {
    size_t n = 0;
    double own = t->own_ns[w->server_rank];
    for (size_t r = 0; r < w->replay->n_ranks; r++)
        if (r != w->server_rank && w->replay->ranks[r].n)
            t->room[n++] = t->own_ns[r];
    double worker = stats_median(t->room, n);
    return own > 0 && own >= ALIKE * worker ? fmax(own - worker, 0) / own : 1;
}

/* The traffic of the server's link, and its work for others, grow with the number of workers. */
int whatif_change_workers(const struct whatif *w, const struct whatif_scenario *s,
                          struct replay_change *c) {
    struct ranks_time t;
    size_t server = w->server_rank;
    if (server == SIZE_MAX || w->n_workers + (double)s->workers < 1)
        return -EINVAL;
    int result = ranks_time_init(w, c, &t);
    if (result < 0)
        return result;
    double more = (w->n_workers + s->workers) / w->n_workers, part = serving_part(w, &t);
    size_t host = (size_t)w->replay->ranks[server].host;
    c->egress[host] /= more;
    c->ingress[host] /= more;
    c->speed[server] /= 1 + part * (more - 1);
    ranks_time_release(&t);
    return 0;
}
