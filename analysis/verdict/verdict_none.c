/* SPDX-License-Identifier: MIT */
/*
 * The verdict where no candidate would gain enough. That is an answer: where the ranks' time is
 * known it is "balanced" with where the time goes; only where too little was seen to tell that from
 * a blind spot is it "insufficient".
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/verdict/verdict_private.h"

/* Nothing ran out and the processes are busy: that was right of 55 in 55 runs without MPI, of two
 * programs, and of 3 in 4 with it whose calls are not known, since their ranks may spin. */
#define BUSY_SURE 0.95
#define BUSY_RANKS_SURE 0.7
#define MOST 0.5 /* of the ranks' time */

static double known(double share) {
    return isnan(share) ? 0 : share;
}

/* Terms of the ranks' budgets that nobody is to blame for but the program and its message passing.
 */
struct shares {
    double computing, wait, transfer, overhead;
    enum budget_term other; /* the largest of all others, */
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

static char *bound_words(const struct shares *s) {
    switch (bound_of(s)) {
    case BOUND_COMPUTING:
        return text_format("%s", s->computing >= MOST ? "compute bound"
                                                      : "computing is the largest part");
    case BOUND_MOVING:
        return text_format("bound by moving data, at no limit of these hosts");
    case BOUND_WAITING:
        return text_format("its ranks wait for each other in turn");
    case BOUND_OTHER:
        break;
    }
    return text_format("%s is the largest part", budget_term_words(s->other));
}

/* The program is what takes the time, so that is where to look. */
static void add_next(const struct shares *s, struct verdict *v) {
    switch (bound_of(s)) {
    case BOUND_COMPUTING:
        text_list_add(&v->next, "to go faster, look into the program's own computing (`perf top` "
                                "on a host), or compute with more ranks or faster cores: "
                                "`chokepoint whatif --cpu all=2x` says what those would bring");
        return;
    case BOUND_MOVING:
        text_list_add(&v->next,
                      "measure what the links can carry (`chokepoint calibrate`, into the same "
                      "database), which shows a full one next time; or send fewer or larger "
                      "messages");
        return;
    case BOUND_WAITING:
        text_list_add(&v->next,
                      "let ranks compute while they wait: smaller pieces, or MPI_Isend and "
                      "MPI_Irecv ahead of time; `chokepoint whatif --balanced` says what an even "
                      "division would bring");
        return;
    case BOUND_OTHER:
        text_list_add(&v->next, "see which ranks that is, and when: `chokepoint report --format "
                                "html` shows their time iteration by iteration");
    }
}

/* Of the resamples nothing reaches the least gain; how far below it the first stays. Who moves data
 * for much of the time may well run into a limit that none of the hosts shows; and whose ranks lack
 * something for much of it does so somewhere. */
static double confidence_of(const struct run_model *model, const struct candidates *candidates,
                            double unexplained, double *ret_asked) {
    double most = 0, closeness;
    for (size_t i = 0; i < candidates->n; i++)
        most = fmax(most, fmin(candidates->items[i].gain.estimate, GAIN_MIN));
    closeness = 1 - most / GAIN_MIN;
    double quiet =
        0.5 * (0.5 + 0.5 * closeness) + 0.2 * closeness + 0.2 + 0.1 * verdict_coverage(model);
    return verdict_confidence(model, quiet * (1 - MOVING_DOUBT * fmin(1, unexplained)), ret_asked);
}

/* What the ranks lack of their hosts for much of the time, though none stands out by it; else 0. */
static double lacking(const struct shares *s) {
    bool of_host = budget_term_class(s->other) == BUDGET_CLASS_LACKING;
    return of_host && s->most >= MOVING_MUCH ? s->most : 0;
}

/* The most that a change on one host would gain. */
static void say_most(const struct run_model *model, const struct candidates *candidates,
                     const struct shares *s, struct verdict *v) {
    const struct candidate *c = candidates->n ? &candidates->items[0] : NULL;
    char *what = c ? verdict_candidate_words(model, c) : NULL;
    if (what && c->gain.estimate >= 0.005)
        text_list_add(&v->evidence,
                      "the most that a change on one host would gain is %.0f %% of the run: %s",
                      100 * c->gain.estimate, what);
    else if (lacking(s) > 0)
        text_list_add(&v->evidence, "%s holds up the run on no single host",
                      budget_term_words(s->other));
    else if (verdict_closing(model) < 1)
        text_list_add(&v->evidence, "no host was short of anything that the run had to wait for");
    else
        text_list_add(&v->evidence, "the ranks' time adds up, and no host was short of anything "
                                    "that the run had to wait for");
    free(what);
}

static void say_balanced(const struct run_model *model, const struct candidates *candidates,
                         struct verdict *v) {
    struct shares s = shares_of(model);
    v->state = VERDICT_BALANCED;
    v->confidence =
        confidence_of(model, candidates, s.transfer + s.overhead + lacking(&s), &v->computed);
    v->cause = bound_words(&s);
    char other[80] = "";
    if (s.most >= 0.05)
        snprintf(other, sizeof other, ", %s %.0f %%", budget_term_words(s.other), 100 * s.most);
    v->summary = text_format(
        "No host stands out: %s. Computing took %.0f %% of the ranks' time, waiting for each other "
        "%.0f %%, moving data %.0f %%%s; no single change on a host would make the run %.0f %% "
        "shorter.",
        v->cause ? v->cause : "", 100 * s.computing, 100 * s.wait, 100 * (s.transfer + s.overhead),
        other, 100 * GAIN_MIN);
    say_most(model, candidates, &s, v);
    if (lacking(&s) > 0)
        text_list_add(&v->against,
                      "%s is %.0f %% of the ranks' time: the hosts may all lack the same",
                      budget_term_words(s.other), 100 * s.most);
    if (s.transfer + s.overhead >= MOVING_MUCH)
        text_list_add(
            &v->against,
            "moving data is %.0f %% of the ranks' time, though no link of these hosts was "
            "seen to be full: a limit may lie between them",
            100 * (s.transfer + s.overhead));
    if (s.wait >= 0.3)
        text_list_add(&v->against,
                      "waiting for each other is %.0f %% of the ranks' time: less of it needs "
                      "another division of the work, not another machine",
                      100 * s.wait);
    add_next(&s, v);
}

static void say_compute_bound(const struct run_model *model, double busy, struct verdict *v) {
    v->state = VERDICT_BALANCED;
    v->confidence =
        verdict_confidence_counted(model, verdict_has_ranks(model) ? BUSY_RANKS_SURE : BUSY_SURE);
    v->cause = text_format("compute bound");
    v->summary = text_format("No host stands out: compute bound. The processes run %.0f "
                             "%% of the time and hardly wait for anything that was recorded.",
                             100 * fmin(busy, 1));
    text_list_add(&v->against, "a process that spins while it waits would look the same");
    text_list_add(&v->next, "to go faster, look into the program's own computing (`perf top` on a "
                            "host), or compute on more or faster cores");
}

static void say_not_visible(double busy, struct verdict *v) {
    v->state = VERDICT_INSUFFICIENT;
    v->cause = text_format("not visible");
    v->summary =
        isnan(busy)
            ? text_format("Nothing ran out on these hosts; of the job's own processes too little "
                          "was recorded to say what it waits for.")
            : text_format(
                  "Nothing ran out on these hosts, yet the job's processes ran only %.0f %% "
                  "of the time: what they wait for (each other, latency, a sleep, something "
                  "outside) is not visible in what was recorded.",
                  100 * busy);
    text_list_add(&v->next, "look what one of its processes waits for: `strace -f -c -p PID` or "
                            "`cat /proc/PID/stack` on its host; of MPI programs, record the calls "
                            "(not with --no-shim)");
}

/* ---- what has no known cause ---- */

static double path_share(const struct run_model *model, enum budget_term term) {
    double share = 0;
    for (size_t h = 0; h < model->n_hosts; h++)
        share += critical_share(&model->critical.groups[model->main_group], (int)h, term);
    return isnan(share) ? 0 : share;
}

/* Of a term that some rule has evidence for, however little it would gain: that much. */
static double explained(const struct candidates *candidates, enum budget_term term) {
    double share = 0;
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].terms >> term & 1 && candidates->items[i].supply &&
            !candidates->items[i].repeated)
            share += candidates->items[i].blocked;
    return share;
}

static bool links_are_known(const struct run_model *model) {
    for (size_t h = 0; h < model->n_hosts; h++)
        if (!network_limit_of(model, (int)h, METRIC_NET_SEND).measured &&
            isnan(network_set_rate(model, (int)h)))
            return false;
    return true;
}

/* Share of the critical path that is spent on something for which no rule has a cause: the largest
 * such term, and all of them. Computing and the library's own work explain themselves; so does
 * moving data through links that are known not to be full. */
static double unexplained_of(const struct run_model *model, const struct candidates *candidates,
                             enum budget_term *ret_largest) {
    double all = 0, most = 0;
    for (enum budget_term term = BUDGET_RUN_QUEUE; term < BUDGET_TERMS; term++) {
        if (term == BUDGET_OVERHEAD || (term == BUDGET_TRANSFER && links_are_known(model)))
            continue;
        double share = fmax(0, path_share(model, term) - explained(candidates, term));
        all += share;
        if (share > most) {
            most = share;
            *ret_largest = term;
        }
    }
    return all;
}

/* Balanced is earned: not by what nobody can explain. */
static void say_unexplained(double share, enum budget_term term, struct verdict *v) {
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    v->computed = NAN;
    free(v->cause);
    free(v->summary);
    v->cause = text_format("not visible");
    v->summary =
        text_format("Nothing ran out on these hosts, but the cause of %.0f %% of the run's "
                    "time is not known, most of it %s.",
                    100 * share, budget_term_words(term));
    text_list_release(&v->next);
    if (term == BUDGET_TRANSFER)
        text_list_add(&v->next,
                      "`chokepoint calibrate --only net` on these hosts measures what the "
                      "links can carry and how long a message takes; then run it again");
    else if (term == BUDGET_UNSPLIT)
        text_list_add(&v->next, "record all calls of MPI (`chokepoint run --call-spool-limit 1g`), "
                                "or a shorter part of the program");
    else
        text_list_add(&v->next, "see which ranks that is, and when: `chokepoint report --format "
                                "html` shows their time iteration by iteration");
}

/* Calls without an end to match, or too many to keep: neither balanced nor not. */
static void say_unsplit(const struct shares *s, struct verdict *v) {
    v->state = VERDICT_INSUFFICIENT;
    v->cause = text_format("not visible");
    v->summary = text_format("Nothing ran out on these hosts, but for %.0f %% of the time all that "
                             "is known of the ranks is that they were inside MPI.",
                             100 * s->most);
    text_list_add(&v->next,
                  "record all calls of MPI (`chokepoint run --call-spool-limit 1g`), or a "
                  "shorter part of the program");
}

/* Ranks that wait for each other, with budgets of which too few add up. */
static void say_untrusted(const struct run_model *model, struct verdict *v) {
    struct shares s = shares_of(model);
    const struct rank_budget *who = rank_budgets_awaited(&model->budgets);
    v->state = VERDICT_INSUFFICIENT;
    v->cause = text_format("waiting for each other");
    v->summary = text_format("Nothing ran out on these hosts. The ranks computed %.0f %% of the "
                             "time, waited for each other %.0f %% (most for rank %d on %s) and "
                             "transferred %.0f %%, but their time does not add up well enough to "
                             "say why.",
                             100 * s.computing, 100 * s.wait, who->rank,
                             model->hosts[who->host].name, 100 * s.transfer);
    text_list_add(&v->next,
                  "look at rank %d on %s first: `chokepoint report --format html` shows "
                  "its time iteration by iteration",
                  who->rank, model->hosts[who->host].name);
}

/* What the run gains at most: of what no prediction is known, its bound. */
static double gain_at_most(const struct candidate *c) {
    if (c->counted.counted && !c->gain.replayed)
        return c->counted.high;
    return c->gain.replayed ? c->gain.estimate : fmax(c->gain.estimate, c->gain.high);
}

static const char *how_harmless(const struct candidate *c) {
    if (gain_at_most(c) >= GAIN_MIN)
        return "nothing shows that the run waits for it";
    return c->gain.estimate < GAIN_HARMLESS ? "busy, but harmless" : "little to gain";
}

/* Evidence of something busy that the run would hardly gain from. */
static void rule_out_harmless(const struct run_model *model, const struct candidates *candidates,
                              struct verdict *v) {
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        char *what = !c->repeated && !candidate_is_worth_naming(c)
                         ? verdict_candidate_words(model, c)
                         : NULL;
        if (what)
            text_list_add(&v->ruled_out, "%s: %s, %.0f %% of the run at most", what,
                          how_harmless(c), 100 * gain_at_most(c));
        free(what);
    }
}

void verdict_of_none(const struct run_model *model, const struct candidates *candidates,
                     struct verdict *v) {
    double busy = ranks_busy(model, model->main_group);
    v->host = v->rank = -1;
    v->resource = RESOURCE_NONE;
    rule_out_harmless(model, candidates, v);
    struct shares s = shares_of(model);
    if (model_has_path(model) && s.other == BUDGET_UNSPLIT && s.most >= MOST)
        say_unsplit(&s, v);
    else if (model_has_path(model) && verdict_closing(model) >= 0.5) {
        enum budget_term term = BUDGET_UNSPLIT;
        double unexplained = unexplained_of(model, candidates, &term);
        say_balanced(model, candidates, v);
        if (unexplained > UNEXPLAINED_MAX && !throughput_counts(model, model->main_group))
            say_unexplained(unexplained, term, v);
    } else if (!model_has_path(model) && busy >= COMPUTE_BOUND)
        say_compute_bound(model, busy, v);
    else if (model_has_path(model) && rank_budgets_awaited(&model->budgets))
        say_untrusted(model, v);
    else
        say_not_visible(busy, v);
}
