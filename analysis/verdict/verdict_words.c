/* SPDX-License-Identifier: MIT */
/* The verdict as a sentence: who, what, when, how much, and what a change would give. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/verdict/verdict_private.h"
#include "common/error.h"
#include "reports/words/remark_words.h"

const char *verdict_resource_words(enum resource resource) {
    static const char *const words[RESOURCE_COUNT_] = {
        [RESOURCE_NONE] = "nothing",
        [RESOURCE_CPU] = "CPU",
        [RESOURCE_CPU_QUOTA] = "CPU quota",
        [RESOURCE_STEAL] = "CPU (stolen by the hypervisor)",
        [RESOURCE_MEMORY] = "memory",
        [RESOURCE_MEM_BANDWIDTH] = "memory bandwidth",
        [RESOURCE_DISK] = "disk",
        [RESOURCE_DISK_THROTTLE] = "disk (throttled or remote)",
        [RESOURCE_NET_EGRESS] = "network (sending)",
        [RESOURCE_NET_INGRESS] = "network (receiving)",
        [RESOURCE_IMBALANCE] = "share of the work",
        [RESOURCE_APPLICATION] = "own code",
    };
    return words[resource];
}

const char *verdict_group_words(const struct run_model *model, size_t group) {
    return group ? model->groups[group].name : "the whole run";
}

bool candidate_is_link(const struct candidate *c) {
    return c->resource == RESOURCE_NET_EGRESS || c->resource == RESOURCE_NET_INGRESS;
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

static void free_words(char **words) {
    free(*words);
}

/* ", at 97 % of the 223.4 MB/s this link was measured to carry"; "" of a link whose rate says
 * nothing. */
static void say_rate(const struct candidate *c, char *to, size_t size) {
    to[0] = '\0';
    if (!candidate_is_link(c) || !(c->ceiling > 0))
        return;
    if (c->reached > 0 && c->ceiling_from)
        snprintf(to, size, ", at %.0f %% of the %.1f MB/s %s", 100 * c->reached, c->ceiling,
                 c->ceiling_from == CEILING_SET ? "its interface is set to"
                                                : "this link was measured to carry");
    else
        snprintf(to, size, ", at %.4g MB/s, %s", c->ceiling,
                 c->ceiling_from ? "the rate the kernel saw meanwhile" : "the highest rate seen");
}

/* "48 to 52 %", or "48 %" where both ends round to the same. */
static void say_interval(double low, double high, char *to, size_t size) {
    if (round(100 * low) == round(100 * high))
        snprintf(to, size, "%.0f %%", 100 * low);
    else
        snprintf(to, size, "%.0f to %.0f %%", 100 * low, 100 * high);
}

/* " (48 to 52 %)", or nothing where that says no more than the estimate beside it. */
static void say_around(const struct gain *gain, char *to, size_t size) {
    char range[40];
    bool same = round(100 * gain->low) == round(100 * gain->high) &&
                round(100 * gain->low) == round(100 * gain->estimate);
    say_interval(gain->low, gain->high, range, sizeof range);
    snprintf(to, size, same ? "" : " (%s)", range);
}

/* "10 % of the time in training, 9 to 11 % of the whole run": a part of a phase and one of the run
 * are two numbers, and the reader is told which is which. Without calls it is a process's time,
 * of which samples may have missed the beginning. */
static void say_share(const struct run_model *model, const struct candidate *c,
                      const struct resampled *r, char *to, size_t size) {
    char of_run[40], around[48];
    say_interval(r->low, r->high, of_run, sizeof of_run);
    say_around(&c->lost, around, sizeof around);
    if (!model_has_path(model) && !isnan(c->lost.estimate))
        snprintf(to, size, "%.0f %% of its recorded time%s", 100 * c->lost.estimate, around);
    else if (c->group)
        snprintf(to, size, "%.0f %% of the time in %.64s, %s of the whole run", 100 * c->blocked,
                 verdict_group_words(model, c->group), of_run);
    else if (round(100 * r->low) == round(100 * r->high))
        snprintf(to, size, "%s of the time", of_run);
    else
        snprintf(to, size, "%.0f %% of the time (%s)", 100 * c->blocked, of_run);
}

static const char *without_words(const struct candidate *c) {
    if (c->kind == CAUSE_SKEW)
        return "With as much as its peers";
    return c->everywhere ? "Without that on any host" : "Without that";
}

/* " Without it the run would take 33 % less time (30 to 36 %)." */
static void say_gain(const struct candidate *c, char *to, size_t size) {
    const struct gain *twice = &c->doubled, *gone = candidate_gain(c);
    char range[44];
    bool link = candidate_is_link(c) && twice->replayed;
    to[0] = '\0';
    say_around(link ? twice : gone, range, sizeof range);
    if (c->kind == CAUSE_LATENCY && gone->replayed)
        snprintf(to, size, " Half the latency would make it %.0f %% shorter%s.",
                 100 * gone->estimate, range);
    else if (c->fallback && (gone->replayed || gone->counted))
        snprintf(to, size, " Cores twice as fast would make it %.0f %% shorter%s.",
                 100 * gone->estimate, range);
    else if (gone->counted)
        snprintf(to, size,
                 " %s the run would take about %.0f %% less%s, by counters, not replayed.",
                 without_words(c), 100 * gone->estimate, range);
    else if (link)
        snprintf(to, size,
                 " Twice as fast a link%s would take %.0f %% off the run%s, one without limit "
                 "%.0f %%.",
                 c->twice.direction == WHATIF_SEND      ? " for sending"
                 : c->twice.direction == WHATIF_RECEIVE ? " for receiving"
                                                        : "",
                 100 * twice->estimate, range, 100 * gone->estimate);
    else if (gone->replayed)
        snprintf(to, size, " %s the run would take %.0f %% less%s.", without_words(c),
                 100 * gone->estimate, range);
}

static void say_span(const struct candidate *c, char *to, size_t size) {
    to[0] = '\0';
    if (!isnan(c->start_s))
        snprintf(to, size, " Only from %.1f s to %.1f s of the run.", c->start_s, c->end_s);
}

/* ---- who and what ---- */

static bool is_of_program(const struct candidate *c) {
    return c->resource == RESOURCE_IMBALANCE || c->resource == RESOURCE_APPLICATION ||
           c->kind == CAUSE_SERIAL;
}

/* Causes of links: "link" is none, "the link, shared with ..." begins with what was said. */
static const char *link_cause(const struct candidate *c, const char *cause) {
    static const char said[] = "the link, ";
    if (c->cause.code == REMARK_LINK)
        return NULL;
    return strncmp(cause, said, strlen(said)) == 0 ? cause + strlen(said) : cause;
}

/* Where one rank is to blame and no resource ran out: "vm2, where rank 1 sleeps in its own code" */
static char *words_of_rank(const char *host, const char *cause) {
    static const char serial[] = "serial: ";
    if (strncmp(cause, serial, strlen(serial)) == 0)
        cause += strlen(serial);
    bool clause = strncmp(cause, "rank ", 5) == 0 || strncmp(cause, "one process ", 12) == 0;
    return clause ? text_format("%s, where %s", host, cause) : text_format("%s (%s)", host, cause);
}

char *verdict_candidate_words(const struct run_model *model, const struct candidate *c) {
    const char *host = model->hosts[c->host].name;
    AUTO(free_words) char *of = remark_words(&c->cause);
    if (!of)
        return NULL;
    if (c->subject == SUBJECT_MACHINE)
        return text_format("the machine that the hosts share (%s)", of);
    if (c->subject == SUBJECT_MESSAGES)
        return text_format("the latency of messages (%s)", of);
    if (c->fallback)
        return text_format("computing (%s)", of);
    if (is_of_program(c))
        return words_of_rank(host, of);
    const char *cause = candidate_is_link(c) ? link_cause(c, of) : of;
    const char *words = verdict_resource_words(c->resource), *close = strrchr(words, ')');
    if (!cause)
        return text_format("%s's %s", host, words);
    if (close) /* one pair of parentheses */
        return text_format("%s's %.*s: %s)", host, (int)(close - words), words, cause);
    return text_format("%s's %s (%s)", host, words, cause);
}

/* ---- the first part ---- */

static char *of_both_directions(const struct run_model *model, const struct candidate *c,
                                const struct candidate *other, const char *waits) {
    bool sends = c->resource == RESOURCE_NET_EGRESS;
    char rate[120], in[80] = "";
    say_rate(c, rate, sizeof rate);
    if (c->group)
        snprintf(in, sizeof in, " in %.64s", verdict_group_words(model, c->group));
    return text_format("%s %s's network: %.0f %% of the time%s %s and %.0f %% %s%s.", waits,
                       model->hosts[c->host].name, 100 * c->blocked, in,
                       sends ? "sending" : "receiving", 100 * other->blocked,
                       sends ? "receiving" : "sending", rate);
}

static char *of_one(const struct run_model *model, const struct candidate *c,
                    const struct resampled *r, const char *waits, size_t alike) {
    char share[160], rate[120], others[64] = "";
    char *what = verdict_candidate_words(model, c);
    say_share(model, c, r, share, sizeof share);
    say_rate(c, rate, sizeof rate);
    if (alike)
        snprintf(others, sizeof others, "; %zu other host%s nearly as much", alike,
                 alike == 1 ? "" : "s");
    char *text = what ? text_format("%s %s: %s%s%s.", waits, what, share, rate, others) : NULL;
    free(what);
    return text;
}

static char *of_all(const struct run_model *model, const struct candidate *c,
                    const struct resampled *r, const char *waits) {
    char share[160], hosts[40] = "both hosts";
    AUTO(free_words) char *cause = remark_words(&c->cause);
    if (model->n_hosts > 2)
        snprintf(hosts, sizeof hosts, "all %zu hosts", model->n_hosts);
    say_share(model, c, r, share, sizeof share);
    return text_format("%s %s on %s, most on %s (%s): there %s.", waits,
                       verdict_resource_words(c->resource), hosts, model->hosts[c->host].name,
                       cause ? cause : "", share);
}

/* Of a skew or a sleep nothing that a host has ran out: what there is too little of is the time of
 * the one that all others wait for. */
static const char *waits_for(const struct candidate *c, enum verdict_state state) {
    bool own = c->resource == RESOURCE_IMBALANCE || c->resource == RESOURCE_APPLICATION;
    if (state != VERDICT_SATURATED)
        return "The run probably waits for";
    if (own && c->rank >= 0)
        return "No resource ran out but the time of one rank: the run waits for";
    return "The run waits for";
}

/* Whose limit is not one host's. */
static char *of_subject(const struct run_model *model, const struct candidate *c,
                        enum verdict_state state) {
    const char *sure = state == VERDICT_SATURATED ? "" : "Probably: ";
    AUTO(free_words) char *cause = remark_words(&c->cause);
    if (!cause)
        return NULL;
    switch (candidate_subject(c)) {
    case SUBJECT_MACHINE:
        return text_format("%sThe machine that the hosts share is full (%s). The run waits for a "
                           "core %.0f %% of the time.",
                           sure, cause, 100 * c->blocked);
    case SUBJECT_MESSAGES:
        return text_format(
            "%sThe time that each message takes limits the run: %s. Moving them takes "
            "%.0f %% of it.",
            sure, cause, 100 * c->blocked);
    case SUBJECT_CORE:
        return text_format("%sOne core of %s limits the run: %s. It is busy %.0f %% of the time.",
                           sure, model->hosts[c->host].name, cause, 100 * c->blocked);
    default:
        return text_format("%sCPU limits the run on %s: computing takes %.0f %% of it.", sure,
                           model->n_hosts > 1 ? "all hosts" : model->hosts[c->host].name,
                           100 * c->blocked);
    }
}

static bool has_own_sentence(const struct candidate *c) {
    return c->subject == SUBJECT_MACHINE || c->subject == SUBJECT_CORE ||
           c->subject == SUBJECT_MESSAGES || c->fallback;
}

static char *first_part(const struct run_model *model, const struct candidates *candidates,
                        const struct resampled *r, enum verdict_state state) {
    const struct candidate *c = &candidates->items[0];
    const struct candidate *other = verdict_other_direction(candidates);
    const char *waits = waits_for(c, state);
    if (has_own_sentence(c))
        return of_subject(model, c, state);
    size_t alike = is_of_program(c) ? 0 : count_alike(candidates);
    if (other && !is_of_program(c))
        return of_both_directions(model, c, other, waits);
    if (alike && alike + 1 == model->n_hosts)
        return of_all(model, c, r, waits);
    return of_one(model, c, r, waits, alike);
}

char *verdict_sentence(const struct run_model *model, const struct candidates *candidates,
                       const struct resampled *r, enum verdict_state state) {
    char gain[200], span[80];
    char *first = first_part(model, candidates, r, state);
    if (!first)
        return NULL;
    say_span(&candidates->items[0], span, sizeof span);
    say_gain(&candidates->items[0], gain, sizeof gain);
    char *whole = text_format("%s%s%s", first, span, gain);
    free(first);
    return whole;
}

char *verdict_phase_sentence(const struct run_model *model, const struct candidate *c) {
    char *what = verdict_candidate_words(model, c);
    char *text = what ? text_format("%s: %.0f %% of the phase", what, 100 * c->blocked) : NULL;
    free(what);
    return text;
}
