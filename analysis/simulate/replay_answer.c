/* SPDX-License-Identifier: MIT */
/*
 * Large messages that wait behind what their receiver sends itself. A large message moves once its
 * receiver has answered the sender's offer. If the receiver was waiting already, and its own large
 * message to the same rank began to move no later than the offer came, the answer queues behind
 * those bytes: the message arrives just after them, however fast its own way is. Its time says
 * nothing about the links that it crosses, and a replay lets it begin when the other has arrived.
 * A pair whose messages never are faster shows no such wait.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/simulate/replay_private.h"

#define TOGETHER 0.1 /* of its time: it ended with the other */
#define WAITED 0.5   /* of its time, at least, it did not move */

struct large {
    uint32_t message, low, high; /* ranks */
    uint32_t pair;
    int64_t done_ns;
    double rate; /* bytes/ns over all its time */
};

static int compare_rates(const void *a, const void *b) {
    const struct large *x = a, *y = b;
    if (x->pair != y->pair)
        return x->pair < y->pair ? -1 : 1;
    return (x->rate > y->rate) - (x->rate < y->rate);
}

static int compare_ends(const void *a, const void *b) {
    const struct large *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    if (x->done_ns != y->done_ns)
        return x->done_ns < y->done_ns ? -1 : 1;
    return (x->message > y->message) - (x->message < y->message);
}

static size_t collect(const struct replay *p, struct large *items) {
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_messages; i++) {
        const struct replay_message *m = &p->messages[i];
        int64_t ns = m->done_ns - replay_begin_ns(m);
        if (!replay_is_between(p, m) || m->signal || m->buffered || ns <= 0)
            continue;
        items[n++] = (struct large){.message = i,
                                    .low = m->from < m->to ? m->from : m->to,
                                    .high = m->from < m->to ? m->to : m->from,
                                    .pair = m->pair,
                                    .done_ns = m->done_ns,
                                    .rate = m->bytes / (double)ns};
    }
    return n;
}

/* Fills the rate of messages that came soon, by pair. */
static void find_fast(struct large *items, size_t n, double *ret_fast) {
    qsort(items, n, sizeof *items, compare_rates);
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && items[end].pair == items[first].pair; end++)
            ;
        size_t at = (size_t)((double)(end - first) * (1 - REPLAY_SOON_SHARE));
        ret_fast[items[first].pair] = items[first + at].rate;
    }
}

/* Whether m's answer was queued behind the bytes of `own`, a message of m's receiver. */
static bool is_behind(const struct replay_message *m, const struct replay_message *own) {
    int64_t begin = replay_begin_ns(m);
    double ns = (double)(m->done_ns - begin), after = (double)(m->done_ns - own->done_ns);
    return own->from == m->to && own->to == m->from && m->posted_ns < m->sent_ns &&
           replay_begin_ns(own) <= begin && own->done_ns > begin && after <= TOGETHER * ns &&
           -after <= TOGETHER * ns;
}

static void find_own(struct replay *p, const struct large *items, size_t n, size_t i,
                     const double *fast) {
    struct replay_message *m = &p->messages[items[i].message];
    double ns = (double)(m->done_ns - replay_begin_ns(m));
    if (m->bytes > (1 - WAITED) * ns * fast[m->pair])
        return;
    for (int way = -1; way <= 1; way += 2)
        for (size_t k = i + (size_t)way; k < n; k += (size_t)way) {
            const struct large *x = &items[k];
            if (x->low != items[i].low || x->high != items[i].high ||
                (double)llabs(x->done_ns - m->done_ns) > TOGETHER * ns)
                break;
            if (is_behind(m, &p->messages[x->message])) {
                m->behind = x->message;
                p->n_behind++;
                return;
            }
        }
}

int replay_find_answers(struct replay *p) {
    struct large *items = malloc((p->n_messages + 1) * sizeof *items);
    double *fast = calloc(p->n_pairs + 1, sizeof *fast);
    for (size_t i = 0; i < p->n_messages; i++)
        p->messages[i].behind = REPLAY_NONE;
    if (items && fast) {
        size_t n = collect(p, items);
        find_fast(items, n, fast);
        qsort(items, n, sizeof *items, compare_ends);
        for (size_t i = 0; i < n; i++)
            find_own(p, items, n, i, fast);
    }
    bool ok = items && fast;
    free(items);
    free(fast);
    return ok ? 0 : -ENOMEM;
}
