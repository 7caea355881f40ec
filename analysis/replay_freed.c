/* SPDX-License-Identifier: MIT */
/*
 * What messages still take where the link they cross is no limit any more. A byte costs both ends a
 * copy and a protocol, and their programs until they look for it, whichever way it goes: if the
 * messages that two ranks send each other one way moved much faster than those the other way, the
 * faster way is what they take without the limit, and nobody needs to guess it. Where both ways are
 * as fast, both may be limited, and that says nothing.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/replay_piece.h"
#include "analysis/stats.h"

#define SELDOM_PASSED 0.9 /* quantile: whose receiver looks late seem slower than they were */
#define FREER 1.5         /* times as fast: not held to the same */
#define ALIKE                                                                                      \
    2.0 /* times as large: of much smaller ones most is latency, of much larger ones less */

struct way {
    uint32_t low, high; /* ranks */
    bool back;          /* from high to low */
    uint32_t pair;
    double bytes, rate; /* that its pieces seldom pass */
    size_t first, n;    /* of its pieces */
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
    }
}

static void find_rates(const struct fit *fit, struct way *ways, struct weighted *room) {
    size_t n = 0;
    for (size_t i = 0; i < fit->p->n_pairs; i++) {
        ways[i].first = n;
        n += ways[i].n;
        ways[i].n = 0;
    }
    for (size_t i = 0; i < fit->n; i++) {
        const struct piece *x = &fit->pieces[i];
        struct way *way = &ways[fit->p->messages[x->message].pair];
        room[way->first + way->n++] =
            (struct weighted){x->bytes / (double)(x->end_ns - x->begin_ns) * 1e9, x->bytes};
    }
    for (size_t i = 0; i < fit->p->n_pairs; i++)
        ways[i].rate =
            ways[i].n ? stats_weighted_quantile(room + ways[i].first, ways[i].n, SELDOM_PASSED) : 0;
}

static bool are_alike(const struct way *a, const struct way *b) {
    double one = a->bytes / (double)a->n, other = b->bytes / (double)b->n;
    return one <= ALIKE * other && other <= ALIKE * one;
}

/* Of two ways between the same ranks. */
static void compare_both(const struct way *a, const struct way *b, double *freed) {
    if (a->low != b->low || a->high != b->high || !a->n || !b->n || !are_alike(a, b))
        return;
    double most = fmax(a->rate, b->rate);
    if (most >= FREER * fmin(a->rate, b->rate))
        freed[a->pair] = freed[b->pair] = most;
}

int replay_fit_freed(struct fit *fit) {
    struct replay *p = fit->p;
    struct way *ways = calloc(p->n_pairs + 1, sizeof *ways);
    struct weighted *room = malloc((fit->n + 1) * sizeof *room);
    if (ways && room) {
        add_pieces(fit, ways);
        find_rates(fit, ways, room);
        qsort(ways, p->n_pairs, sizeof *ways, compare_ways);
    }
    for (size_t i = 0; ways && room && i + 1 < p->n_pairs; i++)
        compare_both(&ways[i], &ways[i + 1], p->model.freed);
    bool ok = ways && room;
    free(ways);
    free(room);
    return ok ? 0 : -ENOMEM;
}
