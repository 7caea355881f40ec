/* SPDX-License-Identifier: MIT */
#include "workloads/network/net.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/network/net_build.h"

static bool has_weights(const struct layer *l) {
    return l->plan->kind != NET_POOL;
}

/* A full layer takes planes or a vector. */
static dnnl_memory_desc_t weights_shape(struct net *net, const struct layer *l) {
    const struct net_part *p = &l->part;
    bool full = l->plan->kind == NET_FULL, flat = l->before && l->before->plan->kind == NET_FULL;
    dnnl_dim_t rows = full ? p->in_rows : l->plan->kernel;
    return net_plain(net, flat ? 2 : 4,
                     (dnnl_dim_t[]){p->out_channels, p->in_channels, rows, rows});
}

static void make_weights(struct net *net, struct layer *l) {
    l->shape = weights_shape(net, l);
    l->bias_shape = net_plain(net, 1, (dnnl_dim_t[]){l->part.out_channels});
    l->weights = net_memory(net, &l->shape, DNNL_MEMORY_NONE);
    l->biases = net_memory(net, &l->bias_shape, DNNL_MEMORY_NONE);
    l->diff_weights = net_memory(net, &l->shape, DNNL_MEMORY_NONE);
    l->diff_biases = net_memory(net, &l->bias_shape, DNNL_MEMORY_NONE);
}

static void make_layers(struct net *net, const struct net_plan *plan) {
    struct net_part parts[NET_LAYERS_MAX];
    const char *relu = NULL;
    net_lay_out(plan, parts);
    for (int i = 0; i < net->n_layers; i++) {
        struct layer *l = &net->layers[i];
        l->plan = &plan->layers[i];
        l->part = parts[i];
        l->before = i ? l - 1 : NULL;
        l->relu = relu;
        if (!has_weights(l))
            continue;
        relu = l->plan->name;
        make_weights(net, l);
    }
}

static void make_ends(struct net *net, const struct net_plan *plan) {
    dnnl_dim_t n = (dnnl_dim_t)net->batch, rows = plan->rows;
    dnnl_memory_desc_t images = net_plain(net, 4, (dnnl_dim_t[]){n, plan->channels, rows, rows});
    dnnl_memory_desc_t logits = net_plain(net, 2, (dnnl_dim_t[]){n, (dnnl_dim_t)net->classes});
    net->images = net_memory(net, &images, DNNL_MEMORY_NONE);
    net->logits = net_memory(net, &logits, net->logits_data);
    net->diff_logits = net_memory(net, &logits, net->diff_data);
}

static void make_steps(struct net *net) {
    struct layer *l = net->layers, *last = &l[net->n_layers - 1];
    dnnl_memory_t at = net->images;
    for (; l <= last; l++) {
        l->src = at;
        net_layer_forward(net, l, l < last);
        at = l->dst;
    }
    if (net->status == dnnl_success)
        net_add_reorder(net, &net->forward, at, net->logits, "logits");
    at = net->diff_logits;
    for (l = last; l >= net->layers; l--)
        at = net_layer_backward(net, l, at);
    for (l = net->layers; l <= last; l++)
        if (l->forward)
            dnnl_primitive_desc_destroy(l->forward);
}

static void make(struct net *net, const struct net_plan *plan) {
    if (!net_good(net, dnnl_engine_create(&net->engine, dnnl_cpu, 0)) ||
        !net_good(net, dnnl_stream_create(&net->stream, net->engine, dnnl_stream_in_order)))
        return;
    make_layers(net, plan);
    make_ends(net, plan);
    make_steps(net);
}

int net_new(const struct net_plan *plan, size_t batch, int threads, struct net **ret) {
    struct net *net = calloc(1, sizeof *net);
    if (!net)
        return -ENOMEM;
    omp_set_num_threads(threads);
    net->batch = batch;
    net->n_layers = plan->n_layers;
    net->classes = plan->layers[plan->n_layers - 1].outs;
    net->logits_data = calloc(batch * net->classes, sizeof(float));
    net->diff_data = calloc(batch * net->classes, sizeof(float));
    if (!net->logits_data || !net->diff_data)
        net->status = dnnl_out_of_memory;
    else
        make(net, plan);
    if (net->status == dnnl_success) {
        *ret = net;
        return 0;
    }
    int r = net->status == dnnl_out_of_memory ? -ENOMEM : -ENOTSUP;
    net_free(net);
    return r;
}

static void destroy(dnnl_primitive_t primitive) {
    if (primitive)
        dnnl_primitive_destroy(primitive);
}

void net_free(struct net *net) {
    if (!net)
        return;
    for (int i = 0; i < net->forward.n; i++)
        destroy(net->forward.step[i].primitive);
    for (int i = 0; i < net->backward.n; i++)
        destroy(net->backward.step[i].primitive);
    for (int i = 0; i < net->n_memories; i++)
        dnnl_memory_destroy(net->memories[i]);
    if (net->stream)
        dnnl_stream_destroy(net->stream);
    if (net->engine)
        dnnl_engine_destroy(net->engine);
    free(net->logits_data);
    free(net->diff_data);
    free(net);
}

void net_listen(struct net *net, net_tell *tell, void *ctx, int64_t (*now_ns)(void)) {
    net->tell = tell;
    net->tell_ctx = ctx;
    net->now_ns = now_ns;
}

static void run(struct net *net, const struct steps *steps) {
    for (int i = 0; i < steps->n && net->status == dnnl_success; i++) {
        const struct step *s = &steps->step[i];
        int64_t start = net->tell ? net->now_ns() : 0;
        if (s->kind == STEP_PRIMITIVE)
            net_good(net, dnnl_primitive_execute(s->primitive, net->stream, s->n_args, s->args));
        else if (s->kind == STEP_POOL)
            net_pool_run(net, &s->pool);
        else
            net_move_run(net, &s->move);
        if (net->tell)
            net->tell(net->tell_ctx, s->name, s->bytes, start, net->now_ns());
    }
    net_good(net, dnnl_stream_wait(net->stream));
}

/* oneDNN does not write memory that it only reads, so casting away const is safe. */
static void point_at(struct net *net, const struct layer *l, const float *vector, bool gradient) {
    float *at = (float *)(uintptr_t)vector + l->part.begin;
    net_good(net, dnnl_memory_set_data_handle(gradient ? l->diff_weights : l->weights, at));
    net_good(net, dnnl_memory_set_data_handle(gradient ? l->diff_biases : l->biases,
                                              at + l->part.n_weights));
}

static void point_all_at(struct net *net, const float *vector, bool gradient) {
    for (int i = 0; i < net->n_layers; i++)
        if (has_weights(&net->layers[i]))
            point_at(net, &net->layers[i], vector, gradient);
}

/* Softmax and cross entropy of one row, and its gradient over n rows. Never overflows. */
static double judge_row(const struct net *net, size_t row, uint8_t label, size_t n,
                        size_t *n_correct) {
    const float *z = net->logits_data + row * net->classes;
    float *diff = net->diff_data + row * net->classes;
    double most = (double)z[0], sum = 0;
    size_t best = 0;
    for (size_t c = 1; c < net->classes; c++)
        if ((double)z[c] > most) {
            most = (double)z[c];
            best = c;
        }
    for (size_t c = 0; c < net->classes; c++)
        sum += exp((double)z[c] - most);
    for (size_t c = 0; c < net->classes; c++)
        diff[c] = (float)((exp((double)z[c] - most) / sum - (c == label)) / (double)n);
    *n_correct += best == label;
    return log(sum) + most - (double)z[label];
}

int net_forward(struct net *net, const float *weights, const float *images, const uint8_t *labels,
                size_t n, double *ret_loss, size_t *ret_n_correct) {
    double loss = 0;
    size_t n_correct = 0;
    point_all_at(net, weights, false);
    net_good(net, dnnl_memory_set_data_handle(net->images, (void *)(uintptr_t)images));
    run(net, &net->forward);
    if (net->status != dnnl_success)
        return -EIO;
    memset(net->diff_data, 0, net->batch * net->classes * sizeof *net->diff_data);
    for (size_t i = 0; i < n && i < net->batch; i++)
        loss += judge_row(net, i, labels[i], n, &n_correct);
    *ret_loss = loss / (double)n;
    *ret_n_correct = n_correct;
    return 0;
}

int net_backward(struct net *net, float *ret_gradient) {
    point_all_at(net, ret_gradient, true);
    run(net, &net->backward);
    return net->status == dnnl_success ? 0 : -EIO;
}
