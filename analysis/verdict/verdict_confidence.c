/* SPDX-License-Identifier: MIT */
/*
 * How much of the run the recording shows, and how certain that makes a verdict.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "analysis/verdict/verdict_private.h"

const char *verdict_state_name(enum verdict_state state) {
    static const char *const names[] = {"saturated", "suspected", "balanced", "insufficient",
                                        "idle"};
    return names[state];
}

bool verdict_blames(enum verdict_state state) {
    return state == VERDICT_SATURATED || state == VERDICT_SUSPECTED;
}

/* In a long recording rows are joined from samples over some seconds. */
static size_t samples_of(const struct run_model *model, size_t host) {
    const struct rate *rate = &model->hosts[host].metrics[METRIC_CPU_IDLE];
    int64_t period = model->recording->period_ns;
    if (model->recording->tables[RECORDING_CPU].step_ns > 0 && period > 0)
        return (size_t)(rate_covered(rate, phase_windows(&model->groups[0])) / period);
    return rate_find(rate, model->recording->duration_ns) - rate_find(rate, 0);
}

/* The model must have hosts. */
size_t verdict_host_least_seen(const struct run_model *model) {
    size_t least = 0;
    for (size_t h = 1; h < model->n_hosts; h++)
        least = samples_of(model, h) < samples_of(model, least) ? h : least;
    return least;
}

size_t verdict_least_samples(const struct run_model *model) {
    return model->n_hosts ? samples_of(model, verdict_host_least_seen(model)) : 0;
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

/* 0 with just the needed number, 1 with four times that number. */
static double plenty(double n, double needed) {
    return fmin(1, fmax(0, (n - needed) / (3 * needed)));
}

/* The iterations of the rank that represents all, if all its calls are known; else 0. */
size_t verdict_iterations_told(const struct run_model *model) {
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    return model_has_path(model) && reference ? reference->n : 0;
}

/* How many of the program's moments were observed, from 0 (just enough) to 1. Calls of MPI show
 * every moment, so iterations count; without them samples count. */
double verdict_seen(const struct run_model *model) {
    return fmax(
        plenty((double)verdict_least_samples(model), number_of(model, RUN_SAMPLES_MIN)),
        plenty((double)verdict_iterations_told(model), number_of(model, RUN_ITERATIONS_MIN)));
}

/* Samples of the host with the fewest, relative to the number for its length: counters continue
 * without samples, but the times of events are lost. Each end of the run may miss one sample. */
static double samples_there(const struct run_model *model) {
    int64_t period = model->recording->period_ns;
    /* Whole periods. NOLINTNEXTLINE(bugprone-integer-division) */
    double asked = period > 0 ? (double)(model->recording->duration_ns / period) - 2 : 0;
    return asked > 0 ? fmin(1, (double)verdict_least_samples(model) / asked) : 1;
}

/* Whether all ranks with recorded calls reached their end. If some were killed or stuck, or lost
 * their last calls, waits of the others for them say nothing about the program. */
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

/* The share of the ranks' time that could not be divided into waiting for a peer and moving
 * data. */
static double unsplit(const struct run_model *model) {
    double share = rank_budgets_share(&model->budgets, model->main_group, BUDGET_UNSPLIT);
    return model_has_path(model) && share > 0 ? fmin(share, 1) : 0;
}

/* The part of the evidence that exists. */
static double evidence_there(const struct run_model *model) {
    double there = samples_there(model) * (1 - unsplit(model));
    if (verdict_closing(model) < 1)
        there *= number_of(model, DOUBT_OPEN);
    if (verdict_coverage(model) <
        number_of(model, COVERAGE_WHOLE)) /* a host was not recorded for a while */
        there *= number_of(model, DOUBT_DARK);
    return all_came_to_end(model) ? there : number_of(model, DOUBT_ENDLESS) * there;
}

/* A short run has shown few of the program's moments, even if they are alike. */
static double long_enough(const struct run_model *model) {
    double least = number_of(model, DOUBT_SHORT);
    return least + (1 - least) * verdict_seen(model);
}

double verdict_run_s(const struct run_model *model) {
    return (double)model->recording->duration_ns / 1e9;
}

/* A short run has shown little of what may happen, however clear it looks. */
static double sure_by_time(const struct run_model *model) {
    bool enough = verdict_run_s(model) >= number_of(model, SURE_S) &&
                  (double)verdict_least_samples(model) >= number_of(model, SURE_SAMPLES);
    return enough ? number_of(model, CONFIDENCE_MAX) : number_of(model, CONFIDENCE_CAP);
}

static double capped(const struct run_model *model, double confidence) {
    return model_has_path(model) ? confidence : fmin(confidence, number_of(model, CONFIDENCE_CAP));
}

/* The table is based on runs without holes in their evidence, short runs included. */
double verdict_confidence(const struct run_model *model, double computed, double *ret_asked) {
    *ret_asked = fmin(1, computed * long_enough(model));
    return capped(model, fmin(verdict_calibrated(*ret_asked), sure_by_time(model))) *
           evidence_there(model);
}

enum verdict_sureness verdict_sureness(const struct run_model *model, double confidence) {
    return confidence >= number_of(model, CONFIDENCE_SURE)     ? VERDICT_SURE
           : confidence >= number_of(model, CONFIDENCE_LIKELY) ? VERDICT_PROBABLE
                                                               : VERDICT_POSSIBLE;
}

double verdict_confidence_counted(const struct run_model *model, double share) {
    return capped(model, fmin(share * long_enough(model), sure_by_time(model))) *
           evidence_there(model);
}

/* The kernel's counters continue between samples: if calls show the time of each wait, samples only
 * need to show the use of the time between. */
size_t verdict_samples_needed(const struct run_model *model) {
    return verdict_iterations_told(model) >= number_of(model, RUN_ITERATIONS_MIN)
               ? number_of(model, RUN_SAMPLES_BESIDE_CALLS)
               : number_of(model, RUN_SAMPLES_MIN);
}
