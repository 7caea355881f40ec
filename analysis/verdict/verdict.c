/* SPDX-License-Identifier: MIT */
#include "analysis/verdict/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/straggler.h"
#include "analysis/verdict/verdict_private.h"

/* The reason why there is too little to judge by, or REMARK_NONE. */
static void find_too_little(const struct run_model *model, struct remark *ret_why) {
    size_t samples = verdict_least_samples(model), needed = verdict_samples_needed(model);
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    if (!model->n_hosts)
        remark_set(ret_why, NO_HOST_RECORDED, NUMBERS(), NAMES());
    else if (verdict_run_s(model) < number_of(model, SECONDS_MIN))
        remark_set(ret_why, RUN_TOO_SHORT, NUMBERS(verdict_run_s(model), number_of(model, SURE_S)),
                   NAMES());
    else if (samples < needed)
        remark_set(ret_why, SAMPLES_TOO_FEW, NUMBERS((double)samples, (double)needed),
                   NAMES(model->hosts[verdict_host_least_seen(model)].name));
    /* detected iterations are a help, not the purpose of the program */
    else if (reference && model->iterations.source == ITERATION_MARKER &&
             verdict_run_s(model) < number_of(model, SURE_S) && /* else it is judged by time */
             reference->n < number_of(model, RUN_ITERATIONS_MIN))
        remark_set(ret_why, MARKED_TOO_FEW,
                   NUMBERS((double)reference->n, number_of(model, RUN_ITERATIONS_MIN)), NAMES());
}

static void drop_evidence(struct verdict *v) {
    remarks_release(&v->evidence);
    remarks_release(&v->next);
}

static void judge_too_little(const struct run_model *model, struct verdict *v) {
    bool leaning = verdict_blames(v->state);
    if (!leaning)
        remarks_release(&v->summary);
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    v->host = v->rank = -1; /* the summary says what it looks like so far */
    v->subject = SUBJECT_NONE;
    v->resource = RESOURCE_NONE;
    if (!leaning ||
        verdict_run_s(model) < number_of(model, SECONDS_MIN)) /* what an observed run showed */
        drop_evidence(v);
    if (model->n_hosts > 1 && verdict_coverage(model) < number_of(model, COVERAGE_MIN))
        remarks_add(&v->next, ADVISE_SEE_AGENT, NUMBERS(),
                    NAMES(model->hosts[verdict_host_least_seen(model)].name));
    if (model->iterations.n &&
        iterations_reference(&model->iterations)->n < number_of(model, RUN_ITERATIONS_MIN))
        remarks_add(&v->next, ADVISE_MORE_ITERATIONS, NUMBERS(number_of(model, RUN_ITERATIONS_MIN)),
                    NAMES());
}

/* ---- without calls ---- */

/* For ranks that differ without a resource that explains it. */
static void judge_imbalance(const struct run_model *model, const struct stragglers *stragglers,
                            struct verdict *v) {
    const struct straggler *s = &stragglers->items[0];
    v->state = VERDICT_SUSPECTED;
    v->host = s->host;
    v->rank = s->rank;
    v->subject = SUBJECT_RANK;
    v->resource = RESOURCE_IMBALANCE;
    v->kind = CAUSE_UNKNOWN;
    v->confidence = verdict_confidence_counted(model, number_of(model, CONFIDENCE_STRAGGLER));
    v->gain_low = 0;
    v->gain_high = 1 - 1 / s->slowdown;
    v->gain_source = "bound";
    v->straggler = s;
    remarks_add(&v->summary, RANK_SLOWER, NUMBERS(s->rank, s->slowdown),
                NAMES(model->hosts[s->host].name));
    remarks_copy(&v->evidence, &s->evidence);
    remarks_add(&v->next, ADVISE_SEE_RANK, NUMBERS(s->rank), NAMES(model->hosts[s->host].name));
}

/* ---- what could not be seen ---- */

static void add_missing(const struct run_model *model, struct verdict *v) {
    for (size_t h = 0; h < model->n_hosts; h++) {
        uint64_t calls = recording_calls_missing(model->recording, (int)h);
        uint64_t marks = recording_marks_missing(model->recording, (int)h);
        if (calls)
            remarks_add(&v->against, UNSEEN_CALLS, NUMBERS((double)calls),
                        NAMES(model->hosts[h].name));
        if (marks)
            remarks_add(&v->against, UNSEEN_MARKS, NUMBERS((double)marks),
                        NAMES(model->hosts[h].name));
    }
}

static void add_blind_spots(const struct run_model *model, struct verdict *v) {
    double bound = model->budgets.clock_bound_s;
    if (!model->budgets.events && !model_has_path(model) && !verdict_has_ranks(model) &&
        model->budgets.n > 1)
        remarks_add(&v->against, UNSEEN_WAITS, NUMBERS(), NAMES());
    else if (!model->budgets.events && !model_has_path(model) && verdict_has_ranks(model))
        remarks_add(&v->against, UNSEEN_IN_MPI, NUMBERS(), NAMES());
    else if (model->budgets.events && !model_has_path(model))
        remarks_add(&v->against, UNSEEN_MATCHES, NUMBERS(), NAMES());
    if (model->budgets.events && isnan(bound) && model->n_hosts > 1)
        remarks_add(&v->against, UNSEEN_SHORT_WAITS, NUMBERS(), NAMES());
    add_missing(model, v);
    if (verdict_closing(model) < 1)
        remarks_add(&v->against, BUDGETS_OPEN,
                    NUMBERS(100 * (1 - verdict_closing(model)), BUDGET_CLOSURE_PCT), NAMES());
    if (verdict_coverage(model) < number_of(model, COVERAGE_WHOLE))
        remarks_add(&v->against, HOST_UNSEEN, NUMBERS(100 * verdict_coverage(model)), NAMES());
}

/* The length at which this run would have been sampled often enough. */
static double seconds_needed(const struct run_model *model) {
    double samples =
        4.0 * number_of(model, RUN_SAMPLES_MIN) / fmax(1, (double)verdict_least_samples(model));
    double told = (double)verdict_iterations_told(model);
    double factor =
        told > 0 ? fmin(samples, 4.0 * number_of(model, RUN_ITERATIONS_MIN) / told) : samples;
    return ceil(fmax(verdict_run_s(model) * factor, number_of(model, SURE_S)));
}

static void advise_measuring(const struct run_model *model, struct verdict *v) {
    if (!model->iterations.n && verdict_has_ranks(model))
        remarks_add(&v->next, ADVISE_MARK_PROGRAM, NUMBERS(), NAMES());
    if ((verdict_seen(model) < 1 || verdict_run_s(model) < number_of(model, SURE_S)) &&
        verdict_coverage(model) >= 0.9) /* a gap that made it less certain */
        remarks_add(&v->next, ADVISE_RECORD_LONGER, NUMBERS(seconds_needed(model)), NAMES());
    if (!v->next.n)
        remarks_add(&v->next, ADVISE_REPEAT, NUMBERS(), NAMES());
}

static void copy_ruled_out(const struct candidates *candidates, struct verdict *v) {
    for (size_t i = 0; i < candidates->ruled_out.n; i++)
        if (v->resource != RESOURCE_CPU || i + 1 != candidates->cpu_ruled_out)
            remarks_copy(&v->ruled_out, &(struct remarks){&candidates->ruled_out.items[i], 1, 0});
}

/* ---- all of it ---- */

/* If no other candidate is worth naming, puts the fallback that limits then first. */
static bool candidates_fallback(const struct run_model *model, struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++) {
        struct candidate c = candidates->items[i];
        if (!c.fallback || !candidate_is_worth_naming(model, &c))
            continue;
        candidates->items[i] = candidates->items[0];
        candidates->items[0] = c;
        return true;
    }
    return false;
}

static int judge(const struct run_model *model, struct candidates *candidates,
                 const struct stragglers *stragglers, struct verdict *v) {
    bool stands_out = verdict_least_samples(model) >= number_of(model, LEANING_SAMPLES_MIN) &&
                      candidates->n && !candidates->items[0].fallback &&
                      candidate_is_worth_naming(model, &candidates->items[0]);
    int result = verdict_of_phases(model, candidates, v);
    if (result < 0)
        return result;
    if (stands_out)
        result = verdict_of_candidate(model, candidates, v);
    else if (candidates_fallback(model, candidates))
        result = verdict_of_candidate(model, candidates, v);
    else if (stragglers->n && !model_has_path(model))
        judge_imbalance(model, stragglers, v);
    else
        result = verdict_of_none(model, candidates, v);
    return result;
}

/* -ENOMEM if a list could not be kept, else 0. */
static int error_of(const struct verdict *v) {
    const int errors[] = {v->summary.error, v->evidence.error, v->against.error, v->ruled_out.error,
                          v->next.error};
    int result = v->candidate || v->straggler || v->cause.code ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < sizeof errors / sizeof *errors; i++)
        result = errors[i];
    return result;
}

int verdict_make(const struct run_model *model, struct candidates *candidates,
                 const struct stragglers *stragglers, struct verdict *ret_verdict) {
    struct verdict v = {.host = -1,
                        .rank = -1,
                        .resource = RESOURCE_NONE,
                        .computed = NAN,
                        .start_s = NAN,
                        .end_s = NAN,
                        .gain = NAN,
                        .gain_low = NAN,
                        .gain_high = NAN};
    int result = judge(model, candidates, stragglers, &v);
    verdict_of_disputed(model, &v);
    verdict_of_one_source(model, &v);
    verdict_of_unexplained(model, candidates, &v);
    verdict_of_gpu(model, &v);
    bool failed = verdict_of_failed(model, &v);
    v.sureness = verdict_sureness(model, v.confidence);
    if (!failed)
        find_too_little(model, &v.too_little);
    if (v.too_little.code)
        judge_too_little(model, &v);
    v.too_short = verdict_run_s(model) < number_of(model, SECONDS_MIN);
    if (!v.too_short) {
        add_blind_spots(model, &v);
        copy_ruled_out(candidates, &v);
        if (v.state != VERDICT_IDLE)
            advise_measuring(model, &v);
    }
    if (result == 0)
        result = error_of(&v);
    if (result < 0) {
        verdict_release(&v);
        return result;
    }
    *ret_verdict = v;
    return 0;
}

void verdict_release(struct verdict *verdict) {
    remark_release(&verdict->cause);
    remark_release(&verdict->ended);
    remarks_release(&verdict->summary);
    remark_release(&verdict->too_little);
    free(verdict->culprit);
    remarks_release(&verdict->evidence);
    remarks_release(&verdict->against);
    remarks_release(&verdict->ruled_out);
    remarks_release(&verdict->next);
    free(verdict->harmless);
    free(verdict->phases);
    *verdict = (struct verdict){0};
}
