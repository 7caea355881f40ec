/* SPDX-License-Identifier: MIT */
#include "reports/says/verdict_lines.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/gain/gain_counted.h"
#include "common/error.h"
#include "reports/says/candidate_words.h"
#include "reports/says/remark_words.h"
#include "reports/says/text_list.h"
#include "reports/says/verdict_private.h"

/* ---- what limits it ---- */

/* " of vm1", " of all 5 hosts" */
static char *whose(const struct run_model *model, const struct candidate *c, bool all) {
    if (!all || model->n_hosts < 2)
        return text_format("%s", model->hosts[c->host].name);
    return model->n_hosts == 2 ? text_format("both hosts")
                               : text_format("all %zu hosts", model->n_hosts);
}

/* cause: its words follow if it is more than a full link. */
static char *name_link(const struct candidate *c, const struct candidate *other, const char *who,
                       const char *cause) {
    bool sends = c->resource == RESOURCE_NET_EGRESS;
    const char *way = other ? (sends ? "sending and receiving" : "receiving and sending")
                            : (sends ? "sending" : "receiving");
    if (c->cause.code == REMARK_FASTER_INTERFACE_IDLE)
        return text_format("network of %s, %s (%s)", who, way, cause);
    return text_format("network of %s, %s", who, way);
}

/* If the resource's words have parentheses, the cause goes inside them. */
static const char *qualified(enum resource resource) {
    static const char *const templates[RESOURCE_COUNT_] = {
        [RESOURCE_STEAL] = "CPU of %s (stolen by the hypervisor: %s)",
        [RESOURCE_DISK_THROTTLE] = "disk of %s (throttled or remote: %s)",
        [RESOURCE_NET_EGRESS] = "network of %s (sending: %s)",
        [RESOURCE_NET_INGRESS] = "network of %s (receiving: %s)",
    };
    return templates[resource];
}

/* "disk of vm1 (cause)", "disk of vm1 (throttled or remote: cause)" */
static char *name_resource(const struct candidate *c, const char *who, const char *cause) {
    const char *template = qualified(c->resource);
    if (!template)
        return text_format("%s of %s (%s)", resource_words(c->resource), who, cause);
    return template_words(template, NULL, (const char *const[]){who, cause},
                          &(struct caller){.run = 0});
}

static char *name_limit(const struct run_model *model, const struct verdict *v,
                        const struct candidate *c) {
    AUTO(text_free) char *cause = remark_words(&c->cause);
    AUTO(text_free)
    char *who = whose(model, c, c->fallback || verdict_is_of_all(model, v));
    if (!cause || !who)
        return NULL;
    const char *bare = cause + strlen(cause_label(c->cause.kind));
    switch (candidate_subject(c)) {
    case SUBJECT_MACHINE:
        return text_format("the machine that the hosts share (%s)", cause);
    case SUBJECT_MESSAGES:
        return text_format("the latency of messages (%s)", cause);
    case SUBJECT_CORE:
        return text_format("one core of %s (%s)", model->hosts[c->host].name, bare);
    default:
        break;
    }
    if (c->fallback)
        return text_format("CPU of %s (%s)", who, bare);
    if (candidate_is_of_program(c) && cause_is_clause(&c->cause))
        return text_format("%s (on %s)", bare, model->hosts[c->host].name);
    if (candidate_is_of_program(c))
        return candidate_words(model, c);
    return candidate_is_link(c) ? name_link(c, v->other, who, bare) : name_resource(c, who, bare);
}

/* Whether it is known how full the link is. */
static bool is_rated(const struct candidate *c) {
    return candidate_is_link(c) && c->ceiling > 0 && c->reached > 0 && c->ceiling_from;
}

/* Each direction has its own figure: the other one may carry far less. */
static char *rates_both_ways(const struct run_model *model, const struct candidate *c,
                             const struct candidate *other) {
    bool sends = c->resource == RESOURCE_NET_EGRESS;
    const char *one = sends ? "sends" : "receives", *back = sends ? "receives" : "sends";
    char ceiling[32], other_ceiling[32];
    snprintf(ceiling, sizeof ceiling, "%.3g", c->ceiling);
    snprintf(other_ceiling, sizeof other_ceiling, "%.3g", other->ceiling);
    if (is_rated(other) && strcmp(ceiling, other_ceiling) == 0)
        return text_format("%s at %.0f %% and %s at %.0f %% of its %s MB/s", one, 100 * c->reached,
                           back, 100 * other->reached, ceiling);
    if (is_rated(other))
        return text_format("%s at %.0f %% of its %.3g MB/s, %s at %.0f %% of %.3g", one,
                           100 * c->reached, c->ceiling, back, 100 * other->reached,
                           other->ceiling);
    return text_format("%s at %.0f %% of its %.3g MB/s, %s %.3g MB/s", one, 100 * c->reached,
                       c->ceiling, back, verdict_back_rate(model, c));
}

/* Extent of the limit: the used part of its rate if known, else a share of the time. */
static char *how_much(const struct run_model *model, const struct verdict *v) {
    const struct candidate *c = v->candidate;
    if (is_rated(c) && v->other)
        return rates_both_ways(model, c, v->other);
    if (is_rated(c))
        return text_format("at %.0f %% of its %.3g MB/s", 100 * c->reached, c->ceiling);
    if (!model_has_path(model) && !isnan(c->lost.estimate))
        return text_format("%.0f %% of its recorded time", 100 * c->lost.estimate);
    return text_format("%.0f %% of %s%.64s", 100 * verdict_share(model, v),
                       group_before(model, c->group),
                       c->group ? group_words(model, c->group) : "the run");
}

static char *limit_of_candidate(const struct run_model *model, const struct verdict *v) {
    const struct candidate *c = v->candidate;
    AUTO(text_free) char *name = name_limit(model, v, c);
    AUTO(text_free) char *much = how_much(model, v);
    char span[64] = "";
    if (verdict_has_span(model, v))
        snprintf(span, sizeof span, ", from %.3g s to %.3g s", c->start_s, c->end_s);
    return name && much ? text_format("%s%s: %s%s", verdict_doubt(v), name, much, span) : NULL;
}

/* The limit, whatever ended the run. */
static char *limit_until_then(const struct run_model *model, const struct verdict *v,
                              const char *summary) {
    if (v->too_little.code) {
        AUTO(text_free) char *why = remark_words(&v->too_little);
        return why ? text_format("%s%s.", v->too_short ? "" : "not known. ", why) : NULL;
    }
    if (v->candidate)
        return limit_of_candidate(model, v);
    if (v->state == VERDICT_IDLE)
        return text_format("none. %s", summary);
    if (v->state != VERDICT_BALANCED)
        return text_format("not known. %s", summary);
    AUTO(text_free) char *cause = remark_words(&v->cause);
    return cause ? text_format("%snone that one change would lift: %s", verdict_doubt(v), cause)
                 : NULL;
}

char *verdict_limit(const struct run_model *model, const struct verdict *v, const char *summary) {
    if (!v->ended.code)
        return limit_until_then(model, v, summary);
    AUTO(text_free) char *ended = remark_words(&v->ended);
    if (!ended || v->too_short || v->cause.code == REMARK_COMMAND_FAILED)
        return ended ? text_format("%s", ended) : NULL;
    AUTO(text_free) char *limit = limit_until_then(model, v, summary);
    return limit ? text_format("%s. Until then: %s", ended, limit) : NULL;
}

/* ---- what it costs ---- */

char *verdict_cost(const struct run_model *model, const struct verdict *v) {
    const struct candidate *c = v->candidate;
    char share[160];
    if (verdict_has_own_sentence(c) || (!is_rated(c) && !c->group))
        return text_format("%s", "");
    if (v->other && !candidate_is_of_program(c))
        return text_format("%.0f %% of the time%s%s%.64s %s and %.0f %% %s", 100 * c->blocked,
                           c->group ? " in " : "", group_before(model, c->group),
                           c->group ? group_words(model, c->group) : "",
                           c->resource == RESOURCE_NET_EGRESS ? "sending" : "receiving",
                           100 * v->other->blocked,
                           c->resource == RESOURCE_NET_EGRESS ? "receiving" : "sending");
    verdict_say_share(model, c, v, share, sizeof share);
    return text_format("%s", share);
}

/* ---- what a change is worth ---- */

/* " (44 to 47)", or "" if it says no more than the estimate. */
static void say_range(const struct gain *gain, char *to, size_t size) {
    double low = round(100 * gain->low), high = round(100 * gain->high);
    bool known = !isnan(low) && !isnan(high) && low != high;
    snprintf(to, size, known ? " (%.0f to %.0f)" : "", low, high);
}

static const char *change_words(const struct verdict *v) {
    const struct candidate *c = v->candidate;
    if (c->kind == CAUSE_LATENCY)
        return "half the latency";
    if (verdict_is_of_faster_cores(c))
        return "cores twice as fast";
    if (c->kind == CAUSE_SKEW)
        return c->sharing.gain.replayed ? "that work shared out among its peers"
                                        : "as much work as its peers have";
    switch (verdict_gain_scope(v)) {
    case SCOPE_ALL_SLEEP:
        return "without any sleep on that host";
    case SCOPE_BOTH_WAYS:
        return "without this limit in both directions";
    default:
        return "without this limit";
    }
}

/* The share of the run that its limit took. */
static double share_of_run(const struct run_model *model, const struct verdict *v) {
    const struct candidate *c = v->candidate;
    return verdict_share(model, v) * (c->blocked > 0 ? c->run_share / c->blocked : 1);
}

/* A gain that does not fit the share beside it says why, in one clause. */
static const char *why_unlike_share(const struct run_model *model, const struct verdict *v) {
    const struct gain *gain = candidate_gain(v->candidate);
    const struct whatif_scenario *change = candidate_change(v->candidate);
    double share = 100 * share_of_run(model, v), most = gain_most_within_quota(model, change);
    if (is_rated(v->candidate))
        return "";
    if (round(100 * gain->low) > ceil(share))
        return "; more than its share, since what waits for it ends sooner, too";
    if (change->kind != WHATIF_WITHOUT)
        return "";
    if (share - 100 * gain->estimate >= 1 && gain->estimate >= most)
        return "; then its CPU quota is the limit";
    return round(100 * gain->high) < floor(share) ? "; then something else is the limit" : "";
}

char *verdict_worth(const struct run_model *model, const struct verdict *v) {
    const struct candidate *c = v->candidate;
    char range[48];
    if (v->state == VERDICT_BALANCED && v->closest) {
        AUTO(text_free) char *words = candidate_words(model, v->closest);
        return words ? text_format("little: -%.0f %% run time at most (%s)",
                                   100 * v->closest->gain.estimate, words)
                     : NULL;
    }
    if (!c || v->too_little.code)
        return text_format("%s", "");
    const struct gain *gone = candidate_gain(c), *twice = &c->doubled;
    bool link = candidate_is_link(c) && twice->replayed;
    say_range(link ? twice : gone, range, sizeof range);
    if (link)
        return text_format("a link twice as fast%s: -%.0f %% run time%s; without this limit: "
                           "-%.0f %%",
                           c->twice.direction == WHATIF_SEND      ? " for sending"
                           : c->twice.direction == WHATIF_RECEIVE ? " for receiving"
                                                                  : "",
                           100 * twice->estimate, range, 100 * gone->estimate);
    if (gone->replayed || gone->counted)
        return text_format("%s: %s%.0f %% run time%s%s%s", change_words(v),
                           gone->replayed ? "-" : "about -", 100 * gone->estimate, range,
                           gone->replayed ? "" : ", by counters", why_unlike_share(model, v));
    if (isnan(v->gain_high))
        return text_format("not known");
    double itself = share_of_run(model, v) + (v->other ? v->other->run_share : 0);
    bool more = round(100 * v->gain_high) > round(100 * itself) && itself >= 0.005;
    if (more) /* what waited beside it may have waited for the same */
        return text_format("%s: -%.0f %% run time if all else takes as long, at most -%.0f %%",
                           change_words(v), 100 * itself, 100 * v->gain_high);
    return text_format("%s: at most -%.0f %% run time", change_words(v), 100 * v->gain_high);
}
