/* SPDX-License-Identifier: MIT */
/*
 * Sync: all get the same model, and the mean of all gradients is applied once all are there, in the
 * order of the ranks, so that a run can be repeated bit by bit. The iteration is as slow as its
 * slowest rank, unless --backup leaves some out (server_backup.c).
 *
 * A dense gradient is never stored whole: chunk k of all workers is awaited, summed and applied in
 * one pass while the next ones arrive, so the server needs a few chunks a worker instead of 135 MB
 * each.
 */
#include "workloads/sgd/server.h"
#include "workloads/sgd/server_backup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"

#define SLICE 256  /* examples the server reads between two polls of the network */
#define BLOCK 2048 /* floats summed at a time; they fit in the first-level cache */

enum own_work { OWN_READING, OWN_READY, OWN_DONE };

struct sync {
    struct server *s;
    enum own_work own;
    double own_loss;
    bool answered;
    struct channel **used; /* owned: gradients of the iteration */
    int n_used;
    struct backup backup; /* used with --backup */
};

/* Does a slice of the server's own share of the iteration. 1: done; 0: nothing to do now; or
 * negative. */
static int step_own_share(struct sync *y) {
    struct trainer *t = y->s->t;
    if (y->own == OWN_READING) {
        int r = trainer_read(t, SLICE);
        if (r < 0)
            return r;
        y->own = r ? OWN_READY : OWN_READING;
        return 1;
    }
    /* Planted work runs beside the workers' share: their pulls are answered first. */
    if (y->own == OWN_DONE || (t->plants.n > 0 && !y->answered))
        return 0;
    trainer_gather(t, t->weights);
    y->own_loss = trainer_compute(t);
    y->own = OWN_DONE;
    return 1;
}

/* Polls the network and does a slice of own work; backs off if neither had anything to do. */
static int step(struct sync *y) {
    bool moved = server_step(y->s);
    int r = step_own_share(y);
    if (server_any(y->s, CHANNEL_FAILED))
        return -ECANCELED;
    if (r < 0)
        return r;
    if (moved || r > 0)
        waiter_wake(&y->s->t->group->waiter);
    else
        waiter_back_off(&y->s->t->group->waiter);
    return 0;
}

static int step_until_all(struct sync *y, enum channel_state state) {
    int r = 0;
    while (r == 0 && (!server_all(y->s, state) || y->own != OWN_DONE))
        r = step(y);
    return r;
}

static int await_pulls(struct sync *y) {
    int r = 0;
    while (r == 0 && !server_all(y->s, CHANNEL_PULLED))
        r = step(y);
    return r;
}

static int answer_all(struct sync *y) {
    bool good = y->answered = true;
    for (int i = 0; i < y->s->n_channels; i++)
        good &= channel_answer(&y->s->channels[i], y->s->t->weights, y->s->lead->outcome.updates,
                               false);
    return good ? 0 : -EPROTO;
}

static void collect_sparse(const struct sync *y, float scale) {
    struct trainer *t = y->s->t;
    for (int i = 0; i < y->n_used; i++) {
        const struct channel *c = y->used[i];
        trainer_apply(t, t->weights, c->request.n, c->features, c->values, scale);
    }
}

/* w -= scale * (sum of the chunks), block by block. */
static void apply_chunks(float *w, size_t n, const float *const *chunks, int n_chunks,
                         float scale) {
    float sum[BLOCK];
    for (size_t from = 0; from < n; from += BLOCK) {
        size_t length = n - from < BLOCK ? n - from : BLOCK;
        memcpy(sum, chunks[0] + from, length * sizeof *sum);
        for (int k = 1; k < n_chunks; k++)
            for (size_t i = 0; i < length; i++)
                sum[i] += chunks[k][from + i];
        for (size_t i = 0; i < length; i++)
            w[from + i] -= scale * sum[i];
    }
}

/* The same chunk of all gradients; false if one is not there yet. */
static bool peek_all(const struct sync *y, const float **chunks, size_t *ret_offset,
                     size_t *ret_n) {
    bool all = true;
    for (int i = 0; i < y->n_used; i++)
        all &= stream_peek(&y->used[i]->intake.stream, &chunks[i], ret_offset, ret_n);
    return all;
}

static int collect_dense(const struct sync *y, float scale) {
    struct trainer *t = y->s->t;
    const float **chunks = calloc((size_t)y->n_used + 1, sizeof *chunks);
    if (!chunks)
        return -ENOMEM;
    for (int i = 0; i < y->n_used; i++)
        channel_take_dense(y->used[i], t->weights, scale);
    while (y->n_used > 0 && !stream_is_done(&y->used[0]->intake.stream)) {
        size_t offset, n;
        if (!peek_all(y, chunks, &offset, &n)) {
            waiter_back_off(&t->group->waiter);
            continue;
        }
        waiter_wake(&t->group->waiter);
        apply_chunks(t->weights + offset, n, chunks, y->n_used, scale);
        for (int i = 0; i < y->n_used; i++)
            stream_drop(&y->used[i]->intake.stream);
    }
    for (int i = 0; i < y->n_used; i++)
        y->used[i]->intake.state = INTAKE_IDLE;
    free(chunks);
    return 0;
}

/* Number of gradients in this iteration, with the server's own. */
static int n_gradients(const struct sync *y) {
    return y->n_used + y->s->t->works;
}

static int collect(struct sync *y) {
    struct server *s = y->s;
    const struct batch *own = &s->t->batch;
    float scale = trainer_rate(s->t, s->lead->outcome.updates) / (float)n_gradients(y);
    int64_t start = chokepoint_now_ns();
    int r =
        s->t->options->dense_gradients ? collect_dense(y, scale) : (collect_sparse(y, scale), 0);
    if (r < 0)
        return r;
    trainer_apply(s->t, s->t->weights, own->n_unique, own->unique, s->t->local_gradient, scale);
    plants_apply(&s->t->plants, trainer_done(s->t));
    chokepoint_operator("reduce and apply", (int64_t)(s->t->n_weights * sizeof(float)), start,
                        chokepoint_now_ns() - start);
    return 0;
}

static double mean_pushed_loss(const struct sync *y) {
    double sum = y->own_loss;
    for (int i = 0; i < y->n_used; i++)
        sum += y->used[i]->loss;
    return sum / n_gradients(y);
}

/* Copies the channels' byte counts into the server's account, which iterations mark. */
static void account_bytes(struct server *s) {
    for (int i = 0; i < s->n_channels; i++) {
        struct channel *c = &s->channels[i];
        s->t->account.sent_bytes += c->sent_bytes;
        s->t->account.received_bytes += c->received_bytes;
        c->sent_bytes = c->received_bytes = 0;
    }
}

/* Waits for all gradients of the iteration. */
static int await_all(struct sync *y) {
    int r = await_pulls(y);
    if (r == 0)
        r = answer_all(y);
    if (r == 0)
        r = step_until_all(y, y->s->t->options->dense_gradients ? CHANNEL_OFFERED : CHANNEL_PUSHED);
    y->n_used = y->s->n_channels;
    for (int i = 0; i < y->n_used; i++)
        y->used[i] = &y->s->channels[i];
    return r;
}

/* Waits for all but the slowest gradients. Workers are answered as they come: their next gradients
 * belong to this iteration or a later one. */
static int await_most(struct sync *y) {
    int wanted = y->s->t->n_shares - (int)y->s->t->options->backup - y->s->t->works, r = 0;
    y->answered = true;
    do {
        r = backup_tend(&y->backup, y->s) ? step(y) : -EPROTO;
        y->n_used = backup_list(y->s, y->used);
    } while (r == 0 && (y->n_used < wanted || y->own != OWN_DONE));
    return r;
}

static int iterate_served(struct sync *y, uint64_t number, int64_t *start_ns) {
    struct server *s = y->s;
    y->own = s->t->works ? OWN_READING : OWN_DONE;
    y->answered = false;
    int r = s->t->options->backup ? await_most(y) : await_all(y);
    if (r == 0)
        r = collect(y);
    if (r < 0)
        return r;
    s->lead->outcome.loss = mean_pushed_loss(y);
    s->lead->outcome.updates++;
    s->lead->outcome.examples += (uint64_t)n_gradients(y) * s->t->options->batch;
    trainer_count_batches(s->t);
    account_bytes(s);
    trainer_finish_iteration(s->t, number, start_ns, s->lead->outcome.loss);
    for (int i = 0; i < y->n_used; i++)
        if (y->used[i]->state == CHANNEL_PUSHED)
            channel_listen(y->used[i]);
    if (s->t->options->backup)
        backup_note_update(&y->backup, s, n_gradients(y));
    return lead_check_loss(s->lead, s->lead->outcome.loss, number) ? 0 : -EDOM;
}

static int sync_init(struct sync *y, struct server *s) {
    *y = (struct sync){.s = s, .used = calloc((size_t)s->n_channels + 1, sizeof(struct channel *))};
    int r = backup_init(&y->backup, s->n_channels);
    return y->used ? r : -ENOMEM;
}

static void sync_release(struct sync *y) {
    backup_release(&y->backup);
    free(y->used);
}

static int train_sync(struct sync *y) {
    struct server *s = y->s;
    struct trainer *t = s->t;
    int r = lead_test(s->lead);
    int64_t start_ns = chokepoint_now_ns();
    for (uint64_t i = t->resumed.updates + 1; r == 0 && i <= t->iterations; i++) {
        if ((s->lead->outcome.out_of_time = lead_is_out_of_time(s->lead)))
            break;
        r = iterate_served(y, i, &start_ns);
        if (r == 0 && lead_tests_after(t, i)) {
            r = lead_test(s->lead);
            start_ns = chokepoint_now_ns();
        }
        if (r == 0 && lead_saves_after(t, i)) {
            r = lead_save(s->lead);
            start_ns = chokepoint_now_ns();
        }
        lead_show(s->lead, (double)i, (double)t->iterations);
    }
    return r == 0 ? lead_test(s->lead) : r; /* out of time */
}

int server_run_sync(struct server *s) {
    struct sync y;
    int r = sync_init(&y, s);
    if (r < 0)
        rank_group_say(s->t->group, "not enough memory for a list of gradients");
    else
        r = train_sync(&y);
    sync_release(&y);
    return r;
}
