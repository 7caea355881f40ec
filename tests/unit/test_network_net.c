/* SPDX-License-Identifier: MIT */
/* The nets in oneDNN: outputs against plain loops, gradients against differences, and optimizers
 * against steps by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/cifar/layers.h"
#include "workloads/data/draw.h"
#include "workloads/lenet/layers.h"
#include "workloads/network/net.h"
#include "workloads/network/optimizer.h"

#define BATCH 4
#define VALUES_MAX (32 * 30 * 30) /* the largest layer's output for one image */

struct fixture {
    const struct net_plan *plan;
    struct net *net;
    struct net_part parts[NET_LAYERS_MAX];
    size_t n_weights, n_pixels;
    float *weights, *gradient, *images;
    double *moved;
    uint8_t labels[BATCH];
};

static void draw_images(struct fixture *f) {
    uint8_t pixels[TEXTURE_BYTES];
    for (size_t i = 0; i < BATCH; i++) {
        f->labels[i] =
            f->plan == &cifar_plan ? draw_texture(4, i, pixels) : draw_digit(4, i, pixels);
        for (size_t j = 0; j < f->n_pixels; j++)
            f->images[i * f->n_pixels + j] = (float)pixels[j] / 255;
    }
}

static int set_up(void **state, const struct net_plan *plan) {
    struct fixture *f = calloc(1, sizeof *f);
    if (!f || net_new(plan, BATCH, 1, &f->net) < 0)
        return -1;
    f->plan = plan;
    f->n_weights = net_lay_out(plan, f->parts);
    f->n_pixels = net_n_pixels(plan);
    f->weights = calloc(f->n_weights, sizeof *f->weights);
    f->gradient = calloc(f->n_weights, sizeof *f->gradient);
    f->moved = calloc(f->n_weights, sizeof *f->moved);
    f->images = calloc(BATCH * f->n_pixels, sizeof *f->images);
    net_draw_weights(plan, 3, f->weights);
    draw_images(f);
    *state = f;
    return 0;
}

static int lenet(void **state) {
    return set_up(state, &lenet_plan);
}

static int cifar(void **state) {
    return set_up(state, &cifar_plan);
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    net_free(f->net);
    free(f->weights);
    free(f->gradient);
    free(f->moved);
    free(f->images);
    free(f);
    return 0;
}

static double loss_of(struct fixture *f, const float *weights) {
    double loss;
    size_t n_correct;
    assert_int_equal(net_forward(f->net, weights, f->images, f->labels, BATCH, &loss, &n_correct),
                     0);
    return loss;
}

/* ---- plain loops, in double precision ---- */

static double window(const struct net_part *p, const struct net_layer *l, const double *w,
                     const double *in, int y, int x) {
    int rows = (int)p->in_rows, kernel = (int)l->kernel;
    double sum = 0;
    for (uint32_t i = 0; i < p->in_channels; i++, in += rows * rows)
        for (int r = 0; r < kernel; r++)
            for (int c = 0; c < kernel; c++, w++) {
                int yy = y + r - (int)l->padding, xx = x + c - (int)l->padding;
                if (yy >= 0 && yy < rows && xx >= 0 && xx < rows)
                    sum += *w * in[yy * rows + xx];
            }
    return sum;
}

static void conv(const struct net_part *p, const struct net_layer *l, const double *w,
                 const double *in, double *out) {
    const double *biases = w + p->n_weights;
    for (uint32_t o = 0; o < p->out_channels; o++, w += p->fan_in)
        for (int y = 0; y < (int)p->out_rows; y++)
            for (int x = 0; x < (int)p->out_rows; x++)
                *out++ = biases[o] + window(p, l, w, in, y, x);
}

static void pool(const struct net_part *p, const double *in, double *out) {
    size_t rows = p->in_rows;
    for (uint32_t c = 0; c < p->in_channels; c++, in += rows * rows)
        for (size_t y = 0; y < p->out_rows; y++)
            for (size_t x = 0; x < p->out_rows; x++) {
                const double *at = in + 2 * y * rows + 2 * x;
                *out++ = fmax(fmax(at[0], at[1]), fmax(at[rows], at[rows + 1]));
            }
}

static void full(const struct net_part *p, const double *w, const double *in, double *out) {
    const double *biases = w + p->n_weights;
    for (uint32_t o = 0; o < p->out_channels; o++, w += p->fan_in) {
        out[o] = biases[o];
        for (size_t i = 0; i < p->fan_in; i++)
            out[o] += w[i] * in[i];
    }
}

static void plain_layer(const struct fixture *f, int i, const double *w, const double *in,
                        double *out) {
    const struct net_layer *l = &f->plan->layers[i];
    const struct net_part *p = &f->parts[i];
    size_t n = (size_t)p->out_channels * p->out_rows * p->out_rows;
    assert_true(n <= VALUES_MAX);
    if (l->kind == NET_CONV)
        conv(p, l, w + p->begin, in, out);
    else if (l->kind == NET_POOL)
        pool(p, in, out);
    else
        full(p, w + p->begin, in, out);
    for (size_t j = 0; j < n && i + 1 < f->plan->n_layers; j++) /* of a pool's output it changes
                                                                   nothing */
        out[j] = fmax(out[j], 0);
}

static double plain_loss(const struct fixture *f, const double *w, size_t image) {
    static double values[2][VALUES_MAX];
    double sum = 0;
    for (size_t i = 0; i < f->n_pixels; i++)
        values[0][i] = (double)f->images[image * f->n_pixels + i];
    for (int i = 0; i < f->plan->n_layers; i++)
        plain_layer(f, i, w, values[i % 2], values[(i + 1) % 2]);
    const double *z = values[f->plan->n_layers % 2];
    for (int i = 0; i < 10; i++)
        sum += exp(z[i]);
    return log(sum) - z[f->labels[image]];
}

static double plain_mean(const struct fixture *f, const double *w, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += plain_loss(f, w, i);
    return sum / (double)n;
}

static void take_weights(struct fixture *f) {
    for (size_t i = 0; i < f->n_weights; i++)
        f->moved[i] = (double)f->weights[i];
}

static void loss_is_that_of_plain_loops(void **state) {
    struct fixture *f = *state;
    take_weights(f);
    assert_true(fabs(loss_of(f, f->weights) - plain_mean(f, f->moved, BATCH)) < 1e-5);
}

static void rows_beyond_n_count_for_nothing(void **state) {
    struct fixture *f = *state;
    double loss;
    size_t n_correct;
    take_weights(f);
    assert_int_equal(net_forward(f->net, f->weights, f->images, f->labels, 2, &loss, &n_correct),
                     0);
    assert_true(fabs(loss - plain_mean(f, f->moved, 2)) < 1e-5);
    assert_true(n_correct <= 2);
}

/* ---- gradient ---- */

/* The slope of the loss along the gradient of one part is that gradient's length. The step is so
 * small that hardly any ReLU or maximum changes sides.
 */
static void check_part(struct fixture *f, size_t begin, size_t n) {
    double length = 0, step = 1e-7, losses[2];
    for (size_t i = begin; i < begin + n; i++)
        length += (double)f->gradient[i] * (double)f->gradient[i];
    length = sqrt(length);
    assert_true(length > 1e-4);
    for (int side = 0; side < 2; side++) {
        take_weights(f);
        for (size_t i = begin; i < begin + n; i++)
            f->moved[i] += (side ? step : -step) * (double)f->gradient[i] / length;
        losses[side] = plain_mean(f, f->moved, BATCH);
    }
    double slope = (losses[1] - losses[0]) / (2 * step);
    if (fabs(slope - length) > 1e-3 * length)
        fail_msg("weights %zu to %zu: slope %g, gradient %g", begin, begin + n, slope, length);
}

/* Single weights, too: those with the largest slopes, which exceed the rounding of floats. */
static void check_single(struct fixture *f, size_t begin, size_t n) {
    size_t largest = begin;
    for (size_t i = begin; i < begin + n; i++)
        if (fabsf(f->gradient[i]) > fabsf(f->gradient[largest]))
            largest = i;
    check_part(f, largest, 1);
}

static void gradient_is_the_slope_of_the_loss_in_every_layer(void **state) {
    struct fixture *f = *state;
    loss_of(f, f->weights);
    assert_int_equal(net_backward(f->net, f->gradient), 0);
    for (int i = 0; i < f->plan->n_layers; i++) {
        const struct net_part *p = &f->parts[i];
        if (p->n_weights == 0)
            continue;
        check_part(f, p->begin, p->n_weights);
        check_part(f, p->begin + p->n_weights, p->n_biases);
        check_single(f, p->begin, p->n_weights);
    }
    check_part(f, 0, f->n_weights);
}

static void layers_fill_the_vector(void **state) {
    (void)state;
    struct net_part parts[NET_LAYERS_MAX];
    assert_int_equal(net_lay_out(&lenet_plan, parts), LENET_WEIGHTS);
    assert_int_equal(parts[2].begin, 156);
    assert_int_equal(parts[4].begin, 2572);
    assert_int_equal(parts[4].fan_in, 400);
    assert_int_equal(parts[5].begin, 50692);
    assert_int_equal(parts[6].begin, 60856);
    assert_int_equal(net_lay_out(&cifar_plan, parts), CIFAR_WEIGHTS);
    assert_int_equal(parts[3].out_rows, 6); /* the 13th row and column belong to no window */
    assert_int_equal(parts[5].fan_in, 1024);
}

/* The mean over a batch is the mean of those over its halves, as ranks compute it. */
static void gradients_of_halves_add_up(void **state) {
    struct fixture *f = *state;
    struct net *half;
    float *sum = calloc(f->n_weights, sizeof *sum), *part = calloc(f->n_weights, sizeof *part);
    double loss;
    size_t n_correct;
    assert_int_equal(net_new(f->plan, BATCH / 2, 1, &half), 0);
    loss_of(f, f->weights);
    assert_int_equal(net_backward(f->net, f->gradient), 0);
    for (size_t i = 0; i < BATCH; i += BATCH / 2) {
        assert_int_equal(net_forward(half, f->weights, f->images + i * f->n_pixels, f->labels + i,
                                     BATCH / 2, &loss, &n_correct),
                         0);
        assert_int_equal(net_backward(half, part), 0);
        for (size_t j = 0; j < f->n_weights; j++)
            sum[j] += part[j] / 2;
    }
    for (size_t j = 0; j < f->n_weights; j++)
        assert_true(fabsf(sum[j] - f->gradient[j]) < 1e-6f);
    net_free(half);
    free(sum);
    free(part);
}

/* ---- optimizers ---- */

#define ASSERT_NEAR(found, expected) assert_true(fabs((double)(found) - (expected)) < 1e-6)

/* Gradients 0.5 and then -0.25, from 1: v = 0.5, then 0.9 * 0.5 - 0.25 = 0.2. */
static void momentum_keeps_a_share_of_the_step_before(void **state) {
    (void)state;
    struct optimizer o;
    float weight = 1;
    assert_int_equal(optimizer_init(&o, OPTIMIZER_SGD, .1, .9, 1), 0);
    optimizer_apply(&o, &(float){1}, .5f, &weight);
    ASSERT_NEAR(weight, .95);
    optimizer_apply(&o, &(float){-.5f}, .5f, &weight);
    ASSERT_NEAR(weight, .93);
    optimizer_release(&o);
}

/* The first step is the rate whatever the gradient. The second, by hand from the paper's algorithm:
 * m = 0.9 * 0.05 - 0.025 = 0.02, v = 0.999 * 0.00025 + 0.001 * 0.0625 = 0.00031225;
 * m / (1 - 0.81) = 0.1052632, v / (1 - 0.998001) = 0.1562031; 0.1052632 / 0.3952254 = 0.2663371. */
static void adam_does_the_steps_of_its_paper(void **state) {
    (void)state;
    struct optimizer o;
    float weights[] = {1, -3}, first[] = {1, -1e-3f}, second[] = {-.5f, -1e-3f};
    assert_int_equal(optimizer_init(&o, OPTIMIZER_ADAM, .1, .9, 2), 0);
    optimizer_apply(&o, first, .5f, weights);
    ASSERT_NEAR(weights[0], .9);
    assert_true(fabs((double)weights[1] + 2.9) < 1e-5); /* epsilon compared with a small gradient */
    optimizer_apply(&o, second, .5f, weights);
    ASSERT_NEAR(weights[0], .9 - .02663371);
    assert_true(fabs((double)weights[1] + 2.8) < 1e-5);
    optimizer_release(&o);
}

#define OF(test, net)                                                                              \
    { #net ": " #test, test, net, tear_down, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_fill_the_vector),
        OF(loss_is_that_of_plain_loops, lenet),
        OF(rows_beyond_n_count_for_nothing, lenet),
        OF(gradient_is_the_slope_of_the_loss_in_every_layer, lenet),
        OF(gradients_of_halves_add_up, lenet),
        OF(loss_is_that_of_plain_loops, cifar),
        OF(rows_beyond_n_count_for_nothing, cifar),
        OF(gradient_is_the_slope_of_the_loss_in_every_layer, cifar),
        OF(gradients_of_halves_add_up, cifar),
        cmocka_unit_test(momentum_keeps_a_share_of_the_step_before),
        cmocka_unit_test(adam_does_the_steps_of_its_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
