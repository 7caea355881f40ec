/* SPDX-License-Identifier: MIT */
/* LeNet through oneDNN: what it computes against plain loops, its gradient against differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/data/draw.h"
#include "workloads/lenet/net.h"

#define BATCH 6

struct fixture {
    struct net *net;
    float weights[NET_WEIGHTS], gradient[NET_WEIGHTS];
    double moved[NET_WEIGHTS];
    float images[BATCH * NET_PIXELS];
    uint8_t labels[BATCH];
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    uint8_t pixels[DIGIT_BYTES];
    if (!f || net_new(BATCH, 1, &f->net) < 0)
        return -1;
    net_draw_weights(3, f->weights);
    for (size_t i = 0; i < BATCH; i++) {
        f->labels[i] = draw_digit(4, i, pixels);
        for (size_t j = 0; j < NET_PIXELS; j++)
            f->images[i * NET_PIXELS + j] = (float)pixels[j] / 255;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    net_free(f->net);
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

static void conv(const double *w, const double *b, int outs, int ins, int side, int pad,
                 const double *in, double *out) {
    int out_side = side + 2 * pad - 4;
    for (int o = 0; o < outs; o++)
        for (int y = 0; y < out_side; y++)
            for (int x = 0; x < out_side; x++) {
                double sum = b[o];
                for (int i = 0; i < ins; i++)
                    for (int r = 0; r < 5; r++)
                        for (int c = 0; c < 5; c++) {
                            int yy = y + r - pad, xx = x + c - pad;
                            if (yy >= 0 && yy < side && xx >= 0 && xx < side)
                                sum += w[((o * ins + i) * 5 + r) * 5 + c] *
                                       in[(i * side + yy) * side + xx];
                        }
                out[(o * out_side + y) * out_side + x] = sum > 0 ? sum : 0;
            }
}

static void pool(int planes, int side, const double *in, double *out) {
    for (int p = 0; p < planes; p++)
        for (int y = 0; y < side / 2; y++)
            for (int x = 0; x < side / 2; x++) {
                const double *at = in + (p * side + 2 * y) * side + 2 * x;
                out[(p * side / 2 + y) * (side / 2) + x] =
                    fmax(fmax(at[0], at[1]), fmax(at[side], at[side + 1]));
            }
}

static void full(const double *w, const double *b, int outs, int ins, bool relu, const double *in,
                 double *out) {
    for (int o = 0; o < outs; o++) {
        double sum = b[o];
        for (int i = 0; i < ins; i++)
            sum += w[o * ins + i] * in[i];
        out[o] = relu && sum < 0 ? 0 : sum;
    }
}

static double plain_loss(const struct fixture *f, const double *w, size_t image) {
    static double in[NET_PIXELS], a[6 * 28 * 28], b[6 * 14 * 14], c[1600], d[400], e[120], g[84],
        z[10];
    double sum = 0;
    for (int i = 0; i < NET_PIXELS; i++)
        in[i] = (double)f->images[image * NET_PIXELS + (size_t)i];
    conv(w, w + 150, 6, 1, 28, 2, in, a);
    pool(6, 28, a, b);
    conv(w + 156, w + 2556, 16, 6, 14, 0, b, c);
    pool(16, 10, c, d);
    full(w + 2572, w + 50572, 120, 400, true, d, e);
    full(w + 50692, w + 60772, 84, 120, true, e, g);
    full(w + 60856, w + 61696, 10, 84, false, g, z);
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
    for (size_t i = 0; i < NET_WEIGHTS; i++)
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
 * small that hardly a ReLU or a maximum changes sides. */
static void check_part(struct fixture *f, size_t begin, size_t n) {
    double length = 0, step = 1e-5, losses[2];
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

/* Single weights too: those with the largest slopes, which stand above the rounding of floats. */
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
    for (int i = 0; i < NET_LAYERS; i++) {
        const struct net_layer *l = &net_layers[i];
        check_part(f, l->begin, l->n_weights);
        check_part(f, l->begin + l->n_weights, l->n_biases);
        check_single(f, l->begin, l->n_weights);
    }
    check_part(f, 0, NET_WEIGHTS);
}

static void layers_fill_the_vector(void **state) {
    (void)state;
    size_t next = 0;
    for (int i = 0; i < NET_LAYERS; i++) {
        assert_int_equal(net_layers[i].begin, next);
        next += net_layers[i].n_weights + net_layers[i].n_biases;
    }
    assert_int_equal(next, NET_WEIGHTS);
}

/* A mean over a batch is the mean of those over its halves: what ranks do. */
static void gradients_of_halves_add_up(void **state) {
    struct fixture *f = *state;
    struct net *half;
    static float sum[NET_WEIGHTS], part[NET_WEIGHTS];
    double loss;
    size_t n_correct;
    assert_int_equal(net_new(BATCH / 2, 1, &half), 0);
    loss_of(f, f->weights);
    assert_int_equal(net_backward(f->net, f->gradient), 0);
    memset(sum, 0, sizeof sum);
    for (size_t i = 0; i < BATCH; i += BATCH / 2) {
        assert_int_equal(net_forward(half, f->weights, f->images + i * NET_PIXELS, f->labels + i,
                                     BATCH / 2, &loss, &n_correct),
                         0);
        assert_int_equal(net_backward(half, part), 0);
        for (size_t j = 0; j < NET_WEIGHTS; j++)
            sum[j] += part[j] / 2;
    }
    for (size_t j = 0; j < NET_WEIGHTS; j++)
        assert_true(fabsf(sum[j] - f->gradient[j]) < 1e-6f);
    net_free(half);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_fill_the_vector),
        cmocka_unit_test_setup_teardown(loss_is_that_of_plain_loops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_beyond_n_count_for_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradient_is_the_slope_of_the_loss_in_every_layer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(gradients_of_halves_add_up, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
