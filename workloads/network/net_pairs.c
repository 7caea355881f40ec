/* SPDX-License-Identifier: MIT */
/*
 * A convolution with at most 8 output channels, where oneDNN's vectors have 16: half of each
 * product or more would be padding. Two output rows are computed as one with twice the channels, by
 * a kernel that is one row higher and moves two rows at a time. The weights of the lower row are
 * those of the upper one, one row further down. The remaining products are wasted, a sixth for a
 * kernel of 5 rows. The gradient of the input is such a convolution, too: of the output's gradient
 * with the turned kernel.
 */
#include "workloads/network/net_build.h"

static const dnnl_dims_t two_rows = {2, 1};

/* l->forward is oneDNN's choice without this. */
static bool vectors_are_wide(const struct layer *l) {
    return l->plan->kind == NET_CONV &&
           net_inner(net_asked(l->forward, dnnl_query_dst_md)) == NET_PAIR_CHANNELS;
}

static dnnl_memory_desc_t tensor(struct net *net, dnnl_dim_t channels, dnnl_dim_t rows,
                                 dnnl_dim_t columns) {
    return net_plain(net, 4, (dnnl_dim_t[]){(dnnl_dim_t)net->batch, channels, rows, columns});
}

static dnnl_memory_desc_t blocked(struct net *net, const dnnl_memory_desc_t *like) {
    dnnl_memory_desc_t md = *like;
    net_good(net,
             dnnl_memory_desc_init_by_tag(&md, like->ndims, like->dims, dnnl_f32, dnnl_aBcd16b));
    return md;
}

static dnnl_memory_desc_t high_kernel(struct net *net, dnnl_dim_t channels, dnnl_dim_t kernel) {
    return net_plain(net, 4, (dnnl_dim_t[]){NET_PAIR_CHANNELS, channels, kernel + 1, kernel});
}

/* ---- forward ---- */

static dnnl_primitive_desc_t describe_pairs(struct net *net, const struct layer *l, bool relu) {
    dnnl_dim_t rows = l->part.out_rows, padding = l->plan->padding;
    dnnl_dims_t around = {padding, padding};
    dnnl_memory_desc_t src = net_any(net, net_description(l->src));
    dnnl_memory_desc_t plain = tensor(net, NET_PAIR_CHANNELS, rows / 2, rows);
    dnnl_memory_desc_t kernel = high_kernel(net, l->part.in_channels, l->plan->kernel);
    dnnl_memory_desc_t weights = net_any(net, &kernel), dst = blocked(net, &plain);
    dnnl_memory_desc_t biases = net_plain(net, 1, (dnnl_dim_t[]){NET_PAIR_CHANNELS});
    dnnl_convolution_desc_t op;
    net_good(net, dnnl_convolution_forward_desc_init(&op, dnnl_forward_training,
                                                     dnnl_convolution_direct, &src, &weights,
                                                     &biases, &dst, two_rows, around, around));
    dnnl_primitive_attr_t attr = net_with_relu(net, relu);
    dnnl_primitive_desc_t pd = net_describe_fast(net, &op, attr, NULL);
    dnnl_primitive_attr_destroy(attr);
    return pd;
}

static dnnl_primitive_desc_t describe_pairs_weights(struct net *net, const struct layer *l,
                                                    dnnl_primitive_desc_t forward) {
    dnnl_dims_t around = {l->plan->padding, l->plan->padding};
    dnnl_memory_desc_t kernel = high_kernel(net, l->part.in_channels, l->plan->kernel);
    dnnl_memory_desc_t src = net_any(net, net_description(l->src));
    dnnl_memory_desc_t weights = net_any(net, &kernel);
    dnnl_memory_desc_t biases = net_plain(net, 1, (dnnl_dim_t[]){NET_PAIR_CHANNELS});
    dnnl_convolution_desc_t op;
    net_good(net, dnnl_convolution_backward_weights_desc_init(
                      &op, dnnl_convolution_direct, &src, &weights, &biases,
                      net_asked(forward, dnnl_query_dst_md), two_rows, around, around));
    return net_describe_fast(net, &op, NULL, forward);
}

/* Forward and backward, or neither. */
static bool describe_both(struct net *net, struct layer *l, bool relu) {
    dnnl_primitive_desc_t forward = describe_pairs(net, l, relu);
    dnnl_primitive_desc_t weights = forward ? describe_pairs_weights(net, l, forward) : NULL;
    dnnl_primitive_desc_destroy(weights ? l->forward : forward);
    if (!weights)
        return false;
    dnnl_primitive_desc_destroy(weights);
    l->forward = forward;
    l->pairs = true;
    return true;
}

/* relu: another layer follows. */
bool net_pairs_forward(struct net *net, struct layer *l, bool relu) {
    if (!relu || (l + 1)->plan->kind != NET_POOL || !vectors_are_wide(l) ||
        l->part.out_channels > NET_PAIR_STEP || l->part.out_rows % 2 ||
        !describe_both(net, l, relu))
        return false;
    struct steps *steps = &net->forward;
    const char *name = l->plan->name;
    dnnl_memory_desc_t kernel = high_kernel(net, l->part.in_channels, l->plan->kernel);
    dnnl_memory_desc_t bias = net_plain(net, 1, (dnnl_dim_t[]){NET_PAIR_CHANNELS});
    struct move m = net_move_of(l, MOVE_PAIR);
    m.from = l->weights;
    m.from_bias = l->biases;
    m.to = net_pool_memory(net, &kernel);
    m.to_bias = net_pool_memory(net, &bias);
    net_add_move(net, steps, l, &m);
    l->src = net_as_wanted(net, steps, l->src, net_asked(l->forward, dnnl_query_src_md), name);
    l->dst = net_memory(net, net_asked(l->forward, dnnl_query_dst_md), DNNL_MEMORY_ALLOCATE);
    dnnl_memory_t weights =
        net_as_wanted(net, steps, m.to, net_asked(l->forward, dnnl_query_weights_md), name);
    struct step *s = net_add_step(net, steps, l->forward, name, "forward");
    net_add_arg(s, DNNL_ARG_SRC, l->src, false);
    net_add_arg(s, DNNL_ARG_WEIGHTS, weights, false);
    net_add_arg(s, DNNL_ARG_BIAS, m.to_bias, false);
    net_add_arg(s, DNNL_ARG_DST, l->dst, true);
    return true;
}

/* ---- backward ---- */

bool net_pairs_weights(struct net *net, struct layer *l, dnnl_memory_t diff_dst) {
    if (!l->pairs)
        return false;
    struct steps *steps = &net->backward;
    const char *name = l->plan->name;
    dnnl_primitive_desc_t pd = describe_pairs_weights(net, l, l->forward);
    if (!pd)
        return true;
    dnnl_memory_desc_t kernel = high_kernel(net, l->part.in_channels, l->plan->kernel);
    dnnl_memory_desc_t bias = net_plain(net, 1, (dnnl_dim_t[]){NET_PAIR_CHANNELS});
    struct move m = net_move_of(l, MOVE_FOLD);
    m.from = net_pool_memory(net, &kernel);
    m.from_bias = net_pool_memory(net, &bias);
    m.to = l->diff_weights;
    m.to_bias = l->diff_biases;
    dnnl_memory_t src = net_as_wanted(net, steps, l->src, net_asked(pd, dnnl_query_src_md), name);
    dnnl_memory_t weights = net_output_like(net, m.from, net_asked(pd, dnnl_query_diff_weights_md));
    struct step *s = net_add_step(net, steps, pd, name, "backward weights");
    net_add_arg(s, DNNL_ARG_SRC, src, false);
    net_add_arg(s, DNNL_ARG_DIFF_DST, diff_dst, false);
    net_add_arg(s, DNNL_ARG_DIFF_WEIGHTS, weights, true);
    net_add_arg(s, DNNL_ARG_DIFF_BIAS, m.from_bias, true);
    if (weights != m.from)
        net_add_reorder(net, steps, weights, m.from, name);
    net_add_move(net, steps, l, &m);
    dnnl_primitive_desc_destroy(pd);
    return true;
}

/* A forward convolution of the output's gradient. */
static dnnl_primitive_desc_t describe_pairs_data(struct net *net, const struct layer *l,
                                                 dnnl_memory_t diff_dst) {
    dnnl_dim_t rows = l->part.in_rows, padding = l->plan->kernel - 1 - l->plan->padding;
    dnnl_dims_t around = {padding, padding};
    dnnl_memory_desc_t plain = tensor(net, NET_PAIR_CHANNELS, rows / 2, rows);
    dnnl_memory_desc_t kernel = high_kernel(net, l->part.out_channels, l->plan->kernel);
    dnnl_memory_desc_t src = net_any(net, net_description(diff_dst));
    dnnl_memory_desc_t weights = net_any(net, &kernel), dst = blocked(net, &plain);
    dnnl_convolution_desc_t op;
    net_good(net, dnnl_convolution_forward_desc_init(&op, dnnl_forward_training,
                                                     dnnl_convolution_direct, &src, &weights, NULL,
                                                     &dst, two_rows, around, around));
    return net_describe_fast(net, &op, NULL, NULL);
}

bool net_pairs_data(struct net *net, struct layer *l, dnnl_memory_t diff_dst, dnnl_memory_t *ret) {
    if (net->status != dnnl_success || !vectors_are_wide(l) || !l->before ||
        !l->before->pool.in_pairs || l->part.in_rows % 2 || l->plan->padding >= l->plan->kernel)
        return false;
    struct steps *steps = &net->backward;
    const char *name = l->plan->name;
    dnnl_primitive_desc_t pd = describe_pairs_data(net, l, diff_dst);
    if (!pd)
        return false;
    dnnl_memory_desc_t kernel = high_kernel(net, l->part.out_channels, l->plan->kernel);
    struct move m = net_move_of(l, MOVE_PAIR_TURNED);
    m.from = l->weights;
    m.to = net_pool_memory(net, &kernel);
    net_add_move(net, steps, l, &m);
    dnnl_memory_t weights =
        net_as_wanted(net, steps, m.to, net_asked(pd, dnnl_query_weights_md), name);
    dnnl_memory_t diff =
        net_as_wanted(net, steps, diff_dst, net_asked(pd, dnnl_query_src_md), name);
    *ret = net_memory(net, net_asked(pd, dnnl_query_dst_md), DNNL_MEMORY_ALLOCATE);
    struct step *s = net_add_step(net, steps, pd, name, "backward data");
    net_add_arg(s, DNNL_ARG_SRC, diff, false);
    net_add_arg(s, DNNL_ARG_WEIGHTS, weights, false);
    net_add_arg(s, DNNL_ARG_DST, *ret, true);
    dnnl_primitive_desc_destroy(pd);
    return true;
}
