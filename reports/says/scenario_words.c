/* SPDX-License-Identifier: MIT */
#include "reports/says/scenario_words.h"

#include <string.h>

#include "analysis/run_model.h"
#include "common/error.h"
#include "reports/says/text_list.h"

static const char *const terms[BUDGET_TERMS] = {
    [BUDGET_RUN_QUEUE] = "contention",
    [BUDGET_QUOTA] = "quota",
    [BUDGET_STEAL] = "steal",
    [BUDGET_DISK] = "disk",
    [BUDGET_MEMORY] = "memory",
    [BUDGET_IDLE] = "sleep",
    [BUDGET_STOPPED] = "stop",
    [BUDGET_FILE] = "files",
    [BUDGET_GPU] = "gpu",
    [BUDGET_GPU_COPY] = "gpu-copy",
};

const char *scenario_term(enum budget_term term) {
    return terms[term];
}

bool scenario_term_of(const char *name, enum budget_term *ret_term) {
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (terms[term] && strcmp(terms[term], name) == 0) {
            *ret_term = term;
            return true;
        }
    return false;
}

char *scenario_options(const struct run_model *model, const struct whatif_scenario *s) {
    static const char *const ways[] = {
        [WHATIF_BOTH] = "", [WHATIF_SEND] = ":egress", [WHATIF_RECEIVE] = ":ingress"};
    const char *host = s->host < 0 ? "all" : model->hosts[s->host].name;
    const char *term = s->kind == WHATIF_WITHOUT ? scenario_term(s->term) : NULL;
    switch (s->kind) {
    case WHATIF_LINK:
        return text_format("--link %s%s=%.4gx", host, ways[s->direction], s->factor);
    case WHATIF_LATENCY:
        return text_format("--latency %.4gx", s->factor);
    case WHATIF_CPU:
        return text_format("--cpu %s=%.4gx", host, s->factor);
    case WHATIF_DISK:
        return text_format("--disk %s=%.4gx", host, s->factor);
    case WHATIF_RANK:
        return text_format("--rank %d=%.4gx", s->rank, s->factor);
    case WHATIF_WITHOUT:
        return term ? text_format("--without %s:%s", host, term) : NULL;
    case WHATIF_LIKE_PEERS:
        return s->rank >= 0 ? text_format("--without-straggler %d", s->rank)
                            : text_format("--without-straggler %s", host);
    default:
        return NULL;
    }
}

/* ---- in words ---- */

#define UNLIMITED 100 /* times as fast: it holds up no run */

/* "vm1's link", "all links" */
static char *belonging(const char *host, const char *one, const char *all) {
    return host ? text_format("%s's %s", host, one) : text_format("%s", all);
}

char *scenario_object(const struct run_model *model, const struct whatif_scenario *s) {
    static const char *const ways[] = {[WHATIF_BOTH] = "link",
                                       [WHATIF_SEND] = "link (sending)",
                                       [WHATIF_RECEIVE] = "link (receiving)"};
    const char *host = s->host < 0 ? NULL : model->hosts[s->host].name;
    if (s->kind == WHATIF_LINK)
        return belonging(host, ways[s->direction], "all links");
    if (s->kind == WHATIF_LATENCY)
        return text_format("the latency of messages");
    if (s->kind == WHATIF_RANK)
        return text_format("rank %d", s->rank);
    return s->kind == WHATIF_DISK ? belonging(host, "disks", "all disks")
                                  : belonging(host, "cores", "all cores");
}

static char *by_a_factor(const struct run_model *model, const struct whatif_scenario *s) {
    AUTO(text_free) char *object = scenario_object(model, s);
    if (!object)
        return NULL;
    if (s->kind == WHATIF_LATENCY)
        return s->factor == .5 ? text_format("half the latency of messages")
                               : text_format("%.3g times the latency of messages", s->factor);
    if (s->factor >= UNLIMITED)
        return text_format("%s without limit", object);
    return s->factor == 2 ? text_format("%s twice as fast", object)
                          : text_format("%s %.3g times as fast", object, s->factor);
}

static char *without(const char *host, enum budget_term term) {
    static const char *const words[BUDGET_TERMS] = {
        [BUDGET_RUN_QUEUE] = "no waiting for a core",
        [BUDGET_QUOTA] = "no CPU quota",
        [BUDGET_STEAL] = "no stolen CPU time",
        [BUDGET_DISK] = "no waiting for a disk",
        [BUDGET_MEMORY] = "no waiting for memory",
        [BUDGET_IDLE] = "no sleeping",
        [BUDGET_STOPPED] = "no process stopped",
        [BUDGET_FILE] = "no waiting for files",
        [BUDGET_GPU] = "no waiting for the GPU",
        [BUDGET_GPU_COPY] = "no copying to or from the GPU",
    };
    return text_format("%s on %s", words[term] ? words[term] : "nothing lost",
                       host ? host : "any host");
}

char *scenario_words(const struct run_model *model, const struct whatif_scenario *s) {
    const char *host = s->host < 0 ? NULL : model->hosts[s->host].name;
    switch (s->kind) {
    case WHATIF_LINK:
    case WHATIF_LATENCY:
    case WHATIF_CPU:
    case WHATIF_DISK:
    case WHATIF_RANK:
        return by_a_factor(model, s);
    case WHATIF_WITHOUT:
        return without(host, s->term);
    case WHATIF_LIKE_PEERS:
        return s->rank >= 0 ? text_format("rank %d as fast as its peers", s->rank)
                            : text_format("the process on %s as fast as its peers",
                                          host ? host : "each host");
    case WHATIF_BALANCED:
        return text_format("the work shared out evenly");
    case WHATIF_QUOTA:
        return text_format("a quota of %.3g CPUs on %s", s->factor, host ? host : "each host");
    case WHATIF_WORKERS:
        return text_format("%+d workers", s->workers);
    }
    return text_format("another change");
}
