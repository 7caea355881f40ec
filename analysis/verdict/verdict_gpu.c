/* SPDX-License-Identifier: MIT */
/*
 * A run that uses a GPU. A thread that waits for it mostly spins. Unless wait clocks tell these
 * waits from computing, a core that its process keeps busy is no evidence of computing, and a
 * verdict based on that becomes "not known". Waits for a core, for disks and for the network stay
 * as they are.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/verdict/verdict_private.h"
#include "common/error.h" /* ARRAY_SIZE */

struct gpu_use {
    const char *process; /* the busiest with a GPU library; NULL: none */
    double share;        /* of the job's CPU time, for all processes with one */
};

static struct gpu_use look(const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    struct windows whole = phase_windows(&model->groups[0]);
    struct gpu_use use = {0};
    double all = 0, with = 0, most = -1;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *series = &set->items[s];
        if (!series_ever(set, series, PROCESS_JOB, 1))
            continue;
        double cpu = series_growth(set, series, PROCESS_USER, whole, NULL) +
                     series_growth(set, series, PROCESS_SYSTEM, whole, NULL);
        all += cpu;
        if (!series_ever(set, series, PROCESS_GPU, 1))
            continue;
        with += cpu;
        use.process = cpu > most ? series->name : use.process;
        most = fmax(most, cpu);
    }
    use.share = all > 0 ? with / all : 0;
    return use;
}

/* Whether wait clocks saw processes of the job wait for a GPU, or copy, and the path is made of
 * them: one made of MPI calls counts polling as computing. */
static bool sees_waits(const struct run_model *model) {
    static const size_t columns[] = {WAIT_PROCESS_GPU, WAIT_PROCESS_COPY_TO_GPU,
                                     WAIT_PROCESS_COPY_FROM_GPU};
    const struct series_set *set = &model->recording->tables[RECORDING_WAIT];
    struct windows whole = phase_windows(&model->groups[0]);
    for (size_t s = 0; model->critical.source == CRITICAL_FROM_WAITS && s < set->n; s++)
        for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
            if (process_waits_growth(set, &set->items[s], columns[c], whole) > 0)
                return true;
    return false;
}

/* Whether the verdict rests on CPU time alone. */
static bool says_computing(const struct verdict *v) {
    if (v->state == VERDICT_BALANCED)
        return v->cause.code == REMARK_COMPUTE_BOUND_WORDS ||
               v->cause.code == REMARK_COMPUTING_LARGEST;
    if (!verdict_blames(v->state))
        return false;
    switch (v->kind) {
    case CAUSE_SERIAL:
    case CAUSE_SKEW:
    case CAUSE_SLOW_CORE:
    case CAUSE_COMPUTE_BOUND:
    case CAUSE_SINGLE_THREAD:
        return true;
    default: /* ranks that differ without an explanation */
        return v->straggler != NULL;
    }
}

/* Verdicts on phases rest on the same time. */
static void forget_blame(struct verdict *v) {
    remarks_release(&v->summary);
    remarks_release(&v->evidence);
    remarks_release(&v->against);
    remarks_release(&v->next);
    free(v->culprit);
    free(v->phases);
    v->culprit = NULL;
    v->phases = NULL;
    v->n_phases = 0;
    v->candidate = v->other = v->runner_up = v->closest = NULL;
    v->straggler = NULL;
    v->host = v->rank = -1;
    v->subject = SUBJECT_NONE;
    v->resource = RESOURCE_NONE;
    v->kind = CAUSE_NONE;
    v->n_alike = 0;
    v->gain_source = NULL;
    v->start_s = v->end_s = v->computed = v->gain = v->gain_low = v->gain_high = NAN;
}

void verdict_of_gpu(const struct run_model *model, struct verdict *v) {
    if (!model->n_hosts || !says_computing(v) || sees_waits(model))
        return;
    struct gpu_use use = look(model);
    if (!use.process || use.share < number_of(model, GPU_CPU_MIN))
        return;
    forget_blame(v);
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    remark_set(&v->cause, GPU_IN_USE, NUMBERS(), NAMES());
    remarks_add(&v->summary, GPU_UNSEEN, NUMBERS(100 * fmin(1, use.share)), NAMES(use.process));
    remarks_add(&v->next, ADVISE_SEE_GPU, NUMBERS(), NAMES());
}
