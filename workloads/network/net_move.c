/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "workloads/network/net_build.h"

struct move net_move_of(const struct layer *l, int what) {
    return (struct move){.what = what,
                         .outs = l->part.out_channels,
                         .ins = l->part.in_channels,
                         .kernel = l->plan->kernel};
}

void net_add_move(struct net *net, struct steps *steps, const struct layer *l,
                  const struct move *move) {
    struct step *s = net_add_step(net, steps, NULL, l->plan->name, "reorder");
    s->kind = STEP_MOVE;
    s->move = *move;
    if (move->to)
        s->bytes = dnnl_memory_desc_get_size(net_description(move->to));
}

/* Start of a row of a kernel: [out][in][row][column], with as many rows as columns, or one more for
 * pairs. */
static float *plain_row(float *weights, const struct move *m, size_t out, size_t in, size_t row) {
    return weights + ((out * m->ins + in) * m->kernel + row) * m->kernel;
}

static float *high_row(float *weights, const struct move *m, size_t ins, size_t out, size_t in,
                       size_t row) {
    return weights + ((out * ins + in) * (m->kernel + 1) + row) * m->kernel;
}

/* Weights that are not written stay 0 from the allocation. */
static void pair(const struct move *m, float *from, float *to, size_t lower) {
    size_t first = lower * NET_PAIR_STEP;
    for (size_t o = 0; o < m->outs; o++)
        for (size_t i = 0; i < m->ins; i++)
            for (size_t y = 0; y < m->kernel; y++)
                memcpy(high_row(to, m, m->ins, first + o, i, y + lower),
                       plain_row(from, m, o, i, y), m->kernel * sizeof *to);
}

/* The kernel turned by 180 degrees, with inputs and outputs exchanged. */
static void pair_turned(const struct move *m, float *from, float *to, size_t lower) {
    size_t first = lower * NET_PAIR_STEP, last = m->kernel - 1;
    for (size_t o = 0; o < m->outs; o++)
        for (size_t i = 0; i < m->ins; i++)
            for (size_t y = 0; y < m->kernel; y++) {
                const float *in = plain_row(from, m, o, i, last - y);
                float *out = high_row(to, m, m->outs, first + i, o, y + lower);
                for (size_t x = 0; x < m->kernel; x++)
                    out[x] = in[last - x];
            }
}

static void fold(const struct move *m, float *from, float *to) {
    for (size_t o = 0; o < m->outs; o++)
        for (size_t i = 0; i < m->ins; i++)
            for (size_t y = 0; y < m->kernel; y++) {
                const float *upper = high_row(from, m, m->ins, o, i, y);
                const float *lower = high_row(from, m, m->ins, NET_PAIR_STEP + o, i, y + 1);
                float *out = plain_row(to, m, o, i, y);
                for (size_t x = 0; x < m->kernel; x++)
                    out[x] = upper[x] + lower[x];
            }
}

static void slice(const struct move *m, float *from, float *to) {
    size_t n = m->n * m->kernel * m->kernel;
    for (size_t o = 0; o < m->outs; o++)
        memcpy(plain_row(to, m, o, m->begin, 0), from + o * n, n * sizeof *to);
}

static void move_biases(const struct move *m, const float *from, float *to) {
    for (size_t o = 0; o < m->outs; o++) {
        if (m->what == MOVE_FOLD)
            to[o] = from[o] + from[NET_PAIR_STEP + o];
        else
            to[o] = to[NET_PAIR_STEP + o] = from[o];
    }
}

void net_move_run(struct net *net, const struct move *m) {
    float *from = net_data(net, m->from), *to = net_data(net, m->to);
    if (net->status != dnnl_success)
        return;
    for (size_t lower = 0; lower < 2; lower++) {
        if (m->what == MOVE_PAIR)
            pair(m, from, to, lower);
        else if (m->what == MOVE_PAIR_TURNED)
            pair_turned(m, from, to, lower);
    }
    if (m->what == MOVE_FOLD)
        fold(m, from, to);
    else if (m->what == MOVE_SLICE)
        slice(m, from, to);
    if (m->from_bias)
        move_biases(m, net_data(net, m->from_bias), net_data(net, m->to_bias));
}
