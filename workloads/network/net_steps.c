/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "workloads/network/net_build.h"

bool net_good(struct net *net, dnnl_status_t status) {
    if (net->status == dnnl_success)
        net->status = status;
    return net->status == dnnl_success;
}

/* ---- memories ---- */

const dnnl_memory_desc_t *net_description(dnnl_memory_t memory) {
    const dnnl_memory_desc_t *md = NULL;
    dnnl_memory_get_memory_desc(memory, &md);
    return md;
}

dnnl_memory_desc_t net_plain(struct net *net, int n_dims, const dnnl_dim_t *dims) {
    static const dnnl_format_tag_t tags[] = {dnnl_format_tag_undef, dnnl_a, dnnl_ab,
                                             dnnl_format_tag_undef, dnnl_abcd};
    dnnl_memory_desc_t md = {0};
    dnnl_dims_t all = {0};
    memcpy(all, dims, (size_t)n_dims * sizeof *dims);
    net_good(net, dnnl_memory_desc_init_by_tag(&md, n_dims, all, dnnl_f32, tags[n_dims]));
    return md;
}

dnnl_memory_desc_t net_any(struct net *net, const dnnl_memory_desc_t *like) {
    dnnl_memory_desc_t md = {0};
    net_good(net, dnnl_memory_desc_init_by_tag(&md, like->ndims, like->dims, dnnl_f32,
                                               dnnl_format_tag_any));
    return md;
}

dnnl_memory_t net_memory(struct net *net, const dnnl_memory_desc_t *md, void *data) {
    dnnl_memory_t memory = NULL;
    if (net->status != dnnl_success)
        return NULL;
    if (net->n_memories == NET_MEMORIES_MAX)
        net_good(net, dnnl_out_of_memory);
    else if (net_good(net, dnnl_memory_create(&memory, md, net->engine, data)))
        net->memories[net->n_memories++] = memory;
    return memory;
}

void *net_data(struct net *net, dnnl_memory_t memory) {
    void *data = NULL;
    net_good(net, dnnl_memory_get_data_handle(memory, &data));
    return data;
}

size_t net_inner(const dnnl_memory_desc_t *md) {
    const dnnl_blocking_desc_t *b = &md->format_desc.blocking;
    bool blocked = md->format_kind == dnnl_blocked && b->inner_nblks > 0;
    return blocked ? (size_t)b->inner_blks[0] : 1;
}

/* ---- primitives ---- */

dnnl_primitive_attr_t net_with_relu(struct net *net, bool relu) {
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    if (!net_good(net, dnnl_primitive_attr_create(&attr)) || !relu)
        return attr;
    if (net_good(net, dnnl_post_ops_create(&ops)) &&
        net_good(net, dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0)))
        net_good(net, dnnl_primitive_attr_set_post_ops(attr, ops));
    dnnl_post_ops_destroy(ops);
    return attr;
}

dnnl_primitive_desc_t net_describe(struct net *net, const void *op, dnnl_primitive_attr_t attr,
                                   dnnl_primitive_desc_t hint) {
    dnnl_primitive_desc_t pd = NULL;
    if (net->status == dnnl_success)
        net_good(net, dnnl_primitive_desc_create(&pd, op, attr, net->engine, hint));
    return pd;
}

dnnl_primitive_desc_t net_describe_fast(struct net *net, const void *op, dnnl_primitive_attr_t attr,
                                        dnnl_primitive_desc_t hint) {
    dnnl_primitive_desc_t pd = NULL;
    const char *how = "";
    if (net->status != dnnl_success ||
        dnnl_primitive_desc_create(&pd, op, attr, net->engine, hint) != dnnl_success)
        return NULL;
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &how);
    if (strncmp(how, "jit", 3) == 0)
        return pd;
    dnnl_primitive_desc_destroy(pd);
    return NULL;
}

const dnnl_memory_desc_t *net_asked(dnnl_primitive_desc_t pd, dnnl_query_t what) {
    return dnnl_primitive_desc_query_md(pd, what, 0);
}

/* ---- steps ---- */

struct step *net_add_step(struct net *net, struct steps *steps, dnnl_primitive_desc_t pd,
                          const char *layer, const char *what) {
    static struct step nowhere;
    if (net->status == dnnl_success && steps->n == NET_STEPS_MAX)
        net_good(net, dnnl_out_of_memory);
    if (net->status != dnnl_success)
        return &nowhere;
    struct step *s = &steps->step[steps->n];
    *s = (struct step){.primitive = NULL};
    if (pd && !net_good(net, dnnl_primitive_create(&s->primitive, pd)))
        return &nowhere;
    steps->n++;
    snprintf(s->name, sizeof s->name, "%s %s", layer, what);
    return s;
}

void net_add_arg(struct step *s, int arg, dnnl_memory_t memory, bool output) {
    if (!memory || s->n_args == NET_ARGS_MAX)
        return;
    s->args[s->n_args++] = (dnnl_exec_arg_t){arg, memory};
    if (output)
        s->bytes += dnnl_memory_desc_get_size(net_description(memory));
}

void net_add_reorder(struct net *net, struct steps *steps, dnnl_memory_t from, dnnl_memory_t to,
                     const char *layer) {
    dnnl_primitive_desc_t pd = NULL;
    if (net->status != dnnl_success ||
        !net_good(net, dnnl_reorder_primitive_desc_create(&pd, net_description(from), net->engine,
                                                          net_description(to), net->engine, NULL)))
        return;
    struct step *s = net_add_step(net, steps, pd, layer, "reorder");
    net_add_arg(s, DNNL_ARG_FROM, from, false);
    net_add_arg(s, DNNL_ARG_TO, to, true);
    dnnl_primitive_desc_destroy(pd);
}

dnnl_memory_t net_as_wanted(struct net *net, struct steps *steps, dnnl_memory_t memory,
                            const dnnl_memory_desc_t *wanted, const char *layer) {
    if (net->status != dnnl_success || dnnl_memory_desc_equal(net_description(memory), wanted))
        return memory;
    dnnl_memory_t other = net_memory(net, wanted, DNNL_MEMORY_ALLOCATE);
    if (other)
        net_add_reorder(net, steps, memory, other, layer);
    return other;
}

dnnl_memory_t net_output_like(struct net *net, dnnl_memory_t final, const dnnl_memory_desc_t *md) {
    if (net->status != dnnl_success || dnnl_memory_desc_equal(net_description(final), md))
        return final;
    return net_memory(net, md, DNNL_MEMORY_ALLOCATE);
}
