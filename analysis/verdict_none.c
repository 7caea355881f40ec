/* SPDX-License-Identifier: MIT */
/*
 * The verdict where no candidate would gain enough. That is an answer: where the ranks' time is
 * known it is "balanced" with where the time goes; only where too little was seen to tell that from
 * a blind spot is it "insufficient".
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/verdict_private.h"

static double known(double share) {
    return isnan(share) ? 0 : share;
}

/* Terms of the ranks' budgets that nobody is to blame for but the program and its message passing.
 */
struct shares {
    double computing, wait, transfer, overhead, rest;
};

static struct shares shares_of(const struct scene *scene) {
    const struct rank_budgets *b = &scene->budgets;
    size_t group = scene->main_group;
    struct shares s = {.computing = known(rank_budgets_share(b, group, BUDGET_CPU)),
                       .wait = known(rank_budgets_share(b, group, BUDGET_PEER_WAIT)),
                       .transfer = known(rank_budgets_share(b, group, BUDGET_TRANSFER)),
                       .overhead = known(rank_budgets_share(b, group, BUDGET_OVERHEAD))};
    s.rest = fmax(0, 1 - s.computing - s.wait - s.transfer - s.overhead);
    return s;
}

static const char *bound_words(const struct shares *s) {
    if (s->computing >= s->wait && s->computing >= s->transfer)
        return "compute bound";
    return s->transfer + s->overhead >= s->wait ? "bound by moving data, at no limit of these hosts"
                                                : "its ranks wait for each other in turn";
}

/* Of the resamples nothing reaches the least gain; how far below it the first stays. Who moves data
 * for much of the time may well run into a limit that none of the hosts shows. */
static double confidence_of(const struct scene *scene, const struct candidates *candidates,
                            double moving) {
    double most = 0, closeness;
    for (size_t i = 0; i < candidates->n; i++)
        most = fmax(most, fmin(candidates->items[i].gain.estimate, GAIN_MIN));
    closeness = 1 - most / GAIN_MIN;
    double quiet =
        0.5 * (0.5 + 0.5 * closeness) + 0.2 * closeness + 0.2 + 0.1 * verdict_coverage(scene);
    return verdict_confidence(scene, quiet * (1 - MOVING_DOUBT * moving));
}

static void say_balanced(const struct scene *scene, const struct candidates *candidates,
                         struct verdict *v) {
    struct shares s = shares_of(scene);
    v->state = VERDICT_BALANCED;
    v->confidence = confidence_of(scene, candidates, s.transfer + s.overhead);
    v->cause = text_format("%s", bound_words(&s));
    v->summary = text_format(
        "No host stands out: %s. The ranks computed %.0f %% of the time, waited for each "
        "other %.0f %%, moved data %.0f %%; no single change on a host would take %.0f %% off the "
        "run.",
        bound_words(&s), 100 * s.computing, 100 * s.wait, 100 * (s.transfer + s.overhead),
        100 * GAIN_MIN);
    text_list_add(&v->evidence,
                  "the ranks' time adds up, and nothing along the way of the run that a host could "
                  "change takes %.0f %% of it",
                  100 * GAIN_MIN);
    if (s.transfer + s.overhead >= MOVING_MUCH)
        text_list_add(&v->against,
                      "moving data is %.0f %% of the ranks' time, and no link of these hosts was "
                      "seen to be full: a limit may lie between them, or not have been measured "
                      "(`chokepoint calibrate`)",
                      100 * (s.transfer + s.overhead));
    if (s.wait >= 0.3)
        text_list_add(&v->against,
                      "waiting for each other is %.0f %% of the ranks' time: less of "
                      "it needs another division of the work, not another machine",
                      100 * s.wait);
}

static void say_compute_bound(const struct scene *scene, double busy, struct verdict *v) {
    v->state = VERDICT_BALANCED;
    v->confidence = verdict_confidence(scene, 0.5);
    v->cause = text_format("compute bound");
    v->summary = text_format("No host stands out: compute bound. The processes run %.0f "
                             "%% of the time and hardly wait for anything that was recorded.",
                             100 * fmin(busy, 1));
    text_list_add(&v->against, "what spins while it waits looks as if it computed");
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
}

/* Ranks that wait for each other, with budgets of which too few add up. */
static void say_untrusted(const struct scene *scene, struct verdict *v) {
    struct shares s = shares_of(scene);
    const struct rank_budget *who = rank_budgets_awaited(&scene->budgets);
    v->state = VERDICT_INSUFFICIENT;
    v->cause = text_format("waiting for each other");
    v->summary = text_format("Nothing ran out on these hosts. The ranks computed %.0f %% of the "
                             "time, waited for each other %.0f %% (most for rank %d on %s) and "
                             "transferred %.0f %%, but their time does not add up well enough to "
                             "say why.",
                             100 * s.computing, 100 * s.wait, who->rank,
                             scene->hosts[who->host].name, 100 * s.transfer);
}

/* Evidence of something busy that the run would hardly gain from. */
static void rule_out_harmless(const struct scene *scene, const struct candidates *candidates,
                              struct verdict *v) {
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (!c->repeated && c->gain.estimate < GAIN_MIN)
            text_list_add(&v->ruled_out, "%s's %s (%s): %s, %.0f %% of the run at most",
                          scene->hosts[c->host].name, verdict_resource_words(c->resource), c->cause,
                          c->gain.estimate < GAIN_HARMLESS ? "busy, but harmless"
                                                           : "little to gain",
                          100 * c->gain.estimate);
    }
}

void verdict_of_none(const struct scene *scene, const struct candidates *candidates,
                     struct verdict *v) {
    double busy = ranks_busy(scene, scene->main_group);
    v->host = v->rank = -1;
    v->resource = "none";
    rule_out_harmless(scene, candidates, v);
    if (scene_has_path(scene) && verdict_closing(scene) >= 0.5)
        say_balanced(scene, candidates, v);
    else if (!scene_has_path(scene) && busy >= COMPUTE_BOUND)
        say_compute_bound(scene, busy, v);
    else if (scene_has_path(scene) && rank_budgets_awaited(&scene->budgets))
        say_untrusted(scene, v);
    else
        say_not_visible(busy, v);
}
