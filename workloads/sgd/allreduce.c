/* SPDX-License-Identifier: MIT */
/*
 * Sync without a server: every rank has the model and applies the mean of all gradients itself.
 * MPI_Allreduce adds up dense gradients. For sparse ones every rank collects all features and
 * values (MPI_Allgatherv) and applies them in the order of the ranks, as nobody knows their union
 * beforehand. Each rank first sends a note: its loss, the number of its features, and two votes
 * that end all ranks in the same iteration: a rank has failed; time is up.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "agent/mark/chokepoint.h"
#include "workloads/sgd/together.h"

#define PIECE ((size_t)1 << 26) /* floats in one call, whose counts are ints */

struct note {
    double loss;
    uint32_t n_features;
    uint16_t has_failed, time_is_up;
};

struct group {
    struct lead *lead;
    struct trainer *t;
    struct note *notes; /* by rank */
    /* dense */
    float *gradient; /* a whole gradient; zero between iterations */
    /* sparse */
    int *counts, *starts; /* by rank: of features, then of values */
    uint32_t *features;
    float *values;
    size_t capacity; /* features */
};

static int group_init(struct group *g, struct lead *lead) {
    size_t n = (size_t)lead->t->group->n_ranks;
    *g = (struct group){.lead = lead, .t = lead->t};
    g->notes = calloc(n, sizeof *g->notes);
    g->counts = calloc(n, sizeof *g->counts);
    g->starts = calloc(n, sizeof *g->starts);
    bool whole = g->notes && g->counts && g->starts;
    if (whole && g->t->options->dense_gradients)
        whole = (g->gradient = calloc(g->t->n_weights, sizeof *g->gradient)) != NULL;
    if (!whole)
        rank_group_say(g->t->group, "not enough memory for a gradient");
    return whole ? 0 : -ENOMEM;
}

static void group_release(struct group *g) {
    free(g->notes);
    free(g->gradient);
    free(g->counts);
    free(g->starts);
    free(g->features);
    free(g->values);
}

static void count_bytes(struct group *g, size_t sent, size_t received) {
    if (g->t->group->n_ranks == 1)
        return;
    g->t->account.sent_bytes += sent;
    g->t->account.received_bytes += received;
}

/* Exchanges the notes. False if a rank has failed. */
static bool exchange_notes(struct group *g, struct note mine) {
    struct rank_group *c = g->t->group;
    MPI_Request request;
    bool good = true;
    MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, g->notes, sizeof mine, MPI_BYTE, MPI_COMM_WORLD,
                   &request);
    wait_all(&c->waiter, 1, &request);
    for (int i = 0; i < c->n_ranks; i++)
        good &= !g->notes[i].has_failed;
    count_bytes(g, sizeof mine, sizeof mine * (size_t)c->n_ranks);
    return good;
}

/* ---- dense ---- */

static void add_up(struct group *g, float *vector, size_t n) {
    MPI_Request request;
    for (size_t from = 0; from < n; from += PIECE) {
        int length = (int)(n - from < PIECE ? n - from : PIECE);
        MPI_Iallreduce(MPI_IN_PLACE, vector + from, length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
        wait_all(&g->t->group->waiter, 1, &request);
    }
}

static void apply_dense(struct group *g, float scale) {
    struct trainer *t = g->t;
    int64_t start = chokepoint_now_ns();
    size_t bytes = t->n_weights * sizeof *g->gradient;
    trainer_apply(t, g->gradient, t->batch.n_unique, t->batch.unique, t->local_gradient, -1);
    add_up(g, g->gradient, t->n_weights);
    chokepoint_operator("all-reduce", (int64_t)bytes, start, chokepoint_now_ns() - start);
    count_bytes(g, bytes, bytes);
    for (size_t i = 0; i < t->n_weights; i++) {
        t->weights[i] -= scale * g->gradient[i];
        g->gradient[i] = 0;
    }
}

/* ---- sparse ---- */

/* Aborts without memory: the other ranks are about to enter the exchange. */
static void reserve_gathered(struct group *g, size_t n) {
    if (n <= g->capacity)
        return;
    n += n / 4;
    uint32_t *features = reallocarray(g->features, n, sizeof *features);
    if (features)
        g->features = features;
    float *values = reallocarray(g->values, n * g->t->width, sizeof *values);
    if (values)
        g->values = values;
    if (!features || !values || n * g->t->width > INT32_MAX) {
        rank_group_say(g->t->group, "not enough memory for the gradients of all ranks");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    g->capacity = n;
}

/* Collects `each` elements for each feature of all ranks, one rank's behind the other's. */
static void gather_all(struct group *g, const void *mine, void *all, MPI_Datatype type,
                       uint32_t each) {
    struct rank_group *c = g->t->group;
    MPI_Request request;
    for (int i = 0, n = 0; i < c->n_ranks; i++, n += g->counts[i - 1]) {
        g->starts[i] = n;
        g->counts[i] = (int)(g->notes[i].n_features * each);
    }
    MPI_Iallgatherv(mine, g->counts[c->rank], type, all, g->counts, g->starts, type, MPI_COMM_WORLD,
                    &request);
    wait_all(&c->waiter, 1, &request);
}

static void apply_gathered(struct group *g, float scale) {
    struct trainer *t = g->t;
    int64_t start = chokepoint_now_ns();
    size_t n = 0, own = t->batch.n_unique, each = sizeof(uint32_t) + t->width * sizeof(float);
    for (int i = 0; i < t->group->n_ranks; i++)
        n += g->notes[i].n_features;
    reserve_gathered(g, n);
    gather_all(g, t->batch.unique, g->features, MPI_UINT32_T, 1);
    gather_all(g, t->local_gradient, g->values, MPI_FLOAT, t->width);
    chokepoint_operator("all-gather", (int64_t)(n * each), start, chokepoint_now_ns() - start);
    count_bytes(g, own * each, n * each);
    for (size_t i = 0, from = 0; i < (size_t)t->group->n_ranks; from += g->notes[i++].n_features)
        trainer_apply(t, t->weights, g->notes[i].n_features, g->features + from,
                      g->values + from * t->width, scale);
}

/* ---- the training ---- */

static double mean_noted_loss(const struct group *g) {
    double sum = 0;
    for (int i = 0; i < g->t->group->n_ranks; i++)
        sum += g->notes[i].loss;
    return sum / g->t->group->n_ranks;
}

static void apply(struct group *g, uint64_t number) {
    struct trainer *t = g->t;
    float scale = trainer_rate(t, number - 1) / (float)t->group->n_ranks;
    if (t->options->dense_gradients)
        apply_dense(g, scale);
    else
        apply_gathered(g, scale);
    plants_apply(&t->plants, trainer_done(t));
}

/* All ranks know all losses, so all detect it; one reports it. */
static bool check_loss(const struct group *g, uint64_t number) {
    double loss = g->lead->outcome.loss;
    return g->t->group->rank == 0 ? lead_check_loss(g->lead, loss, number) : isfinite(loss);
}

/* Returns 0; 1 if time is up; negative if a rank has failed. */
static int iterate_together(struct group *g, uint64_t number, int64_t *start_ns) {
    struct lead *l = g->lead;
    struct trainer *t = g->t;
    struct note mine = {.time_is_up = t->group->rank == 0 && lead_is_out_of_time(l)};
    mine.has_failed = trainer_read_batch(t) < 0;
    if (!mine.has_failed) {
        trainer_gather(t, t->weights);
        mine.loss = trainer_compute(t);
        mine.n_features = (uint32_t)t->batch.n_unique;
    }
    if (!exchange_notes(g, mine))
        return -ECANCELED;
    apply(g, number);
    l->outcome.loss = mean_noted_loss(g);
    trainer_count_batches(t);
    l->outcome.updates++;
    l->outcome.examples += (uint64_t)t->n_shares * t->options->batch;
    trainer_finish_iteration(t, number, start_ns, mine.loss);
    return check_loss(g, number) ? g->notes[0].time_is_up : -EDOM;
}

/* Rank 0 tests while the others wait, in a phase of its own. */
static int pause_for(struct group *g, const char *phase, int (*work)(struct lead *lead)) {
    if (g->t->group->rank != 0)
        chokepoint_phase(phase);
    int r = g->t->group->rank == 0 ? work(g->lead) : 0;
    rank_group_tell(g->t->group, &r);
    if (g->t->group->rank != 0) {
        chokepoint_phase("training");
        chokepoint_iteration_begin();
    }
    return r;
}

static int test(struct group *g) {
    return pause_for(g, "testing", lead_test);
}

static int save_together(struct group *g) {
    return g->t->options->checkpoint ? pause_for(g, "checkpoint", lead_save) : 0;
}

static int train_together(struct group *g) {
    struct lead *l = g->lead;
    struct trainer *t = g->t;
    int r = test(g);
    int64_t start_ns = chokepoint_now_ns();
    for (uint64_t i = t->resumed.updates + 1; r == 0 && i <= t->iterations; i++) {
        r = iterate_together(g, i, &start_ns);
        l->outcome.out_of_time = r > 0;
        if (r == 0 && lead_tests_after(t, i)) {
            r = test(g);
            start_ns = chokepoint_now_ns();
        }
        if (r == 0 && lead_saves_after(t, i)) {
            r = save_together(g);
            start_ns = chokepoint_now_ns();
        }
        lead_show(l, (double)i, (double)t->iterations);
    }
    r = r > 0 ? test(g) : r;
    return r == 0 ? save_together(g) : r;
}

int allreduce_run(struct lead *l) {
    struct group g;
    int r = group_init(&g, l);
    lead_begin(l);
    r = rank_group_is_well(l->t->group, r) ? train_together(&g) : -ECANCELED;
    lead_end(l);
    if (r == 0)
        lead_share_accuracy(l);
    group_release(&g);
    return r;
}
