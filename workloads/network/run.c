/* SPDX-License-Identifier: MIT */
#include "workloads/network/run.h"

#include <stdio.h>

#include "agent/mark/chokepoint.h"
#include "workloads/network/summary.h"

struct job {
    const struct network_program *program;
    struct network_options options;
    struct trainer trainer; /* too large for a stack */
};

static int begin(void *ctx, struct rank_group *group) {
    struct job *j = ctx;
    return trainer_init(&j->trainer, j->program, &j->options, group);
}

static int train(void *ctx) {
    struct trainer *t = &((struct job *)ctx)->trainer;
    if (t->group->rank == 0)
        progress_start(&t->progress, t->options->quiet, t->options->time_limit_s);
    t->started_ns = chokepoint_now_ns();
    chokepoint_phase("training");
    chokepoint_iteration_begin();
    int r = t->options->async ? train_async(t) : train_sync(t);
    chokepoint_phase(NULL);
    t->outcome.duration_s = (double)(chokepoint_now_ns() - t->started_ns) * 1e-9;
    t->account.iteration_s = median(t->durations_s, t->n_durations);
    if (t->group->rank == 0)
        progress_end(&t->progress);
    return r;
}

static int write_results(void *ctx, const void *accounts) {
    const struct trainer *t = &((struct job *)ctx)->trainer;
    const struct network_options *o = t->options;
    struct summary s = {t, accounts};
    summary_print(&s, stdout);
    int r = o->json ? rank_group_wrote(t->group, o->json, summary_write_json(&s, o->json)) : 0;
    int w =
        o->weights ? rank_group_write_floats(t->group, o->weights, t->weights, t->n_weights) : 0;
    return r < 0 ? r : w;
}

static void release(void *ctx) {
    trainer_release(&((struct job *)ctx)->trainer);
}

int network_main(int argc, char **argv, const struct network_program *program) {
    static struct job j;
    struct words_error error;
    int r = network_options_read(program, argc, argv, &j.options, &error);
    if (r)
        return r < 0 ? rank_group_usage_error(program->name, error.text) : EXIT_SUCCESS;
    j.program = program;
    return rank_group_run(&argc, &argv,
                          &(struct rank_group_job){.program = program->name,
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
