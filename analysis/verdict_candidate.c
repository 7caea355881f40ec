/* SPDX-License-Identifier: MIT */
/* The verdict where a candidate stands out: words, evidence for and against, confidence. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/resample.h"
#include "analysis/verdict_private.h"

#define LOW_MIN 0.02 /* lower bound of the share of a run that "saturated" needs */

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

static double coverage(const struct scene *scene) {
    struct windows all = phase_windows(&scene->groups[0]);
    double worst = 1;
    for (size_t h = 0; h < scene->n_hosts; h++)
        worst = fmin(worst, (double)rate_covered(&scene->hosts[h].metrics[METRIC_CPU_IDLE], all) /
                                (double)windows_length(all));
    return scene->n_hosts ? worst : 0;
}

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

/* Where every call is known: the ranks lost more to moving data than to this. */
static bool is_outweighed(const struct scene *scene, const struct candidate *c) {
    return !is_link(c) && scene->budgets.events &&
           rank_budgets_share(&scene->budgets, c->group, BUDGET_TRANSFER) > c->blocked;
}

static void add_outweighed(const struct scene *scene, const struct candidate *c,
                           struct verdict *v) {
    const struct rank_budgets *b = &scene->budgets;
    text_list_add(&v->against,
                  "the ranks spent more time, %.0f %%, inside MPI with data to move (and %.0f %% "
                  "waiting for each other)",
                  100 * rank_budgets_share(b, c->group, BUDGET_TRANSFER),
                  100 * fmax(rank_budgets_share(b, c->group, BUDGET_PEER_WAIT), 0));
}

/* Weights as designed for the full analyzer; capped, since nothing looked inside MPI. */
static double confidence_of(const struct scene *scene, const struct candidate *c,
                            const struct resampled *r) {
    double confidence =
        0.5 * r->first + 0.2 * r->margin + 0.2 * fmin(1, c->signals / 3.0) + 0.1 * coverage(scene);
    if (!c->supply)
        confidence *= 0.8;
    if (is_outweighed(scene, c))
        confidence *= 0.5;
    if (ranks_busy(scene, c->group) >= BUSY_RANK && is_link(c))
        confidence *= 0.6;
    /* a short run has seen few of the program's moments, however alike they were */
    confidence = fmin(confidence, VERDICT_CONFIDENCE_CAP);
    return confidence *
           fmin(1, 0.5 + 0.5 * (double)verdict_least_samples(scene) / (10.0 * VERDICT_SAMPLES_MIN));
}

static void add_next_for(const struct candidate *c, struct verdict *v) {
    if (is_link(c) && !(c->reached > 0))
        text_list_add(&v->next, "measure what the links can carry: `chokepoint calibrate` on these "
                                "hosts, into the same database");
    else if (strncmp(c->resource, "disk", 4) == 0)
        text_list_add(&v->next, "set kernel.task_delayacct=1 before the run, so that the job's own "
                                "waiting for disks is counted");
    else if (strcmp(c->resource, "cpu") == 0)
        text_list_add(&v->next,
                      "run it once with fewer processes a host, or with each host on cores "
                      "of its own, and compare");
}

/* "at 97 % of the 223.4 MB/s this link was measured to carry" */
static void say_rate(const struct candidate *c, char *to, size_t size) {
    if (c->reached > 0)
        snprintf(to, size, "at %.0f %% of the %.1f MB/s this link was measured to carry",
                 100 * c->reached, c->ceiling);
    else
        snprintf(to, size, "at the highest rate seen (%.4g MB/s)", c->ceiling);
}

static char *summarize(const struct scene *scene, const struct candidates *candidates,
                       const struct candidate *other, const struct resampled *r,
                       const struct verdict *v) {
    const struct candidate *c = &candidates->items[0];
    const char *host = scene->hosts[c->host].name, *group = group_words(scene, c->group);
    const char *waits =
        v->state == VERDICT_SATURATED ? "The run waits for" : "The run probably waits for";
    size_t alike = count_alike(candidates);
    char others[64] = "", rate[100];
    say_rate(c, rate, sizeof rate);
    if (other)
        return text_format("%s %s's network: during %s it takes %.0f %% of the time %s and %.0f %% "
                           "%s, %s.",
                           waits, host, group, 100 * c->blocked,
                           strcmp(c->resource, "net-egress") == 0 ? "sending" : "receiving",
                           100 * other->blocked,
                           strcmp(c->resource, "net-egress") == 0 ? "receiving" : "sending", rate);
    if (alike + 1 == scene->n_hosts && alike)
        return text_format(
            "%s %s on all %zu hosts, most on %s (%s): during %s, %.0f %% of that time "
            "there (%.0f to %.0f %% of the run).",
            waits, resource_words(c->resource), scene->n_hosts, host, c->cause, group,
            100 * c->blocked, 100 * r->low, 100 * r->high);
    if (alike)
        snprintf(others, sizeof others, "; %zu other host%s nearly as much", alike,
                 alike == 1 ? "" : "s");
    if (is_link(c) && c->reached > 0)
        return text_format("%s %s's %s: during %s, %.0f %% of that time (%.0f to %.0f %% of the "
                           "run), %s%s.",
                           waits, host, resource_words(c->resource), group, 100 * c->blocked,
                           100 * r->low, 100 * r->high, rate, others);
    return text_format("%s %s's %s%s%s: during %s, %.0f %% of that time (%.0f to %.0f %% of the "
                       "run)%s.",
                       waits, host, resource_words(c->resource), is_link(c) ? "" : ", ",
                       is_link(c) ? "" : c->cause, group, 100 * c->blocked, 100 * r->low,
                       100 * r->high, others);
}

int verdict_of_candidate(const struct scene *scene, const struct candidates *candidates,
                         struct verdict *v) {
    struct candidate *c = &candidates->items[0];
    struct resampled r;
    int result = resample_candidates(scene, candidates, &r);
    if (result < 0)
        return result;
    const struct candidate *other = other_direction(candidates);
    bool outweighed = is_outweighed(scene, c);
    v->state = c->supply && r.low > LOW_MIN && !outweighed ? VERDICT_SATURATED : VERDICT_SUSPECTED;
    v->host = c->host;
    v->resource = c->resource;
    v->confidence = confidence_of(scene, c, &r);
    v->gain_low = 0;
    v->gain_high = fmin(1, c->run_share + (other ? other->run_share : 0));
    v->cause = text_format("%s", c->cause);
    v->summary = summarize(scene, candidates, other, &r, v);
    text_list_move(&v->evidence, &c->evidence);
    if (outweighed)
        add_outweighed(scene, c, v);
    text_list_move(&v->against, &c->against);
    if (other)
        add_other_direction(candidates, other, v);
    add_runner_up(scene, candidates, other, v);
    add_next_for(c, v);
    return 0;
}
