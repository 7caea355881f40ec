/* SPDX-License-Identifier: MIT */
/*
 * Makes messages of dependencies between calls that are no messages of the program: parts of
 * neighbourhood collectives, and the begin and end of window epochs. They have hardly any bytes:
 * each lasts until the call ends that waits for it, and takes no share of a link.
 */
#include <errno.h>

#include "analysis/simulate/replay_build.h"

bool replay_in_window(const struct replay *p, const struct mpi_event *e) {
    return e->enter_ns >= p->begin_ns && e->exit_ns <= p->end_ns;
}

int replay_add_message(struct builder *b, struct replay_message message) {
    struct replay *p = b->replay;
    struct replay_message *m =
        replay_room(&p->messages, p->n_messages, &p->messages_capacity, sizeof *m);
    struct key key = {{message.from, message.to, 0, 0, 0}};
    uint32_t pair = m ? key_add(&b->pairs, key) : KEY_NONE;
    if (pair == KEY_NONE)
        return -ENOMEM;
    message.pair = pair;
    message.left_ns = message.waited_ns = VALUE_ABSENT;
    p->messages[p->n_messages++] = message;
    p->n_pairs = b->pairs.n;
    return 0;
}

static bool is_replayed(const struct builder *b, uint32_t rank, uint32_t index) {
    const struct mpi_event *e = &b->log->ranks[rank].events[index];
    return replay_in_window(b->replay, e) && e->thread == b->threads[rank];
}

static int add_signal_message(struct builder *b, const struct call_signal *s,
                              int64_t last_sent_ns) {
    const struct mpi_event *sent = &b->log->ranks[s->from].events[s->sent];
    const struct mpi_event *received = &b->log->ranks[s->to].events[s->received];
    return replay_add_message(b, (struct replay_message){.from = s->from,
                                                         .to = s->to,
                                                         .bytes = (double)s->bytes,
                                                         .sent_ns = sent->enter_ns,
                                                         .with_ns = last_sent_ns,
                                                         .posted_ns = received->enter_ns,
                                                         .done_ns = received->exit_ns,
                                                         .signal = s->bytes < REPLAY_FLOW_BYTES});
}

/* When the last of the signals was sent that one event receives, from number k on. */
static int64_t last_sent_ns(const struct builder *b, size_t k, size_t *ret_end) {
    const struct call_matches *m = &b->replay->model->matches;
    const struct call_signal *first = &m->signals[k];
    int64_t last = INT64_MIN;
    for (; k < m->n_signals && m->signals[k].to == first->to &&
           m->signals[k].received == first->received;
         k++) {
        const struct call_signal *s = &m->signals[k];
        int64_t sent = b->log->ranks[s->from].events[s->sent].enter_ns;
        last = sent > last ? sent : last;
    }
    *ret_end = k;
    return last;
}

static int compare_signals_by_sender(const void *a, const void *b, void *ctx) {
    const struct call_signal *signals = ctx;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct call_signal *x = &signals[i], *y = &signals[j];
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->sent != y->sent)
        return x->sent < y->sent ? -1 : 1;
    return (i > j) - (i < j);
}

int replay_find_signals(struct builder *b) {
    const struct call_matches *m = &b->replay->model->matches;
    size_t n = m->n_signals;
    b->signal_ids = malloc((n + 1) * sizeof *b->signal_ids);
    b->sent_signals = malloc((n + 1) * sizeof *b->sent_signals);
    if (!b->signal_ids || !b->sent_signals)
        return -ENOMEM;
    for (size_t first = 0, end; first < n; first = end) {
        int64_t last = last_sent_ns(b, first, &end);
        for (size_t k = first; k < end; k++) {
            const struct call_signal *s = &m->signals[k];
            bool both = is_replayed(b, s->from, s->sent) && is_replayed(b, s->to, s->received);
            b->signal_ids[k] = both ? (uint32_t)b->replay->n_messages : REPLAY_NONE;
            b->sent_signals[k] = (uint32_t)k;
            if (both && add_signal_message(b, s, last) < 0)
                return -ENOMEM;
        }
    }
    if (n)
        qsort_r(b->sent_signals, n, sizeof *b->sent_signals, compare_signals_by_sender, m->signals);
    return 0;
}

/* ---- of one call ---- */

static bool is_sent_before(const struct call_signal *s, uint32_t rank, uint32_t event) {
    return s->from != rank ? s->from < rank : s->sent < event;
}

const uint32_t *replay_signals_sent(const struct rank_builder *rb, size_t i, size_t *ret_n) {
    const struct call_matches *m = &rb->b->replay->model->matches;
    const uint32_t *order = rb->b->sent_signals;
    size_t low = 0, high = m->n_signals, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_sent_before(&m->signals[order[middle]], (uint32_t)rb->index, (uint32_t)i))
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < m->n_signals && m->signals[order[end]].from == rb->index &&
                    m->signals[order[end]].sent == i;
         end++)
        ;
    *ret_n = end - low;
    return order + low;
}

static bool is_received_before(const struct call_signal *s, uint32_t rank, uint32_t event) {
    return s->to != rank ? s->to < rank : s->received < event;
}

size_t replay_signals_received(const struct rank_builder *rb, size_t i, size_t *ret_n) {
    const struct call_matches *m = &rb->b->replay->model->matches;
    size_t low = 0, high = m->n_signals, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_received_before(&m->signals[middle], (uint32_t)rb->index, (uint32_t)i))
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low;
         end < m->n_signals && m->signals[end].to == rb->index && m->signals[end].received == i;
         end++)
        ;
    *ret_n = end - low;
    return low;
}
