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

const char *verdict_state_name(enum verdict_state state) {
    static const char *const names[] = {"saturated", "suspected", "balanced", "insufficient"};
    return names[state];
}

bool verdict_blames(enum verdict_state state) {
    return state == VERDICT_SATURATED || state == VERDICT_SUSPECTED;
}

/* ---- how far the recording carries ---- */

/* Samples of a long recording are joined to rows of some seconds. */
static size_t samples_of(const struct run_model *model, size_t host) {
    const struct rate *rate = &model->hosts[host].metrics[METRIC_CPU_IDLE];
    int64_t period = model->recording->period_ns;
    if (model->recording->tables[RECORDING_CPU].step_ns > 0 && period > 0)
        return (size_t)(rate_covered(rate, phase_windows(&model->groups[0])) / period);
    return rate_find(rate, model->recording->duration_ns) - rate_find(rate, 0);
}

/* The model has hosts. */
static size_t host_least_seen(const struct run_model *model) {
    size_t least = 0;
    for (size_t h = 1; h < model->n_hosts; h++)
        least = samples_of(model, h) < samples_of(model, least) ? h : least;
    return least;
}

size_t verdict_least_samples(const struct run_model *model) {
    return model->n_hosts ? samples_of(model, host_least_seen(model)) : 0;
}

double verdict_coverage(const struct run_model *model) {
    struct windows all = phase_windows(&model->groups[0]);
    double worst = 1;
    for (size_t h = 0; h < model->n_hosts; h++)
        worst = fmin(worst, (double)rate_covered(&model->hosts[h].metrics[METRIC_CPU_IDLE], all) /
                                (double)windows_length(all));
    return model->n_hosts ? worst : 0;
}

double verdict_closing(const struct run_model *model) {
    size_t n = 0, closing = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = &model->budgets.items[r].groups[model->main_group];
        if (b->wall_s <= 0)
            continue;
        n++;
        closing += b->source != BUDGET_FROM_EVENTS || budget_closes(b);
    }
    return n ? (double)closing / (double)n : 1;
}

/* 0 with as few as are needed, 1 with four times as many. */
static double plenty(double n, double needed) {
    return fmin(1, fmax(0, (n - needed) / (3 * needed)));
}

/* The iterations of the rank that stands for all, if every call of it is known; else 0. */
static size_t iterations_told(const struct run_model *model) {
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    return model_has_path(model) && reference ? reference->n : 0;
}

/* How many moments of the program were seen, between 0 (as few as are needed) and 1: of the calls
 * of MPI every one was, so that iterations count; else samples do. */
static double seen_of(const struct run_model *model) {
    return fmax(plenty((double)verdict_least_samples(model), number_of(model, RUN_SAMPLES_MIN)),
                plenty((double)iterations_told(model), number_of(model, RUN_ITERATIONS_MIN)));
}

/* Samples of the host with the fewest, of those that its length asks for: counters go on without
 * them, but what happened when is gone. One may fall beside either end. */
static double samples_there(const struct run_model *model) {
    int64_t period = model->recording->period_ns;
    /* Whole periods. NOLINTNEXTLINE(bugprone-integer-division) */
    double asked = period > 0 ? (double)(model->recording->duration_ns / period) - 2 : 0;
    return asked > 0 ? fmin(1, (double)verdict_least_samples(model) / asked) : 1;
}

/* Some ranks whose calls were recorded did not come to their end: killed, or stuck, or their last
 * calls are lost. Waits of the others for them then say nothing of the program. */
static bool all_came_to_end(const struct run_model *model) {
    const struct mpi_log *log = &model->recording->calls;
    for (size_t r = 0; model->budgets.events && r < log->n; r++) {
        bool ended = false;
        for (size_t e = log->ranks[r].n; !ended && e > 0; e--)
            ended = strcmp(log->names[log->ranks[r].events[e - 1].function], "MPI_Finalize") == 0;
        if (!ended)
            return false;
    }
    return true;
}

/* The share of the ranks' time that could not be split into waiting for a peer and moving data. */
static double unsplit(const struct run_model *model) {
    double share = rank_budgets_share(&model->budgets, model->main_group, BUDGET_UNSPLIT);
    return model_has_path(model) && share > 0 ? fmin(share, 1) : 0;
}

/* The part of the evidence that is there. */
static double evidence_there(const struct run_model *model) {
    double there = samples_there(model) * (1 - unsplit(model));
    if (verdict_closing(model) < 1)
        there *= number_of(model, DOUBT_OPEN);
    if (verdict_coverage(model) <
        number_of(model, COVERAGE_WHOLE)) /* a host was dark for a while */
        there *= number_of(model, DOUBT_DARK);
    return all_came_to_end(model) ? there : number_of(model, DOUBT_ENDLESS) * there;
}

/* A short run has seen few of the program's moments, however alike they were. */
static double long_enough(const struct run_model *model) {
    double least = number_of(model, DOUBT_SHORT);
    return least + (1 - least) * seen_of(model);
}

static double run_s(const struct run_model *model) {
    return (double)model->recording->duration_ns / 1e9;
}

/* However clear it looks, a short run has shown little of what may happen. */
static double sure_by_time(const struct run_model *model) {
    bool enough = run_s(model) >= number_of(model, SURE_S) &&
                  (double)verdict_least_samples(model) >= number_of(model, SURE_SAMPLES);
    return enough ? number_of(model, CONFIDENCE_MAX) : number_of(model, CONFIDENCE_CAP);
}

static double capped(const struct run_model *model, double confidence) {
    return model_has_path(model) ? confidence : fmin(confidence, number_of(model, CONFIDENCE_CAP));
}

/* The table was made on short runs as well, and on none whose evidence has a hole. */
double verdict_confidence(const struct run_model *model, double computed, double *ret_asked) {
    *ret_asked = fmin(1, computed * long_enough(model));
    return capped(model, fmin(verdict_calibrated(*ret_asked), sure_by_time(model))) *
           evidence_there(model);
}

double verdict_confidence_counted(const struct run_model *model, double share) {
    return capped(model, fmin(share * long_enough(model), sure_by_time(model))) *
           evidence_there(model);
}

/* The kernel's counters go on between samples: where calls tell when each wait was, samples only
 * have to say what the time between was spent on. */
static size_t samples_needed(const struct run_model *model) {
    return iterations_told(model) >= number_of(model, RUN_ITERATIONS_MIN)
               ? number_of(model, RUN_SAMPLES_BESIDE_CALLS)
               : number_of(model, RUN_SAMPLES_MIN);
}

/* The reason why there is too little to judge by, or REMARK_NONE. */
static void find_too_little(const struct run_model *model, struct remark *ret_why) {
    size_t samples = verdict_least_samples(model), needed = samples_needed(model);
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    if (!model->n_hosts)
        remark_set(ret_why, NO_HOST_RECORDED, NUMBERS(), NAMES());
    else if (run_s(model) < number_of(model, SECONDS_MIN))
        remark_set(ret_why, RUN_TOO_SHORT, NUMBERS(run_s(model), number_of(model, SURE_S)),
                   NAMES());
    else if (samples < needed)
        remark_set(ret_why, SAMPLES_TOO_FEW, NUMBERS((double)samples, (double)needed),
                   NAMES(model->hosts[host_least_seen(model)].name));
    /* iterations that were found are a help, not what the program is about */
    else if (reference && model->iterations.source == ITERATION_MARKER &&
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
        run_s(model) < number_of(model, SECONDS_MIN)) /* what was said of a run that was seen */
        drop_evidence(v);
    if (model->n_hosts > 1 && verdict_coverage(model) < number_of(model, COVERAGE_MIN))
        remarks_add(&v->next, ADVISE_SEE_AGENT, NUMBERS(),
                    NAMES(model->hosts[host_least_seen(model)].name));
    if (model->iterations.n &&
        iterations_reference(&model->iterations)->n < number_of(model, RUN_ITERATIONS_MIN))
        remarks_add(&v->next, ADVISE_MORE_ITERATIONS, NUMBERS(number_of(model, RUN_ITERATIONS_MIN)),
                    NAMES());
}

/* ---- without calls ---- */

/* Ranks that differ, though no resource says why. */
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

bool verdict_has_ranks(const struct run_model *model) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].rank >= 0)
            return true;
    return false;
}

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

/* As long as this run would have had to be to have been seen often enough. */
static double seconds_needed(const struct run_model *model) {
    double samples =
        4.0 * number_of(model, RUN_SAMPLES_MIN) / fmax(1, (double)verdict_least_samples(model));
    double told = (double)iterations_told(model);
    double factor =
        told > 0 ? fmin(samples, 4.0 * number_of(model, RUN_ITERATIONS_MIN) / told) : samples;
    return ceil(fmax(run_s(model) * factor, number_of(model, SURE_S)));
}

static void add_next(const struct run_model *model, struct verdict *v) {
    if (!model->iterations.n && verdict_has_ranks(model))
        remarks_add(&v->next, ADVISE_MARK_PROGRAM, NUMBERS(), NAMES());
    if ((seen_of(model) < 1 || run_s(model) < number_of(model, SURE_S)) &&
        verdict_coverage(model) >= 0.9) /* which made it less sure */
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

/* Where nothing else is worth naming, what limits then: put first. */
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

/* Result of the lists: -ENOMEM if one could not be kept, else 0. */
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
    verdict_of_gpu(model, &v);
    bool failed = verdict_of_failed(model, &v);
    v.leaning = v.state;
    if (!failed)
        find_too_little(model, &v.too_little);
    if (v.too_little.code)
        judge_too_little(model, &v);
    v.too_short = run_s(model) < number_of(model, SECONDS_MIN);
    if (!v.too_short) {
        add_blind_spots(model, &v);
        copy_ruled_out(candidates, &v);
        add_next(model, &v);
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
