/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/trainer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mark/chokepoint.h"
#include "workloads/sgd/logistic.h"

void trainer_say(const struct trainer *t, const char *text) {
    char host[256] = "?";
    gethostname(host, sizeof host - 1);
    fprintf(stderr, "chokepoint-sgd: rank %d on %s: %s\n", t->rank, host, text);
}

double trainer_done(const struct trainer *t) {
    return (double)t->account.iterations / (double)t->options->iterations;
}

static void plan_batch(struct trainer *t) {
    double factor = plants_work(&t->plants, t->rank, trainer_done(t));
    t->batch_rows = (size_t)((double)t->options->batch * factor + .5);
    if (t->batch_rows == 0)
        t->batch_rows = 1;
}

/* The first touch of 135 MB belongs to loading, not to the first iteration. */
static int allocate_model(struct trainer *t) {
    size_t bytes = t->options->n_features * sizeof *t->weights;
    if (t->rank != 0 && !t->options->dense)
        return 0;
    t->weights = malloc(bytes);
    if (!t->weights)
        return -ENOMEM;
    memset(t->weights, 0, bytes);
    return 0;
}

int trainer_init(struct trainer *ret, const struct sgd_options *options, int rank, int n_ranks) {
    struct libsvm_error error;
    *ret = (struct trainer){.options = options,
                            .batch_rows = options->batch,
                            .plants = options->plants,
                            .rank = rank,
                            .n_ranks = n_ranks,
                            .waiter = {.spin = options->spin},
                            .data = {.fd = -1}};
    int r =
        libsvm_open_share(&ret->data, options->data, rank, n_ranks, options->n_features, &error);
    if (r < 0) {
        trainer_say(ret, error.text);
        return r;
    }
    ret->data.part = options->seed % ret->data.n_parts;
    ret->data.direct = options->direct;
    plan_batch(ret);
    r = allocate_model(ret);
    if (r < 0)
        trainer_say(ret, "not enough memory for the model");
    return r;
}

void trainer_release(struct trainer *t) {
    libsvm_release(&t->data);
    batch_release(&t->batch);
    plants_release(&t->plants);
    free(t->weights);
    free(t->local_weights);
    free(t->local_gradient);
    free(t->residual);
    free(t->durations_s);
}

static int reserve_local(struct trainer *t) {
    size_t n = t->batch.n_unique > t->batch.n_rows ? t->batch.n_unique : t->batch.n_rows;
    if (n <= t->local_capacity)
        return 0;
    n += n / 4;
    float **const vectors[] = {&t->local_weights, &t->local_gradient, &t->residual};
    for (int i = 0; i < 3; i++) {
        float *bigger = reallocarray(*vectors[i], n, sizeof **vectors[i]);
        if (!bigger)
            return -ENOMEM;
        *vectors[i] = bigger;
    }
    t->local_capacity = n;
    return 0;
}

static int compact(struct trainer *t) {
    int r = batch_compact(&t->batch, t->options->n_features);
    if (r == 0)
        r = reserve_local(t);
    if (r < 0)
        trainer_say(t, "not enough memory for a batch");
    return r < 0 ? r : 1;
}

int trainer_read(struct trainer *t, size_t n) {
    struct libsvm_error error;
    size_t left = t->batch_rows - t->batch.n_rows;
    ssize_t got = libsvm_read(&t->data, n < left ? n : left, &t->batch, &error);
    if (got < 0) {
        trainer_say(t, error.text);
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

/* What is planted, if anything: part of this rank's computing. */
static void compute_planted(struct trainer *t) {
    int r = plants_compute(&t->plants, t->rank, trainer_done(t));
    if (r < 0) {
        trainer_say(t, "no working set to plant: cannot write or map it in TMPDIR (or /tmp)");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

double trainer_compute(struct trainer *t) {
    int64_t rows = (int64_t)(t->batch.n_rows * sizeof *t->residual);
    int64_t a = chokepoint_now_ns();
    logistic_margins(&t->batch, t->local_weights, t->residual);
    int64_t b = chokepoint_now_ns();
    double loss = logistic_residuals(&t->batch, t->residual);
    int64_t c = chokepoint_now_ns();
    logistic_gradient(&t->batch, t->residual, t->local_gradient);
    int64_t d = chokepoint_now_ns();
    chokepoint_operator("sparse x dense", rows, a, b - a);
    chokepoint_operator("sigmoid", rows, b, c - b);
    chokepoint_operator("transposed sparse x dense",
                        (int64_t)(t->batch.n_unique * sizeof *t->local_gradient), c, d - c);
    compute_planted(t);
    return loss;
}

void trainer_gather(struct trainer *t, const float *model) {
    for (size_t i = 0; i < t->batch.n_unique; i++)
        t->local_weights[i] = model[t->batch.unique[i]];
}

void trainer_apply(float *model, size_t n, const uint32_t *features, const float *gradient,
                   float scale) {
    for (size_t i = 0; i < n; i++)
        model[features[i]] -= scale * gradient[i];
}

/* Dropping a duration when memory is out costs the median a sample, not the training its life. */
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
