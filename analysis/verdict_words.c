/* SPDX-License-Identifier: MIT */
/* The verdict as a sentence: who, what, when, how much, and what a change would give. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict_private.h"

const char *verdict_resource_words(const char *resource) {
    static const char *const words[][2] = {{"net-egress", "network (sending)"},
                                           {"net-ingress", "network (receiving)"},
                                           {"disk-throttle", "disk (throttled or remote)"},
                                           {"steal", "CPU (stolen by the hypervisor)"},
                                           {"cpu-quota", "CPU quota"},
                                           {"mem-bandwidth", "memory bandwidth"},
                                           {"imbalance", "share of the work"},
                                           {"application", "own code"},
                                           {"cpu", "CPU"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], resource) == 0)
            return words[i][1];
    return resource;
}

const char *verdict_group_words(const struct scene *scene, size_t group) {
    return group ? scene->groups[group].name : "the whole run";
}

bool candidate_is_link(const struct candidate *c) {
    return strncmp(c->resource, "net-", 4) == 0;
}

const struct candidate *verdict_other_direction(const struct candidates *candidates) {
    const struct candidate *first = &candidates->items[0];
    for (size_t i = 1; candidate_is_link(first) && i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (candidate_is_link(c) && c->host == first->host && c->group == first->group)
            return c;
    }
    return NULL;
}

static size_t count_alike(const struct candidates *candidates) {
    size_t alike = 0;
    for (size_t i = 1; i < candidates->n; i++)
        alike += candidate_is_alike(&candidates->items[0], &candidates->items[i]);
    return alike;
}

/* "at 97 % of the 223.4 MB/s this link was measured to carry" */
static void say_rate(const struct candidate *c, char *to, size_t size) {
    if (c->reached > 0 && c->ceiling_from)
        snprintf(to, size, "at %.0f %% of the %.1f MB/s %s", 100 * c->reached, c->ceiling,
                 c->ceiling_from);
    else
        snprintf(to, size, "at %.4g MB/s, %s", c->ceiling,
                 c->ceiling_from ? "the rate the kernel saw meanwhile" : "the highest rate seen");
}

/* "48 to 52 %", or "48 %" where both ends round to the same. */
static void say_interval(double low, double high, char *to, size_t size) {
    if (round(100 * low) == round(100 * high))
        snprintf(to, size, "%.0f %%", 100 * low);
    else
        snprintf(to, size, "%.0f to %.0f %%", 100 * low, 100 * high);
}

/* " Without it the run would take 33 % less time (30 to 36 %)." */
static void say_gain(const struct candidate *c, char *to, size_t size) {
    const struct gain *twice = &c->doubled, *gone = &c->gain;
    char range[40];
    bool link = candidate_is_link(c) && twice->replayed;
    to[0] = '\0';
    say_interval(link ? twice->low : gone->low, link ? twice->high : gone->high, range,
                 sizeof range);
    if (link)
        snprintf(to, size,
                 " Twice as fast a link%s would take %.0f %% off the run (%s), one without limit "
                 "%.0f %%.",
                 c->twice.direction == WHATIF_SEND      ? " for sending"
                 : c->twice.direction == WHATIF_RECEIVE ? " for receiving"
                                                        : "",
                 100 * twice->estimate, range, 100 * gone->estimate);
    else if (gone->replayed)
        snprintf(to, size, " %s the run would take %.0f %% less (%s).",
                 strcmp(c->kind, "skew") == 0 ? "With as much as its peers"
                 : c->everywhere              ? "Without that on any host"
                                              : "Without that",
                 100 * gone->estimate, range);
}

static void say_span(const struct candidate *c, char *to, size_t size) {
    to[0] = '\0';
    if (!isnan(c->start_s))
        snprintf(to, size, " Only from %.1f s to %.1f s of the run.", c->start_s, c->end_s);
}

/* ---- the first part, by kind ---- */

/* Where one rank is to blame and no resource ran out. */
static char *of_rank(const struct scene *scene, const struct candidate *c,
                     const struct resampled *r, bool sure) {
    char of_run[40];
    say_interval(r->low, r->high, of_run, sizeof of_run);
    return text_format("%s %s%s (%s): during %s, %.0f %% of the time (%s of the run).",
                       sure ? "The run waits for" : "The run probably waits for",
                       c->rank >= 0 ? "a rank on " : "", scene->hosts[c->host].name, c->cause,
                       verdict_group_words(scene, c->group), 100 * c->blocked, of_run);
}

static char *of_both_directions(const struct scene *scene, const struct candidate *c,
                                const struct candidate *other, const char *waits,
                                const char *rate) {
    bool sends = strcmp(c->resource, "net-egress") == 0;
    return text_format("%s %s's network: during %s it takes %.0f %% of the time %s and %.0f %% "
                       "%s, %s.",
                       waits, scene->hosts[c->host].name, verdict_group_words(scene, c->group),
                       100 * c->blocked, sends ? "sending" : "receiving", 100 * other->blocked,
                       sends ? "receiving" : "sending", rate);
}

static char *of_resource(const struct scene *scene, const struct candidate *c,
                         const struct resampled *r, const char *waits, const char *rate,
                         const char *others) {
    bool link = candidate_is_link(c);
    char of_run[40];
    say_interval(r->low, r->high, of_run, sizeof of_run);
    return text_format("%s %s's %s%s%s: during %s, %.0f %% of the time (%s of the run)%s%s%s.",
                       waits, scene->hosts[c->host].name, verdict_resource_words(c->resource),
                       link ? "" : ", ", link ? "" : c->cause, verdict_group_words(scene, c->group),
                       100 * c->blocked, of_run, link ? ", " : "", link ? rate : "", others);
}

static char *of_all(const struct scene *scene, const struct candidate *c, const struct resampled *r,
                    const char *waits) {
    char of_run[40], hosts[40] = "both hosts";
    if (scene->n_hosts > 2)
        snprintf(hosts, sizeof hosts, "all %zu hosts", scene->n_hosts);
    say_interval(r->low, r->high, of_run, sizeof of_run);
    return text_format("%s %s on %s, most on %s (%s): during %s, %.0f %% of the time there (%s of "
                       "the run).",
                       waits, verdict_resource_words(c->resource), hosts,
                       scene->hosts[c->host].name, c->cause, verdict_group_words(scene, c->group),
                       100 * c->blocked, of_run);
}

static bool is_of_program(const struct candidate *c) {
    return strcmp(c->resource, "imbalance") == 0 || strcmp(c->resource, "application") == 0 ||
           strcmp(c->kind, "serial") == 0;
}

static char *first_part(const struct scene *scene, const struct candidates *candidates,
                        const struct resampled *r, enum verdict_state state) {
    const struct candidate *c = &candidates->items[0];
    const struct candidate *other = verdict_other_direction(candidates);
    bool sure = state == VERDICT_SATURATED;
    const char *waits = sure ? "The run waits for" : "The run probably waits for";
    size_t alike = count_alike(candidates);
    char others[64] = "", rate[120];
    say_rate(c, rate, sizeof rate);
    if (is_of_program(c))
        return of_rank(scene, c, r, sure);
    if (other)
        return of_both_directions(scene, c, other, waits, rate);
    if (alike && alike + 1 == scene->n_hosts)
        return of_all(scene, c, r, waits);
    if (alike)
        snprintf(others, sizeof others, "; %zu other host%s nearly as much", alike,
                 alike == 1 ? "" : "s");
    return of_resource(scene, c, r, waits, rate, others);
}

char *verdict_sentence(const struct scene *scene, const struct candidates *candidates,
                       const struct resampled *r, enum verdict_state state) {
    char gain[200], span[80];
    char *first = first_part(scene, candidates, r, state);
    if (!first)
        return NULL;
    say_span(&candidates->items[0], span, sizeof span);
    say_gain(&candidates->items[0], gain, sizeof gain);
    char *whole = text_format("%s%s%s", first, span, gain);
    free(first);
    return whole;
}

char *verdict_phase_sentence(const struct scene *scene, const struct candidate *c) {
    return text_format("%s's %s, %s: %.0f %% of the phase", scene->hosts[c->host].name,
                       verdict_resource_words(c->resource), c->cause, 100 * c->blocked);
}
