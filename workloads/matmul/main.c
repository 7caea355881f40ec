/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-matmul: a matrix product cut into blocks, the second program of R1, over MPI.
 *
 * What an analysis of it must find, with N ranks and matrices of n x n floats in blocks of b: a
 * round (n / b of them) computes 2 n^2 b / N flop a rank and brings each rank 8 n b (N - 1) / N
 * bytes: n / (4 (N - 1)) flop a byte. With n = 8192 and N = 4 that is 680: a core of 50 GFLOP/s
 * computes as long as a link of 73 MB/s brings. Slower links or more cores: net-ingress of every
 * rank alike; faster ones: CPU, one core a rank. There is no server, and no straggler by design.
 * --product trace is the reference program as it was: no transfer at all.
 *
 * Blocks are exchanged before a round is computed, never meanwhile, so that what a link costs is
 * seen and not hidden behind the arithmetic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"
#include "workloads/matmul/blas.h"
#include "workloads/matmul/summary.h"

#define PROGRAM "chokepoint-matmul"

static int write_results(const struct product *p, const struct matmul_account *accounts) {
    struct summary s = {p->options, p->crew->n_ranks, &p->outcome, accounts};
    summary_print(&s, stdout);
    int r = p->options->json ? summary_write_json(&s, p->options->json) : 0;
    if (r < 0)
        crew_say(p->crew, "cannot write %s: %s", p->options->json, strerror(-r));
    return r == 0 && fflush(stdout) == 0 ? 0 : -1;
}

static int multiply(struct product *p) {
    product_run(p);
    int r = product_check(p);
    struct matmul_account *accounts = crew_gather(p->crew, &p->account, sizeof p->account);
    if (r == 0 && p->crew->rank == 0)
        r = write_results(p, accounts);
    free(accounts);
    return crew_is_well(p->crew, r) ? 0 : -1;
}

static bool run(struct matmul_options *options) {
    struct crew crew;
    struct product p;
    int nobody;
    crew_join(&crew, PROGRAM, options->spin);
    if (!plants_fit(&options->plants, crew.n_ranks, &nobody)) {
        if (crew.rank == 0)
            crew_say(&crew, "--plant names rank %d of %d", nobody, crew.n_ranks);
        return false;
    }
    if (crew.rank == 0)
        plants_say(&options->plants, PROGRAM);
    blas_set_threads(options->threads);
    chokepoint_phase("loading");
    int r = product_init(&p, options, &crew);
    bool good = crew_is_well(&crew, r) && multiply(&p) == 0;
    product_release(&p);
    return good;
}

int main(int argc, char **argv) {
    struct matmul_options options;
    struct words_error error;
    if (matmul_options_parse(argc, argv, &options, &error) < 0)
        return crew_usage_error(PROGRAM, error.text);
    if (options.help)
        return fputs(matmul_help, stdout) < 0;
    MPI_Init(&argc, &argv);
    bool good = run(&options);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
