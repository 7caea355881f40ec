/* SPDX-License-Identifier: MIT */
/*
 * The gain of the run without each candidate, from the engine that answers `whatif`, and the time
 * in which each held. The engine covers the main phase only; for the rest of the run, which a fault
 * holds up as well, the critical path is used. If the engine refuses, counters may give the gain
 * (candidate_counted.c); otherwise it is bounded by the candidate's share of the critical path. If
 * ranks run freely, the gain is in iterations (throughput.h).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/gain/gain_counted.h"

static struct gain gain_of(const struct whatif_answer *answer) {
    return (struct gain){.estimate = fmax(0, answer->run_gain),
                         .low = fmax(0, answer->run_low),
                         .high = fmax(0, answer->run_high),
                         .replayed = answer->replayed || answer->iterations,
                         .counted = answer->counted && !answer->iterations};
}

/* Without a replay the bound remains. If nothing shows whether the link limits anything, the bound
 * is no reason for blame: the gain is not known, which is no gain of 0.
 */
static int ask(const struct whatif *whatif, const struct whatif_scenario *scenario,
               struct gain *ret_gain, struct refusal *why) {
    struct whatif_answer answer;
    int result = whatif_ask(whatif, scenario, 1, &answer);
    if (result == -EINVAL)
        return 0; /* it has no such link or rank: the bound remains */
    if (result < 0)
        return result;
    if (!answer.replayed) {
        if (!why->code)
            *why = answer.refused;
        if (answer.refused.code == REFUSAL_GROUPS_UNTOLD)
            *ret_gain = (struct gain){.estimate = NAN, .low = NAN, .high = ret_gain->high};
        return 0;
    }
    *ret_gain = gain_of(&answer);
    return 0;
}

/* Relieving one of several hosts that suffer alike gains little: the others still wait. */
static bool is_everywhere(const struct run_model *model, const struct candidates *candidates,
                          const struct candidate *c) {
    size_t alike = 1;
    if (c->path.all_hosts && c->everywhere) /* all hosts are the subject */
        return true;
    for (size_t i = 0; i < candidates->n; i++)
        alike += candidate_is_alike(c, &candidates->items[i]);
    return alike > 1 && alike == model_job_hosts(model) && c->rank < 0;
}

/* Time that the path spends on it, on all hosts if all suffer it (the budget of either end has the
 * time of links). */
static double bound_of(const struct run_model *model, const struct candidates *candidates,
                       const struct candidate *c) {
    double bound = c->run_share;
    for (size_t i = 0; c->everywhere && !c->path.all_hosts && i < candidates->n; i++)
        bound += candidate_is_alike(c, &candidates->items[i]) ? candidates->items[i].run_share : 0;
    return model_has_path(model) ? fmin(1, bound) : c->run_share;
}

/* Both directions of a link are candidates: a faster link speeds up both. */
static bool is_both_ways(const struct candidates *candidates, const struct candidate *c) {
    for (size_t i = 0; c->remove.kind == WHATIF_LINK && c->can_remove && i < candidates->n; i++) {
        const struct candidate *other = &candidates->items[i];
        if (other != c && other->can_remove && other->remove.kind == WHATIF_LINK &&
            other->host == c->host && other->group == c->group)
            return true;
    }
    return false;
}

/* A serial server's own work is the limit, not limited by it. */
static int estimate_freely(const struct run_model *model, struct candidate *c) {
    struct loss loss = candidate_loss(c);
    double part = c->fallback ? 1 - 1 / c->remove.factor : 1;
    double limit = loss.serves ? INFINITY : free_ranks_limit(model, c->group);
    int result = throughput_gain(model, &loss, part, limit, &c->gain);
    double beside = throughput_lost_beside(model, c->host, c->rank, c->path.terms);
    c->gain.estimate += beside;
    c->gain.high += beside;
    if (result == 0 && c->can_double)
        result = throughput_gain(model, &loss, 0.5, limit, &c->doubled);
    return result;
}

static int estimate(const struct run_model *model, const struct candidates *candidates,
                    const struct whatif *whatif, struct candidate *c, struct refusal *why) {
    int result = 0;
    double bound = bound_of(model, candidates, c);
    c->gain = (struct gain){.estimate = bound, .low = NAN, .high = bound};
    if (c->path.terms && throughput_counts(model, c->group))
        return estimate_freely(model, c);
    if (c->group != model->main_group || !model_has_path(model) || !whatif)
        return 0;
    if (c->can_remove && c->remove.kind == WHATIF_LINK)
        c->remove.direction = c->twice.direction = WHATIF_BOTH;
    if (c->can_remove)
        result = ask(whatif, &c->remove, &c->gain, why);
    if (result == 0 && c->can_double)
        result = ask(whatif, &c->twice, &c->doubled, why);
    if (result == 0 && c->sharing.can)
        result = ask(whatif, &c->sharing.scenario, &c->sharing.gain, why);
    /* calls do not show which end of a path is slow, but connections did: the scenario means the
     * path */
    if (result == 0 && c->remove.kind == WHATIF_LINK && c->can_remove && c->gain.replayed &&
        c->gain.estimate < number_of(model, PATH_PART) * c->run_share) {
        c->remove.host = c->twice.host = -1;
        c->remove.direction = c->twice.direction = WHATIF_BOTH;
        result = ask(whatif, &c->remove, &c->gain, why);
        if (result == 0 && c->can_double)
            result = ask(whatif, &c->twice, &c->doubled, why);
    }
    return result;
}

/* Without an answer the gain is unknown, and a bound is no reason for blame. */
static int estimate_fallback(const struct whatif *whatif, struct candidate *c) {
    struct whatif_answer answer;
    int result = whatif_ask(whatif, &c->remove, 1, &answer);
    c->gain = (struct gain){.estimate = 0, .low = 0, .high = c->run_share};
    if (result == 0 && !isnan(answer.run_gain))
        c->gain = gain_of(&answer);
    return result == -EINVAL ? 0 : result;
}

/* Gains have one source: the report gives the engine's answer. */
static int take_answer(const struct run_model *model, const struct whatif *whatif,
                       struct candidate *c) {
    struct whatif_answer answer;
    if (c->remove.kind == WHATIF_LINK && !c->gain.replayed) /* a faster link is faster both ways */
        c->remove.direction = c->twice.direction = WHATIF_BOTH;
    int result = c->can_remove ? whatif_ask(whatif, &c->remove, 1, &answer) : -EINVAL;
    if (result < 0)
        return result == -EINVAL ? 0 : result;
    c->answered = !isnan(answer.run_gain);
    if (c->answered && answer.iterations)
        c->gain = gain_of(&answer);
    else if (c->answered && !answer.replayed)
        c->counted = gain_of(&answer);
    /* along chains of waits the bound of a link is for one direction, but the change affects both:
     * candidates are weighted by the reported gain. Answers cover the main group. */
    if (c->counted.counted && c->group == model->main_group &&
        model->critical.source == CRITICAL_FROM_WAITS)
        c->gain.estimate = c->counted.estimate;
    return 0;
}

/* Under a quota the share of a wait says too much: the job gets no more than its quota without it.
 */
static void hold_to_quota(const struct run_model *model, struct candidate *c) {
    double most = c->can_remove ? gain_most_within_quota(model, &c->remove) : NAN;
    if (isnan(most) || c->gain.replayed || c->gain.estimate <= most)
        return;
    c->gain.estimate = most;
    c->gain.high = fmin(c->gain.high, gain_at_pace(most, number_of(model, PACE_FASTER)));
}

/* ---- when it held ---- */

/* Value of a rank in a slice; NAN if the rank did not exist. */
static double slice_terms(const struct rank_budget *b, size_t slice, unsigned terms) {
    const struct budget *budget = &b->slices[slice];
    return budget->wall_s > 0 ? budget_sum(budget, terms) / budget->wall_s : NAN;
}

/* The terms of the candidate's subject: of its rank, of the host's worst rank, or the mean of all
 * hosts. */
static double slice_level(const struct run_model *model, const struct candidate *c, size_t slice) {
    double worst = NAN, sum = 0, n = 0, others = 0, n_others = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *b = &model->budgets.items[r];
        double level = slice_terms(b, slice, c->path.terms);
        bool meant = c->host == b->host && (c->rank < 0 || c->rank == b->rank);
        if (isnan(level))
            continue;
        sum += level;
        n++;
        if (meant)
            worst = fmax(worst, level);
        else {
            others += level;
            n_others++;
        }
    }
    if (c->path.all_hosts)
        return n > 0 ? sum / n : NAN;
    /* computing is normal: only the part beyond other ranks counts */
    if (c->path.terms == 1u << BUDGET_CPU)
        return n_others > 0 ? fmax(0, worst - others / n_others) : NAN;
    return worst;
}

double candidate_level(const struct run_model *model, const struct candidate *c, size_t slice) {
    int64_t duration = model->recording->duration_ns;
    struct window window = {rank_budget_slice_begin(duration, slice),
                            rank_budget_slice_begin(duration, slice + 1)};
    if (c->path.terms && model->budgets.n)
        return slice_level(model, c, slice);
    return c->metric.signal ? candidate_blocked(c, (struct windows){&window, 1}) : NAN;
}

struct levels {
    double value[RANK_BUDGET_SLICES];
    int64_t begin_ns[RANK_BUDGET_SLICES], end_ns[RANK_BUDGET_SLICES];
    size_t n;
};

/* Collects slices of which more than half lies in the candidate's phase, after the start. */
static void collect(const struct run_model *model, int64_t start_ns, const struct candidate *c,
                    struct levels *levels) {
    struct windows windows = phase_windows(&model->groups[c->group]);
    for (size_t s = 0; s < RANK_BUDGET_SLICES; s++) {
        int64_t begin = rank_budget_slice_begin(model->recording->duration_ns, s);
        int64_t end = rank_budget_slice_begin(model->recording->duration_ns, s + 1);
        int64_t middle = begin + (end - begin) / 2;
        double value = candidate_level(model, c, s);
        bool inside = false;
        for (size_t w = 0; w < windows.n; w++)
            inside |= middle >= windows.items[w].begin_ns && middle < windows.items[w].end_ns;
        if (!inside || middle < start_ns || isnan(value))
            continue;
        levels->value[levels->n] = value;
        levels->begin_ns[levels->n] = begin;
        levels->end_ns[levels->n++] = end;
    }
}

/* Finds the stretch [a, b) of a higher level that explains most of the variance: two change points,
 * by exhaustive search over the few slices. */
static void find_span(const struct run_model *model, const struct levels *l, struct candidate *c) {
    double all = 0, squares = 0, best = 0;
    size_t best_a = 0, best_b = 0;
    for (size_t i = 0; i < l->n; i++) {
        all += l->value[i];
        squares += l->value[i] * l->value[i];
    }
    double total = squares - all * all / (double)l->n;
    for (size_t a = 0; a < l->n; a++) {
        double in = 0;
        for (size_t b = a + 1; b <= l->n; b++) {
            in += l->value[b - 1];
            double n_in = (double)(b - a), n_out = (double)l->n - n_in;
            if (b - a < 3 || n_out < 3)
                continue;
            double inside = in / n_in, outside = (all - in) / n_out;
            double between = n_in * n_out / (double)l->n * (inside - outside) * (inside - outside);
            if (between <= best || outside > number_of(model, SPAN_OUTSIDE_MAX) * inside ||
                inside - outside < number_of(model, SPAN_LEVEL_MIN))
                continue;
            best = between;
            best_a = a;
            best_b = b;
        }
    }
    if (best_b == 0 || best < number_of(model, SPAN_FIT_MIN) * total)
        return;
    c->start_s = (double)l->begin_ns[best_a] / 1e9;
    c->end_s = (double)l->end_ns[best_b - 1] / 1e9;
}

int candidates_estimate(const struct run_model *model, const struct whatif *whatif, size_t first,
                        struct candidates *candidates) {
    int result = 0;
    const struct whatif *engine = whatif;
    if (!model_has_path(model) || throughput_counts(model, model->main_group))
        whatif = NULL; /* no calls to replay, or no replay possible */
    for (size_t i = first; result == 0 && i < candidates->n; i++) {
        struct levels levels = {.n = 0};
        struct candidate *c = &candidates->items[i];
        c->everywhere = is_everywhere(model, candidates, c);
        if (c->everywhere)
            c->remove.host = c->twice.host = -1;
        if (is_both_ways(candidates, c))
            c->remove.direction = c->twice.direction = WHATIF_BOTH;
        result = c->fallback && !throughput_counts(model, c->group)
                     ? estimate_fallback(engine, c)
                     : estimate(model, candidates, whatif, c, &candidates->no_replay);
        candidate_count(model, candidates, c);
        if (result == 0)
            result = take_answer(model, engine, c);
        hold_to_quota(model, c);
        collect(model, candidates->start_ns, c, &levels);
        if (levels.n >= 8)
            find_span(model, &levels, c);
    }
    return result;
}
