/* SPDX-License-Identifier: MIT */
/*
 * Checks the product. Its trace is known without it: the sum of A(i,j) B(j,i) over all elements,
 * where both blocks are at the same rank. All of C is compared with A and B by a vector x: C x = A
 * (B x), which costs three passes over the matrices where the product costs n (Freivalds,
 * Probabilistic machines can use less running time, 1977). All sums are exact, so they must be
 * equal.
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/mark/chokepoint.h"
#include "workloads/matmul/element.h"
#include "workloads/matmul/product.h"

/* From 1 to 16, so that an error in one element always shows. */
static void fill_x(double *x, uint32_t n, uint64_t seed) {
    for (uint32_t i = 0; i < n; i++)
        x[i] = element_at(seed, 2, 0, i) + 9;
}

/* y += M x over the blocks of this rank. */
static void times_vector(const struct product *p, char *matrix, const double *x, double *y) {
    const struct grid *g = &p->grid;
    for (int i = 0; i < g->blocks; i++)
        for (int j = grid_first(g, p->group->rank, i); j < g->blocks; j += g->n_ranks)
            element_times_vector(product_block(p, matrix, i, j), p->options->wide,
                                 grid_length(g, i), grid_length(g, j), x + grid_begin(g, j),
                                 y + grid_begin(g, i));
}

/* The first wrong row of C, or the size. Collective. */
static uint32_t first_wrong_row(struct product *p, double *x, double *y, double *z) {
    uint32_t n = p->grid.size, i = 0;
    fill_x(x, n, p->options->seed);
    times_vector(p, p->b, x, y);
    rank_group_sum(p->group, y, (int)n);
    times_vector(p, p->c, x, z);
    for (i = 0; i < n; i++)
        z[i] = -z[i];
    times_vector(p, p->a, y, z);
    rank_group_sum(p->group, z, (int)n);
    for (i = 0; i < n && z[i] == 0; i++)
        ;
    return i;
}

static int check_all(struct product *p) {
    uint32_t n = p->grid.size, wrong = n;
    double *x = calloc(3 * (size_t)n, sizeof *x);
    bool able = rank_group_is_well(p->group, x ? 0 : -ENOMEM);
    if (able)
        wrong = first_wrong_row(p, x, x + n, x + 2 * (size_t)n);
    else if (p->group->rank == 0)
        rank_group_say(p->group, "not enough memory for --check");
    if (wrong < n && p->group->rank == 0)
        rank_group_say(p->group, "the product is wrong: row %u of C is not that of A B", wrong);
    free(x);
    p->outcome.checked = able && wrong == n;
    return p->outcome.checked ? 0 : -EBADMSG;
}

static double expected_trace(const struct product *p) {
    const struct grid *g = &p->grid;
    double sum = 0;
    for (int i = 0; i < g->blocks; i++)
        for (int j = grid_first(g, p->group->rank, i); j < g->blocks; j += g->n_ranks)
            sum +=
                element_trace_of_product(product_block(p, p->a, i, j), product_block(p, p->b, j, i),
                                         p->options->wide, grid_length(g, i), grid_length(g, j));
    return sum;
}

static double own_trace(const struct product *p) {
    const struct grid *g = &p->grid;
    double sum = 0;
    if (p->options->trace_only)
        return p->outcome.trace;
    for (int i = 0; i < g->blocks; i++)
        if (grid_owner(g, i, i) == p->group->rank)
            sum += element_trace(product_block(p, p->c, i, i), p->options->wide, grid_length(g, i));
    return sum;
}

int product_check(struct product *p) {
    if (!p->outcome.whole)
        return 0;
    chokepoint_phase("checking");
    double sums[] = {own_trace(p), expected_trace(p)};
    rank_group_sum(p->group, sums, 2);
    p->outcome.trace = sums[0];
    p->outcome.expected_trace = sums[1];
    chokepoint_value("trace", sums[0]);
    int r = sums[0] == sums[1] ? 0 : -EBADMSG;
    if (r < 0 && p->group->rank == 0)
        rank_group_say(p->group, "the product is wrong: its trace is %.0f, that of A B is %.0f",
                       sums[0], sums[1]);
    if (r == 0 && p->options->check)
        r = check_all(p);
    chokepoint_phase(NULL);
    return r;
}
