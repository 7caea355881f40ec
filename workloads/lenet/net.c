/* SPDX-License-Identifier: MIT */
/*
 * The net is two lists of steps, forward and backward, each a oneDNN primitive with its arguments.
 * Every primitive chooses the layout it likes best, and where two do not agree a step between them
 * reorders; so nothing here depends on what oneDNN likes on which machine. ReLU goes with the layer
 * before it on the way forward; on the way back it is applied behind the pooling, where it is the
 * same (the largest of a window is positive or nothing of it is) and has a quarter of the values.
 */
#include "workloads/lenet/net.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/data/draw.h"

#define MEMORIES_MAX 96
#define STEPS_MAX 48
#define ARGS_MAX 6

const struct net_layer net_layers[NET_LAYERS] = {
    {"conv1", 0, 150, 6, 25},         {"conv2", 156, 2400, 16, 150},
    {"full1", 2572, 48000, 120, 400}, {"full2", 50692, 10080, 84, 120},
    {"full3", 60856, 840, 10, 84},
};

struct step {
    dnnl_primitive_t primitive;
    int n_args;
    dnnl_exec_arg_t args[ARGS_MAX];
    char name[40];
    size_t bytes; /* of its output */
};

struct steps {
    int n;
    struct step step[STEPS_MAX];
};

/* A tensor: its description is asked of the memory. */
struct net {
    size_t batch, n; /* n: rows that count */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_t memories[MEMORIES_MAX]; /* all, to be freed */
    int n_memories;
    dnnl_status_t status; /* the first that is not good */
    struct steps forward, backward;
    dnnl_memory_t images, logits, diff_logits;
    dnnl_memory_t weights[NET_LAYERS], biases[NET_LAYERS];
    dnnl_memory_t diff_weights[NET_LAYERS], diff_biases[NET_LAYERS];
    float *logits_data, *diff_data;
    uint8_t *labels; /* of the last forward */
    net_tell *tell;
    void *tell_ctx;
    int64_t (*now_ns)(void);
};

static bool good(struct net *net, dnnl_status_t status) {
    if (net->status == dnnl_success)
        net->status = status;
    return net->status == dnnl_success;
}

/* ---- memories ---- */

static const dnnl_memory_desc_t *description(dnnl_memory_t memory) {
    const dnnl_memory_desc_t *md = NULL;
    dnnl_memory_get_memory_desc(memory, &md);
    return md;
}

static dnnl_memory_desc_t plain(struct net *net, int n_dims, const dnnl_dim_t *dims) {
    static const dnnl_format_tag_t tags[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab,
                                             dnnl_format_tag_undef, dnnl_abcd};
    dnnl_memory_desc_t md = {0};
    dnnl_dims_t all = {0};
    memcpy(all, dims, (size_t)n_dims * sizeof *dims);
    good(net, dnnl_memory_desc_init_by_tag(&md, n_dims, all, dnnl_f32, tags[n_dims]));
    return md;
}

static dnnl_memory_desc_t any(struct net *net, const dnnl_memory_desc_t *like) {
    dnnl_memory_desc_t md = {0};
    good(net,
         dnnl_memory_desc_init_by_tag(&md, like->ndims, like->dims, dnnl_f32, dnnl_format_tag_any));
    return md;
}

/* data NULL: none yet; DNNL_MEMORY_ALLOCATE: the library's own. */
static dnnl_memory_t new_memory(struct net *net, const dnnl_memory_desc_t *md, void *data) {
    dnnl_memory_t memory = NULL;
    if (net->status != dnnl_success)
        return NULL;
    if (net->n_memories == MEMORIES_MAX)
        good(net, dnnl_out_of_memory);
    else if (good(net, dnnl_memory_create(&memory, md, net->engine, data)))
        net->memories[net->n_memories++] = memory;
    return memory;
}

static dnnl_memory_t new_plain(struct net *net, int n_dims, const dnnl_dim_t *dims, void *data) {
    dnnl_memory_desc_t md = plain(net, n_dims, dims);
    return new_memory(net, &md, data);
}

/* ---- steps ---- */

static struct step *add_step(struct net *net, struct steps *steps, dnnl_primitive_desc_t pd,
                             const char *layer, const char *what) {
    static struct step nowhere;
    if (net->status == dnnl_success && steps->n == STEPS_MAX)
        good(net, dnnl_out_of_memory);
    if (net->status != dnnl_success)
        return &nowhere;
    struct step *s = &steps->step[steps->n];
    *s = (struct step){.primitive = NULL};
    if (!good(net, dnnl_primitive_create(&s->primitive, pd)))
        return &nowhere;
    steps->n++;
    size_t n = strlen(layer);
    memcpy(s->name, layer, n);
    s->name[n] = ' ';
    strncat(s->name, what, sizeof s->name - n - 2);
    return s;
}

static void add_arg(struct step *s, int arg, dnnl_memory_t memory, bool output) {
    if (!memory || s->n_args == ARGS_MAX)
        return;
    s->args[s->n_args++] = (dnnl_exec_arg_t){arg, memory};
    if (output)
        s->bytes += dnnl_memory_desc_get_size(description(memory));
}

static void add_reorder(struct net *net, struct steps *steps, dnnl_memory_t from, dnnl_memory_t to,
                        const char *layer) {
    dnnl_primitive_desc_t pd = NULL;
    if (net->status != dnnl_success ||
        !good(net, dnnl_reorder_primitive_desc_create(&pd, description(from), net->engine,
                                                      description(to), net->engine, NULL)))
        return;
    struct step *s = add_step(net, steps, pd, layer, "reorder");
    add_arg(s, DNNL_ARG_FROM, from, false);
    add_arg(s, DNNL_ARG_TO, to, true);
    dnnl_primitive_desc_destroy(pd);
}

/* The memory in the layout that is wanted: itself, or another after a step. */
static dnnl_memory_t as_wanted(struct net *net, struct steps *steps, dnnl_memory_t memory,
                               const dnnl_memory_desc_t *wanted, const char *layer) {
    if (net->status != dnnl_success || dnnl_memory_desc_equal(description(memory), wanted))
        return memory;
    dnnl_memory_t other = new_memory(net, wanted, DNNL_MEMORY_ALLOCATE);
    if (other)
        add_reorder(net, steps, memory, other, layer);
    return other;
}

/* Where a primitive puts a gradient: where it is wanted, or elsewhere, to be reordered after it. */
static dnnl_memory_t output_like(struct net *net, dnnl_memory_t final,
                                 const dnnl_memory_desc_t *md) {
    if (net->status != dnnl_success || dnnl_memory_desc_equal(description(final), md))
        return final;
    return new_memory(net, md, DNNL_MEMORY_ALLOCATE);
}

static const dnnl_memory_desc_t *asked(dnnl_primitive_desc_t pd, dnnl_query_t what) {
    return dnnl_primitive_desc_query_md(pd, what, 0);
}

/* ---- layers ---- */

/* A convolution, or a full layer (kernel 0); its ways back need what the way forward was. */
struct layer {
    const char *name;
    int index;
    bool full;
    dnnl_dims_t strides, padding;
    dnnl_memory_t src, dst;             /* of the way forward */
    dnnl_memory_desc_t weights, biases; /* plain */
    dnnl_primitive_desc_t forward;
};

static dnnl_primitive_desc_t describe(struct net *net, const void *op, dnnl_primitive_attr_t attr,
                                      dnnl_primitive_desc_t hint) {
    dnnl_primitive_desc_t pd = NULL;
    if (net->status == dnnl_success)
        good(net, dnnl_primitive_desc_create(&pd, op, attr, net->engine, hint));
    return pd;
}

static dnnl_primitive_attr_t with_relu(struct net *net, bool relu) {
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    if (!good(net, dnnl_primitive_attr_create(&attr)) || !relu)
        return attr;
    if (good(net, dnnl_post_ops_create(&ops)) &&
        good(net, dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0)))
        good(net, dnnl_primitive_attr_set_post_ops(attr, ops));
    dnnl_post_ops_destroy(ops);
    return attr;
}

static dnnl_primitive_desc_t describe_forward(struct net *net, struct layer *l,
                                              const dnnl_memory_desc_t *dst, bool relu) {
    dnnl_memory_desc_t src_any = any(net, description(l->src)), weights_any = any(net, &l->weights);
    dnnl_memory_desc_t dst_any = any(net, dst);
    dnnl_convolution_desc_t conv;
    dnnl_inner_product_desc_t full;
    if (l->full)
        good(net, dnnl_inner_product_forward_desc_init(&full, dnnl_forward_training, &src_any,
                                                       &weights_any, &l->biases, &dst_any));
    else
        good(net, dnnl_convolution_forward_desc_init(
                      &conv, dnnl_forward_training, dnnl_convolution_direct, &src_any, &weights_any,
                      &l->biases, &dst_any, l->strides, l->padding, l->padding));
    dnnl_primitive_attr_t attr = with_relu(net, relu);
    dnnl_primitive_desc_t pd = describe(net, l->full ? (void *)&full : (void *)&conv, attr, NULL);
    dnnl_primitive_attr_destroy(attr);
    return pd;
}

static void go_forward(struct net *net, struct layer *l, const dnnl_memory_desc_t *dst, bool relu) {
    struct steps *steps = &net->forward;
    if (net->status != dnnl_success)
        return;
    l->forward = describe_forward(net, l, dst, relu);
    if (net->status != dnnl_success)
        return;
    l->src = as_wanted(net, steps, l->src, asked(l->forward, dnnl_query_src_md), l->name);
    dnnl_memory_t weights = as_wanted(net, steps, net->weights[l->index],
                                      asked(l->forward, dnnl_query_weights_md), l->name);
    l->dst = new_memory(net, asked(l->forward, dnnl_query_dst_md), DNNL_MEMORY_ALLOCATE);
    struct step *s = add_step(net, steps, l->forward, l->name, "forward");
    add_arg(s, DNNL_ARG_SRC, l->src, false);
    add_arg(s, DNNL_ARG_WEIGHTS, weights, false);
    add_arg(s, DNNL_ARG_BIAS, net->biases[l->index], false);
    add_arg(s, DNNL_ARG_DST, l->dst, true);
}

static dnnl_primitive_desc_t describe_weights(struct net *net, struct layer *l,
                                              const dnnl_memory_desc_t *diff_dst) {
    dnnl_memory_desc_t src_any = any(net, description(l->src)), weights_any = any(net, &l->weights);
    dnnl_memory_desc_t dst_any = any(net, diff_dst);
    dnnl_convolution_desc_t conv;
    dnnl_inner_product_desc_t full;
    if (l->full)
        good(net, dnnl_inner_product_backward_weights_desc_init(&full, &src_any, &weights_any,
                                                                &l->biases, &dst_any));
    else
        good(net, dnnl_convolution_backward_weights_desc_init(
                      &conv, dnnl_convolution_direct, &src_any, &weights_any, &l->biases, &dst_any,
                      l->strides, l->padding, l->padding));
    return describe(net, l->full ? (void *)&full : (void *)&conv, NULL, l->forward);
}

static void go_back_to_weights(struct net *net, struct layer *l, dnnl_memory_t diff_dst) {
    struct steps *steps = &net->backward;
    if (net->status != dnnl_success)
        return;
    dnnl_primitive_desc_t pd = describe_weights(net, l, description(diff_dst));
    if (net->status != dnnl_success)
        return;
    dnnl_memory_t src = as_wanted(net, steps, l->src, asked(pd, dnnl_query_src_md), l->name);
    dnnl_memory_t diff =
        as_wanted(net, steps, diff_dst, asked(pd, dnnl_query_diff_dst_md), l->name);
    dnnl_memory_t final = net->diff_weights[l->index];
    dnnl_memory_t weights = output_like(net, final, asked(pd, dnnl_query_diff_weights_md));
    struct step *s = add_step(net, steps, pd, l->name, "backward weights");
    add_arg(s, DNNL_ARG_SRC, src, false);
    add_arg(s, DNNL_ARG_DIFF_DST, diff, false);
    add_arg(s, DNNL_ARG_DIFF_WEIGHTS, weights, true);
    add_arg(s, DNNL_ARG_DIFF_BIAS, net->diff_biases[l->index], true);
    if (weights != final)
        add_reorder(net, steps, weights, final, l->name);
    dnnl_primitive_desc_destroy(pd);
}

static dnnl_primitive_desc_t describe_data(struct net *net, struct layer *l,
                                           const dnnl_memory_desc_t *diff_dst) {
    dnnl_memory_desc_t src_any = any(net, description(l->src)), weights_any = any(net, &l->weights);
    dnnl_memory_desc_t dst_any = any(net, diff_dst);
    dnnl_convolution_desc_t conv;
    dnnl_inner_product_desc_t full;
    if (l->full)
        good(net,
             dnnl_inner_product_backward_data_desc_init(&full, &src_any, &weights_any, &dst_any));
    else
        good(net, dnnl_convolution_backward_data_desc_init(&conv, dnnl_convolution_direct, &src_any,
                                                           &weights_any, &dst_any, l->strides,
                                                           l->padding, l->padding));
    return describe(net, l->full ? (void *)&full : (void *)&conv, NULL, l->forward);
}

static dnnl_memory_t go_back_to_data(struct net *net, struct layer *l, dnnl_memory_t diff_dst) {
    struct steps *steps = &net->backward;
    if (net->status != dnnl_success)
        return NULL;
    dnnl_primitive_desc_t pd = describe_data(net, l, description(diff_dst));
    if (net->status != dnnl_success)
        return NULL;
    dnnl_memory_t weights =
        as_wanted(net, steps, net->weights[l->index], asked(pd, dnnl_query_weights_md), l->name);
    dnnl_memory_t diff =
        as_wanted(net, steps, diff_dst, asked(pd, dnnl_query_diff_dst_md), l->name);
    dnnl_memory_t out = new_memory(net, asked(pd, dnnl_query_diff_src_md), DNNL_MEMORY_ALLOCATE);
    struct step *s = add_step(net, steps, pd, l->name, "backward data");
    add_arg(s, DNNL_ARG_DIFF_DST, diff, false);
    add_arg(s, DNNL_ARG_WEIGHTS, weights, false);
    add_arg(s, DNNL_ARG_DIFF_SRC, out, true);
    dnnl_primitive_desc_destroy(pd);
    return out;
}

struct pool {
    const char *name;
    dnnl_memory_t src, dst, workspace;
    dnnl_primitive_desc_t forward;
};

static const dnnl_dims_t two = {2, 2}, one = {1, 1}, zero = {0, 0};

static void pool_forward(struct net *net, struct pool *p, const dnnl_memory_desc_t *dst) {
    dnnl_pooling_desc_t op;
    if (net->status != dnnl_success)
        return;
    dnnl_memory_desc_t dst_any = any(net, dst);
    good(net, dnnl_pooling_forward_desc_init(&op, dnnl_forward_training, dnnl_pooling_max,
                                             description(p->src), &dst_any, two, two, zero, zero));
    p->forward = describe(net, &op, NULL, NULL);
    if (net->status != dnnl_success)
        return;
    p->dst = new_memory(net, asked(p->forward, dnnl_query_dst_md), DNNL_MEMORY_ALLOCATE);
    p->workspace =
        new_memory(net, asked(p->forward, dnnl_query_workspace_md), DNNL_MEMORY_ALLOCATE);
    struct step *s = add_step(net, &net->forward, p->forward, p->name, "forward");
    add_arg(s, DNNL_ARG_SRC, p->src, false);
    add_arg(s, DNNL_ARG_DST, p->dst, true);
    add_arg(s, DNNL_ARG_WORKSPACE, p->workspace, false);
}

static dnnl_memory_t pool_backward(struct net *net, struct pool *p, dnnl_memory_t diff_dst) {
    dnnl_pooling_desc_t op;
    if (net->status != dnnl_success)
        return NULL;
    diff_dst = as_wanted(net, &net->backward, diff_dst, description(p->dst), p->name);
    if (net->status != dnnl_success)
        return NULL;
    good(net, dnnl_pooling_backward_desc_init(&op, dnnl_pooling_max, description(p->src),
                                              description(diff_dst), two, two, zero, zero));
    dnnl_primitive_desc_t pd = describe(net, &op, NULL, p->forward);
    dnnl_memory_t out = new_memory(net, description(p->src), DNNL_MEMORY_ALLOCATE);
    if (net->status != dnnl_success)
        return NULL;
    struct step *s = add_step(net, &net->backward, pd, p->name, "backward");
    add_arg(s, DNNL_ARG_DIFF_DST, diff_dst, false);
    add_arg(s, DNNL_ARG_WORKSPACE, p->workspace, false);
    add_arg(s, DNNL_ARG_DIFF_SRC, out, true);
    dnnl_primitive_desc_destroy(pd);
    return out;
}

/* In place: what is not positive in `dst` lets no gradient through. */
static dnnl_memory_t relu_backward(struct net *net, const char *name, dnnl_memory_t dst,
                                   dnnl_memory_t diff) {
    dnnl_eltwise_desc_t op;
    if (net->status != dnnl_success)
        return NULL;
    diff = as_wanted(net, &net->backward, diff, description(dst), name);
    if (net->status != dnnl_success)
        return NULL;
    dnnl_primitive_desc_t hint, pd;
    good(net,
         dnnl_eltwise_forward_desc_init(&op, dnnl_forward_training,
                                        dnnl_eltwise_relu_use_dst_for_bwd, description(dst), 0, 0));
    hint = describe(net, &op, NULL, NULL);
    good(net, dnnl_eltwise_backward_desc_init(&op, dnnl_eltwise_relu_use_dst_for_bwd,
                                              description(diff), description(dst), 0, 0));
    pd = describe(net, &op, NULL, hint);
    struct step *s = add_step(net, &net->backward, pd, name, "relu backward");
    add_arg(s, DNNL_ARG_DST, dst, false);
    add_arg(s, DNNL_ARG_DIFF_DST, diff, false);
    add_arg(s, DNNL_ARG_DIFF_SRC, diff, true);
    dnnl_primitive_desc_destroy(hint);
    dnnl_primitive_desc_destroy(pd);
    return diff;
}

/* ---- the net ---- */

static void make_parameters(struct net *net, struct layer *layers) {
    static const dnnl_dim_t shapes[NET_LAYERS][4] = {
        {6, 1, 5, 5}, {16, 6, 5, 5}, {120, 16, 5, 5}, {84, 120}, {10, 84}};
    for (int i = 0; i < NET_LAYERS; i++) {
        int n_dims = shapes[i][2] ? 4 : 2;
        layers[i] = (struct layer){.name = net_layers[i].name,
                                   .index = i,
                                   .full = i >= 2,
                                   .weights = plain(net, n_dims, shapes[i]),
                                   .biases = plain(net, 1, shapes[i])};
        memcpy(layers[i].strides, one, sizeof one);
        net->weights[i] = new_memory(net, &layers[i].weights, DNNL_MEMORY_NONE);
        net->biases[i] = new_memory(net, &layers[i].biases, DNNL_MEMORY_NONE);
        net->diff_weights[i] = new_memory(net, &layers[i].weights, DNNL_MEMORY_NONE);
        net->diff_biases[i] = new_memory(net, &layers[i].biases, DNNL_MEMORY_NONE);
    }
    layers[0].padding[0] = layers[0].padding[1] = 2;
}

static void make_forward(struct net *net, struct layer *l, struct pool *pools) {
    dnnl_dim_t n = (dnnl_dim_t)net->batch;
    const dnnl_dim_t shapes[][4] = {{n, 6, 28, 28}, {n, 6, 14, 14}, {n, 16, 10, 10}, {n, 16, 5, 5},
                                    {n, 120},       {n, 84},        {n, NET_CLASSES}};
    dnnl_memory_desc_t md[7];
    for (int i = 0; i < 7; i++)
        md[i] = plain(net, shapes[i][2] ? 4 : 2, shapes[i]);
    net->images =
        new_plain(net, 4, (const dnnl_dim_t[]){n, 1, NET_ROWS, NET_ROWS}, DNNL_MEMORY_NONE);
    net->logits = new_memory(net, &md[6], net->logits_data);
    net->diff_logits = new_memory(net, &md[6], net->diff_data);
    l[0].src = net->images;
    go_forward(net, &l[0], &md[0], true);
    pools[0].src = l[0].dst;
    pool_forward(net, &pools[0], &md[1]);
    l[1].src = pools[0].dst;
    go_forward(net, &l[1], &md[2], true);
    pools[1].src = l[1].dst;
    pool_forward(net, &pools[1], &md[3]);
    l[2].src = pools[1].dst;
    for (int i = 2; i < NET_LAYERS; i++) {
        go_forward(net, &l[i], &md[i + 2], i < NET_LAYERS - 1);
        if (i + 1 < NET_LAYERS)
            l[i + 1].src = l[i].dst;
    }
    if (net->status == dnnl_success)
        add_reorder(net, &net->forward, l[NET_LAYERS - 1].dst, net->logits, "logits");
}

static void make_backward(struct net *net, struct layer *l, struct pool *pools) {
    dnnl_memory_t diff = net->diff_logits;
    for (int i = NET_LAYERS - 1; i >= 2; i--) {
        go_back_to_weights(net, &l[i], diff);
        diff = go_back_to_data(net, &l[i], diff);
        diff = relu_backward(net, l[i - 1].name, i > 2 ? l[i - 1].dst : pools[1].dst, diff);
    }
    diff = pool_backward(net, &pools[1], diff);
    go_back_to_weights(net, &l[1], diff);
    diff = go_back_to_data(net, &l[1], diff);
    diff = relu_backward(net, l[0].name, pools[0].dst, diff);
    diff = pool_backward(net, &pools[0], diff);
    go_back_to_weights(net, &l[0], diff);
}

static void make(struct net *net) {
    struct layer layers[NET_LAYERS];
    struct pool pools[2] = {{.name = "pool1"}, {.name = "pool2"}};
    if (!good(net, dnnl_engine_create(&net->engine, dnnl_cpu, 0)) ||
        !good(net, dnnl_stream_create(&net->stream, net->engine, dnnl_stream_in_order)))
        return;
    make_parameters(net, layers);
    make_forward(net, layers, pools);
    make_backward(net, layers, pools);
    for (int i = 0; i < NET_LAYERS; i++)
        dnnl_primitive_desc_destroy(layers[i].forward);
    for (int i = 0; i < 2; i++)
        dnnl_primitive_desc_destroy(pools[i].forward);
}

int net_new(size_t batch, int threads, struct net **ret) {
    struct net *net = calloc(1, sizeof *net);
    if (!net)
        return -ENOMEM;
    omp_set_num_threads(threads);
    net->batch = batch;
    net->logits_data = calloc(batch * NET_CLASSES, sizeof(float));
    net->diff_data = calloc(batch * NET_CLASSES, sizeof(float));
    net->labels = calloc(batch, 1);
    if (!net->logits_data || !net->diff_data || !net->labels)
        net->status = dnnl_out_of_memory;
    else
        make(net);
    if (net->status == dnnl_success) {
        *ret = net;
        return 0;
    }
    int r = net->status == dnnl_out_of_memory ? -ENOMEM : -ENOTSUP;
    net_free(net);
    return r;
}

void net_free(struct net *net) {
    if (!net)
        return;
    for (int i = 0; i < net->forward.n; i++)
        dnnl_primitive_destroy(net->forward.step[i].primitive);
    for (int i = 0; i < net->backward.n; i++)
        dnnl_primitive_destroy(net->backward.step[i].primitive);
    for (int i = 0; i < net->n_memories; i++)
        dnnl_memory_destroy(net->memories[i]);
    if (net->stream)
        dnnl_stream_destroy(net->stream);
    if (net->engine)
        dnnl_engine_destroy(net->engine);
    free(net->logits_data);
    free(net->diff_data);
    free(net->labels);
    free(net);
}

void net_draw_weights(uint64_t seed, float *ret) {
    for (int i = 0; i < NET_LAYERS; i++) {
        const struct net_layer *l = &net_layers[i];
        struct draw_random random = draw_random_of(seed, (uint64_t)i);
        double bound = 1 / sqrt((double)l->fan_in);
        for (size_t j = 0; j < l->n_weights + l->n_biases; j++)
            ret[l->begin + j] = (float)draw_uniform(&random, -bound, bound);
    }
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
        good(net, dnnl_primitive_execute(s->primitive, net->stream, s->n_args, s->args));
        if (net->tell)
            net->tell(net->tell_ctx, s->name, s->bytes, start, net->now_ns());
    }
    good(net, dnnl_stream_wait(net->stream));
}

static void point_at(struct net *net, dnnl_memory_t *weights, dnnl_memory_t *biases,
                     const float *vector) {
    for (int i = 0; i < NET_LAYERS; i++) { /* what is only read is not written, const or not */
        float *at = (float *)(uintptr_t)vector + net_layers[i].begin;
        good(net, dnnl_memory_set_data_handle(weights[i], at));
        good(net, dnnl_memory_set_data_handle(biases[i], at + net_layers[i].n_weights));
    }
}

/* Softmax and cross entropy of one row; its gradient over n rows into diff. Overflows for nothing.
 */
static double judge_row(const float *z, uint8_t label, size_t n, float *diff, size_t *n_correct) {
    double most = (double)z[0], sum = 0;
    int best = 0;
    for (int c = 1; c < NET_CLASSES; c++)
        if ((double)z[c] > most) {
            most = (double)z[c];
            best = c;
        }
    for (int c = 0; c < NET_CLASSES; c++)
        sum += exp((double)z[c] - most);
    for (int c = 0; c < NET_CLASSES; c++)
        diff[c] = (float)((exp((double)z[c] - most) / sum - (c == label)) / (double)n);
    *n_correct += best == label;
    return log(sum) + most - (double)z[label];
}

int net_forward(struct net *net, const float *weights, const float *images, const uint8_t *labels,
                size_t n, double *ret_loss, size_t *ret_n_correct) {
    double loss = 0;
    size_t n_correct = 0;
    point_at(net, net->weights, net->biases, weights);
    good(net, dnnl_memory_set_data_handle(net->images, (void *)(uintptr_t)images));
    run(net, &net->forward);
    if (net->status != dnnl_success)
        return -EIO;
    memset(net->diff_data, 0, net->batch * NET_CLASSES * sizeof *net->diff_data);
    for (size_t i = 0; i < n && i < net->batch; i++)
        loss += judge_row(net->logits_data + i * NET_CLASSES, labels[i], n,
                          net->diff_data + i * NET_CLASSES, &n_correct);
    *ret_loss = loss / (double)n;
    *ret_n_correct = n_correct;
    return 0;
}

int net_backward(struct net *net, float *ret_gradient) {
    point_at(net, net->diff_weights, net->diff_biases, ret_gradient);
    run(net, &net->backward);
    return net->status == dnnl_success ? 0 : -EIO;
}
