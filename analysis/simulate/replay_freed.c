/* SPDX-License-Identifier: MIT */
/*
 * Estimates the time of messages whose link no longer limits them. At both ends a byte costs a copy
 * and a protocol, and a program may look for it late, in either direction. So if the messages that
 * two ranks exchange move much faster in one direction, the faster direction shows the time without
 * the limit. If both directions are equally fast, both may be limited, and nothing is known. For
 * group calls, those of few bytes tell: a rank that looks for messages between back-offs notices
 * their arrival late, however few the bytes are.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "analysis/simulate/replay_piece.h"

#define ALIKE 2.0 /* times as large: in much smaller messages latency dominates */
#define AT_ONCE_NS 1000
#define CALLS_MIN 10 /* group calls of few bytes */

/* ---- messages ---- */

struct way {
    uint32_t low, high; /* indices of ranks */
    bool back;          /* the direction from high to low */
    uint32_t pair;
    double bytes, rate; /* the rate that its pieces seldom exceed */
    double moving_ns;
    bool told;       /* the time of at least one is known */
    size_t first, n; /* its pieces */
};

static int compare_ways(const void *a, const void *b) {
    const struct way *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (int)x->back - (int)y->back;
}

static void add_pieces(const struct fit *fit, struct way *ways) {
    const struct replay *p = fit->p;
    for (size_t i = 0; i < fit->n; i++) {
        const struct piece *x = &fit->pieces[i];
        const struct replay_message *m = &p->messages[x->message];
        struct way *way = &ways[m->pair];
        way->pair = m->pair;
        way->back = m->from > m->to;
        way->low = way->back ? m->to : m->from;
        way->high = way->back ? m->from : m->to;
        way->bytes += x->bytes;
        way->n++;
        way->moving_ns += (double)(x->end_ns - x->begin_ns);
        way->told |= !x->found;
    }
}

/* Sorts the rates of all pieces by direction; with `found` only of those that a rank waited for.
 * Sets ways[].n to their number.
 */
static void sort_rates(const struct fit *fit, bool found, struct way *ways, struct weighted *room) {
    for (size_t i = 0; i < fit->p->n_pairs; i++)
        ways[i].n = 0;
    for (size_t i = 0; i < fit->n; i++) {
        const struct piece *x = &fit->pieces[i];
        struct way *way = &ways[fit->p->messages[x->message].pair];
        if (x->found && !found)
            continue;
        room[way->first + way->n++] =
            (struct weighted){x->bytes / (double)(x->end_ns - x->begin_ns) * 1e9, x->bytes};
    }
}

static void find_rates(const struct fit *fit, struct way *ways, struct weighted *room) {
    size_t n = 0;
    for (size_t i = 0; i < fit->p->n_pairs; i++) {
        ways[i].first = n;
        n += ways[i].n;
    }
    sort_rates(fit, false, ways, room);
    for (size_t i = 0; i < fit->p->n_pairs; i++)
        if (ways[i].n)
            fit->p->net.soon[i] =
                stats_weighted_quantile(room + ways[i].first, ways[i].n, 1 - REPLAY_SOON_SHARE);
    sort_rates(fit, true, ways, room);
    for (size_t i = 0; i < fit->p->n_pairs; i++)
        ways[i].rate =
            ways[i].n ? stats_weighted_quantile(room + ways[i].first, ways[i].n, SELDOM_PASSED) : 0;
}

static bool are_alike(const struct way *a, const struct way *b) {
    double one = a->bytes / (double)a->n, other = b->bytes / (double)b->n;
    return one <= ALIKE * other && other <= ALIKE * one;
}

/* Whether the direction is as fast as one of its links is known to be: a rank that has a link to
 * itself is faster than many that share one, but limited all the same.
 */
static bool way_is_at_known(const struct fit *fit, const struct way *way) {
    const struct replay_rank *ranks = fit->p->ranks;
    uint32_t from = way->back ? way->high : way->low, to = way->back ? way->low : way->high;
    for (int side = 0; side < 2; side++) {
        double known = known_rate(fit, side ? fit->n_links / 2 + (size_t)ranks[to].host
                                            : (size_t)ranks[from].host);
        if (way->rate >= KNOWN_MIN * known && AT_KNOWN * way->rate <= known)
            return true;
    }
    return false;
}

/* Compares the two directions between the same ranks. */
static void compare_both(const struct fit *fit, const struct way *a, const struct way *b,
                         double *freed) {
    if (a->low != b->low || a->high != b->high || !a->n || !b->n || !are_alike(a, b))
        return;
    const struct way *most = a->rate > b->rate ? a : b, *least = most == a ? b : a;
    if (most->rate >= FREER * least->rate && !way_is_at_known(fit, most))
        freed[a->pair] = freed[b->pair] = most->rate;
}

/* If nobody waited for any message of a direction, their times only show when the receiver came,
 * and a replay would keep it late for ever. Then they take no longer than messages in the other
 * direction.
 */
static void take_pace(const struct way *a, const struct way *b, double *pace) {
    if (a->low != b->low || a->high != b->high || !a->n || a->told || !b->n || !are_alike(a, b))
        return;
    pace[a->pair] = fmax(pace[a->pair], b->bytes / b->moving_ns * 1e9);
}

/* Ranks that come late may do so because a link throttles them. */
static bool any_limits(const struct fit *fit) {
    for (size_t link = 0; link < fit->n_links; link++)
        if (fit->p->net.held[link])
            return true;
    for (size_t i = 0; i < fit->n; i++)
        if (fit->pieces[i].link >= 0)
            return true;
    return false;
}

int replay_fit_freed(struct fit *fit) {
    struct replay *p = fit->p;
    bool limits = any_limits(fit);
    struct way *ways = calloc(p->n_pairs + 1, sizeof *ways);
    struct weighted *room = malloc((fit->n + 1) * sizeof *room);
    if (ways && room) {
        add_pieces(fit, ways);
        find_rates(fit, ways, room);
        qsort(ways, p->n_pairs, sizeof *ways, compare_ways);
    }
    for (size_t i = 0; ways && room && i + 1 < p->n_pairs; i++) {
        compare_both(fit, &ways[i], &ways[i + 1], p->net.freed);
        if (limits)
            continue;
        take_pace(&ways[i], &ways[i + 1], p->net.pair);
        take_pace(&ways[i + 1], &ways[i], p->net.pair);
    }
    bool ok = ways && room;
    free(ways);
    free(room);
    return ok ? 0 : -ENOMEM;
}

/* ---- calls of groups ---- */

/* A member's stay in a group call of few bytes after those it needs came; below 0 if the operation
 * is no such call.
 */
static int64_t few_ns(const struct replay *p, size_t rank, const struct replay_op *op) {
    bool waits = op->kind == REPLAY_WAIT && op->n == 1 && p->waits[op->first] & REPLAY_OWN_GROUP &&
                 !(p->waits[op->first] & REPLAY_OWN_SEND);
    if (!waits && (op->kind != REPLAY_GROUP || op->n))
        return -1;
    const struct replay_group *g =
        &p->groups[waits ? p->waits[op->first] & ~REPLAY_OWN_GROUP : op->first];
    if (!replay_needs_any(g, rank) || g->bytes >= REPLAY_FLOW_BYTES)
        return -1;
    return waits ? op->group_ns : op->ns;
}

static void add_few(const struct replay *p, size_t rank, double *room[2], size_t *n) {
    const struct replay_rank *r = &p->ranks[rank];
    for (size_t i = 1; i < r->n; i++) {
        int64_t ns = few_ns(p, rank, &r->ops[i]);
        int64_t own = ns + r->ops[i].late_ns; /* the rest is waiting for others */
        bool first = r->ops[i].end_ns - r->ops[i - 1].end_ns > own + AT_ONCE_NS;
        if (ns >= 0)
            room[first][n[first]++] = (double)ns;
    }
}

int replay_fit_few(struct replay *p) {
    size_t most = 0, n[2] = {0};
    for (size_t r = 0; r < p->n_ranks; r++)
        most += p->ranks[r].n;
    double *room[2] = {malloc((most + 1) * sizeof **room), malloc((most + 1) * sizeof **room)};
    bool ok = room[0] && room[1];
    for (size_t r = 0; ok && r < p->n_ranks; r++)
        add_few(p, r, room, n);
    for (int first = 0; ok && first < 2; first++)
        p->net.few_ns[first] = n[first] >= CALLS_MIN ? stats_median(room[first], n[first]) : 0;
    free(room[0]);
    free(room[1]);
    return ok ? 0 : -ENOMEM;
}
