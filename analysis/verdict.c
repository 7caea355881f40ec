/* SPDX-License-Identifier: MIT */
#include "analysis/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/straggler.h"
#include "analysis/verdict_private.h"

#define ITERATIONS_MIN 10

const char *verdict_state_name(enum verdict_state state) {
    static const char *const names[] = {"saturated", "suspected", "balanced", "insufficient"};
    return names[state];
}

/* Samples of the host with the fewest. */
size_t verdict_least_samples(const struct scene *scene) {
    size_t least = SIZE_MAX;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        const struct rate *rate = &scene->hosts[h].metrics[METRIC_CPU_IDLE];
        size_t n = rate_find(rate, scene->recording->duration_ns) - rate_find(rate, 0);
        if (n < least)
            least = n;
    }
    return scene->n_hosts ? least : 0;
}

/* The reason why there is too little to judge by, or NULL. */
static char *too_little(const struct scene *scene) {
    size_t samples = verdict_least_samples(scene);
    const struct rank_iterations *reference = iterations_reference(&scene->iterations);
    if (!scene->n_hosts)
        return text_format("no host was recorded");
    if (samples < VERDICT_SAMPLES_MIN)
        return text_format("only %zu samples of some host lie within the run; %d are needed",
                           samples, VERDICT_SAMPLES_MIN);
    if (reference && reference->n < ITERATIONS_MIN)
        return text_format("only %zu iterations were marked; %d are needed", reference->n,
                           ITERATIONS_MIN);
    return NULL;
}

/* ---- none stands out ---- */

static void judge_imbalance(const struct scene *scene, const struct stragglers *stragglers,
                            struct verdict *v) {
    const struct straggler *s = &stragglers->items[0];
    v->state = VERDICT_SUSPECTED;
    v->host = s->host;
    v->resource = "imbalance";
    v->confidence = 0.4;
    v->gain_low = 0;
    v->gain_high = 1 - 1 / s->slowdown;
    v->cause = text_format("%s", s->cause);
    v->summary = text_format("No resource ran out, but rank %d on %s is slower than its peers by a "
                             "factor of %.2f.",
                             s->rank, scene->hosts[s->host].name, s->slowdown);
    for (size_t i = 0; i < s->evidence.n; i++)
        text_list_add(&v->evidence, "%s", s->evidence.items[i]);
}

/* Where the time went, and for whom they waited: no resource, but the place to look. */
static void say_budget(const struct scene *scene, struct verdict *v) {
    const struct rank_budgets *b = &scene->budgets;
    const struct rank_budget *who = rank_budgets_awaited(b);
    size_t group = scene->main_group;
    double computing = rank_budgets_share(b, group, BUDGET_CPU);
    double wait = rank_budgets_share(b, group, BUDGET_PEER_WAIT);
    double transfer = rank_budgets_share(b, group, BUDGET_TRANSFER);
    v->cause = text_format("waiting for each other");
    v->summary = text_format("Nothing ran out on these hosts. The ranks computed %.0f %% of the "
                             "time, waited for each other %.0f %% (most for rank %d on %s) and "
                             "transferred %.0f %%.",
                             100 * fmax(computing, 0), 100 * fmax(wait, 0), who->rank,
                             scene->hosts[who->host].name, 100 * fmax(transfer, 0));
}

/* Whether computing fills the time, or most of it went where nothing recorded can see. */
static void judge_quiet(const struct scene *scene, struct verdict *v) {
    double busy = ranks_busy(scene, scene->main_group);
    v->host = -1;
    v->resource = "none";
    if (busy >= 0.7) {
        v->state = VERDICT_BALANCED;
        v->confidence = 0.5;
        v->cause = text_format("compute bound");
        v->summary =
            text_format("Balanced: compute bound, no host stands out. The processes run %.0f "
                        "%% of the time and hardly wait for anything that was recorded.",
                        100 * fmin(busy, 1));
        text_list_add(&v->against, "a rank that spins inside MPI looks as if it computed");
        return;
    }
    v->state = VERDICT_INSUFFICIENT;
    v->confidence = 0;
    if (rank_budgets_awaited(&scene->budgets)) {
        say_budget(scene, v);
        return;
    }
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

static void add_next(const struct scene *scene, struct verdict *v) {
    if (!scene->iterations.n)
        text_list_add(&v->next, "mark iterations and phases in the program (chokepoint.h), so that "
                                "time and bytes an iteration are known");
    if (verdict_least_samples(scene) < 10 * VERDICT_SAMPLES_MIN)
        text_list_add(&v->next, "record a longer run");
    text_list_add(&v->next, "repeat the run: `chokepoint compare` shows what holds over repeats");
}

static void say_too_little(const struct scene *scene, char *why, struct verdict *v) {
    char *so_far = v->summary;
    bool leaning = v->state == VERDICT_SUSPECTED || v->state == VERDICT_SATURATED;
    v->summary = leaning ? text_format("Too little to judge: %s. So far it looks like this: %s",
                                       why, so_far ? so_far : "")
                         : text_format("Too little to judge: %s.", why);
    v->state = VERDICT_INSUFFICIENT;
    v->confidence *= leaning ? 0.5 : 0;
    free(so_far);
    if (scene->iterations.n && iterations_reference(&scene->iterations)->n < ITERATIONS_MIN)
        text_list_add(&v->next, "run at least %d iterations", ITERATIONS_MIN);
}

static void copy_ruled_out(const struct candidates *candidates, struct verdict *v) {
    for (size_t i = 0; i < candidates->ruled_out.n; i++)
        text_list_add(&v->ruled_out, "%s", candidates->ruled_out.items[i]);
}

int verdict_make(const struct scene *scene, const struct candidates *candidates,
                 const struct stragglers *stragglers, struct verdict *ret_verdict) {
    struct verdict v = {
        .host = -1, .resource = "none", .gain = NAN, .gain_low = NAN, .gain_high = NAN};
    int result = 0;
    if (candidates->n && candidates->items[0].run_share >= BLOCKED_MIN)
        result = verdict_of_candidate(scene, candidates, &v);
    else if (stragglers->n)
        judge_imbalance(scene, stragglers, &v);
    else
        judge_quiet(scene, &v);
    char *why = too_little(scene);
    if (why)
        say_too_little(scene, why, &v);
    free(why);
    copy_ruled_out(candidates, &v);
    add_next(scene, &v);
    if (result == 0 && (!v.cause || !v.summary || v.evidence.error || v.against.error ||
                        v.ruled_out.error || v.next.error))
        result = -ENOMEM;
    if (result < 0) {
        verdict_release(&v);
        return result;
    }
    *ret_verdict = v;
    return 0;
}

void verdict_release(struct verdict *verdict) {
    free(verdict->cause);
    free(verdict->summary);
    text_list_release(&verdict->evidence);
    text_list_release(&verdict->against);
    text_list_release(&verdict->ruled_out);
    text_list_release(&verdict->next);
    *verdict = (struct verdict){0};
}
