/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-sgd: logistic regression on sparse records (R1, R3, R4) and softmax regression on
 * images (R2) over MPI. Rank 0 has the model, R1's of N 32-bit floats, and trains on data like the
 * R - 1 others; with --server apart it only serves, and --exchange allreduce needs no server.
 *
 * The expected analysis, with R = 5 hosts, N = 33,762,578 (135 MB), links of B = 1.8 Gbit/s (225
 * MB/s each way) and batches of 1000, which touch U = 16,000 features:
 *
 * - sync dense: the server sends 4N = 540 MB and then receives as much, at least 2.4 s + 2.4
 *   s an iteration, one after the other, as no gradient comes before its model. Verdict: net-egress
 *   and net-ingress of the server. Nothing else is near its limit: the link of a worker is used a
 *   quarter as much, computing takes 10 ms.
 * - sync sparse: 4U bytes of features, 4U of weights, 4U of gradient for each worker, so 0.26 MB
 *   out of the server and 0.51 MB in, 3.4 ms of its link. Latency, reading and computing take as
 *   long: no resource of one host is the limit alone. With batches of 10,000 (U = 104,000) reading
 *   text takes most of the time where hosts share cores.
 * - sync dense-down: 540 MB out of the server, 2.4 s, and 8U a worker back, next to nothing.
 *   Verdict: net-egress of the server alone. Async has the same verdict: the link is full in one
 *   direction.
 * - async: the same bytes an update, and no worker waits for another. Dense: an update takes 0.6 s
 *   of the server's link each way, and half of the workers pull while the others push, so both
 *   directions are full, at 1.67 updates/s: net-egress and net-ingress of the server. The staleness
 *   is about R - 2. With --prefetch every worker does both at once: the same verdict, links a tenth
 *   fuller, and more than twice the staleness. Sparse: the hosts' cores.
 * - all-reduce: dense, each rank's link carries 2 (R-1)/R 4N = 216 MB each way, 0.96 s an
 *   iteration, the same on all hosts; sparse, every rank receives all gradients, 8 U.
 * - testing: rank 0 alone reads and scores the held-out file, one core full, no network.
 *
 * Softmax moves 785 x 10 weights, 31 KB up and down an iteration, whatever the batch: 0.14 ms of
 * such a link, while 200 images take 1 ms of a core. So cores limit sync, and waiting for the
 * slowest; the network is nearly idle. Accuracy on digits of `chokepoint-data generate digits`,
 * learning rate 0.5, batch 200: with 60,000 after 50 epochs 96.5 % alone, 95.9 % with three workers
 * in sync (a third of the updates), 96.4 % async. With `--train 6000 --test 2000` after 10 epochs:
 * 92.9 % alone, 89.9 % with three ranks in sync, and async, with --prefetch or without, 90 % with
 * --decay 0.05. Async at a constant 0.5 usually reaches 92 to 93 %, without a guarantee: steps from
 * a model that is three updates old overshoot there, and on a busy machine some steps at the end
 * may be so old. One machine reached 89.9 %; if all steps were so old, it would be 84 %.
 *
 * Alone (--mode single) with data in memory: 39 features an example, spread over 135 MB of weights,
 * so the memory's latency is the limit, and the core looks busy: 1 to 3 million examples/s.
 *
 * Payload on the wire is plain MPI point to point, no tree, no compression: see server_sync.c and
 * common/stream.h. Waits do not spin (common/wait.h), unless --spin says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/mark/chokepoint.h"
#include "workloads/common/printed.h"
#include "workloads/sgd/server.h"
#include "workloads/sgd/summary.h"
#include "workloads/sgd/together.h"
#include "workloads/sgd/worker.h"

#define PROGRAM "chokepoint-sgd"

struct job {
    struct sgd_options options;
    struct trainer trainer;
    struct lead lead; /* of rank 0; with all-reduce of every rank; of a worker its tester */
};

static int generate(const struct generate_options *options) {
    struct generate_result result;
    struct generate_error error;
    if (generate_files(options, &result, &error) < 0) {
        fprintf(stderr, PROGRAM ": %s\n", error.text);
        return EXIT_FAILURE;
    }
    printf("%.1f MB in %s: %.1f features set an example, base rate %.2f %%, best possible accuracy "
           "%.2f %%\n",
           (double)result.bytes * 1e-6, options->directory, result.set_features,
           100 * result.base_rate, 100 * result.best_accuracy);
    int r = printed();
    if (r < 0)
        fprintf(stderr, PROGRAM ": cannot write standard output: %s\n", strerror(-r));
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A worker that gets the whole model tests its copy if the tests are images. Text is not read again
 * for that. */
static bool tests_own(const struct job *j, const struct rank_group *group) {
    const struct sgd_options *o = &j->options;
    return group->rank != 0 && o->softmax && o->dense_weights && !o->allreduce;
}

static int begin(void *ctx, struct rank_group *group) {
    struct job *j = ctx;
    int r = trainer_init(&j->trainer, &j->options, group);
    j->lead.t = &j->trainer;
    return r == 0 && (group->rank == 0 || tests_own(j, group)) ? lead_init(&j->lead, &j->trainer)
                                                               : r;
}

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int run_training(void *ctx) {
    struct job *j = ctx;
    struct trainer *t = &j->trainer;
    double before_s = cpu_s();
    int r = j->options.mode == SGD_SINGLE ? single_run(&j->lead)
            : j->options.allreduce        ? allreduce_run(&j->lead)
            : t->group->rank == 0         ? server_run(&j->lead)
                                          : worker_run(t);
    if (r == 0 && tests_own(j, t->group))
        r = lead_test_own(&j->lead);
    chokepoint_phase(NULL);
    t->account.iteration_s = median(t->durations_s, t->n_durations);
    t->account.cpu_s = cpu_s() - before_s;
    return r;
}

static int write_results(void *ctx, const void *accounts) {
    const struct job *j = ctx;
    const struct trainer *t = &j->trainer;
    const struct sgd_options *o = &j->options;
    struct summary s = {t, &j->lead.outcome, accounts};
    summary_print(&s, stdout);
    int r = o->json ? rank_group_wrote(t->group, o->json, summary_write_json(&s, o->json)) : 0;
    int w =
        o->weights ? rank_group_write_floats(t->group, o->weights, t->weights, t->n_weights) : 0;
    return r < 0 ? r : w;
}

static void release(void *ctx) {
    struct job *j = ctx;
    lead_release(&j->lead);
    trainer_release(&j->trainer);
}

int main(int argc, char **argv) {
    static struct job j;
    struct words_error error;
    int r = sgd_options_read(argc, argv, &j.options, &error);
    if (r)
        return r < 0 ? rank_group_usage_error(PROGRAM, error.text) : EXIT_SUCCESS;
    if (j.options.verb == SGD_GENERATE)
        return generate(&j.options.generate);
    return rank_group_run(&argc, &argv,
                          &(struct rank_group_job){.program = PROGRAM,
                                                   .spin = j.options.spin,
                                                   .plants = &j.options.plants,
                                                   .begin = begin,
                                                   .run = run_training,
                                                   .account = &j.trainer.account,
                                                   .account_size = sizeof j.trainer.account,
                                                   .finish = write_results,
                                                   .release = release,
                                                   .ctx = &j});
}
