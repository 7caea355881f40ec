/* SPDX-License-Identifier: MIT */
/*
 * Answers without a replay. Counters tell the gain (gain_counted.h) for what held up a process that
 * hardly waits for others, for a quota, for a link that all wait for, and for a process that has
 * more to do than its peers, or sleeps, where that can be told. They do not tell for other links,
 * paces and numbers of workers. Where ranks run freely, the iterations that all of them would get
 * done tell (throughput.h): for a term taken from a host, for a rank that computes like its peers,
 * and for a link, as in the verdict, except that a faster link still takes some time.
 */
#include <math.h>

#include "analysis/evidence/processes.h"
#include "analysis/gain/free_loss.h"
#include "analysis/gain/gain_counted.h"
#include "analysis/gain/gain_private.h"
#include "analysis/gain/throughput.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/number.h"

static void answer(double gain, double low, double high, struct whatif_answer *a) {
    a->counted = true;
    a->gain = gain;
    a->gain_low = low;
    a->gain_high = high;
    a->predicted_s = a->measured_s * (1 - gain);
    a->low_s = a->measured_s * (1 - high);
    a->high_s = a->measured_s * (1 - low);
    a->bound_s = fmin(a->bound_s, a->low_s); /* the path may lack what samples missed */
    a->gain_max = 1 - a->bound_s / a->measured_s;
}

/* ---- by counters ---- */

/* A process without calls that is asleep may be waiting for others. */
static bool is_counted(const struct run_model *model, const struct whatif_scenario *s) {
    return s->kind == WHATIF_DISK ||
           (s->kind == WHATIF_WITHOUT && (s->term != BUDGET_IDLE || model_has_path(model)));
}

/* With calls it is known when the process may wait. */
static bool is_quota(const struct run_model *model, const struct whatif_scenario *s) {
    return s->kind == WHATIF_QUOTA && s->host >= 0 && !model_has_path(model);
}

/* All processes compute, and none may spin: their computing is faster or slower by the factor. */
static bool is_of_computing(const struct whatif *w, const struct whatif_scenario *s) {
    return s->kind == WHATIF_CPU && s->host < 0 && !model_has_path(w->model) &&
           ranks_busy(w->model, w->model->main_group) >= number_of(w->model, COMPUTE_BOUND);
}

/* The share of computing that decides: of the working process with the smallest one, as faster
 * cores save it for all; of the one with the largest if cores become slower.
 */
static double computing_of(const struct run_model *model, bool slower) {
    double least = INFINITY, most = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = gain_budget(model, r, model->main_group);
        double cpu = budget_sum(b, 1u << BUDGET_CPU) + b->other_cpu_s;
        if (!gain_works(model, r, model->main_group))
            continue;
        least = fmin(least, fmin(1, cpu / b->wall_s));
        most = fmax(most, fmin(1, cpu / b->wall_s));
    }
    return slower ? most : least;
}

static void count_computing(const struct whatif *w, const struct whatif_scenario *s,
                            struct whatif_answer *a) {
    const struct run_model *model = w->model;
    if (gain_may_spin(model))
        return;
    size_t group = model->main_group;
    bool together = /* a rank also spends less time in the queue behind the others */
        processes_come_and_go(model, group) || processes_fill_their_cores(model, group);
    double share = together ? ranks_busy(model, group) : computing_of(model, s->factor < 1);
    double gain = share * whatif_part_saved(s->factor);
    if (isfinite(gain))
        answer(gain, gain_at_pace(gain, number_of(model, PACE_SLOWER)),
               gain_at_pace(gain, number_of(model, PACE_FASTER)), a);
}

static double times_the_phase(const struct run_model *model) {
    double length = (double)windows_length(phase_windows(&model->groups[model->main_group]));
    double run = (double)windows_length(phase_windows(&model->groups[0]));
    return length > 0 ? run / length : INFINITY;
}

/* Fills in shares of the run. The main phase saves at most all of itself. A part below 0 costs what
 * it would save above.
 */
static void answer_of_run(const struct run_model *model, double gain, double low, double high,
                          double part, struct whatif_answer *a) {
    double times = part * times_the_phase(model);
    double least = fmin(low * times, high * times), most = fmax(low * times, high * times);
    if (gain * times < 1)
        answer(gain * times, least, fmin(most, 1), a);
}

static void answer_counted(const struct whatif *w, const struct counted *c, double part,
                           struct whatif_answer *a) {
    answer_of_run(w->model, c->gain, c->gain_low, c->gain_high, part, a);
}

/* A loss larger than the main phase occurs during the whole run, and counts there. */
static void answer_with_beside(const struct whatif *w, struct counted_loss loss,
                               const struct counted *run, struct whatif_answer *a) {
    double times = times_the_phase(w->model);
    struct counted c;
    answer_counted(w, run, 1, a);
    loss.group = w->model->main_group;
    if (a->counted || !isfinite(times) || !gain_counted(w->model, &loss, &c))
        return;
    answer(c.gain, c.gain_low, c.gain_high, a);
    a->beside = fmax(0, run->gain - c.gain / times);
}

static void count(const struct whatif *w, const struct whatif_scenario *s,
                  struct whatif_answer *a) {
    struct counted counted;
    struct counted_loss loss = {.host = s->host,
                                .rank = -1,
                                .terms = 1u << whatif_term(s),
                                .part = whatif_part_saved(whatif_speed(w, s)),
                                .everywhere = s->host < 0};
    if (is_quota(w->model, s)) {
        if (gain_counted_quota(w->model, s->host, w->model->main_group, s->factor, &counted))
            answer(counted.gain, counted.gain_low, counted.gain_high, a);
    } else if (is_counted(w->model, s) && gain_counted(w->model, &loss, &counted)) {
        answer_with_beside(w, loss, &counted, a); /* what holds up a host does so during the whole
                                                     run */
    }
}

/* All processes wait as long as the link is in use, in turn in either direction: both must become
 * faster.
 */
static void count_link(const struct whatif *w, const struct whatif_scenario *s,
                       struct whatif_answer *a) {
    struct counted c;
    bool told = false;
    for (size_t i = 0; i < w->told.n_links && s->direction == WHATIF_BOTH && !told; i++)
        told =
            w->told.links[i].host == s->host && gain_counted_link(w->model, &w->told.links[i], &c);
    double part = whatif_part_saved(whatif_speed(w, s));
    if (told && !isnan(part))
        answer_counted(w, &c, part, a);
}

/* Whether the scenario is about a process that computes more than its peers, or sleeps. */
static bool is_of_process(const struct whatif *w, const struct whatif_scenario *s) {
    bool sleeps = s->kind == WHATIF_WITHOUT && s->term == BUDGET_IDLE;
    return s->host >= 0 && s->rank < 0 && !model_has_path(w->model) &&
           (s->kind == WHATIF_LIKE_PEERS || sleeps);
}

static void count_process(const struct whatif *w, const struct whatif_scenario *s,
                          struct whatif_answer *a) {
    struct counted c;
    bool told = false;
    for (size_t i = 0; i < w->told.n_processes && !told; i++)
        told = w->told.processes[i].host == s->host &&
               w->told.processes[i].sleeps == (s->kind == WHATIF_WITHOUT) &&
               gain_counted_process(w->model, &w->told.processes[i], &c);
    if (told)
        answer_counted(w, &c, 1, a);
}

/* ---- by iterations ---- */

/* The loss that the verdict uses for the same question. */
static struct loss loss_for(const struct whatif *w, const struct whatif_scenario *s) {
    bool link = s->kind == WHATIF_LINK;
    return (struct loss){.host = s->host,
                         .rank = -1,
                         .group = w->model->main_group,
                         .terms = 1u << whatif_term(s),
                         .all_hosts = link || s->host < 0,
                         .part = 1,
                         .link = link,
                         .change = *s};
}

/* Each iteration of a rank passes faster or slower by a factor. */
static bool is_of_iterations(const struct whatif_scenario *s) {
    return s->kind == WHATIF_WITHOUT || s->kind == WHATIF_LINK || s->kind == WHATIF_CPU ||
           s->kind == WHATIF_DISK;
}

static int count_iterations(const struct whatif *w, const struct whatif_scenario *s,
                            struct whatif_answer *a) {
    const struct run_model *model = w->model;
    struct loss c = loss_for(w, s);
    struct gain gain;
    if (s->kind == WHATIF_LIKE_PEERS ? !free_loss_like_peers(model, model->main_group, s->rank, &c)
                                     : !is_of_iterations(s))
        return 0;
    double part = s->kind == WHATIF_LIKE_PEERS ? 1 : whatif_part_saved(whatif_speed(w, s));
    if (isnan(part))
        return 0; /* a rate, and the present one is not known */
    int result = throughput_gain(model, &c, part, free_ranks_limit(model, c.group), &gain);
    if (result == 0)
        answer_of_run(model, gain.estimate, gain.low, gain.high, 1, a);
    a->iterations = a->counted;
    return result;
}

/* ---- all ---- */

/* No wait that is taken away gives a job more CPU time than its quota. */
static void hold_to_quota(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                          struct whatif_answer *a) {
    double most = 1;
    for (size_t i = 0; i < n && a->counted; i++) {
        double of_one = gain_most_within_quota(w->model, &scenarios[i]);
        if (isnan(of_one))
            return;
        most = fmin(most, of_one);
    }
    if (!a->counted)
        return;
    double high = fmin(a->gain_high, gain_at_pace(most, number_of(w->model, PACE_FASTER)));
    if (a->gain > most || a->gain_high > high)
        answer(fmin(a->gain, most),
               fmin(a->gain_low, gain_at_pace(most, number_of(w->model, PACE_SLOWER))), high, a);
}

static int count_any(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                     struct whatif_answer *a) {
    if (w->model->critical.source == CRITICAL_FROM_WAITS)
        return whatif_by_waits(w, scenarios, n, a);
    if (n != 1)
        return 0;
    if (throughput_counts(w->model, w->model->main_group))
        return count_iterations(w, &scenarios[0], a);
    if (scenarios[0].kind == WHATIF_LINK)
        count_link(w, &scenarios[0], a);
    else if (is_of_computing(w, &scenarios[0]))
        count_computing(w, &scenarios[0], a);
    else if (is_of_process(w, &scenarios[0]))
        count_process(w, &scenarios[0], a);
    else
        count(w, &scenarios[0], a);
    return 0;
}

int whatif_count(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                 struct whatif_answer *a) {
    int result = count_any(w, scenarios, n, a);
    if (result == 0)
        hold_to_quota(w, scenarios, n, a);
    return result;
}
