/* SPDX-License-Identifier: MIT */
/*
 * Async: a worker gets an answer as soon as it asks, and its gradient is applied as soon as it
 * arrives, whatever the model is then. The number of updates applied in between is its staleness.
 *
 * The training ends after iterations x ranks updates of any ranks: as many examples as sync. The
 * server's own batches need no network and would be far ahead, so it may make at most LEAD times as
 * many updates as the average worker, about as in R1's vm-1. Tests come every test-every x ranks
 * updates and stop the serving: workers finish their batch and wait.
 *
 * Dense: at most half of the workers pull at the same time, in the order of their requests.
 * Otherwise all would pull together and then push together, and each direction of the link would
 * idle in turn. Each gets the model with its own gradient in it. With --prefetch this limit holds
 * for the first weights only. Then workers pull while they push, and neither direction waits for
 * the other. The cost is staleness: the weights may lack the worker's own last gradient (never an
 * earlier one: the server hears a pull only after that was applied), and other workers' gradients
 * of twice the time.
 *
 * In dense mode a worker gets the model chunk by chunk while gradients of others are applied; its
 * version is that of the first chunk. Own work is done in slices between two polls of the network.
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
    uint64_t target;               /* in updates */
    uint64_t next_test, next_save; /* in updates; 0: none */
    uint64_t asked;                /* pulls so far, which numbers the next one */
    enum own_stage own;
    uint64_t own_pulled_at;
    double own_loss;
    int64_t own_start_ns;
};

/* Counts an update that was computed from version `from` of the model. */
static bool count_update(struct async *a, int rank, uint64_t from, double loss) {
    struct outcome *o = &a->s->lead->outcome;
    uint64_t staleness = o->updates - from;
    a->s->staleness_sum += (double)staleness;
    o->most_stale = staleness > o->most_stale ? staleness : o->most_stale;
    chokepoint_value("staleness", (double)staleness);
    o->updates++;
    o->examples += a->s->t->options->batch;
    o->loss = o->updates == 1 ? loss : .9 * o->loss + .1 * loss;
    a->s->t->batches[rank]++;
    return lead_check_loss(a->s->lead, loss, o->updates);
}

/* The learning rate decays as if all ranks worked in step. */
static float rate_now(const struct async *a) {
    return trainer_rate(a->s->t, a->s->lead->outcome.updates / (uint64_t)a->s->t->n_shares);
}

/* At most LEAD times as many updates as the workers made on average. */
static bool own_may_start(const struct async *a) {
    uint64_t n_workers = (uint64_t)a->s->n_channels, own = a->s->t->batches[0];
    uint64_t by_workers = a->s->lead->outcome.updates - own;
    return n_workers == 0 || own * n_workers < LEAD * (by_workers + 1);
}

/* Work that is planted with an update counts as part of it. */
static void plant_apply(struct async *a) {
    plants_apply(&a->s->t->plants, (double)a->s->lead->outcome.updates / (double)a->target);
}

/* Marks the operator of an update that began at start_ns and has taken spent_ns of computing so
 * far. */
static void tell_applied(size_t n_floats, int64_t start_ns, int64_t spent_ns) {
    chokepoint_operator("apply gradient", (int64_t)(n_floats * sizeof(float)), start_ns, spent_ns);
}

static void apply_pushed(struct async *a, size_t n, const uint32_t *features, const float *values) {
    struct trainer *t = a->s->t;
    int64_t start = chokepoint_now_ns();
    trainer_apply(t, t->weights, n, features, values, rate_now(a));
    plant_apply(a);
    tell_applied(n * t->width, start, chokepoint_now_ns() - start);
}

static int finish_own(struct async *a) {
    struct trainer *t = a->s->t;
    uint64_t from = a->own_pulled_at;
    apply_pushed(a, t->batch.n_unique, t->batch.unique, t->local_gradient);
    bool finite = count_update(a, 0, from, a->own_loss);
    trainer_finish_iteration(t, a->s->t->batches[0], &a->own_start_ns, a->own_loss);
    a->own = OWN_READING;
    return finite ? 1 : -EDOM;
}

/* Does a slice of own work. 1: done; 0: nothing to do; or negative. */
static int step_own_batch(struct async *a) {
    struct trainer *t = a->s->t;
    if (!t->works)
        return 0;
    if (a->own == OWN_READING) {
        if (t->batch.n_rows == 0 && !own_may_start(a))
            return 0;
        int r = trainer_read(t, SLICE);
        a->own = r > 0 ? OWN_READY : OWN_READING;
        return r < 0 ? r : 1;
    }
    if (a->own == OWN_COMPUTED)
        return finish_own(a);
    a->own_pulled_at = a->s->lead->outcome.updates;
    trainer_gather(t, t->weights);
    a->own_loss = trainer_compute(t);
    a->own = OWN_COMPUTED;
    return 1;
}

/* Number of workers that are receiving weights, with --prefetch their first ones. */
static int count_answering(const struct server *s) {
    int n = 0;
    for (int i = 0; i < s->n_channels; i++)
        n += s->channels[i].state == CHANNEL_ANSWERING &&
             (!s->t->options->prefetch || s->channels[i].pulls == 1);
    return n;
}

/* No worker that asked earlier is waiting, and at most half of the workers are being answered. */
static bool is_next(const struct server *s, const struct channel *c) {
    for (int i = 0; i < s->n_channels; i++)
        if (s->channels[i].state == CHANNEL_PULLED && s->channels[i].turn &&
            s->channels[i].turn < c->turn)
            return false;
    return count_answering(s) < (s->n_channels + 1) / 2;
}

/* Whether a worker that has asked may be answered. */
static bool is_its_turn(struct async *a, struct channel *c) {
    bool prefetches = a->s->t->options->prefetch;
    if (!c->dense_weights || (prefetches && c->pulls > 0))
        return true;
    if (!prefetches && c->intake.state != INTAKE_IDLE)
        return false;
    if (!c->turn)
        c->turn = ++a->asked;
    return is_next(a->s, c);
}

static int answer(struct async *a, struct channel *c) {
    if (!is_its_turn(a, c))
        return 0;
    c->turn = 0;
    return channel_answer(c, a->s->t->weights, a->s->lead->outcome.updates, true) ? 0 : -EPROTO;
}

/* Counts a worker's gradient, which has been applied. */
static int finish_update(struct async *a, const struct channel *c) {
    return count_update(a, c->peer, c->pushed_from, c->loss) ? 0 : -EDOM;
}

static int take_sparse(struct async *a, struct channel *c) {
    apply_pushed(a, c->request.n, c->features, c->values);
    int r = finish_update(a, c);
    channel_listen(c);
    return r;
}

static int take_dense(struct async *a, struct channel *c) {
    if (c->intake.state == INTAKE_IDLE)
        channel_take_dense(c, a->s->t->weights, rate_now(a));
    return 0;
}

/* Gives this worker what it waits for. 0 or negative. */
static int serve(struct async *a, struct channel *c) {
    if (c->intake.state == INTAKE_TAKEN) {
        c->intake.state = INTAKE_IDLE;
        int64_t start = chokepoint_now_ns();
        plant_apply(a);
        tell_applied(a->s->t->n_weights, c->intake.start_ns,
                     c->intake.applied_ns + chokepoint_now_ns() - start);
        int r = finish_update(a, c);
        if (r < 0)
            return r;
    }
    switch (c->state) {
    case CHANNEL_PULLED:
        return answer(a, c);
    case CHANNEL_OFFERED:
        return take_dense(a, c);
    case CHANNEL_PUSHED:
        return take_sparse(a, c);
    case CHANNEL_FAILED:
        return -ECANCELED;
    default:
        return 0;
    }
}

/* Polls every worker once. 1: something happened; 0; or negative. */
static int serve_all(struct async *a) {
    int moved = server_step(a->s), r = 0;
    for (int i = 0; i < a->s->n_channels && r == 0; i++)
        r = serve(a, &a->s->channels[i]);
    return r < 0 ? r : moved;
}

/* The next multiple of `every` iterations of all ranks, in updates. */
static uint64_t due_after(const struct async *a, uint64_t every) {
    uint64_t n = every * (uint64_t)a->s->t->n_shares;
    return n ? (a->s->lead->outcome.updates / n + 1) * n : 0;
}

static int test_if_due(struct async *a) {
    if (!a->next_test || a->s->lead->outcome.updates < a->next_test)
        return 0;
    a->next_test = due_after(a, a->s->t->options->test_every);
    int r = lead_test(a->s->lead);
    a->own_start_ns = chokepoint_now_ns();
    return r;
}

static int save_if_due(struct async *a) {
    if (!a->next_save || a->s->lead->outcome.updates < a->next_save)
        return 0;
    a->next_save = due_after(a, a->s->t->options->checkpoint_every);
    int r = lead_save(a->s->lead);
    a->own_start_ns = chokepoint_now_ns();
    return r;
}

static int train_async(struct async *a) {
    struct server *s = a->s;
    int r = 0;
    a->own_start_ns = chokepoint_now_ns();
    while (r >= 0 && s->lead->outcome.updates < a->target && !s->lead->outcome.out_of_time) {
        int served = serve_all(a);
        int worked = served < 0 ? 0 : step_own_batch(a);
        r = served < 0 ? served : worked < 0 ? worked : test_if_due(a);
        r = r < 0 ? r : save_if_due(a);
        if (served > 0 || worked > 0)
            waiter_wake(&s->t->group->waiter);
        else
            waiter_back_off(&s->t->group->waiter);
        lead_show(s->lead, (double)s->lead->outcome.updates, (double)a->target);
        s->lead->outcome.out_of_time = lead_is_out_of_time(s->lead);
    }
    return r;
}

int server_run_async(struct server *s) {
    const struct trainer *t = s->t;
    uint64_t n = (uint64_t)t->n_shares;
    struct async a = {.s = s, .target = t->iterations * n};
    a.next_test = due_after(&a, t->options->test_every);
    a.next_save = due_after(&a, t->options->checkpoint_every);
    int r = lead_test(s->lead);
    if (r == 0)
        r = train_async(&a);
    return r == 0 ? lead_test(s->lead) : r;
}
