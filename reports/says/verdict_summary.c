/* SPDX-License-Identifier: MIT */
/* The verdict with a candidate, as a sentence: who, what, when, how much, and the gain of a
 * change. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/cause.h"
#include "analysis/evidence/fabric_ports.h"
#include "common/error.h"
#include "reports/says/candidate_words.h"
#include "reports/says/remark_words.h"
#include "reports/says/text_list.h"
#include "reports/says/verdict_private.h"

/* ", at 97 % of the 223.4 MB/s this link was measured to carry"; "" for a link whose rate says
 * nothing. */
static void say_own_rate(const struct candidate *c, char *to, size_t size) {
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

/* As say_own_rate, then the rate of the other direction: "; it receives 2.1 MB/s". */
static void say_rate(const struct run_model *model, const struct candidate *c, char *to,
                     size_t size) {
    say_own_rate(c, to, size);
    if (!to[0])
        return;
    double back = verdict_back_rate(model, c);
    size_t n = strlen(to);
    if (!isnan(back))
        snprintf(to + n, size - n, "; it %s %.3g MB/s meanwhile",
                 c->resource == RESOURCE_NET_EGRESS ? "receives" : "sends", back);
}

/* "48 to 52 %", or "48 %" if both ends round to the same. */
static void say_interval(double low, double high, char *to, size_t size) {
    if (round(100 * low) == round(100 * high))
        snprintf(to, size, "%.0f %%", 100 * low);
    else
        snprintf(to, size, "%.0f to %.0f %%", 100 * low, 100 * high);
}

double verdict_back_rate(const struct run_model *model, const struct candidate *c) {
    bool sends = c->resource == RESOURCE_NET_EGRESS;
    enum flow_side back = sends ? FLOW_RECEIVE : FLOW_SEND;
    struct fabric_port port;
    if (c->by == &cause_link_fabric)
        return fabric_fullest(model, c->host, phase_windows(&model->groups[c->group]), back, &port)
                   ? port.mb_s[back]
                   : NAN;
    return model_mean(model, c->host, sends ? METRIC_NET_RECV : METRIC_NET_SEND, c->group);
}

/* " (48 to 52 %)", or "" if it says no more than the estimate beside it. */
static void say_around(const struct gain *gain, char *to, size_t size) {
    char range[40];
    bool same = round(100 * gain->low) == round(100 * gain->high) &&
                round(100 * gain->low) == round(100 * gain->estimate);
    say_interval(gain->low, gain->high, range, sizeof range);
    snprintf(to, size, same ? "" : " (%s)", range);
}

/* "10 % of the time in training, 9 to 11 % of the whole run": the share of a phase and that of the
 * run differ, and both are named. Without calls it is a share of a process's time, whose beginning
 * the samples may have missed. */
void verdict_say_share(const struct run_model *model, const struct candidate *c,
                       const struct verdict *v, char *to, size_t size) {
    char of_run[40], around[48];
    say_interval(v->share_low, v->share_high, of_run, sizeof of_run);
    say_around(&c->lost, around, sizeof around);
    if (!model_has_path(model) && !isnan(c->lost.estimate))
        snprintf(to, size, "%.0f %% of its recorded time%s", 100 * c->lost.estimate, around);
    else if (c->group)
        snprintf(to, size, "%.0f %% of the time in %s%.64s, %s of the whole run", 100 * c->blocked,
                 group_before(model, c->group), group_words(model, c->group), of_run);
    else if (round(100 * v->share_low) == round(100 * v->share_high))
        snprintf(to, size, "%s of the time", of_run);
    else
        snprintf(to, size, "%.0f %% of the time (%s)", 100 * c->blocked, of_run);
}

bool verdict_is_of_faster_cores(const struct candidate *c) {
    const struct whatif_scenario *change = candidate_change(c);
    return c->fallback ||
           (change->kind == WHATIF_CPU && change->factor == 2 && c->kind != CAUSE_BINDING);
}

enum verdict_scope verdict_gain_scope(const struct verdict *v) {
    const struct candidate *c = v->candidate;
    const struct gain *gone = candidate_gain(c);
    const struct whatif_scenario *change = candidate_change(c);
    bool wider = gone->counted && !v->other && change->host >= 0 &&
                 round(100 * gone->estimate) > round(100 * v->share_high);
    if (wider && change->kind == WHATIF_WITHOUT && change->term == BUDGET_IDLE)
        return SCOPE_ALL_SLEEP;
    return wider && change->kind == WHATIF_LINK && change->direction == WHATIF_BOTH
               ? SCOPE_BOTH_WAYS
               : SCOPE_OF_LIMIT;
}

static void say_without(const struct run_model *model, const struct verdict *v, char *to,
                        size_t size) {
    const struct candidate *c = v->candidate;
    enum verdict_scope scope = verdict_gain_scope(v);
    if (c->kind == CAUSE_SKEW)
        snprintf(to, size, "%s",
                 c->sharing.gain.replayed ? "With that shared out among its peers"
                                          : "With as much as its peers");
    else if (scope == SCOPE_ALL_SLEEP)
        snprintf(to, size, "Without any sleep on %.64s, that of other processes there as well,",
                 model->hosts[candidate_change(c)->host].name);
    else if (scope == SCOPE_BOTH_WAYS)
        snprintf(to, size, "Without that in both directions");
    else
        snprintf(to, size, "%s", c->everywhere ? "Without that on any host" : "Without that");
}

/* " Without it the run would take 33 % less time (30 to 36 %)." */
static void say_gain(const struct run_model *model, const struct verdict *v, char *to,
                     size_t size) {
    const struct candidate *c = v->candidate;
    const struct gain *twice = &c->doubled, *gone = candidate_gain(c);
    char range[44], without[140];
    bool link = candidate_is_link(c) && twice->replayed;
    to[0] = '\0';
    say_without(model, v, without, sizeof without);
    say_around(link ? twice : gone, range, sizeof range);
    if (c->kind == CAUSE_LATENCY && gone->replayed)
        snprintf(to, size, " Half the latency would make it %.0f %% shorter%s.",
                 100 * gone->estimate, range);
    else if (verdict_is_of_faster_cores(c) && (gone->replayed || gone->counted))
        snprintf(to, size, " Cores twice as fast would make it %.0f %% shorter%s.",
                 100 * gone->estimate, range);
    else if (gone->counted)
        snprintf(to, size,
                 " %s the run would take about %.0f %% less%s, by counters, not replayed.", without,
                 100 * gone->estimate, range);
    else if (link)
        snprintf(to, size,
                 " Twice as fast a link%s would take %.0f %% off the run%s, one without limit "
                 "%.0f %%.",
                 c->twice.direction == WHATIF_SEND      ? " for sending"
                 : c->twice.direction == WHATIF_RECEIVE ? " for receiving"
                                                        : "",
                 100 * twice->estimate, range, 100 * gone->estimate);
    else if (gone->replayed)
        snprintf(to, size, " %s the run would take %.0f %% less%s.", without, 100 * gone->estimate,
                 range);
}

bool verdict_is_of_all(const struct run_model *model, const struct verdict *v) {
    return v->n_alike && v->n_alike + 1 == model->n_hosts;
}

double verdict_share(const struct run_model *model, const struct verdict *v) {
    bool sum = verdict_is_of_all(model, v) && model_has_path(model);
    return fmin(1, v->candidate->blocked + (sum ? v->blocked_alike : 0));
}

/* A limit that took more time than the span has held outside it, too. */
bool verdict_has_span(const struct run_model *model, const struct verdict *v) {
    const struct candidate *c = v->candidate;
    if (isnan(c->start_s))
        return false;
    double phase_s = (double)windows_length(phase_windows(&model->groups[c->group])) / 1e9;
    return verdict_share(model, v) * phase_s <= c->end_s - c->start_s;
}

static void say_span(const struct run_model *model, const struct verdict *v, char *to,
                     size_t size) {
    to[0] = '\0';
    if (verdict_has_span(model, v))
        snprintf(to, size, " Only from %.1f s to %.1f s of the run.", v->candidate->start_s,
                 v->candidate->end_s);
}

static char *of_both_directions(const struct run_model *model, const struct candidate *c,
                                const struct candidate *other, const char *waits) {
    bool sends = c->resource == RESOURCE_NET_EGRESS;
    char rate[120], back[120], in[80] = "";
    say_own_rate(c, rate, sizeof rate);
    say_own_rate(other, back, sizeof back);
    if (c->group)
        snprintf(in, sizeof in, " in %s%.64s", group_before(model, c->group),
                 group_words(model, c->group));
    return text_format("%s %s's network: %.0f %% of the time%s %s%s, and %.0f %% %s%s.", waits,
                       model->hosts[c->host].name, 100 * c->blocked, in,
                       sends ? "sending" : "receiving", rate, 100 * other->blocked,
                       sends ? "receiving" : "sending", back);
}

static char *of_one(const struct run_model *model, const struct candidate *c,
                    const struct verdict *v, const char *waits) {
    char share[160], rate[160], others[64] = "";
    char *what = candidate_words(model, c);
    verdict_say_share(model, c, v, share, sizeof share);
    say_rate(model, c, rate, sizeof rate);
    if (v->n_alike)
        snprintf(others, sizeof others, "; %zu other host%s nearly as much", v->n_alike,
                 v->n_alike == 1 ? "" : "s");
    char *text = what ? text_format("%s %s: %s%s%s.", waits, what, share, rate, others) : NULL;
    free(what);
    return text;
}

static char *of_all(const struct run_model *model, const struct candidate *c,
                    const struct verdict *v, const char *waits) {
    char share[160], hosts[40] = "both hosts";
    AUTO(text_free) char *cause = remark_words(&c->cause);
    if (model->n_hosts > 2)
        snprintf(hosts, sizeof hosts, "all %zu hosts", model->n_hosts);
    verdict_say_share(model, c, v, share, sizeof share);
    return text_format("%s %s on %s, most on %s (%s): there %s.", waits,
                       resource_words(c->resource), hosts, model->hosts[c->host].name,
                       cause ? cause : "", share);
}

const char *verdict_doubt(const struct verdict *v) {
    static const char *const words[] = {
        [VERDICT_SURE] = "", [VERDICT_PROBABLE] = "probably ", [VERDICT_POSSIBLE] = "possibly "};
    return words[v->sureness];
}

/* A skew or a sleep uses up no resource of a host: others wait for one rank's time. */
static const char *waits_for(const struct candidate *c, enum verdict_sureness sureness) {
    bool own = c->resource == RESOURCE_IMBALANCE || c->resource == RESOURCE_APPLICATION;
    if (sureness != VERDICT_SURE)
        return sureness == VERDICT_PROBABLE ? "The run probably waits for"
                                            : "The run possibly waits for";
    if (own && c->rank >= 0)
        return "No resource ran out. The run waits for";
    return "The run waits for";
}

/* Numbers: the sureness from 1 on, the share in %. Names: the cause, the hosts. */
static const char *const of_subjects[SUBJECT_COUNT_] = {
    [SUBJECT_NONE] =
        "%[|Probably: |Possibly: ]CPU limits the run on %s: computing takes %.0f %% of it.",
    [SUBJECT_MACHINE] =
        "%[|Probably: |Possibly: ]The machine that the hosts share is full (%s). The run waits "
        "for a core %.0f %% of the time.",
    [SUBJECT_MESSAGES] =
        "%[|Probably: |Possibly: ]The time that each message takes limits the run: %s. Moving "
        "them takes %.0f %% of it.",
    [SUBJECT_CORE] =
        "%[|Probably: |Possibly: ]One core of %s limits the run: %s. It is busy %.0f %% of the "
        "time.",
};

/* A sentence for a limit that is not one host's. */
static char *of_subject(const struct run_model *model, const struct candidate *c,
                        enum verdict_sureness sureness) {
    const double numbers[] = {1 + (double)sureness, 100 * c->blocked};
    const char *host = model->hosts[c->host].name;
    AUTO(text_free) char *cause = remark_words(&c->cause);
    if (!cause)
        return NULL;
    enum subject subject = candidate_subject(c);
    const char *template = of_subjects[subject];
    const char *names[] = {cause, NULL};
    if (subject == SUBJECT_CORE)
        names[0] = host, names[1] = cause;
    else if (!template)
        names[0] = model->n_hosts > 1 ? "all hosts" : host;
    return template_words(template ? template : of_subjects[SUBJECT_NONE], numbers, names,
                          &(struct caller){.run = 0});
}

bool verdict_has_own_sentence(const struct candidate *c) {
    return c->subject == SUBJECT_MACHINE || c->subject == SUBJECT_CORE ||
           c->subject == SUBJECT_MESSAGES || c->fallback;
}

static char *first_part(const struct run_model *model, const struct verdict *v) {
    const struct candidate *c = v->candidate;
    const char *waits = waits_for(c, v->sureness);
    if (verdict_has_own_sentence(c))
        return of_subject(model, c, v->sureness);
    if (v->other && !candidate_is_of_program(c))
        return of_both_directions(model, c, v->other, waits);
    if (verdict_is_of_all(model, v))
        return of_all(model, c, v, waits);
    return of_one(model, c, v, waits);
}

char *verdict_candidate_sentence(const struct run_model *model, const struct verdict *v) {
    char gain[320], span[80];
    char *first = first_part(model, v);
    if (!first)
        return NULL;
    say_span(model, v, span, sizeof span);
    say_gain(model, v, gain, sizeof gain);
    char *whole = text_format("%s%s%s", first, span, gain);
    free(first);
    return whole;
}
