/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-sgd: sparse logistic regression with a parameter server, the reference program R1 over
 * MPI. Rank 0 holds the model of N 32-bit floats and works on data like the R - 1 others.
 *
 * What an analysis of it must find, with R = 5 hosts, N = 33,762,578 (135 MB), links of
 * B = 1.8 Gbit/s (225 MB/s each way) and batches of 1000, which touch U = 16,000 features:
 *
 * - sync dense: the server sends 4N = 540 MB and then receives as much, 2.4 s + 2.4 s an
 *   iteration at least, one after the other, as there is no gradient before its model. Verdict:
 *   net-egress and net-ingress of the server. Nothing else comes near: the link of a worker is
 *   used a quarter as much, computing takes 10 ms.
 * - sync sparse: 4U bytes of features, 4U of weights, 4U of gradient for each worker, so 0.26 MB
 *   out of the server and 0.51 MB in, 3.4 ms of its link. Latency, reading and computing take as
 *   long: no resource of one host decides alone. With batches of 10,000 (U = 104,000) it is
 *   reading text that takes the time where hosts share cores.
 * - async: the same bytes an update, and nobody waits for another. Dense: four workers share 0.6 s
 *   of the server's link each way an update, so each comes round in 2.4 s if both directions are
 *   always full and in 4.8 s if all pull and push in step; 3.9 s was measured, net-egress and
 *   net-ingress of the server in turn. The staleness is about R - 2. Sparse: the hosts' cores.
 * - testing: rank 0 alone reads and scores the held-out file, one core full, no network.
 *
 * Payload on the wire is plain MPI point to point, no tree, no compression: see server_sync.c and
 * common/stream.h. Waiting does not spin (common/wait.h), unless --spin says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"
#include "workloads/sgd/server.h"
#include "workloads/sgd/summary.h"
#include "workloads/sgd/worker.h"

#define EXIT_USAGE 2

static int generate(const struct generate_options *options) {
    struct generate_result result;
    struct generate_error error;
    if (generate_files(options, &result, &error) < 0) {
        fprintf(stderr, "chokepoint-sgd: %s\n", error.text);
        return EXIT_FAILURE;
    }
    printf("%.1f MB in %s: %.1f features set an example, base rate %.2f %%, best possible accuracy "
           "%.2f %%\n",
           (double)result.bytes * 1e-6, options->directory, result.set_features,
           100 * result.base_rate, 100 * result.best_accuracy);
    return EXIT_SUCCESS;
}

/* Whether all ranks are well. A rank that cannot open its data must not leave the others waiting.
 */
static bool all_are_well(struct trainer *t, int r) {
    int mine = r, worst = 0;
    MPI_Request request;
    MPI_Iallreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    wait_all(&t->waiter, 1, &request);
    return worst >= 0;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
    if (n == 0)
        return 0;
    qsort(values, n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Everybody's account at rank 0 (NULL elsewhere, or without memory). The caller frees. */
static struct account *gather_accounts(struct trainer *t) {
    struct account *all = t->rank == 0 ? calloc((size_t)t->n_ranks, sizeof *all) : NULL;
    MPI_Request request;
    if (t->rank == 0 && !all)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    t->account.iteration_s = median(t->durations_s, t->n_durations);
    MPI_Igather(&t->account, sizeof t->account, MPI_BYTE, all, sizeof t->account, MPI_BYTE, 0,
                MPI_COMM_WORLD, &request);
    wait_all(&t->waiter, 1, &request);
    return all;
}

static int write_weights(const struct trainer *t, const char *path) {
    FILE *file = fopen(path, "we");
    if (!file)
        return -errno;
    size_t n = fwrite(t->weights, sizeof *t->weights, t->options->n_features, file);
    int r = n == t->options->n_features ? 0 : -errno;
    if (fclose(file) < 0 && r == 0)
        r = -errno;
    return r;
}

/* "cannot write PATH: WHY", or nothing. */
static bool wrote(const struct trainer *t, const char *path, int r) {
    char text[512];
    if (r == 0)
        return true;
    snprintf(text, sizeof text, "cannot write %.400s: %s", path, strerror(-r));
    trainer_say(t, text);
    return false;
}

static bool write_results(const struct trainer *t, const struct summary *summary) {
    const struct sgd_options *o = t->options;
    bool good = true;
    summary_print(summary, stdout);
    if (o->json)
        good &= wrote(t, o->json, summary_write_json(summary, o->json));
    if (o->weights)
        good &= wrote(t, o->weights, write_weights(t, o->weights));
    return good && fflush(stdout) == 0;
}

static bool train(struct trainer *t) {
    struct outcome outcome = {0};
    bool good = (t->rank == 0 ? server_run(t, &outcome) : worker_run(t)) == 0;
    chokepoint_phase(NULL);
    struct account *accounts = gather_accounts(t);
    struct summary summary = {t->options, t->n_ranks, &outcome, accounts};
    if (good && t->rank == 0)
        good = write_results(t, &summary);
    free(accounts);
    return good;
}

static bool run(const struct sgd_options *options) {
    struct trainer t;
    int rank, n_ranks, nobody;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (!plants_fit(&options->plants, n_ranks, &nobody)) {
        if (rank == 0)
            fprintf(stderr, "chokepoint-sgd: --plant names rank %d of %d\n", nobody, n_ranks);
        return false;
    }
    if (rank == 0)
        plants_say(&options->plants, "chokepoint-sgd");
    chokepoint_phase("loading");
    int r = trainer_init(&t, options, rank, n_ranks);
    bool good = all_are_well(&t, r) && train(&t);
    trainer_release(&t);
    return good;
}

static int usage_error(const char *text) {
    if (chokepoint_rank_() <= 0) /* once, not by every rank */
        fprintf(stderr, "chokepoint-sgd: %s\n", text);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    struct sgd_options options;
    struct options_error error;
    if (options_parse(argc, argv, &options, &error) < 0)
        return usage_error(error.text);
    if (options.verb == OPTIONS_HELP)
        return fputs(options_help, stdout) < 0;
    if (options.verb == OPTIONS_GENERATE)
        return generate(&options.generate);
    MPI_Init(&argc, &argv);
    bool good = run(&options);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
