/* SPDX-License-Identifier: MIT */
/*
 * A command that failed. If nothing held it up and it never reached its iterations, its main work
 * is unknown, and "balanced" would describe its loading only. A host that held it up until then
 * stays blamed, since that may be why it failed. A command that was stopped from outside has not
 * failed.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "analysis/verdict/verdict_private.h"

static bool failed(const struct run_model *model) {
    int status = model->recording->exit_status, number = verdict_end_signal(status);
    return status > 0 && status != STATUS_TIME_OVER && number != SIGINT && number != SIGTERM;
}

/* Whether it never reached its main work: that nothing held it up before says nothing about that
 * work. */
static bool failed_early(const struct run_model *model) {
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    return failed(model) && (!reference || reference->n < number_of(model, RUN_ITERATIONS_MIN));
}

static void judge_failed(struct verdict *v) {
    remarks_release(&v->summary);
    remarks_release(&v->evidence);
    remarks_release(&v->against);
    remarks_release(&v->next);
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    v->computed = NAN;
    remark_set(&v->cause, COMMAND_FAILED, NUMBERS(), NAMES());
}

bool verdict_of_failed(const struct run_model *model, struct verdict *v) {
    bool replaced = !verdict_blames(v->state) && model->n_hosts && failed_early(model);
    if (replaced)
        judge_failed(v);
    verdict_tell_end(model, v);
    return replaced;
}
