/* SPDX-License-Identifier: MIT */
/*
 * Pooling, the largest of 2 x 2, is own code: oneDNN's (2.6) took 37 % of an iteration of LeNet,
 * since it also computes channels that are only padding, and writes gradients twice. Every layout
 * that the convolutions prefer is planes of rows x rows x inner floats, inner channels side by
 * side; others are reordered first. The index of the largest of the four, the first if equal, is
 * stored as wide as a float, so that compilers can vectorize everything.
 */
#include <string.h>

#include "workloads/network/net_build.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A row of windows: floats from a column to the next, and from a window's upper row to its
 * lower. */
struct row {
    size_t n, used, in_step, lower, out_step, which_step;
};

static ALWAYS_INLINE void forward_row(struct row r, const float *restrict in, float *restrict out,
                                      int32_t *restrict which) {
    const size_t at[] = {0, r.in_step, r.lower, r.lower + r.in_step};
    for (size_t x = 0; x < r.n; x++)
        for (size_t c = 0; c < r.used; c++) {
            const float *from = in + 2 * x * r.in_step + c;
            float most = from[0];
            int32_t k = 0;
            k = from[at[1]] > most ? 1 : k;
            most = from[at[1]] > most ? from[at[1]] : most;
            k = from[at[2]] > most ? 2 : k;
            most = from[at[2]] > most ? from[at[2]] : most;
            k = from[at[3]] > most ? 3 : k;
            most = from[at[3]] > most ? from[at[3]] : most;
            out[x * r.out_step + c] = most;
            which[x * r.which_step + c] = most > 0 ? k : 4;
        }
}

static ALWAYS_INLINE void backward_row(struct row r, float *restrict in, const float *restrict out,
                                       const int32_t *restrict which) {
    const size_t at[] = {0, r.in_step, r.lower, r.lower + r.in_step};
    for (size_t x = 0; x < r.n; x++)
        for (size_t c = 0; c < r.used; c++) {
            float *to = in + 2 * x * r.in_step + c, diff = out[x * r.out_step + c];
            int32_t k = which[x * r.which_step + c];
            to[at[0]] = k == 0 ? diff : 0;
            to[at[1]] = k == 1 ? diff : 0;
            to[at[2]] = k == 2 ? diff : 0;
            to[at[3]] = k == 3 ? diff : 0;
        }
}

static ALWAYS_INLINE void any_row(bool backward, struct row r, float *in, float *out,
                                  int32_t *which) {
    if (backward)
        backward_row(r, in, out, which);
    else
        forward_row(r, in, out, which);
}

/* The usual sizes again, as constants for the compiler. */
static ALWAYS_INLINE void pool_row(bool backward, struct row r, float *in, float *out,
                                   int32_t *which) {
    bool sixteen = r.in_step == 16 && r.out_step == 16 && r.which_step == 16;
    struct row known = r;
    if (r.used == 8 && r.in_step == 16 && r.lower == 8 && r.which_step == 8) {
        known.used = known.which_step = known.lower = 8;
        known.in_step = 16;
        any_row(backward, known, in, out, which);
    } else if (sixteen && (r.used == 8 || r.used == 16)) {
        known.in_step = known.out_step = known.which_step = 16;
        known.used = 8;
        if (r.used == 8)
            any_row(backward, known, in, out, which);
        known.used = 16;
        if (r.used == 16)
            any_row(backward, known, in, out, which);
    } else {
        any_row(backward, r, in, out, which);
    }
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void pool_row_avx2(bool backward, struct row r, float *in,
                                                          float *out, int32_t *which) {
    if (backward)
        pool_row(true, r, in, out, which);
    else
        pool_row(false, r, in, out, which);
}
#endif

static void pool_row_best(bool backward, struct row r, float *in, float *out, int32_t *which) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        pool_row_avx2(backward, r, in, out, which);
        return;
    }
#endif
    pool_row(backward, r, in, out, which);
}

/* Start of a row in a plane. */
static size_t row_at(bool pairs, size_t inner, size_t columns, size_t row) {
    return pairs ? row / 2 * columns * NET_PAIR_CHANNELS + row % 2 * NET_PAIR_STEP
                 : row * columns * inner;
}

/* A last row or column outside all windows stays 0 from net_pool_memory(). */
void net_pool_run(struct net *net, const struct pool *p) {
    float *in = net_data(net, p->in), *out = net_data(net, p->out);
    int32_t *which = net_data(net, p->which);
    size_t in_plane = row_at(p->in_pairs, p->inner, p->in_rows, p->in_rows);
    size_t out_plane = row_at(p->out_pairs, p->inner, p->rows, p->rows);
    struct row row = {.n = p->rows,
                      .used = p->used,
                      .in_step = p->in_pairs ? NET_PAIR_CHANNELS : p->inner,
                      .lower = row_at(p->in_pairs, p->inner, p->in_rows, 1),
                      .out_step = p->out_pairs ? NET_PAIR_CHANNELS : p->inner,
                      .which_step = p->inner};
    for (size_t plane = 0; plane < p->planes && net->status == dnnl_success; plane++)
        for (size_t y = 0; y < p->rows; y++)
            pool_row_best(p->backward, row,
                          in + plane * in_plane + row_at(p->in_pairs, p->inner, p->in_rows, 2 * y),
                          out + plane * out_plane + row_at(p->out_pairs, p->inner, p->rows, y),
                          which + (plane * p->rows + y) * p->rows * p->inner);
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

/* Computes all channels; those that are only padding are zeros. */
void net_pool_shape_of_pairs(struct pool *ret, const dnnl_memory_desc_t *md) {
    size_t in_rows = (size_t)md->dims[3];
    *ret = (struct pool){.tag = dnnl_aBcd8b,
                         .planes = (size_t)md->dims[0],
                         .in_rows = in_rows,
                         .rows = in_rows / 2,
                         .inner = NET_PAIR_STEP,
                         .used = NET_PAIR_STEP,
                         .in_pairs = true};
}

/* Zeroed once: padding must be 0 for oneDNN, and is not written again. */
dnnl_memory_t net_pool_memory(struct net *net, const dnnl_memory_desc_t *md) {
    dnnl_memory_t memory = net_memory(net, md, DNNL_MEMORY_ALLOCATE);
    void *data = memory ? net_data(net, memory) : NULL;
    if (data)
        memset(data, 0, dnnl_memory_desc_get_size(md));
    return memory;
}
