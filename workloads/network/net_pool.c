/* SPDX-License-Identifier: MIT */
/*
 * Pooling, the largest of 2 x 2, is done here and not by oneDNN, whose own (2.6) took 37 % of an
 * iteration of LeNet: it works on channels that are only padding, and writes gradients twice.
 * Every layout that the convolutions like is planes of rows x rows x inner floats, inner channels
 * side by side; others are reordered first. Which of the four was the largest, the first of equals,
 * is kept as a number as wide as a float, so that compilers can make vectors of all of it.
 */
#include <string.h>

#include "workloads/network/net_build.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE void forward_row(size_t used, size_t inner, size_t rows, size_t in_rows,
                                      const float *restrict in, float *restrict out,
                                      int32_t *restrict which) {
    const size_t at[] = {0, inner, in_rows * inner, (in_rows + 1) * inner};
    for (size_t x = 0; x < rows; x++)
        for (size_t c = 0; c < used; c++) {
            const float *from = in + 2 * x * inner + c;
            float most = from[0];
            int32_t k = 0;
            k = from[at[1]] > most ? 1 : k;
            most = from[at[1]] > most ? from[at[1]] : most;
            k = from[at[2]] > most ? 2 : k;
            most = from[at[2]] > most ? from[at[2]] : most;
            k = from[at[3]] > most ? 3 : k;
            most = from[at[3]] > most ? from[at[3]] : most;
            out[x * inner + c] = most;
            which[x * inner + c] = k;
        }
}

static ALWAYS_INLINE void backward_row(size_t used, size_t inner, size_t rows, size_t in_rows,
                                       float *restrict in, const float *restrict out,
                                       const int32_t *restrict which) {
    const size_t at[] = {0, inner, in_rows * inner, (in_rows + 1) * inner};
    for (size_t x = 0; x < rows; x++)
        for (size_t c = 0; c < used; c++) {
            float *to = in + 2 * x * inner + c, diff = out[x * inner + c];
            int32_t k = which[x * inner + c];
            to[at[0]] = k == 0 ? diff : 0;
            to[at[1]] = k == 1 ? diff : 0;
            to[at[2]] = k == 2 ? diff : 0;
            to[at[3]] = k == 3 ? diff : 0;
        }
}

/* Once more with numbers that the compiler knows, for the usual ones. */
static void pool_row(const struct pool *p, float *in, float *out, int32_t *which) {
    size_t rows = p->rows, in_rows = p->in_rows;
    if (p->backward && p->inner == 16 && p->used == 8)
        backward_row(8, 16, rows, in_rows, in, out, which);
    else if (p->backward && p->inner == 16 && p->used == 16)
        backward_row(16, 16, rows, in_rows, in, out, which);
    else if (p->backward)
        backward_row(p->used, p->inner, rows, in_rows, in, out, which);
    else if (p->inner == 16 && p->used == 8)
        forward_row(8, 16, rows, in_rows, in, out, which);
    else if (p->inner == 16 && p->used == 16)
        forward_row(16, 16, rows, in_rows, in, out, which);
    else
        forward_row(p->used, p->inner, rows, in_rows, in, out, which);
}

static void *data_of(struct net *net, dnnl_memory_t memory) {
    void *data = NULL;
    net_good(net, dnnl_memory_get_data_handle(memory, &data));
    return data;
}

/* A last row or column that is in no window stays 0, as net_pool() leaves it. */
void net_pool_run(struct net *net, const struct pool *p) {
    float *in = data_of(net, p->in), *out = data_of(net, p->out);
    int32_t *which = data_of(net, p->which);
    size_t in_row = p->in_rows * p->inner, out_row = p->rows * p->inner;
    for (size_t plane = 0; plane < p->planes && net->status == dnnl_success; plane++)
        for (size_t y = 0; y < p->rows; y++)
            pool_row(p, in + (plane * p->in_rows + 2 * y) * in_row,
                     out + (plane * p->rows + y) * out_row,
                     which + (plane * p->rows + y) * out_row);
}

/* ---- layouts ---- */

bool net_pool_shape(struct net *net, const dnnl_memory_desc_t *md, struct pool *ret) {
    static const struct {
        dnnl_format_tag_t tag;
        size_t inner; /* 0: all channels */
    } layouts[] = {{dnnl_aBcd16b, 16}, {dnnl_aBcd8b, 8}, {dnnl_acdb, 0}, {dnnl_abcd, 1}};
    size_t channels = (size_t)md->dims[1];
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        dnnl_memory_desc_t like = {0};
        net_good(net, dnnl_memory_desc_init_by_tag(&like, 4, md->dims, dnnl_f32, layouts[i].tag));
        if (!dnnl_memory_desc_equal(&like, md))
            continue;
        ret->tag = layouts[i].tag;
        ret->inner = layouts[i].inner ? layouts[i].inner : channels;
        ret->planes = (size_t)md->dims[0] * ((channels + ret->inner - 1) / ret->inner);
        ret->used = channels < ret->inner ? (channels + 3) / 4 * 4 : ret->inner;
        ret->in_rows = (size_t)md->dims[2];
        ret->rows = ret->in_rows / 2;
        return true;
    }
    return false;
}

/* Zeroed once: what is only padding has to be 0 for oneDNN, and is not written again. */
dnnl_memory_t net_pool_memory(struct net *net, const dnnl_memory_desc_t *md) {
    dnnl_memory_t memory = net_memory(net, md, DNNL_MEMORY_ALLOCATE);
    void *data = memory ? data_of(net, memory) : NULL;
    if (data)
        memset(data, 0, dnnl_memory_desc_get_size(md));
    return memory;
}
