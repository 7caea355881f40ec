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

#define SHELL_SIGNALLED 128

static bool failed(const struct run_model *model) {
    int status = model->recording->exit_status;
    return status > 0 && status != SHELL_SIGNALLED + SIGINT && status != SHELL_SIGNALLED + SIGTERM;
}

/* Whether it never reached its main work: that nothing held it up before says nothing about that
 * work. */
static bool failed_early(const struct run_model *model) {
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    return failed(model) && (!reference || reference->n < number_of(model, RUN_ITERATIONS_MIN));
}

static void judge_failed(const struct run_model *model, struct verdict *v) {
    remarks_release(&v->summary);
    remarks_release(&v->evidence);
    remarks_release(&v->against);
    remarks_release(&v->next);
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    v->computed = NAN;
    remark_set(&v->cause, COMMAND_FAILED, NUMBERS(), NAMES());
    double status = model->recording->exit_status;
    double after_s = (double)model->recording->duration_ns / 1e9;
    if (after_s < number_of(model, SECONDS_MIN)) {
        remarks_add(&v->summary, FAILED_AT_ONCE, NUMBERS(status, after_s), NAMES());
        return;
    }
    remarks_add(&v->summary, FAILED_EARLY, NUMBERS(status, after_s), NAMES());
    remarks_add(&v->next, ADVISE_SEE_OUTPUT, NUMBERS(), NAMES());
}

bool verdict_of_failed(const struct run_model *model, struct verdict *v) {
    if (!verdict_blames(v->state) && model->n_hosts && failed_early(model)) {
        judge_failed(model, v);
        return true;
    }
    if (failed(model))
        remarks_add(&v->against, FAILED_LATER, NUMBERS(model->recording->exit_status), NAMES());
    return false;
}
