/* SPDX-License-Identifier: MIT */
#include "analysis/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/resample.h"
#include "analysis/saturation.h"
#include "analysis/scene.h"
#include "analysis/straggler.h"

#define SAMPLES_MIN 20
#define ITERATIONS_MIN 10
#define LOW_MIN 0.02 /* lower bound of the share of a run that "saturated" needs */

const char *verdict_state_name(enum verdict_state state) {
    static const char *const names[] = {"saturated", "suspected", "balanced", "insufficient"};
    return names[state];
}

/* "net-egress" -> "network, sending": for sentences. */
static const char *resource_words(const char *resource) {
    static const char *const words[][2] = {{"net-egress", "network (sending)"},
                                           {"net-ingress", "network (receiving)"},
                                           {"disk-throttle", "disk (throttled or remote)"},
                                           {"steal", "CPU (stolen by the hypervisor)"},
                                           {"cpu", "CPU"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], resource) == 0)
            return words[i][1];
    return resource;
}

static const char *group_words(const struct scene *scene, size_t group) {
    return group ? scene->groups[group].name : "the whole run";
}

/* Samples of the host with the fewest. */
static size_t least_samples(const struct scene *scene) {
    size_t least = SIZE_MAX;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        const struct rate *rate = &scene->hosts[h].metrics[METRIC_CPU_IDLE];
        size_t n = rate_find(rate, scene->recording->duration_ns) - rate_find(rate, 0);
        if (n < least)
            least = n;
    }
    return scene->n_hosts ? least : 0;
}

static double coverage(const struct scene *scene) {
    struct windows all = phase_windows(&scene->groups[0]);
    double worst = 1;
    for (size_t h = 0; h < scene->n_hosts; h++)
        worst = fmin(worst, (double)rate_covered(&scene->hosts[h].metrics[METRIC_CPU_IDLE], all) /
                                (double)windows_length(all));
    return scene->n_hosts ? worst : 0;
}

/* The reason why there is too little to judge by, or NULL. */
static char *too_little(const struct scene *scene) {
    size_t samples = least_samples(scene);
    const struct rank_iterations *reference = iterations_reference(&scene->iterations);
    if (!scene->n_hosts)
        return text_format("no host was recorded");
    if (samples < SAMPLES_MIN)
        return text_format("only %zu samples of some host lie within the run; %d are needed",
                           samples, SAMPLES_MIN);
    if (reference && reference->n < ITERATIONS_MIN)
        return text_format("only %zu iterations were marked; %d are needed", reference->n,
                           ITERATIONS_MIN);
    return NULL;
}

/* ---- a candidate stands out ---- */

static bool is_link(const struct candidate *c) {
    return strncmp(c->resource, "net-", 4) == 0;
}

/* The other direction of the same link in the same phase: they do not compete, the program uses
 * now the one, now the other. */
static const struct candidate *other_direction(const struct candidates *candidates) {
    const struct candidate *first = &candidates->items[0];
    for (size_t i = 1; is_link(first) && i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (is_link(c) && c->host == first->host && c->group == first->group)
            return c;
    }
    return NULL;
}

static void add_other_direction(const struct candidates *candidates, const struct candidate *other,
                                struct verdict *v) {
    const struct candidate *first = &candidates->items[0];
    const struct arithmetic *both[2];
    for (int i = 0; i < 2; i++)
        both[i] = arithmetic_find(candidates->arithmetic, candidates->n_arithmetic, first->host,
                                  i ? METRIC_NET_RECV : METRIC_NET_SEND, first->group);
    text_list_add(&v->evidence, "the same link the other way takes another %.0f %% of the time",
                  100 * other->blocked);
    if (both[0] && both[1])
        text_list_add(&v->evidence,
                      "sending and receiving, one after the other, need %.3g s of the %.3g s an "
                      "iteration takes (%.0f %%)",
                      both[0]->bound_s + both[1]->bound_s, both[0]->iteration_s,
                      100 * (both[0]->share + both[1]->share));
}

/* Another host that suffers the same nearly as much. */
static bool is_alike(const struct candidate *first, const struct candidate *c) {
    return c->host != first->host && c->run_share >= 0.5 * first->run_share &&
           strcmp(c->resource, first->resource) == 0;
}

static size_t count_alike(const struct candidates *candidates) {
    size_t alike = 0;
    for (size_t i = 1; i < candidates->n; i++)
        alike += is_alike(&candidates->items[0], &candidates->items[i]);
    return alike;
}

/* The first candidate that is not the verdict in another form. */
static void add_runner_up(const struct scene *scene, const struct candidates *candidates,
                          const struct candidate *other, struct verdict *v) {
    size_t at = 1;
    while (at < candidates->n && (&candidates->items[at] == other ||
                                  is_alike(&candidates->items[0], &candidates->items[at])))
        at++;
    if (at >= candidates->n || candidates->items[at].run_share < BLOCKED_MIN)
        return;
    const struct candidate *c = &candidates->items[at];
    text_list_add(&v->against, "runner-up: %s's %s during %s (%s), %.0f %% of the run",
                  scene->hosts[c->host].name, resource_words(c->resource),
                  group_words(scene, c->group), c->cause, 100 * c->run_share);
}

/* Weights as designed for the full analyzer; capped, since nothing looked inside MPI. */
static double confidence_of(const struct scene *scene, const struct candidate *c,
                            const struct resampled *r) {
    double confidence =
        0.5 * r->first + 0.2 * r->margin + 0.2 * fmin(1, c->signals / 3.0) + 0.1 * coverage(scene);
    if (!c->supply)
        confidence *= 0.8;
    if (ranks_busy(scene, c->group) >= BUSY_RANK && is_link(c))
        confidence *= 0.6;
    /* a short run has seen few of the program's moments, however alike they were */
    confidence = fmin(confidence, VERDICT_CONFIDENCE_CAP);
    return confidence * fmin(1, 0.5 + 0.5 * (double)least_samples(scene) / (10.0 * SAMPLES_MIN));
}

static void add_next_for(const struct candidate *c, struct verdict *v) {
    if (is_link(c))
        text_list_add(&v->next, "measure what the link can carry (iperf3 between two of the hosts) "
                                "and compare it with the highest rate seen");
    else if (strncmp(c->resource, "disk", 4) == 0)
        text_list_add(&v->next, "set kernel.task_delayacct=1 before the run, so that the job's own "
                                "waiting for disks is counted");
    else if (strcmp(c->resource, "cpu") == 0)
        text_list_add(&v->next,
                      "run it once with fewer processes a host, or with each host on cores "
                      "of its own, and compare");
}

static char *summarize(const struct scene *scene, const struct candidates *candidates,
                       const struct candidate *other, const struct resampled *r,
                       const struct verdict *v) {
    const struct candidate *c = &candidates->items[0];
    const char *host = scene->hosts[c->host].name, *group = group_words(scene, c->group);
    const char *waits =
        v->state == VERDICT_SATURATED ? "The run waits for" : "The run probably waits for";
    size_t alike = count_alike(candidates);
    char others[64] = "";
    if (other)
        return text_format(
            "%s %s's network: during %s it takes %.0f %% of the time %s and %.0f %% "
            "%s, at the highest rate seen (%.4g MB/s).",
            waits, host, group, 100 * c->blocked,
            strcmp(c->resource, "net-egress") == 0 ? "sending" : "receiving", 100 * other->blocked,
            strcmp(c->resource, "net-egress") == 0 ? "receiving" : "sending", c->ceiling);
    if (alike)
        snprintf(others, sizeof others, "; %zu other host%s nearly as much", alike,
                 alike == 1 ? "" : "s");
    return text_format("%s %s's %s%s%s: during %s, %.0f %% of that time (%.0f to %.0f %% of the "
                       "run)%s.",
                       waits, host, resource_words(c->resource), is_link(c) ? "" : ", ",
                       is_link(c) ? "" : c->cause, group, 100 * c->blocked, 100 * r->low,
                       100 * r->high, others);
}

static int judge_candidate(const struct scene *scene, const struct candidates *candidates,
                           struct verdict *v) {
    struct candidate *c = &candidates->items[0];
    struct resampled r;
    int result = resample_candidates(scene, candidates, &r);
    if (result < 0)
        return result;
    const struct candidate *other = other_direction(candidates);
    v->state = c->supply && r.low > LOW_MIN ? VERDICT_SATURATED : VERDICT_SUSPECTED;
    v->host = c->host;
    v->resource = c->resource;
    v->confidence = confidence_of(scene, c, &r);
    v->gain_low = 0;
    v->gain_high = fmin(1, c->run_share + (other ? other->run_share : 0));
    v->cause = text_format("%s", c->cause);
    v->summary = summarize(scene, candidates, other, &r, v);
    text_list_move(&v->evidence, &c->evidence);
    text_list_move(&v->against, &c->against);
    if (other)
        add_other_direction(candidates, other, v);
    add_runner_up(scene, candidates, other, v);
    add_next_for(c, v);
    return 0;
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
    if (least_samples(scene) < 10 * SAMPLES_MIN)
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
        result = judge_candidate(scene, candidates, &v);
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
