/* SPDX-License-Identifier: MIT */
/*
 * Inside of a net: two lists of steps, forward and backward. Each step is a oneDNN primitive with
 * its arguments, or own code for a pooling or a move of weights. Every primitive chooses its best
 * layout, and where two layouts differ a step between them reorders; so nothing here depends on a
 * machine's layouts. The first failed status stays in the net, and all later calls do nothing.
 */
#ifndef CHOKEPOINT_WORKLOADS_NETWORK_NET_BUILD_H
#define CHOKEPOINT_WORKLOADS_NETWORK_NET_BUILD_H

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

#include "workloads/network/net.h"

#define NET_MEMORIES_MAX 192
#define NET_STEPS_MAX 96
#define NET_ARGS_MAX 6

/* Two rows of a tensor with at most NET_PAIR_STEP channels, side by side in the channels of one
 * row: the channels of the lower row begin at NET_PAIR_STEP. For vectors of 16 floats, see
 * net_pairs.c. */
#define NET_PAIR_STEP 8
#define NET_PAIR_CHANNELS 16

/* planes x in_rows x in_rows x inner floats; the first `used` of inner are channels. in_pairs,
 * out_pairs: rows are paired. */
struct pool {
    bool backward;
    dnnl_format_tag_t tag; /* layout of out */
    size_t planes, in_rows, rows, inner, used;
    bool in_pairs, out_pairs;
    dnnl_memory_t in, out, which; /* which: index of the largest of four; 4: none was positive */
};

/* Changes the shape of weights for a primitive, or back. */
struct move {
    enum { MOVE_PAIR, MOVE_PAIR_TURNED, MOVE_FOLD, MOVE_SLICE } what;
    size_t outs, ins, kernel;                   /* of the plain weights */
    size_t begin, n;                            /* SLICE: this range of ins */
    dnnl_memory_t from, from_bias, to, to_bias; /* biases: PAIR and FOLD */
};

struct step {
    dnnl_primitive_t primitive;
    enum { STEP_PRIMITIVE, STEP_POOL, STEP_MOVE } kind;
    union {
        struct pool pool;
        struct move move;
    };
    int n_args;
    dnnl_exec_arg_t args[NET_ARGS_MAX];
    char name[40];
    size_t bytes; /* size of its output */
};

struct steps {
    int n;
    struct step step[NET_STEPS_MAX];
};

struct layer {
    const struct net_layer *plan;
    struct net_part part;
    const struct layer *before;              /* NULL: its input is the images */
    const char *relu;                        /* layer whose ReLU comes before it; NULL: none */
    dnnl_memory_t src, dst;                  /* input and output forward */
    struct pool pool;                        /* its pooling forward */
    bool pairs;                              /* dst has paired rows */
    dnnl_primitive_desc_t forward;           /* kept for the backward steps */
    dnnl_memory_desc_t shape, bias_shape;    /* shapes of its plain weights */
    dnnl_memory_t weights, biases;           /* views of the vector of weights */
    dnnl_memory_t diff_weights, diff_biases; /* views of the gradient */
};

/* A tensor; its memory knows its description. */
struct net {
    size_t batch;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_t memories[NET_MEMORIES_MAX]; /* all memories, to be freed */
    int n_memories;
    dnnl_status_t status; /* the first failed status */
    struct steps forward, backward;
    int n_layers;
    size_t classes;
    struct layer layers[NET_LAYERS_MAX];
    dnnl_memory_t images, logits, diff_logits;
    float *logits_data, *diff_data;
    net_tell *tell;
    void *tell_ctx;
    int64_t (*now_ns)(void);
};

/* Stores the first failure. True while there is none. */
bool net_good(struct net *net, dnnl_status_t status);

/* ---- net_steps.c: memories and steps ---- */

const dnnl_memory_desc_t *net_description(dnnl_memory_t memory);
dnnl_memory_desc_t net_plain(struct net *net, int n_dims, const dnnl_dim_t *dims);
dnnl_memory_desc_t net_any(struct net *net, const dnnl_memory_desc_t *like);
/* data NULL: none yet; DNNL_MEMORY_ALLOCATE: the library allocates. */
dnnl_memory_t net_memory(struct net *net, const dnnl_memory_desc_t *md, void *data);

/* pd NULL: the caller fills in the kind, and the pool or move. */
struct step *net_add_step(struct net *net, struct steps *steps, dnnl_primitive_desc_t pd,
                          const char *layer, const char *what);
void net_add_arg(struct step *step, int arg, dnnl_memory_t memory, bool output);
void net_add_reorder(struct net *net, struct steps *steps, dnnl_memory_t from, dnnl_memory_t to,
                     const char *layer);
/* The memory in the wanted layout: itself, or another one behind a step that reorders. */
dnnl_memory_t net_as_wanted(struct net *net, struct steps *steps, dnnl_memory_t memory,
                            const dnnl_memory_desc_t *wanted, const char *layer);
/* The memory into which a primitive writes a gradient: the wanted one, or another one that a later
 * step reorders. */
dnnl_memory_t net_output_like(struct net *net, dnnl_memory_t final, const dnnl_memory_desc_t *md);

void *net_data(struct net *net, dnnl_memory_t memory);

dnnl_primitive_attr_t net_with_relu(struct net *net, bool relu);
dnnl_primitive_desc_t net_describe(struct net *net, const void *op, dnnl_primitive_attr_t attr,
                                   dnnl_primitive_desc_t hint);
/* NULL, without a failure of the net, if oneDNN has no fast implementation. */
dnnl_primitive_desc_t net_describe_fast(struct net *net, const void *op, dnnl_primitive_attr_t attr,
                                        dnnl_primitive_desc_t hint);
const dnnl_memory_desc_t *net_asked(dnnl_primitive_desc_t pd, dnnl_query_t what);
size_t net_inner(const dnnl_memory_desc_t *md); /* channels side by side, if a fixed number; 1 */

/* ---- net_pool.c ---- */

/* false for an unknown layout. */
bool net_pool_shape(struct net *net, const dnnl_memory_desc_t *md, struct pool *ret_pool);
void net_pool_shape_of_pairs(struct pool *ret_pool, const dnnl_memory_desc_t *md);
dnnl_memory_t net_pool_memory(struct net *net, const dnnl_memory_desc_t *md); /* zeroed */
void net_pool_run(struct net *net, const struct pool *pool);

/* ---- net_pairs.c, net_slices.c: convolutions of few channels. Each returns false, and has done
 * nothing, if it does not apply. l->forward is, or will be, oneDNN's choice for the plain layer.
 * ---- */

bool net_pairs_forward(struct net *net, struct layer *layer, bool relu);
bool net_pairs_weights(struct net *net, struct layer *layer, dnnl_memory_t diff_dst);
bool net_pairs_data(struct net *net, struct layer *layer, dnnl_memory_t diff_dst,
                    dnnl_memory_t *ret_diff_src);
bool net_slices_weights(struct net *net, const struct layer *layer, dnnl_memory_t diff_dst,
                        dnnl_primitive_desc_t whole);

/* ---- net_move.c ---- */

struct move net_move_of(const struct layer *layer, int what); /* the caller owns from and to */
void net_add_move(struct net *net, struct steps *steps, const struct layer *layer,
                  const struct move *move);
void net_move_run(struct net *net, const struct move *move);

/* ---- net_layers.c: the steps of a layer ---- */

/* relu: the layer is followed by one. */
void net_layer_forward(struct net *net, struct layer *layer, bool relu);
/* The gradient of the layer's input, before the ReLU in front; NULL at the first layer. */
dnnl_memory_t net_layer_backward(struct net *net, struct layer *layer, dnnl_memory_t diff_dst);

#endif
