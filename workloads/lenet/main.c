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
#include <stdio.h>

#include "agent/mark/chokepoint.h"
#include "workloads/lenet/summary.h"

#define PROGRAM "chokepoint-lenet"

struct job {
    struct lenet_options options;
    struct trainer trainer; /* too large for a stack */
};

static int begin(void *ctx, struct crew *crew) {
    struct job *j = ctx;
    return trainer_init(&j->trainer, &j->options, crew);
}

static int train(void *ctx) {
    struct trainer *t = &((struct job *)ctx)->trainer;
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
    return r;
}

static int write_results(void *ctx, const void *accounts) {
    const struct trainer *t = &((struct job *)ctx)->trainer;
    const struct lenet_options *o = t->options;
    struct summary s = {t, accounts};
    summary_print(&s, stdout);
    int r = o->json ? crew_wrote(t->crew, o->json, summary_write_json(&s, o->json)) : 0;
    int w = o->weights ? crew_write_floats(t->crew, o->weights, t->weights, NET_WEIGHTS) : 0;
    return r < 0 ? r : w;
}

static void release(void *ctx) {
    trainer_release(&((struct job *)ctx)->trainer);
}

int main(int argc, char **argv) {
    static struct job j;
    struct words_error error;
    if (lenet_options_parse(argc, argv, &j.options, &error) < 0)
        return crew_usage_error(PROGRAM, error.text);
    if (j.options.help)
        return fputs(lenet_help, stdout) < 0;
    return crew_run(&argc, &argv,
                    &(struct crew_job){.program = PROGRAM,
                                       .spin = j.options.spin,
                                       .plants = &j.options.plants,
                                       .begin = begin,
                                       .run = train,
                                       .account = &j.trainer.account,
                                       .account_size = sizeof j.trainer.account,
                                       .finish = write_results,
                                       .release = release,
                                       .ctx = &j});
}
