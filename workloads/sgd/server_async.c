/* SPDX-License-Identifier: MIT */
/*
 * Async: a worker is answered as soon as it asks, and its gradient is applied as soon as it is
 * there, to whatever the model has become meanwhile. The updates applied in between are its
 * staleness.
 *
 * The training ends after iterations x ranks updates, whoever made them: as many examples as sync.
 * The server's own batches need no network and would outrun all others, so it may make LEAD times
 * as many updates as the average worker and no more, about what R1 saw on its vm-1. Tests come
 * every test-every x ranks updates and stop the serving: workers finish what they have and wait.
 *
 * In dense mode a worker gets the model chunk by chunk while others' gradients are applied; its age
 * is that of the first chunk. Own work is cut in slices between two looks at the network.
 */
#include "workloads/sgd/server.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/mark/chokepoint.h"

#define SLICE 256
#define LEAD 3

enum own_stage { OWN_READING, OWN_READY, OWN_COMPUTED };

struct async {
    struct server *s;
    uint64_t target;    /* updates */
    uint64_t next_test; /* updates; 0: none */
    uint64_t *by_rank;  /* updates */
    enum own_stage own;
    uint64_t own_pulled_at;
    double own_loss;
    int64_t own_start_ns;
};

/* One update has been applied, made from the model as it was at version `from`. */
static bool count_update(struct async *a, int rank, uint64_t from, double loss) {
    struct outcome *o = &a->s->outcome;
    a->s->staleness_sum += (double)(o->updates - from);
    o->updates++;
    o->examples += a->s->t->options->batch;
    o->loss = o->updates == 1 ? loss : .9 * o->loss + .1 * loss;
    a->by_rank[rank]++;
    return server_check_loss(a->s, loss, o->updates);
}

/* At most LEAD times as many updates as the workers have made on average. */
static bool own_may_start(const struct async *a) {
    uint64_t n_workers = (uint64_t)a->s->n_channels, own = a->by_rank[0];
    uint64_t by_workers = a->s->outcome.updates - own;
    return n_workers == 0 || own * n_workers < LEAD * (by_workers + 1);
}

static int finish_own(struct async *a) {
    struct trainer *t = a->s->t;
    uint64_t from = a->own_pulled_at;
    plants_apply(&t->plants, (double)a->s->outcome.updates / (double)a->target);
    trainer_apply(t->weights, t->batch.n_unique, t->batch.unique, t->local_gradient,
                  (float)t->options->rate);
    bool finite = count_update(a, 0, from, a->own_loss);
    chokepoint_value("staleness", (double)(a->s->outcome.updates - 1 - from));
    trainer_finish_iteration(t, a->by_rank[0], &a->own_start_ns, a->own_loss);
    a->own = OWN_READING;
    return finite ? 1 : -EDOM;
}

/* A slice of own work. 1: did some, 0: nothing to do, or negative. */
static int own_step(struct async *a) {
    struct trainer *t = a->s->t;
    if (a->own == OWN_READING) {
        if (t->batch.n_rows == 0 && !own_may_start(a))
            return 0;
        int r = trainer_read(t, SLICE);
        a->own = r > 0 ? OWN_READY : OWN_READING;
        return r < 0 ? r : 1;
    }
    if (a->own == OWN_COMPUTED)
        return finish_own(a);
    a->own_pulled_at = a->s->outcome.updates;
    trainer_gather(t, t->weights);
    a->own_loss = trainer_compute(t);
    a->own = OWN_COMPUTED;
    return 1;
}

/* What the server owes this worker. 0 or negative. */
static int serve(struct async *a, struct channel *c) {
    struct trainer *t = a->s->t;
    float rate = (float)t->options->rate;
    switch (c->state) {
    case CHANNEL_PULLED:
        return channel_answer(c, t->weights, a->s->outcome.updates, true) ? 0 : -EPROTO;
    case CHANNEL_OFFERED:
        channel_take_dense(c, t->weights, rate);
        return 0;
    case CHANNEL_PUSHED:
        if (!t->options->dense)
            trainer_apply(t->weights, c->request.n, c->features, c->values, rate);
        plants_apply(&t->plants, (double)a->s->outcome.updates / (double)a->target);
        if (!count_update(a, c->peer, c->pulled_at, c->request.loss))
            return -EDOM;
        channel_listen(c);
        return 0;
    case CHANNEL_FAILED:
        return -ECANCELED;
    default:
        return 0;
    }
}

/* One look at every worker. 1: something happened, 0, or negative. */
static int serve_all(struct async *a) {
    int moved = server_step(a->s), r = 0;
    for (int i = 0; i < a->s->n_channels && r == 0; i++)
        r = serve(a, &a->s->channels[i]);
    return r < 0 ? r : moved;
}

static int test_if_due(struct async *a) {
    if (!a->next_test || a->s->outcome.updates < a->next_test)
        return 0;
    uint64_t every = a->s->t->options->test_every * (uint64_t)a->s->t->n_ranks;
    while (a->next_test <= a->s->outcome.updates)
        a->next_test += every;
    int r = server_test(a->s);
    a->own_start_ns = chokepoint_now_ns();
    return r;
}

static int train(struct async *a) {
    struct server *s = a->s;
    int r = 0;
    a->own_start_ns = chokepoint_now_ns();
    while (r >= 0 && s->outcome.updates < a->target && !s->outcome.out_of_time) {
        int served = serve_all(a);
        int worked = served < 0 ? 0 : own_step(a);
        r = served < 0 ? served : worked < 0 ? worked : test_if_due(a);
        if (served > 0 || worked > 0)
            waiter_wake(&s->t->waiter);
        else
            waiter_nap(&s->t->waiter);
        server_show(s, (double)s->outcome.updates, (double)a->target);
        s->outcome.out_of_time = server_is_out_of_time(s);
    }
    return r;
}

int server_run_async(struct server *s) {
    const struct sgd_options *o = s->t->options;
    uint64_t n_ranks = (uint64_t)s->t->n_ranks;
    struct async a = {
        .s = s, .target = o->iterations * n_ranks, .next_test = o->test_every * n_ranks};
    a.by_rank = calloc(n_ranks, sizeof *a.by_rank);
    int r = a.by_rank ? server_test(s) : -ENOMEM;
    if (r == 0)
        r = train(&a);
    if (r == 0)
        r = server_test(s);
    free(a.by_rank);
    return r;
}
