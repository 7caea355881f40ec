/* SPDX-License-Identifier: MIT */
/*
 * The container of candidates. It depends on no cause, so that every cause can depend on it.
 */
#include "analysis/causes/candidate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"

struct candidate candidate_of(int host, size_t group, enum resource resource,
                              enum cause_kind kind) {
    return (struct candidate){.host = host,
                              .rank = -1,
                              .group = group,
                              .resource = resource,
                              .kind = kind,
                              .path = {.part = 1, .own = NAN},
                              .gain = {.estimate = NAN, .low = NAN, .high = NAN},
                              .doubled = {.estimate = NAN, .low = NAN, .high = NAN},
                              .counted = {.estimate = NAN, .low = NAN, .high = NAN},
                              .lost = {.estimate = NAN, .low = NAN, .high = NAN},
                              .start_s = NAN,
                              .end_s = NAN};
}

static void release(struct candidate *candidate) {
    remark_release(&candidate->cause);
    remarks_release(&candidate->evidence);
    remarks_release(&candidate->against);
}

struct candidate *candidates_add(struct candidates *candidates, const struct candidate *candidate) {
    if (candidates->n == candidates->capacity) {
        size_t capacity = candidates->capacity ? 2 * candidates->capacity : 8;
        struct candidate *items = realloc(candidates->items, capacity * sizeof *items);
        if (!items) {
            struct candidate lost = *candidate;
            release(&lost);
            return NULL;
        }
        candidates->items = items;
        candidates->capacity = capacity;
    }
    struct candidate *added = &candidates->items[candidates->n++];
    *added = *candidate;
    return added;
}

void candidates_remove(struct candidates *candidates, size_t at) {
    release(&candidates->items[at]);
    candidates->n--;
    memmove(&candidates->items[at], &candidates->items[at + 1],
            (candidates->n - at) * sizeof *candidates->items);
}

bool candidates_any(const struct candidates *candidates, size_t group, unsigned resources) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].group == group && resources >> candidates->items[i].resource & 1)
            return true;
    return false;
}

int candidates_flows(const struct run_model *model, size_t group, struct candidates *candidates,
                     const struct flows **ret_flows) {
    if (!candidates->has_flows || candidates->flows_group != group) {
        flows_release(&candidates->flows);
        candidates->has_flows = false;
        int result = flows_make(model, phase_windows(&model->groups[group]), &candidates->flows);
        if (result < 0)
            return result;
        candidates->has_flows = true;
        candidates->flows_group = group;
    }
    *ret_flows = &candidates->flows;
    return 0;
}

enum subject candidate_subject(const struct candidate *c) {
    bool own = c->resource == RESOURCE_APPLICATION || c->resource == RESOURCE_IMBALANCE;
    if (c->subject != SUBJECT_NONE)
        return c->subject;
    if (c->everywhere)
        return SUBJECT_ALL_HOSTS;
    if (c->rank >= 0 && (own || c->kind == CAUSE_SERIAL))
        return SUBJECT_RANK;
    return own ? SUBJECT_PROCESS : SUBJECT_HOST;
}

/* Whether no program stands for either, or one for each: else one change does not relieve both. */
static bool is_of_same_kind(const struct candidate *a, const struct candidate *b) {
    return !a->culprit.process == !b->culprit.process;
}

bool candidate_is_alike(const struct candidate *first, const struct candidate *c) {
    return !c->repeated && c->group == first->group && c->host != first->host &&
           c->run_share >= 0.5 * first->run_share && first->run_share >= 0.5 * c->run_share &&
           c->resource == first->resource && c->kind == first->kind && is_of_same_kind(c, first);
}

void candidates_release(struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++)
        release(&candidates->items[i]);
    free(candidates->items);
    free(candidates->arithmetic);
    flows_release(&candidates->flows);
    remarks_release(&candidates->ruled_out);
    *candidates = (struct candidates){0};
}

struct loss candidate_loss(const struct candidate *c) {
    return (struct loss){.host = c->host,
                         .rank = c->rank,
                         .group = c->group,
                         .terms = c->path.terms,
                         .part = c->path.part,
                         .all_hosts = c->path.all_hosts,
                         .everywhere = c->everywhere,
                         .serves = c->kind == CAUSE_SERIAL,
                         .link = c->can_remove && c->remove.kind == WHATIF_LINK,
                         .change = c->remove};
}

double candidate_blocked(const struct candidate *candidate, struct windows windows) {
    double share = candidate->metric.factor * rate_mean(candidate->metric.signal, windows);
    return share > 1 ? 1 : share;
}

bool candidates_short_of(const struct candidates *candidates, int host, size_t group,
                         unsigned resources) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].host == host && candidates->items[i].group == group &&
            candidates->items[i].saturated && resources >> candidates->items[i].resource & 1)
            return true;
    return false;
}
