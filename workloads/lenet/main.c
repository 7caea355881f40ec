/* SPDX-License-Identifier: MIT */
/*
 * chokepoint-lenet: LeNet-5 on digits of 28 x 28, the second program of R2, over MPI and oneDNN.
 *
 * What an analysis of it must find: an image costs 2.5 Mflop forward and twice as much backward, an
 * iteration moves the 61,706 weights, 247 KB, whatever the batch: up and down (async), or about
 * twice through every rank's link (sync, a ring of them). With batches of 64 and a core that does
 * 25,000 images/s a rank computes for 2.6 ms and a link of 1 Gbit/s carries 247 KB in 2 ms: the
 * network decides; with 512 the CPU does, one core a rank. Sync is as fast as its slowest rank;
 * async the server's link and core are what more ranks run into. Testing is rank 0 alone.
 *
 * Accuracy on the 10,000 test digits that `chokepoint-data generate digits` draws, after one epoch
 * of the 60,000 with the options' defaults on one rank: 98 %. A linear model reaches 90 %.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/mark/chokepoint.h"
#include "workloads/lenet/summary.h"

#define PROGRAM "chokepoint-lenet"

static int write_weights(const struct trainer *t, const char *path) {
    FILE *file = fopen(path, "we");
    if (!file)
        return -errno;
    errno = EIO;
    int r = fwrite(t->weights, sizeof *t->weights, NET_WEIGHTS, file) == NET_WEIGHTS ? 0 : -errno;
    if (fclose(file) != 0 && r == 0)
        r = -errno;
    return r;
}

static int wrote(const struct trainer *t, const char *path, int r) {
    if (r < 0)
        crew_say(t->crew, "cannot write %s: %s", path, strerror(-r));
    return r;
}

static int write_results(const struct trainer *t, const struct lenet_account *accounts) {
    const struct lenet_options *o = t->options;
    struct summary s = {t, accounts};
    summary_print(&s, stdout);
    int r = o->json ? wrote(t, o->json, summary_write_json(&s, o->json)) : 0;
    int w = o->weights ? wrote(t, o->weights, write_weights(t, o->weights)) : 0;
    return r < 0 || w < 0 || fflush(stdout) != 0 ? -1 : 0;
}

static bool train(struct trainer *t) {
    if (t->crew->rank == 0)
        progress_start(&t->progress, t->options->quiet, t->options->time_limit_s);
    t->started_ns = chokepoint_now_ns();
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    int r = t->options->async ? train_async(t) : train_sync(t);
    chokepoint_phase(NULL);
    t->outcome.duration_s = (double)(chokepoint_now_ns() - t->started_ns) * 1e-9;
    t->account.iteration_s = median(t->durations_s, t->n_durations);
    if (t->crew->rank == 0)
        progress_end(&t->progress);
    struct lenet_account *accounts = crew_gather(t->crew, &t->account, sizeof t->account);
    if (r == 0 && t->crew->rank == 0)
        r = write_results(t, accounts);
    free(accounts);
    return crew_is_well(t->crew, r);
}

static bool run(struct lenet_options *options) {
    static struct trainer t; /* zeroed; too large for a stack */
    struct crew crew;
    int nobody;
    crew_join(&crew, PROGRAM, options->spin);
    if (!plants_fit(&options->plants, crew.n_ranks, &nobody)) {
        if (crew.rank == 0)
            crew_say(&crew, "--plant names rank %d of %d", nobody, crew.n_ranks);
        return false;
    }
    if (crew.rank == 0)
        plants_say(&options->plants, PROGRAM);
    chokepoint_phase("loading");
    int r = trainer_init(&t, options, &crew);
    bool good = crew_is_well(&crew, r) && train(&t);
    trainer_release(&t);
    return good;
}

int main(int argc, char **argv) {
    struct lenet_options options;
    struct words_error error;
    if (lenet_options_parse(argc, argv, &options, &error) < 0)
        return crew_usage_error(PROGRAM, error.text);
    if (options.help)
        return fputs(lenet_help, stdout) < 0;
    MPI_Init(&argc, &argv);
    bool good = run(&options);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
