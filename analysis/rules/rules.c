/* SPDX-License-Identifier: MIT */
#include "analysis/rules/rules.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"
#include "analysis/rules/rules_private.h"

typedef int survey(const struct run_model *model, size_t group, struct candidates *candidates);
static survey *const surveys[] = {saturation_cpu,    saturation_quota,  saturation_steal,
                                  saturation_disk,   saturation_memory, saturation_network,
                                  saturation_program};

struct candidate candidate_of(int host, size_t group, enum resource resource, enum cause kind) {
    return (struct candidate){.host = host,
                              .rank = -1,
                              .group = group,
                              .resource = resource,
                              .kind = kind,
                              .part = 1,
                              .own = NAN,
                              .gain = {.estimate = NAN, .low = NAN, .high = NAN},
                              .doubled = {.estimate = NAN, .low = NAN, .high = NAN},
                              .counted = {.estimate = NAN, .low = NAN, .high = NAN},
                              .lost = {.estimate = NAN, .low = NAN, .high = NAN},
                              .start_s = NAN,
                              .end_s = NAN};
}

static void release(struct candidate *candidate) {
    free(candidate->cause);
    text_list_release(&candidate->evidence);
    text_list_release(&candidate->against);
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

double candidate_weight(const struct candidate *candidate) {
    return candidate->gain.estimate * (candidate->supply ? 1 : UNSUPPLIED_WEIGHT);
}

bool candidate_is_alike(const struct candidate *first, const struct candidate *c) {
    return !c->repeated && c->group == first->group && c->host != first->host &&
           c->run_share >= 0.5 * first->run_share && first->run_share >= 0.5 * c->run_share &&
           c->resource == first->resource && c->kind == first->kind;
}

static int compare(const void *a, const void *b) {
    const struct candidate *p = a, *q = b;
    double x = candidate_weight(p), y = candidate_weight(q);
    if (x != y)
        return x < y ? 1 : -1;
    if (p->host != q->host)
        return (p->host > q->host) - (p->host < q->host);
    return p->other_way != q->other_way ? p->other_way - q->other_way
                                        : (p->resource > q->resource) - (p->resource < q->resource);
}

/* Of candidates of one host, rank and resource in several phases the greatest stands for all. */
static void mark_repeats(struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++)
        for (size_t k = 0; k < i && !candidates->items[i].repeated; k++)
            candidates->items[i].repeated =
                candidates->items[k].host == candidates->items[i].host &&
                candidates->items[k].rank == candidates->items[i].rank &&
                candidates->items[k].resource == candidates->items[i].resource;
}

static int survey_all(const struct run_model *model, struct candidates *found) {
    int result = arithmetic_make(model, &found->arithmetic, &found->n_arithmetic);
    double run_ns = (double)windows_length(phase_windows(&model->groups[0]));
    for (size_t g = model->n_groups > 1 ? 1 : 0; result == 0 && g < model->n_groups; g++) {
        size_t first = found->n;
        int64_t length = windows_length(phase_windows(&model->groups[g]));
        if (length < GROUP_MIN_NS && g != model->main_group)
            continue;
        for (size_t s = 0; result == 0 && s < sizeof surveys / sizeof *surveys; s++)
            result = surveys[s](model, g, found);
        if (result == 0)
            result = saturation_start(model, found);
        for (size_t i = first; i < found->n; i++) {
            struct candidate *c = &found->items[i];
            c->run_share = c->blocked * (double)length / run_ns;
        }
    }
    for (size_t i = 0; result == 0 && i < found->n; i++) {
        const struct candidate *c = &found->items[i];
        result = c->cause ? c->evidence.error + c->against.error : -ENOMEM;
    }
    return result;
}

int saturation_find(const struct run_model *model, const struct whatif *whatif,
                    const struct stragglers *stragglers, struct candidates *ret_candidates) {
    struct candidates found = {.stragglers = stragglers};
    int result = survey_all(model, &found);
    if (result == 0)
        result = candidates_estimate(model, whatif, &found);
    if (result < 0) {
        candidates_release(&found);
        return result;
    }
    saturation_start_by_spans(model, &found);
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, compare);
    mark_repeats(&found);
    *ret_candidates = found;
    return 0;
}

void candidates_release(struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++)
        release(&candidates->items[i]);
    free(candidates->items);
    free(candidates->arithmetic);
    free(candidates->no_replay);
    text_list_release(&candidates->ruled_out);
    *candidates = (struct candidates){0};
}

struct loss candidate_loss(const struct candidate *c) {
    return (struct loss){.host = c->host,
                         .rank = c->rank,
                         .group = c->group,
                         .terms = c->terms,
                         .part = c->part,
                         .all_hosts = c->all_hosts,
                         .everywhere = c->everywhere,
                         .serves = c->kind == CAUSE_SERIAL,
                         .link = c->can_remove && c->remove.kind == WHATIF_LINK,
                         .change = c->remove};
}

double candidate_blocked(const struct candidate *candidate, struct windows windows) {
    double share = candidate->factor * rate_mean(candidate->signal, windows);
    return share > 1 ? 1 : share;
}
