/* SPDX-License-Identifier: MIT */
/* Signals, which are dependencies between calls beside messages: a list that is sorted once it is
 * complete.
 */
#include <errno.h>

#include "analysis/facts/calls/call_match_private.h"

void call_match_signal(struct matcher *m, struct event_at sent, struct event_at received,
                       int64_t bytes) {
    struct call_matches *all = &m->matches;
    struct call_signal *signals =
        array_room(all->signals, all->n_signals, &all->signals_capacity, sizeof *signals);
    if (!signals) {
        m->error = -ENOMEM;
        return;
    }
    all->signals = signals;
    all->signals[all->n_signals++] =
        (struct call_signal){sent.rank, sent.index, received.rank, received.index, bytes};
}

static int compare_signals(const void *a, const void *b) {
    const struct call_signal *x = a, *y = b;
    const uint32_t p[] = {x->to, x->received, x->from, x->sent};
    const uint32_t q[] = {y->to, y->received, y->from, y->sent};
    for (int i = 0; i < 4; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* Two neighbours may be the same rank: one signal then has the bytes of both. */
static void merge(struct call_matches *all) {
    size_t kept = 0;
    for (size_t i = 0; i < all->n_signals; i++) {
        struct call_signal *last = kept ? &all->signals[kept - 1] : NULL;
        if (last && compare_signals(last, &all->signals[i]) == 0)
            last->bytes += all->signals[i].bytes;
        else
            all->signals[kept++] = all->signals[i];
    }
    all->n_signals = kept;
}

void call_match_sort_signals(struct matcher *m) {
    if (!m->matches.n_signals)
        return;
    qsort(m->matches.signals, m->matches.n_signals, sizeof *m->matches.signals, compare_signals);
    merge(&m->matches);
}
