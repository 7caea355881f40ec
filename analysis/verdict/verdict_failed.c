/* SPDX-License-Identifier: MIT */
/*
 * A command that failed. Where nothing held it up and it never got to its iterations, nothing is
 * known of what it is for, so that "balanced" would be of its loading. Whom a host held up until
 * then stays blamed: that may be why it failed. Who is stopped by somebody has not failed.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "analysis/verdict/verdict_private.h"

#define SHELL_SIGNALLED 128

static bool failed(const struct run_model *model) {
    int status = model->recording->exit_status;
    return status > 0 && status != SHELL_SIGNALLED + SIGINT && status != SHELL_SIGNALLED + SIGTERM;
}

/* It never got to what it is for: that nothing held it up until then says nothing of it. */
static bool failed_early(const struct run_model *model) {
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    return failed(model) && (!reference || reference->n < RUN_ITERATIONS_MIN);
}

static void say_failed(const struct run_model *model, struct verdict *v) {
    free(v->cause);
    free(v->summary);
    text_list_release(&v->evidence);
    text_list_release(&v->against);
    text_list_release(&v->next);
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    v->computed = NAN;
    v->cause = text_format("the command failed");
    v->summary =
        text_format("The command failed (exit status %d) after %.1f s, with too few "
                    "iterations, or none, to judge by. Until then nothing was seen to "
                    "run out on these hosts.",
                    model->recording->exit_status, (double)model->recording->duration_ns / 1e9);
    text_list_add(&v->next, "see what it printed before it ended; what limits it shows when it "
                            "works");
}

bool verdict_of_failed(const struct run_model *model, struct verdict *v) {
    if (!verdict_blames(v->state) && model->n_hosts && failed_early(model)) {
        say_failed(model, v);
        return true;
    }
    if (failed(model))
        text_list_add(&v->against,
                      "the command failed (exit status %d): this is of the time until then",
                      model->recording->exit_status);
    return false;
}
