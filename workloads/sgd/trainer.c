/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/trainer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/mark/chokepoint.h"
#include "workloads/sgd/logistic.h"

#define HUGE_PAGE ((size_t)1 << 21)

double trainer_done(const struct trainer *t) {
    uint64_t before = t->resumed.updates;
    before = t->options->mode == SGD_ASYNC ? before / (uint64_t)t->n_shares : before;
    return (double)(before + t->account.iterations) / (double)t->iterations;
}

float trainer_rate(const struct trainer *t, uint64_t iteration) {
    return (float)(t->options->rate / (1 + t->options->decay * (double)iteration));
}

size_t trainer_local_floats(const struct trainer *t) {
    return t->batch.n_unique * t->width;
}

/* ---- beginning and end ---- */

static void plan_batch(struct trainer *t) {
    double factor = plants_work(&t->plants, t->group->rank, trainer_done(t));
    t->batch_rows = (size_t)((double)t->options->batch * factor + .5);
    if (t->batch_rows == 0)
        t->batch_rows = 1;
}

/*
 * Touches the 135 MB now, so that this belongs to loading and not to the first iteration. Accesses
 * to weights are scattered: with pages of 4 kB every read would miss the TLB as well as the caches.
 */
static int allocate_model(struct trainer *t) {
    size_t bytes = (t->n_weights * sizeof *t->weights + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (t->group->rank != 0 && !t->options->dense_weights && !t->options->allreduce)
        return 0;
    t->weights = aligned_alloc(HUGE_PAGE, bytes);
    if (!t->weights) {
        rank_group_say(t->group, "not enough memory for the model");
        return -ENOMEM;
    }
    madvise(t->weights, bytes, MADV_HUGEPAGE);
    memset(t->weights, 0, bytes);
    return 0;
}

/* Marks an operator with the name of the data, so that a report can show it. */
static void tell_origin(struct trainer *t, int64_t start_ns) {
    if (!t->options->softmax)
        return;
    origin_read(t->options->data, t->origin);
    chokepoint_operator(t->origin, (int64_t)(t->source.images.n * image_bytes(&t->source.images)),
                        start_ns, chokepoint_now_ns() - start_ns);
}

static int open_source(struct trainer *t) {
    struct source_error error;
    int64_t start_ns = chokepoint_now_ns();
    int share = t->group->rank - (t->group->n_ranks - t->n_shares);
    int r = source_open(&t->source, t->options, share, t->n_shares, &error);
    if (r < 0)
        rank_group_say(t->group, "%s", error.text);
    else
        tell_origin(t, start_ns);
    t->works = share >= 0;
    t->n_features = t->source.n_features;
    t->width = t->source.width;
    t->n_weights = (size_t)t->n_features * t->width;
    return r;
}

static void plan_iterations(struct trainer *t) {
    const struct sgd_options *o = t->options;
    uint64_t together = o->batch * (uint64_t)t->n_shares;
    t->iterations = o->epochs     ? o->epochs * t->source.per_epoch
                    : o->examples ? (o->examples + together - 1) / together
                                  : o->iterations;
}

static int check_group(const struct trainer *t) {
    const struct sgd_options *o = t->options;
    int n = t->group->n_ranks;
    const char *wrong =
        o->mode == SGD_SINGLE && n > 1 ? "--mode single is for one rank, there are %d"
        : o->apart && n < 2            ? "--server apart needs 2 ranks or more, there is %d"
        : o->backup && o->backup >= (uint64_t)n - 1
            ? "--backup needs more workers than it does not wait for, there are %d ranks"
            : NULL;
    if (wrong && t->group->rank == 0)
        rank_group_say(t->group, wrong, n);
    return wrong ? -EINVAL : 0;
}

/* Rank 0 only. Returns 0, or negative after reporting it. */
static int read_checkpoint(struct trainer *t) {
    struct checkpoint_error error;
    struct checkpoint_head wanted =
        checkpoint_head_of(t->options, t->group->n_ranks, t->n_shares, t->n_features, t->width);
    int r = checkpoint_read(t->options->checkpoint, &wanted, &t->resumed, t->batches, t->weights,
                            &error);
    if (r < 0)
        rank_group_say(t->group, "%s", error.text);
    return r;
}

/*
 * Collective: rank 0 reads the checkpoint; each rank skips the examples that it had read, and gets
 * the model if the exchange has no server.
 */
static int resume(struct trainer *t, int r) {
    struct source_error error;
    uint64_t own = 0;
    if (r == 0 && t->group->rank == 0)
        r = read_checkpoint(t);
    if (!rank_group_is_well(t->group, r))
        return r < 0 ? r : -ECANCELED;
    MPI_Bcast(&t->resumed, sizeof t->resumed, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Scatter(t->batches, 1, MPI_UINT64_T, &own, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (size_t i = 0; t->options->allreduce && i < t->n_weights; i += INT32_MAX / 8) {
        size_t left = t->n_weights - i;
        MPI_Bcast(t->weights + i, (int)(left < INT32_MAX / 8 ? left : INT32_MAX / 8), MPI_FLOAT, 0,
                  MPI_COMM_WORLD);
    }
    r = t->works ? source_skip(&t->source, own * t->options->batch, &error) : 0;
    if (r < 0)
        rank_group_say(t->group, "%s", error.text);
    return r;
}

void trainer_count_batches(struct trainer *t) {
    for (int i = t->group->n_ranks - t->n_shares; i < t->group->n_ranks; i++)
        t->batches[i]++;
}

static int allocate(struct trainer *t) {
    t->batches = calloc((size_t)t->group->n_ranks, sizeof *t->batches);
    if (t->batches)
        return allocate_model(t);
    rank_group_say(t->group, "not enough memory to begin");
    return -ENOMEM;
}

int trainer_init(struct trainer *ret, const struct sgd_options *options, struct rank_group *group) {
    *ret = (struct trainer){.options = options,
                            .group = group,
                            .plants = options->plants,
                            .n_shares = group->n_ranks - options->apart};
    int r = check_group(ret);
    if (r < 0) /* all ranks detect this */
        return r;
    r = open_source(ret);
    if (r == 0)
        r = allocate(ret);
    if (r == 0)
        plan_iterations(ret);
    if (options->resume)
        r = resume(ret, r);
    if (r == 0)
        plan_batch(ret);
    return r;
}

void trainer_release(struct trainer *t) {
    source_release(&t->source);
    batch_release(&t->batch);
    plants_release(&t->plants);
    free(t->weights);
    free(t->batches);
    free(t->local_weights);
    free(t->local_gradient);
    free(t->residual);
    free(t->durations_s);
}

/* ---- the batch ---- */

static int reserve_local(struct trainer *t) {
    size_t n = t->batch.n_unique > t->batch.n_rows ? t->batch.n_unique : t->batch.n_rows;
    if (n <= t->local_capacity)
        return 0;
    n += n / 4;
    float **const vectors[] = {&t->local_weights, &t->local_gradient, &t->residual};
    for (int i = 0; i < 3; i++) {
        float *bigger = reallocarray(*vectors[i], n * t->width, sizeof **vectors[i]);
        if (!bigger)
            return -ENOMEM;
        *vectors[i] = bigger;
    }
    t->local_capacity = n;
    return 0;
}

/* Alone, nothing is exchanged, so the batch's features need not be known. */
static int compact(struct trainer *t) {
    int r = t->options->mode == SGD_SINGLE ? 0 : batch_compact(&t->batch, t->n_features);
    if (r == 0)
        r = reserve_local(t);
    if (r < 0)
        rank_group_say(t->group, "not enough memory for a batch");
    return r < 0 ? r : 1;
}

int trainer_read(struct trainer *t, size_t n) {
    struct source_error error;
    size_t left = t->batch_rows - t->batch.n_rows;
    ssize_t got = source_read(&t->source, n < left ? n : left, &t->batch, &error);
    if (got < 0) {
        rank_group_say(t->group, "%s", error.text);
        return (int)got;
    }
    return t->batch.n_rows < t->batch_rows ? 0 : compact(t);
}

int trainer_read_batch(struct trainer *t) {
    int64_t start = chokepoint_now_ns();
    int r;
    do
        r = trainer_read(t, t->batch_rows);
    while (r == 0);
    chokepoint_operator("read batch", (int64_t)(t->batch.n_entries * sizeof *t->batch.value), start,
                        chokepoint_now_ns() - start);
    return r;
}

/* ---- arithmetic ---- */

/* Planted work, if any, counts as this rank's computing. */
static void compute_planted(struct trainer *t) {
    int r = plants_compute(&t->plants, t->group->rank, trainer_done(t));
    if (r < 0) {
        rank_group_say(t->group,
                       "no working set to plant: cannot write or map it in TMPDIR (or /tmp)");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

/* g -= or += by scale, at the weights w; the operators of a profile. Returns the mean loss. */
static double compute(struct trainer *t, const uint32_t *at, const float *w, float scale, float *g,
                      size_t n_touched) {
    int64_t rows = (int64_t)(t->batch.n_rows * t->width * sizeof *t->residual);
    int64_t a = chokepoint_now_ns();
    logistic_margins(&t->batch, at, t->width, w, t->residual);
    int64_t b = chokepoint_now_ns();
    double loss = logistic_residuals(&t->batch, t->width, t->residual);
    int64_t c = chokepoint_now_ns();
    if (w != g)
        memset(g, 0, n_touched * t->width * sizeof *g);
    logistic_add_gradient(&t->batch, at, t->width, t->residual, scale, g);
    int64_t d = chokepoint_now_ns();
    chokepoint_operator("sparse x dense", rows, a, b - a);
    chokepoint_operator(t->width > 1 ? "softmax" : "sigmoid", rows, b, c - b);
    chokepoint_operator("transposed sparse x dense", (int64_t)(n_touched * t->width * sizeof *g), c,
                        d - c);
    compute_planted(t);
    return loss;
}

double trainer_compute(struct trainer *t) {
    return compute(t, t->batch.local, t->local_weights, 1, t->local_gradient, t->batch.n_unique);
}

double trainer_descend(struct trainer *t, float *model, float rate) {
    return compute(t, t->batch.index, model, -rate, model, t->batch.n_entries);
}

void trainer_gather(struct trainer *t, const float *model) {
    const struct batch *b = &t->batch;
    size_t width = t->width;
    for (size_t i = 0; width == 1 && i < b->n_unique; i++)
        t->local_weights[i] = model[b->unique[i]];
    for (size_t i = 0; width > 1 && i < b->n_unique; i++)
        memcpy(t->local_weights + i * width, model + b->unique[i] * width, width * sizeof *model);
}

void trainer_apply(const struct trainer *t, float *model, size_t n, const uint32_t *features,
                   const float *gradient, float scale) {
    size_t width = t->width;
    for (size_t i = 0; width == 1 && i < n; i++)
        model[features[i]] -= scale * gradient[i];
    for (size_t i = 0; width > 1 && i < n * width; i++)
        model[features[i / width] * width + i % width] -= scale * gradient[i];
}

void trainer_clear(const struct trainer *t, float *gradient) {
    const struct batch *b = &t->batch;
    for (size_t i = 0; i < b->n_unique; i++)
        memset(gradient + (size_t)b->unique[i] * t->width, 0, t->width * sizeof *gradient);
}

/* ---- the account ---- */

/* Without memory a duration is dropped: the median loses a sample, and the training goes on. */
static void keep_duration(struct trainer *t, double s) {
    if (t->n_durations == t->durations_capacity) {
        size_t n = t->durations_capacity * 2 + 1024;
        double *bigger = reallocarray(t->durations_s, n, sizeof *bigger);
        if (!bigger)
            return;
        t->durations_s = bigger;
        t->durations_capacity = n;
    }
    t->durations_s[t->n_durations++] = s;
}

void trainer_finish_iteration(struct trainer *t, uint64_t number, int64_t *start_ns, double loss) {
    uint64_t bytes = t->account.sent_bytes + t->account.received_bytes;
    int64_t now_ns = chokepoint_now_ns();
    keep_duration(t, (double)(now_ns - *start_ns) * 1e-9);
    *start_ns = now_ns;
    t->account.iterations++;
    t->account.examples += t->batch.n_rows;
    chokepoint_iteration((int64_t)number);
    chokepoint_value("loss", loss);
    chokepoint_value("bytes", (double)(bytes - t->reported_bytes));
    chokepoint_value("examples", (double)t->account.examples);
    t->reported_bytes = bytes;
    batch_clear(&t->batch);
    plan_batch(t);
}
