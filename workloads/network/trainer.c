/* SPDX-License-Identifier: MIT */
/*
 * A batch goes through the net in pieces of at most 64 images, whose gradients are added up: a
 * larger piece's data from the forward pass would not stay in a core's cache until the backward
 * pass. tests/bench/lenet_rate.sh measures the cost of an image in batches of 64 and 256. The
 * operators of the layers are marked for each piece.
 */
#include "workloads/network/trainer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"
#include "workloads/data/draw.h"

#define DURATIONS (1 << 20) /* the median is over the first ones */
#define PIECE_MAX 64

static double seconds_since(int64_t start_ns) {
    return (double)(chokepoint_now_ns() - start_ns) * 1e-9;
}

/* ---- beginning and end ---- */

static int check_images(const struct trainer *t, const struct images *images) {
    const struct net_plan *p = t->program->plan;
    if (images->rows == p->rows && images->columns == p->rows && images->channels == p->channels)
        return 0;
    rank_group_say(t->group, "%s: expected images of %u x %u x %u, found %u x %u x %u",
                   t->options->data, p->rows, p->rows, p->channels, images->rows, images->columns,
                   images->channels);
    return -EBADMSG;
}

static int read_images(struct trainer *t) {
    struct data_error error;
    int64_t start = chokepoint_now_ns();
    int r = images_read(t->options->data, IMAGES_TRAIN, &t->train, &error);
    if (r == 0 && (t->group->rank == 0 || t->options->async))
        r = images_read(t->options->data, IMAGES_TEST, &t->test, &error);
    if (r < 0) {
        rank_group_say(t->group, "%s", error.text);
        return r;
    }
    origin_read(t->options->data, t->origin);
    chokepoint_operator(t->origin, (int64_t)(t->train.n * image_bytes(&t->train)), start,
                        chokepoint_now_ns() - start);
    r = check_images(t, &t->train);
    return r == 0 && t->test.n ? check_images(t, &t->test) : r;
}

static int plan(struct trainer *t) {
    uint64_t together = t->options->batch * (uint64_t)t->group->n_ranks;
    t->per_epoch = t->train.n / together;
    if (t->per_epoch == 0) {
        rank_group_say(t->group,
                       "%zu training images are not enough for %d ranks with a --batch of %llu",
                       t->train.n, t->group->n_ranks, (unsigned long long)t->options->batch);
        return -EINVAL;
    }
    t->iterations =
        t->options->iterations ? t->options->iterations : t->options->epochs * t->per_epoch;
    return 0;
}

static size_t pieces_of(size_t batch) {
    return (batch + PIECE_MAX - 1) / PIECE_MAX;
}

/* All pieces have the same size, except the last. */
static size_t piece_of(size_t batch) {
    size_t pieces = pieces_of(batch);
    return (batch + pieces - 1) / pieces;
}

static int allocate_vectors(struct trainer *t) {
    const struct network_options *o = t->options;
    struct net_part parts[NET_LAYERS_MAX];
    bool one = o->batch <= PIECE_MAX;
    t->piece = piece_of(o->batch);
    t->n_weights = net_lay_out(t->program->plan, parts);
    t->n_pixels = net_n_pixels(t->program->plan);
    t->weights = calloc(t->n_weights, sizeof *t->weights);
    t->gradient = calloc(t->n_weights + TRAINER_VOTES, sizeof *t->gradient);
    t->piece_gradient = one ? NULL : calloc(t->n_weights, sizeof *t->piece_gradient);
    t->pixels = calloc(pieces_of(o->batch) * t->piece * t->n_pixels, sizeof *t->pixels);
    t->labels = calloc(o->batch, 1);
    t->order = calloc(t->train.n, sizeof *t->order);
    t->durations_s = calloc(DURATIONS, sizeof *t->durations_s);
    int r = optimizer_init(&t->optimizer, o->optimizer, o->rate, o->momentum, t->n_weights);
    bool whole = t->weights && t->gradient && t->pixels && t->labels && t->order && t->durations_s;
    return whole && (one || t->piece_gradient) ? r : -ENOMEM;
}

static int allocate(struct trainer *t) {
    const struct network_options *o = t->options;
    int r = allocate_vectors(t);
    if (r == 0)
        r = net_new(t->program->plan, t->piece, o->threads, &t->net);
    if (r < 0)
        rank_group_say(t->group,
                       r == -ENOMEM ? "not enough memory for a batch of %llu"
                                    : "oneDNN cannot compute the net here (batch %llu)",
                       (unsigned long long)o->batch);
    return r;
}

static void tell(void *ctx, const char *name, size_t bytes, int64_t start_ns, int64_t end_ns) {
    (void)ctx;
    chokepoint_operator(name, (int64_t)bytes, start_ns, end_ns - start_ns);
}

int trainer_init(struct trainer *ret, const struct network_program *program,
                 struct network_options *options, struct rank_group *group) {
    ret->program = program;
    ret->options = options;
    ret->group = group;
    ret->order_epoch = UINT64_MAX;
    int r = read_images(ret);
    if (r == 0)
        r = plan(ret);
    if (r == 0)
        r = allocate(ret);
    if (r < 0)
        return r;
    net_draw_weights(program->plan, options->seed, ret->weights);
    if (chokepoint_listening())
        net_listen(ret->net, tell, NULL, chokepoint_now_ns);
    return 0;
}

void trainer_release(struct trainer *t) {
    images_release(&t->train);
    images_release(&t->test);
    net_free(t->net);
    free(t->weights);
    free(t->gradient);
    free(t->piece_gradient);
    optimizer_release(&t->optimizer);
    free(t->pixels);
    free(t->labels);
    free(t->order);
    free(t->durations_s);
    plants_release(&t->options->plants);
}

/* ---- an iteration ---- */

/* Fisher and Yates' shuffle, the same at every rank. */
static void shuffle(struct trainer *t, uint64_t epoch) {
    struct draw_random random = draw_random_of(t->options->seed ^ UINT64_C(5) << 60, epoch);
    for (size_t i = 0; i < t->train.n; i++)
        t->order[i] = (uint32_t)i;
    for (size_t i = t->train.n - 1; i > 0; i--) {
        size_t j = (size_t)draw_uniform(&random, 0, (double)(i + 1));
        uint32_t other = t->order[j];
        t->order[j] = t->order[i];
        t->order[i] = other;
    }
    t->order_epoch = epoch;
}

static void fill_row(struct trainer *t, const struct images *images, size_t from, size_t to) {
    size_t n = t->n_pixels;
    const uint8_t *in = images->pixels + from * n;
    float *out = t->pixels + to * n;
    float mean = (float)t->program->mean, scale = (float)(1 / t->program->deviation);
    for (size_t i = 0; i < n; i++)
        out[i] = ((float)in[i] - mean) * scale;
    t->labels[to] = images->labels[from];
}

static void fill_batch(struct trainer *t, uint64_t i) {
    int64_t start = chokepoint_now_ns();
    size_t batch = t->options->batch, n_ranks = (size_t)t->group->n_ranks;
    size_t begin = ((i % t->per_epoch) * n_ranks + (size_t)t->group->rank) * batch;
    if (t->order_epoch != i / t->per_epoch)
        shuffle(t, i / t->per_epoch);
    for (size_t row = 0; row < batch; row++)
        fill_row(t, &t->train, t->order[begin + row], row);
    chokepoint_operator("read batch", (int64_t)(batch * t->n_pixels * sizeof *t->pixels), start,
                        chokepoint_now_ns() - start);
}

/* Both are means over their images. */
static void add_piece(struct trainer *t, bool first, float share) {
    for (size_t i = 0; i < t->n_weights; i++)
        t->gradient[i] = (first ? 0 : t->gradient[i]) + share * t->piece_gradient[i];
}

/* Trains on the images from `begin` on; adds to the loss. */
static int compute_piece(struct trainer *t, size_t begin, double *loss) {
    size_t left = t->options->batch - begin, n = left < t->piece ? left : t->piece, n_correct;
    double own, share = (double)n / (double)t->options->batch;
    int r = net_forward(t->net, t->weights, t->pixels + begin * t->n_pixels, t->labels + begin, n,
                        &own, &n_correct);
    if (r == 0)
        r = net_backward(t->net, t->piece_gradient ? t->piece_gradient : t->gradient);
    if (r < 0)
        return r;
    if (t->piece_gradient)
        add_piece(t, begin == 0, (float)share);
    *loss += share * own;
    return 0;
}

/* Planted work is the same batch again; a part of a batch is carried over to the next iteration. */
static int compute_once(struct trainer *t, double *ret_loss) {
    int r = 0;
    *ret_loss = 0;
    for (size_t begin = 0; r == 0 && begin < t->options->batch; begin += t->piece)
        r = compute_piece(t, begin, ret_loss);
    if (r < 0)
        rank_group_say(t->group, "oneDNN failed to compute a batch");
    return r;
}

int trainer_compute(struct trainer *t, uint64_t i, double *ret_loss) {
    int64_t start = chokepoint_now_ns();
    double done = (double)i / (double)t->iterations;
    double work = plants_work(&t->options->plants, t->group->rank, done);
    int r = plants_compute(&t->options->plants, t->group->rank, done);
    if (r < 0) {
        rank_group_say(t->group, "--plant: no working set to be had: %s", strerror(-r));
        return r;
    }
    fill_batch(t, i);
    r = compute_once(t, ret_loss);
    for (t->owed += work - 1; r == 0 && t->owed >= 1; t->owed -= 1)
        r = compute_once(t, ret_loss);
    t->account.compute_s += seconds_since(start);
    return r;
}

void trainer_apply(struct trainer *t, const float *gradient, float scale) {
    int64_t start = chokepoint_now_ns();
    optimizer_apply(&t->optimizer, gradient, scale, t->weights);
    chokepoint_operator("apply", (int64_t)(t->n_weights * sizeof *t->weights), start,
                        chokepoint_now_ns() - start);
}

void trainer_finish_iteration(struct trainer *t, uint64_t i, int64_t start_ns, double loss) {
    if (t->n_durations < DURATIONS)
        t->durations_s[t->n_durations++] = seconds_since(start_ns);
    t->account.iterations++;
    t->account.images += t->options->batch;
    chokepoint_iteration((int64_t)i + 1);
    chokepoint_value("loss", loss);
    chokepoint_value("examples", (double)t->account.images);
}

bool trainer_check_loss(const struct trainer *t, double loss, uint64_t i) {
    if (isfinite(loss))
        return true;
    rank_group_say(t->group,
                   "the loss is %f in iteration %llu: the training diverges; try a smaller --rate",
                   loss, (unsigned long long)i);
    return false;
}

bool trainer_is_out_of_time(const struct trainer *t) {
    double limit = t->options->time_limit_s;
    return limit > 0 && seconds_since(t->started_ns) >= limit;
}

void trainer_show(struct trainer *t, double done, double total) {
    char text[96];
    const struct outcome *o = &t->outcome;
    int n = snprintf(text, sizeof text, "loss %.4f", o->loss);
    if (o->n_tests)
        snprintf(text + n, sizeof text - (size_t)n, "  accuracy %.2f %%",
                 100 * o->tests[o->n_tests - 1].accuracy);
    progress_show(&t->progress, t->options->async ? "async" : "sync", done, total, text, false);
}

/* ---- test ---- */

bool trainer_tests_after(const struct trainer *t, uint64_t iterations) {
    uint64_t every = t->options->test_every ? t->options->test_every : t->per_epoch;
    return iterations == t->iterations || iterations % every == 0;
}

/* The mean loss and the accuracy on all test images. */
static int score(struct trainer *t, double *ret_loss, double *ret_accuracy) {
    double loss_sum = 0, n_all = (double)t->test.n;
    size_t n_correct, n_all_correct = 0;
    for (size_t i = 0; i < t->test.n; i += t->piece) {
        size_t n = t->test.n - i < t->piece ? t->test.n - i : t->piece;
        double loss;
        for (size_t row = 0; row < n; row++)
            fill_row(t, &t->test, i + row, row);
        int r = net_forward(t->net, t->weights, t->pixels, t->labels, n, &loss, &n_correct);
        if (r < 0) {
            rank_group_say(t->group, "oneDNN failed to compute a test");
            return r;
        }
        loss_sum += loss * (double)n;
        n_all_correct += n_correct;
    }
    *ret_loss = loss_sum / n_all;
    *ret_accuracy = (double)n_all_correct / n_all;
    return 0;
}

int trainer_test_own(struct trainer *t) {
    double loss, accuracy;
    chokepoint_phase("testing");
    int r = score(t, &loss, &accuracy);
    if (r == 0)
        chokepoint_value("own accuracy", accuracy);
    return r;
}

int trainer_test(struct trainer *t, uint64_t iterations) {
    struct outcome *o = &t->outcome;
    double loss, accuracy;
    int64_t start = chokepoint_now_ns();
    int r = score(t, &loss, &accuracy);
    if (r < 0)
        return r;
    if (o->n_tests < TESTS_MAX)
        o->n_tests++;
    o->test_s += seconds_since(start);
    struct test_result *result = &o->tests[o->n_tests - 1];
    *result = (struct test_result){.iterations = iterations,
                                   .updates = o->updates,
                                   .images = o->images,
                                   .t_s = seconds_since(t->started_ns),
                                   .accuracy = accuracy,
                                   .loss = loss};
    chokepoint_value("updates", (double)o->updates);
    chokepoint_value("examples trained", (double)o->images);
    chokepoint_value("test loss", result->loss);
    chokepoint_value("accuracy", result->accuracy);
    if (!t->options->async) /* 0 by definition; async marks it for each update */
        chokepoint_value("staleness", 0);
    o->reached = t->options->target > 0 && result->accuracy >= t->options->target;
    o->reached_s = result->t_s;
    return o->reached;
}
