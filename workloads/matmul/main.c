/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-matmul: a matrix product in blocks, the second program of R1, over MPI.
 *
 * The expected analysis, with N ranks and matrices of n x n floats in blocks of b: in each of n / b
 * rounds a rank computes 2 n^2 b / N flop and receives 8 n b (N - 1) / N bytes: n / (4 (N - 1))
 * flop a byte. With n = 8192 and N = 4 that is 680: a core of 50 GFLOP/s computes as long as a link
 * of 73 MB/s transfers. With slower links or more cores the limit is net-ingress of every rank;
 * with faster ones the CPU, one core a rank. There is no server, and no straggler by design.
 * --product trace is the reference program as it was: no transfer at all.
 *
 * Blocks are exchanged before a round is computed, never meanwhile, so that the cost of a link
 * shows and is not hidden behind the computation.
 */
#include <stdio.h>
#include <stdlib.h>

#include "workloads/matmul/blas.h"
#include "workloads/matmul/summary.h"

#define PROGRAM "chokepoint-matmul"

struct job {
    struct matmul_options options;
    struct product product;
};

static int begin(void *ctx, struct rank_group *group) {
    struct job *j = ctx;
    blas_set_threads(j->options.threads);
    return product_init(&j->product, &j->options, group);
}

static int run_product(void *ctx) {
    struct job *j = ctx;
    product_run(&j->product);
    return product_check(&j->product);
}

static int write_results(void *ctx, const void *accounts) {
    const struct product *p = &((struct job *)ctx)->product;
    struct summary s = {p->options, p->group->n_ranks, &p->outcome, accounts};
    const char *json = p->options->json;
    summary_print(&s, stdout);
    return json ? rank_group_wrote(p->group, json, summary_write_json(&s, json)) : 0;
}

static void release(void *ctx) {
    product_release(&((struct job *)ctx)->product);
}

int main(int argc, char **argv) {
    struct job j;
    struct words_error error;
    int r = matmul_options_read(argc, argv, &j.options, &error);
    if (r)
        return r < 0 ? rank_group_usage_error(PROGRAM, error.text) : EXIT_SUCCESS;
    return rank_group_run(&argc, &argv,
                          &(struct rank_group_job){.program = PROGRAM,
                                                   .spin = j.options.spin,
                                                   .plants = &j.options.plants,
                                                   .begin = begin,
                                                   .run = run_product,
                                                   .account = &j.product.account,
                                                   .account_size = sizeof j.product.account,
                                                   .finish = write_results,
                                                   .release = release,
                                                   .ctx = &j});
}
