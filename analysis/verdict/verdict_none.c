/* SPDX-License-Identifier: MIT */
/*
 * The verdict if no candidate would gain enough. That is an answer: if the ranks' time is known, it
 * is "balanced", with the terms of that time. It is "insufficient" only if too little was observed
 * to exclude a blind spot.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/evidence/beside_job.h"
#include "analysis/verdict/verdict_private.h"

#define MOST 0.5 /* of the ranks' time */

static double known(double share) {
    return isnan(share) ? 0 : share;
}

/* Terms of the ranks' budgets for which only the program and its message passing are
 * responsible. */
struct shares {
    double computing, wait, transfer, overhead;
    enum budget_term other; /* the largest of all other terms */
    double most;            /* and its share */
};

static void find_other(const struct rank_budgets *budgets, size_t group, struct shares *s) {
    const unsigned told =
        1u << BUDGET_CPU | 1u << BUDGET_PEER_WAIT | 1u << BUDGET_TRANSFER | 1u << BUDGET_OVERHEAD;
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++) {
        double share = told >> term & 1 ? 0 : known(rank_budgets_share(budgets, group, term));
        if (share > s->most) {
            s->most = share;
            s->other = term;
        }
    }
}

static struct shares shares_of(const struct run_model *model) {
    const struct rank_budgets *b = &model->budgets;
    size_t group = model->main_group;
    struct shares s = {.computing = known(rank_budgets_share(b, group, BUDGET_CPU)),
                       .wait = known(rank_budgets_share(b, group, BUDGET_PEER_WAIT)),
                       .transfer = known(rank_budgets_share(b, group, BUDGET_TRANSFER)),
                       .overhead = known(rank_budgets_share(b, group, BUDGET_OVERHEAD))};
    find_other(b, group, &s);
    return s;
}

enum bound { BOUND_COMPUTING, BOUND_MOVING, BOUND_WAITING, BOUND_OTHER };

static enum bound bound_of(const struct shares *s) {
    double moving = s->transfer + s->overhead;
    if (s->most > s->computing && s->most > moving && s->most > s->wait)
        return BOUND_OTHER;
    if (s->computing >= moving && s->computing >= s->wait)
        return BOUND_COMPUTING;
    return moving >= s->wait ? BOUND_MOVING : BOUND_WAITING;
}

static void set_cause(const struct shares *s, struct remark *ret_cause) {
    switch (bound_of(s)) {
    case BOUND_COMPUTING:
        if (s->computing >= MOST)
            remark_set(ret_cause, COMPUTE_BOUND_WORDS, NUMBERS(), NAMES());
        else
            remark_set(ret_cause, COMPUTING_LARGEST, NUMBERS(), NAMES());
        return;
    case BOUND_MOVING:
        remark_set(ret_cause, MOVING_LARGEST, NUMBERS(), NAMES());
        return;
    case BOUND_WAITING:
        remark_set(ret_cause, WAITING_IN_TURN, NUMBERS(), NAMES());
        return;
    case BOUND_OTHER:
        remark_set(ret_cause, TERM_LARGEST, NUMBERS(s->other), NAMES());
    }
}

static bool links_are_known(const struct run_model *model) {
    for (size_t h = 0; h < model->n_hosts; h++)
        if (!network_limit_of(model, (int)h, METRIC_NET_SEND).measured &&
            isnan(network_set_rate(model, (int)h)))
            return false;
    return true;
}

/* Advises to look at the program, since it takes the time. */
static void advise_by_bound(const struct run_model *model, const struct shares *s,
                            struct verdict *v) {
    bool ranks = verdict_has_ranks(model);
    switch (bound_of(s)) {
    case BOUND_COMPUTING:
        if (ranks)
            remarks_add(&v->next, ADVISE_FASTER_COMPUTING, NUMBERS(), NAMES());
        else
            remarks_add(&v->next, ADVISE_FASTER_PROCESSES, NUMBERS(), NAMES());
        return;
    case BOUND_MOVING:
        if (!links_are_known(model))
            remarks_add(&v->next, ADVISE_MEASURE_LINKS, NUMBERS(), NAMES());
        remarks_add(&v->next, ADVISE_FEWER_BYTES, NUMBERS(), NAMES());
        return;
    case BOUND_WAITING:
        if (ranks)
            remarks_add(&v->next, ADVISE_OVERLAP, NUMBERS(), NAMES());
        else
            remarks_add(&v->next, ADVISE_AT_ONCE, NUMBERS(), NAMES());
        return;
    case BOUND_OTHER:
        remarks_add(&v->next, ADVISE_SEE_PAGE, NUMBERS(ranks ? 1 : 2), NAMES());
    }
}

/* Confidence if no resample reaches the least gain: it depends on how far below it the first
 * candidate stays. A program that moves data for much of the time may meet a limit that no host
 * shows; if its ranks lack something for much of the time, some resource is short. */
static double confidence_in_no_limit(const struct run_model *model,
                                     const struct candidates *candidates, double unexplained,
                                     double *ret_asked) {
    double most = 0, closeness;
    for (size_t i = 0; i < candidates->n; i++)
        most = fmax(most, fmin(candidates->items[i].gain.estimate, number_of(model, GAIN_MIN)));
    closeness = 1 - most / number_of(model, GAIN_MIN);
    double quiet = number_of(model, WEIGHT_FIRST) * (0.5 + 0.5 * closeness) +
                   number_of(model, WEIGHT_MARGIN) * closeness + number_of(model, WEIGHT_SIGNALS) +
                   number_of(model, WEIGHT_COVERAGE) * verdict_coverage(model);
    return verdict_confidence(
        model, quiet * (1 - number_of(model, MOVING_DOUBT) * fmin(1, unexplained)), ret_asked);
}

/* Share of the time in which ranks lack a resource of their hosts, if it is large but none stands
 * out; else 0. */
static double lacking(const struct run_model *model, const struct shares *s) {
    bool of_host = budget_term_class(s->other) == BUDGET_CLASS_LACKING;
    return of_host && s->most >= number_of(model, MOVING_MUCH) ? s->most : 0;
}

/* Adds the largest gain of a change on one host, or what all hosts have in common. */
static void add_evidence(const struct run_model *model, const struct candidates *candidates,
                         const struct shares *s, struct verdict *v) {
    const struct candidate *c = candidates->n ? &candidates->items[0] : NULL;
    if (c && c->gain.estimate >= 0.005) {
        remarks_add(&v->evidence, WOULD_GAIN_MOST, NUMBERS(100 * c->gain.estimate), NAMES());
        v->closest = c;
    } else if (lacking(model, s) > 0)
        remarks_add(&v->evidence, ON_NO_SINGLE_HOST, NUMBERS(s->other), NAMES());
    else if (verdict_closing(model) < 1)
        remarks_add(&v->evidence, NO_HOST_SHORT, NUMBERS(), NAMES());
    else
        remarks_add(&v->evidence, ADDS_UP_NO_HOST_SHORT, NUMBERS(), NAMES());
}

/* Adds terms of the ranks' time that another division of the work or the network could change. */
static void add_against(const struct run_model *model, const struct shares *s, struct verdict *v) {
    double moving = s->transfer + s->overhead;
    if (lacking(model, s) > 0)
        remarks_add(&v->against, ALL_MAY_LACK, NUMBERS(s->other, 100 * s->most), NAMES());
    if (moving >= number_of(model, MOVING_MUCH))
        remarks_add(&v->against, MOVING_WITHOUT_LIMIT, NUMBERS(100 * moving), NAMES());
    if (s->wait >= number_of(model, WAITING_MUCH))
        remarks_add(&v->against, WAITING_NEEDS_DIVISION, NUMBERS(100 * s->wait), NAMES());
}

static void add_shares(const struct run_model *model, const struct shares *s, struct verdict *v) {
    double computing = 100 * s->computing, wait = 100 * s->wait,
           moving = 100 * (s->transfer + s->overhead);
    remarks_add(&v->summary, NONE_STANDS_OUT, NUMBERS(), NAMES());
    if (s->most >= 0.05)
        remarks_add(&v->summary, TIME_OF_RANKS_AND,
                    NUMBERS(computing, wait, moving, s->other, 100 * s->most,
                            100 * number_of(model, GAIN_MIN)),
                    NAMES());
    else
        remarks_add(&v->summary, TIME_OF_RANKS,
                    NUMBERS(computing, wait, moving, 100 * number_of(model, GAIN_MIN)), NAMES());
}

static void judge_balanced(const struct run_model *model, const struct candidates *candidates,
                           struct verdict *v) {
    struct shares s = shares_of(model);
    v->state = VERDICT_BALANCED;
    v->confidence = confidence_in_no_limit(
        model, candidates, s.transfer + s.overhead + lacking(model, &s), &v->computed);
    set_cause(&s, &v->cause);
    add_shares(model, &s, v);
    add_evidence(model, candidates, &s, v);
    add_against(model, &s, v);
    advise_by_bound(model, &s, v);
}

static void judge_compute_bound(const struct run_model *model, double busy, struct verdict *v) {
    v->state = VERDICT_BALANCED;
    v->confidence = verdict_confidence_counted(model, verdict_has_ranks(model)
                                                          ? number_of(model, BUSY_RANKS_SURE)
                                                          : number_of(model, BUSY_SURE));
    remark_set(&v->cause, COMPUTE_BOUND_WORDS, NUMBERS(), NAMES());
    remarks_add(&v->summary, NONE_STANDS_OUT, NUMBERS(), NAMES());
    remarks_add(&v->summary, PROCESSES_RUN, NUMBERS(100 * fmin(busy, 1)), NAMES());
    remarks_add(&v->against, PROCESS_MAY_SPIN, NUMBERS(), NAMES());
    remarks_add(&v->next, ADVISE_FASTER_PROCESSES, NUMBERS(), NAMES());
}

/* For a resource that ran out, but not for the job. */
static void say_beside_job(const struct run_model *model, int host, const struct beside_job *b,
                           struct verdict *v) {
    const char *name = model->hosts[host].name;
    if (b->throttled >= number_of(model, QUOTA_MIN))
        remarks_add(&v->summary, THROTTLED_BESIDE_JOB,
                    NUMBERS(100 * fmin(1, b->throttled), 100 * b->job), NAMES(name));
    else
        remarks_add(&v->summary, HOST_FULL_BESIDE_JOB,
                    NUMBERS(100 * b->busy, 100 * b->waited, 100 * b->job), NAMES(name));
    remarks_add(&v->next, ADVISE_NAME_JOB, NUMBERS(), NAMES(name, name));
}

/* Wait clocks show what processes wait for. Where they were on, or could not run, which a note
 * tells, nobody is to record the run again with them. */
static void advise_clocks(const struct run_model *model, struct verdict *v) {
    if (!model->recording->tables[RECORDING_WAIT].n && !model->recording->waits_refused)
        remarks_add(&v->next, ADVISE_TRACE_ANY, NUMBERS(), NAMES());
}

static void judge_not_visible(const struct run_model *model, double busy, struct verdict *v) {
    v->state = VERDICT_INSUFFICIENT;
    remark_set(&v->cause, NOT_VISIBLE, NUMBERS(), NAMES());
    struct beside_job beside;
    int host = beside_job_find(model, model->main_group, &beside);
    if (host >= 0)
        say_beside_job(model, host, &beside, v);
    else if (isnan(busy))
        remarks_add(&v->summary, PROCESSES_UNSEEN, NUMBERS(), NAMES());
    else
        remarks_add(&v->summary, PROCESSES_WAIT_UNSEEN, NUMBERS(100 * busy), NAMES());
    advise_clocks(model, v);
    if (verdict_has_ranks(model))
        remarks_add(&v->next, ADVISE_RECORD_CALLS, NUMBERS(), NAMES());
}

/* ---- what has no known cause ---- */

/* Blocked share of a term for which some cause has evidence, however small the gain. */
static double explained(const struct candidates *candidates, enum budget_term term) {
    double share = 0;
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].path.terms >> term & 1 && candidates->items[i].saturated &&
            !candidates->items[i].repeated)
            share += candidates->items[i].blocked;
    return share;
}

/* Share of the critical path without a known cause: the largest such term, and all of them.
 * Computing and the library's own work need no cause, and neither does moving data through links
 * that are known not to be full. */
static double unexplained_of(const struct run_model *model, const struct candidates *candidates,
                             enum budget_term *ret_largest) {
    const struct critical_part *path = &model->critical.groups[model->main_group];
    double all = 0, most = 0;
    for (enum budget_term term = BUDGET_RUN_QUEUE; term < BUDGET_TERMS; term++) {
        if (term == BUDGET_OVERHEAD || (term == BUDGET_TRANSFER && links_are_known(model)))
            continue;
        double share = fmax(0, critical_share_of_all(path, model->n_hosts, term) -
                                   explained(candidates, term));
        all += share;
        if (share > most) {
            most = share;
            *ret_largest = term;
        }
    }
    return all;
}

/* Time without an explanation rules out "balanced". */
static void judge_unexplained(const struct run_model *model, double share, enum budget_term term,
                              struct verdict *v) {
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    v->computed = NAN;
    remark_set(&v->cause, NOT_VISIBLE, NUMBERS(), NAMES());
    remarks_release(&v->summary);
    remarks_add(&v->summary, TIME_UNEXPLAINED, NUMBERS(100 * share, term), NAMES());
    remarks_release(&v->next);
    if (term == BUDGET_TRANSFER)
        remarks_add(&v->next, ADVISE_MEASURE_MESSAGES, NUMBERS(), NAMES());
    else if (term == BUDGET_UNSPLIT)
        remarks_add(&v->next, ADVISE_ALL_CALLS, NUMBERS(), NAMES());
    else
        remarks_add(&v->next, ADVISE_SEE_PAGE, NUMBERS(verdict_has_ranks(model) ? 1 : 2), NAMES());
}

/* For calls without a matching end, or too many to keep, or that come when the command has ended:
 * neither balanced nor its opposite is known. */
static void judge_unsplit(const struct run_model *model, const struct shares *s,
                          struct verdict *v) {
    v->state = VERDICT_INSUFFICIENT;
    remark_set(&v->cause, NOT_VISIBLE, NUMBERS(), NAMES());
    remarks_add(&v->summary, TIME_UNSPLIT, NUMBERS(100 * s->most), NAMES());
    if (model_has_path(model) || model->recording->exit_status >= 0) /* else it still runs */
        remarks_add(&v->next, ADVISE_ALL_CALLS, NUMBERS(), NAMES());
}

/* Ranks that spin inside MPI use their cores, too, but what is known of them is that they do not
 * compute. */
static bool is_mostly_in_mpi(const struct run_model *model, const struct shares *s) {
    return s->other == BUDGET_UNSPLIT && s->most > 1 - number_of(model, COMPUTE_BOUND);
}

/* For ranks that wait for each other, if too few of their budgets add up. */
static void judge_untrusted(const struct run_model *model, struct verdict *v) {
    struct shares s = shares_of(model);
    const struct rank_budget *who = rank_budgets_awaited(&model->budgets);
    const char *host = model->hosts[who->host].name;
    v->state = VERDICT_INSUFFICIENT;
    remark_set(&v->cause, WAITING_LARGEST, NUMBERS(), NAMES());
    remarks_add(&v->summary, TIME_NOT_CLOSED,
                NUMBERS(100 * s.computing, 100 * s.wait, who->rank, 100 * s.transfer), NAMES(host));
    remarks_add(&v->next, ADVISE_SEE_RANK_PAGE, NUMBERS(who->rank), NAMES(host));
}

/* The largest gain of the run: a bound if no prediction is known. */
static double gain_at_most(const struct candidate *c) {
    if (c->counted.counted && !c->gain.replayed)
        return c->counted.high;
    return c->gain.replayed ? c->gain.estimate : fmax(c->gain.estimate, c->gain.high);
}

static enum verdict_harmless_why how_harmless(const struct run_model *model,
                                              const struct candidate *c) {
    if (gain_at_most(c) >= number_of(model, GAIN_MIN))
        return VERDICT_NOT_AWAITED;
    return c->gain.estimate < number_of(model, GAIN_HARMLESS) ? VERDICT_BUSY_HARMLESS
                                                              : VERDICT_LITTLE_GAIN;
}

/* Adds evidence of busy resources from which the run would hardly gain. -ENOMEM. */
static int rule_out_harmless(const struct run_model *model, const struct candidates *candidates,
                             struct verdict *v) {
    v->harmless = calloc(candidates->n + 1, sizeof *v->harmless);
    for (size_t i = 0; v->harmless && i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (!c->repeated && !candidate_is_worth_naming(model, c))
            v->harmless[v->n_harmless++] =
                (struct verdict_harmless){c, how_harmless(model, c), gain_at_most(c)};
    }
    return v->harmless ? 0 : -ENOMEM;
}

int verdict_of_none(const struct run_model *model, const struct candidates *candidates,
                    struct verdict *v) {
    double busy = ranks_busy(model, model->main_group);
    v->host = v->rank = -1;
    v->resource = RESOURCE_NONE;
    int result = rule_out_harmless(model, candidates, v);
    struct shares s = shares_of(model);
    if (verdict_of_idle(model, v))
        return result;
    if (model_has_path(model) && s.other == BUDGET_UNSPLIT && s.most >= MOST)
        judge_unsplit(model, &s, v);
    else if (model_has_path(model) && verdict_closing(model) >= number_of(model, CLOSING_MIN)) {
        enum budget_term term = BUDGET_UNSPLIT;
        double unexplained = unexplained_of(model, candidates, &term);
        judge_balanced(model, candidates, v);
        if (unexplained > number_of(model, UNEXPLAINED_MAX) &&
            !throughput_counts(model, model->main_group))
            judge_unexplained(model, unexplained, term, v);
    } else if (!model_has_path(model) && is_mostly_in_mpi(model, &s))
        judge_unsplit(model, &s, v);
    else if (!model_has_path(model) && busy >= number_of(model, COMPUTE_BOUND))
        judge_compute_bound(model, busy, v);
    else if (model_has_path(model) && rank_budgets_awaited(&model->budgets))
        judge_untrusted(model, v);
    else
        judge_not_visible(model, busy, v);
    return result;
}
