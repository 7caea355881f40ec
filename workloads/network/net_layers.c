/* SPDX-License-Identifier: MIT */
/*
 * Forward, a ReLU is part of the layer before it. Backward, a pooling applies it (the largest of a
 * window is positive, or nothing of the window is); without a pooling it is a step of its own.
 */
#include "workloads/network/net_build.h"

static const dnnl_dims_t one = {1, 1};

static dnnl_memory_desc_t output_shape(struct net *net, const struct layer *l) {
    dnnl_dim_t rows = l->part.out_rows;
    bool full = l->plan->kind == NET_FULL;
    return net_plain(net, full ? 2 : 4,
                     (dnnl_dim_t[]){(dnnl_dim_t)net->batch, l->part.out_channels, rows, rows});
}

/* ---- convolutions and full layers ---- */

/* The request to oneDNN for a layer; oneDNN chooses all layouts. */
struct wish {
    dnnl_memory_desc_t src, weights, dst;
    dnnl_dims_t padding;
    union {
        dnnl_convolution_desc_t conv;
        dnnl_inner_product_desc_t full;
    } op;
};

static struct wish wish_of(struct net *net, struct layer *l, const dnnl_memory_desc_t *dst) {
    dnnl_dim_t padding = l->plan->padding;
    return (struct wish){.src = net_any(net, net_description(l->src)),
                         .weights = net_any(net, &l->shape),
                         .dst = net_any(net, dst),
                         .padding = {padding, padding}};
}

static dnnl_primitive_desc_t describe_forward(struct net *net, struct layer *l, bool relu) {
    dnnl_memory_desc_t dst = output_shape(net, l);
    struct wish w = wish_of(net, l, &dst);
    if (l->plan->kind == NET_FULL)
        net_good(net,
                 dnnl_inner_product_forward_desc_init(&w.op.full, dnnl_forward_training, &w.src,
                                                      &w.weights, &l->bias_shape, &w.dst));
    else
        net_good(net, dnnl_convolution_forward_desc_init(
                          &w.op.conv, dnnl_forward_training, dnnl_convolution_direct, &w.src,
                          &w.weights, &l->bias_shape, &w.dst, one, w.padding, w.padding));
    dnnl_primitive_attr_t attr = net_with_relu(net, relu);
    dnnl_primitive_desc_t pd = net_describe(net, &w.op, attr, NULL);
    dnnl_primitive_attr_destroy(attr);
    return pd;
}

static void weighted_forward(struct net *net, struct layer *l, bool relu) {
    struct steps *steps = &net->forward;
    const char *name = l->plan->name;
    l->forward = describe_forward(net, l, relu);
    if (net->status != dnnl_success || net_pairs_forward(net, l, relu))
        return;
    l->src = net_as_wanted(net, steps, l->src, net_asked(l->forward, dnnl_query_src_md), name);
    dnnl_memory_t weights =
        net_as_wanted(net, steps, l->weights, net_asked(l->forward, dnnl_query_weights_md), name);
    l->dst = net_memory(net, net_asked(l->forward, dnnl_query_dst_md), DNNL_MEMORY_ALLOCATE);
    struct step *s = net_add_step(net, steps, l->forward, name, "forward");
    net_add_arg(s, DNNL_ARG_SRC, l->src, false);
    net_add_arg(s, DNNL_ARG_WEIGHTS, weights, false);
    net_add_arg(s, DNNL_ARG_BIAS, l->biases, false);
    net_add_arg(s, DNNL_ARG_DST, l->dst, true);
}

static dnnl_primitive_desc_t describe_weights(struct net *net, struct layer *l,
                                              dnnl_memory_t diff_dst) {
    struct wish w = wish_of(net, l, net_description(diff_dst));
    if (l->plan->kind == NET_FULL)
        net_good(net, dnnl_inner_product_backward_weights_desc_init(&w.op.full, &w.src, &w.weights,
                                                                    &l->bias_shape, &w.dst));
    else
        net_good(net, dnnl_convolution_backward_weights_desc_init(
                          &w.op.conv, dnnl_convolution_direct, &w.src, &w.weights, &l->bias_shape,
                          &w.dst, one, w.padding, w.padding));
    return net_describe(net, &w.op, NULL, l->forward);
}

static void back_to_weights(struct net *net, struct layer *l, dnnl_memory_t diff_dst) {
    struct steps *steps = &net->backward;
    const char *name = l->plan->name;
    if (net_pairs_weights(net, l, diff_dst))
        return;
    dnnl_primitive_desc_t pd = describe_weights(net, l, diff_dst);
    if (net->status != dnnl_success)
        return;
    if (net_slices_weights(net, l, diff_dst, pd)) {
        dnnl_primitive_desc_destroy(pd);
        return;
    }
    dnnl_memory_t src = net_as_wanted(net, steps, l->src, net_asked(pd, dnnl_query_src_md), name);
    dnnl_memory_t diff =
        net_as_wanted(net, steps, diff_dst, net_asked(pd, dnnl_query_diff_dst_md), name);
    dnnl_memory_t weights =
        net_output_like(net, l->diff_weights, net_asked(pd, dnnl_query_diff_weights_md));
    struct step *s = net_add_step(net, steps, pd, name, "backward weights");
    net_add_arg(s, DNNL_ARG_SRC, src, false);
    net_add_arg(s, DNNL_ARG_DIFF_DST, diff, false);
    net_add_arg(s, DNNL_ARG_DIFF_WEIGHTS, weights, true);
    net_add_arg(s, DNNL_ARG_DIFF_BIAS, l->diff_biases, true);
    if (weights != l->diff_weights)
        net_add_reorder(net, steps, weights, l->diff_weights, name);
    dnnl_primitive_desc_destroy(pd);
}

static dnnl_primitive_desc_t describe_data(struct net *net, struct layer *l,
                                           dnnl_memory_t diff_dst) {
    struct wish w = wish_of(net, l, net_description(diff_dst));
    if (l->plan->kind == NET_FULL)
        net_good(net, dnnl_inner_product_backward_data_desc_init(&w.op.full, &w.src, &w.weights,
                                                                 &w.dst));
    else
        net_good(net, dnnl_convolution_backward_data_desc_init(&w.op.conv, dnnl_convolution_direct,
                                                               &w.src, &w.weights, &w.dst, one,
                                                               w.padding, w.padding));
    return net_describe(net, &w.op, NULL, l->forward);
}

static dnnl_memory_t back_to_data(struct net *net, struct layer *l, dnnl_memory_t diff_dst) {
    struct steps *steps = &net->backward;
    const char *name = l->plan->name;
    dnnl_memory_t paired;
    if (net_pairs_data(net, l, diff_dst, &paired))
        return paired;
    if (net->status != dnnl_success)
        return NULL;
    dnnl_primitive_desc_t pd = describe_data(net, l, diff_dst);
    if (net->status != dnnl_success)
        return NULL;
    dnnl_memory_t weights =
        net_as_wanted(net, steps, l->weights, net_asked(pd, dnnl_query_weights_md), name);
    dnnl_memory_t diff =
        net_as_wanted(net, steps, diff_dst, net_asked(pd, dnnl_query_diff_dst_md), name);
    dnnl_memory_t out =
        net_memory(net, net_asked(pd, dnnl_query_diff_src_md), DNNL_MEMORY_ALLOCATE);
    struct step *s = net_add_step(net, steps, pd, name, "backward data");
    net_add_arg(s, DNNL_ARG_DIFF_DST, diff, false);
    net_add_arg(s, DNNL_ARG_WEIGHTS, weights, false);
    net_add_arg(s, DNNL_ARG_DIFF_SRC, out, true);
    dnnl_primitive_desc_destroy(pd);
    return out;
}

/* ---- pooling ---- */

static void add_pool(struct net *net, struct layer *l, struct steps *steps, const char *what,
                     const struct pool *pool) {
    if (net->status != dnnl_success)
        return;
    struct step *s = net_add_step(net, steps, NULL, l->plan->name, what);
    s->kind = STEP_POOL;
    s->pool = *pool;
    s->bytes = dnnl_memory_desc_get_size(net_description(pool->backward ? pool->in : pool->out));
}

static void pool_forward(struct net *net, struct layer *l) {
    struct pool *p = &l->pool;
    dnnl_memory_desc_t plain = net_plain(net, 4, net_description(l->src)->dims);
    if (l->before && l->before->pairs) {
        net_pool_shape_of_pairs(p, net_description(l->src));
    } else if (!net_pool_shape(net, net_description(l->src), p)) {
        l->src = net_as_wanted(net, &net->forward, l->src, &plain, l->plan->name);
        net_pool_shape(net, &plain, p);
    }
    dnnl_memory_desc_t dst = output_shape(net, l);
    net_good(net, dnnl_memory_desc_init_by_tag(&dst, 4, dst.dims, dnnl_f32, p->tag));
    p->in = l->src;
    p->out = l->dst = net_pool_memory(net, &dst);
    p->which = net_pool_memory(net, &dst); /* numbers as wide as floats */
    add_pool(net, l, &net->forward, "forward", p);
}

static dnnl_memory_t pool_backward(struct net *net, struct layer *l, dnnl_memory_t diff_dst) {
    struct pool p = l->pool;
    const dnnl_memory_desc_t *diff = net_description(diff_dst);
    p.backward = true;
    p.out_pairs = diff->dims[2] < diff->dims[3];
    p.out = p.out_pairs ? diff_dst
                        : net_as_wanted(net, &net->backward, diff_dst, net_description(l->dst),
                                        l->plan->name);
    p.in = net_pool_memory(net, net_description(l->src));
    add_pool(net, l, &net->backward, "backward", &p);
    return p.in;
}

/* ---- ReLU ---- */

static dnnl_primitive_desc_t describe_relu(struct net *net, dnnl_memory_t dst, dnnl_memory_t diff) {
    dnnl_eltwise_desc_t op;
    dnnl_alg_kind_t relu = dnnl_eltwise_relu_use_dst_for_bwd;
    net_good(net, dnnl_eltwise_forward_desc_init(&op, dnnl_forward_training, relu,
                                                 net_description(dst), 0, 0));
    dnnl_primitive_desc_t hint = net_describe(net, &op, NULL, NULL);
    net_good(net, dnnl_eltwise_backward_desc_init(&op, relu, net_description(diff),
                                                  net_description(dst), 0, 0));
    dnnl_primitive_desc_t pd = net_describe(net, &op, NULL, hint);
    dnnl_primitive_desc_destroy(hint);
    return pd;
}

/* In place: passes no gradient where `dst` is not positive. */
static dnnl_memory_t relu_backward(struct net *net, const char *name, dnnl_memory_t dst,
                                   dnnl_memory_t diff) {
    if (net->status != dnnl_success)
        return NULL;
    diff = net_as_wanted(net, &net->backward, diff, net_description(dst), name);
    if (net->status != dnnl_success)
        return NULL;
    dnnl_primitive_desc_t pd = describe_relu(net, dst, diff);
    struct step *s = net_add_step(net, &net->backward, pd, name, "relu backward");
    net_add_arg(s, DNNL_ARG_DST, dst, false);
    net_add_arg(s, DNNL_ARG_DIFF_DST, diff, false);
    net_add_arg(s, DNNL_ARG_DIFF_SRC, diff, true);
    dnnl_primitive_desc_destroy(pd);
    return diff;
}

/* ---- a layer ---- */

void net_layer_forward(struct net *net, struct layer *l, bool relu) {
    if (net->status != dnnl_success)
        return;
    if (l->plan->kind == NET_POOL)
        pool_forward(net, l);
    else
        weighted_forward(net, l, relu);
}

dnnl_memory_t net_layer_backward(struct net *net, struct layer *l, dnnl_memory_t diff_dst) {
    if (net->status != dnnl_success)
        return NULL;
    if (l->plan->kind == NET_POOL)
        return pool_backward(net, l, diff_dst);
    back_to_weights(net, l, diff_dst);
    if (!l->relu)
        return NULL;
    if (l->before->plan->kind == NET_POOL)
        return back_to_data(net, l, diff_dst);
    return relu_backward(net, l->relu, l->before->dst, back_to_data(net, l, diff_dst));
}
