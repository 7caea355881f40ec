/* SPDX-License-Identifier: MIT */
/*
 * The gradient of a convolution's weights with 4 to 15 input channels: oneDNN 2.6 uses vectors of
 * 16 floats for up to 3 channels and for multiples of 16, and vectors of 8 for other numbers. So
 * three input channels are computed at a time.
 */
#include "workloads/network/net_build.h"

#define SLICE 3
#define WIDE 16

static const dnnl_dims_t one = {1, 1};

/* Also describes the forward pass, which oneDNN needs for the backward pass. */
static dnnl_primitive_desc_t describe_slice(struct net *net, const struct layer *l,
                                            dnnl_dim_t channels, const dnnl_memory_desc_t *diff_dst,
                                            bool biases) {
    dnnl_dims_t around = {l->plan->padding, l->plan->padding};
    dnnl_dim_t side = l->plan->kernel, rows = l->part.in_rows;
    dnnl_memory_desc_t src =
        net_plain(net, 4, (dnnl_dim_t[]){(dnnl_dim_t)net->batch, channels, rows, rows});
    dnnl_memory_desc_t plain =
        net_plain(net, 4, (dnnl_dim_t[]){l->part.out_channels, channels, side, side});
    dnnl_memory_desc_t weights = net_any(net, &plain);
    dnnl_convolution_desc_t forward, back;
    net_good(net, dnnl_convolution_forward_desc_init(&forward, dnnl_forward_training,
                                                     dnnl_convolution_direct, &src, &weights, NULL,
                                                     diff_dst, one, around, around));
    net_good(net, dnnl_convolution_backward_weights_desc_init(
                      &back, dnnl_convolution_direct, &src, &weights,
                      biases ? &l->bias_shape : NULL, diff_dst, one, around, around));
    dnnl_primitive_desc_t hint = net_describe_fast(net, &forward, NULL, NULL);
    dnnl_primitive_desc_t pd = hint ? net_describe_fast(net, &back, NULL, hint) : NULL;
    if (hint)
        dnnl_primitive_desc_destroy(hint);
    return pd;
}

static bool can_be_described(struct net *net, const struct layer *l, dnnl_dim_t channels,
                             const dnnl_memory_desc_t *diff_dst) {
    dnnl_primitive_desc_t pd = describe_slice(net, l, channels, diff_dst, true);
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    return pd != NULL;
}

/* Copies some channels of a plain tensor. */
static dnnl_memory_t pack(struct net *net, const struct layer *l, size_t begin, size_t n) {
    const dnnl_memory_desc_t *whole = net_description(l->src);
    dnnl_dims_t dims = {whole->dims[0], (dnnl_dim_t)n, whole->dims[2], whole->dims[3]};
    dnnl_dims_t at = {0, (dnnl_dim_t)begin};
    dnnl_memory_desc_t part, packed = net_plain(net, 4, dims);
    net_good(net, dnnl_memory_desc_init_submemory(&part, whole, dims, at));
    dnnl_memory_t from = net_memory(net, &part, net_data(net, l->src));
    dnnl_memory_t to = net_memory(net, &packed, DNNL_MEMORY_ALLOCATE);
    net_add_reorder(net, &net->backward, from, to, l->plan->name);
    return to;
}

static void add_slice(struct net *net, const struct layer *l, dnnl_memory_t diff_dst, size_t begin,
                      size_t n) {
    struct steps *steps = &net->backward;
    dnnl_dim_t side = l->plan->kernel;
    dnnl_memory_desc_t plain =
        net_plain(net, 4, (dnnl_dim_t[]){l->part.out_channels, (dnnl_dim_t)n, side, side});
    dnnl_primitive_desc_t pd =
        describe_slice(net, l, (dnnl_dim_t)n, net_description(diff_dst), begin == 0);
    if (!pd)
        return;
    struct move m = net_move_of(l, MOVE_SLICE);
    m.begin = begin;
    m.n = n;
    m.from = net_memory(net, &plain, DNNL_MEMORY_ALLOCATE);
    m.to = l->diff_weights;
    dnnl_memory_t src = pack(net, l, begin, n);
    dnnl_memory_t weights = net_output_like(net, m.from, net_asked(pd, dnnl_query_diff_weights_md));
    struct step *s = net_add_step(net, steps, pd, l->plan->name, "backward weights");
    net_add_arg(s, DNNL_ARG_SRC, src, false);
    net_add_arg(s, DNNL_ARG_DIFF_DST, diff_dst, false);
    net_add_arg(s, DNNL_ARG_DIFF_WEIGHTS, weights, true);
    if (begin == 0)
        net_add_arg(s, DNNL_ARG_DIFF_BIAS, l->diff_biases, true);
    if (weights != m.from)
        net_add_reorder(net, steps, weights, m.from, l->plan->name);
    net_add_move(net, steps, l, &m);
    dnnl_primitive_desc_destroy(pd);
}

bool net_slices_weights(struct net *net, const struct layer *l, dnnl_memory_t diff_dst,
                        dnnl_primitive_desc_t whole) {
    size_t channels = l->part.in_channels;
    if (net->status != dnnl_success || l->plan->kind != NET_CONV || !l->before ||
        net_inner(net_description(diff_dst)) != WIDE ||
        net_inner(net_asked(whole, dnnl_query_diff_dst_md)) == WIDE)
        return false;
    dnnl_memory_desc_t plain = net_plain(net, 4, net_description(l->src)->dims);
    if (channels <= SLICE || !dnnl_memory_desc_equal(net_description(l->src), &plain) ||
        !can_be_described(net, l, SLICE, net_description(diff_dst)) ||
        (channels % SLICE &&
         !can_be_described(net, l, (dnnl_dim_t)(channels % SLICE), net_description(diff_dst))))
        return false;
    for (size_t begin = 0; begin < channels; begin += SLICE)
        add_slice(net, l, diff_dst, begin, channels - begin < SLICE ? channels - begin : SLICE);
    return true;
}
