/* SPDX-License-Identifier: MIT */
/*
 * Asks all causes about a run. This file depends on every cause, and no cause depends on it.
 */
#include "analysis/causes/causes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/causes_private.h"

static const struct cause *const causes[] = {
#define CAUSE(name) &cause_##name,
#include "analysis/causes/causes.def"
};
#define CAUSES (sizeof causes / sizeof *causes)

const struct cause *const *causes_all(size_t *ret_n) {
    *ret_n = CAUSES;
    return causes;
}

/* Whether its sources are there, and no other cause takes over. */
static bool applies(const struct run_model *model, size_t i) {
    unsigned there = model->observed.sources, needs = causes[i]->needs;
    bool off = model->judge && model->judge->causes_off >> i & 1;
    return !off && (there & needs) == needs && !(there & causes[i]->instead);
}

/* Asks the causes of these resources (bits of enum resource). -ENOMEM. */
static int detect(const struct run_model *model, size_t group, unsigned resources,
                  struct candidates *candidates) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < CAUSES; i++) {
        size_t before = candidates->n;
        if (causes[i]->detect && resources >> causes[i]->resource & 1 && applies(model, i))
            result = causes[i]->detect(model, group, candidates);
        for (size_t k = before; k < candidates->n; k++)
            candidates->items[k].by = causes[i];
    }
    return result;
}

static int compare_weight(const void *a, const void *b) {
    const struct candidate *p = a, *q = b;
    if (p->weight != q->weight)
        return p->weight < q->weight ? 1 : -1;
    if (p->host != q->host)
        return (p->host > q->host) - (p->host < q->host);
    return p->link.other_way != q->link.other_way
               ? p->link.other_way - q->link.other_way
               : (p->resource > q->resource) - (p->resource < q->resource);
}

static void weigh_by_gain(const struct run_model *model, struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++) {
        struct candidate *c = &candidates->items[i];
        double proof = c->saturated ? 1 : number_of(model, UNSATURATED_WEIGHT);
        c->weight = c->fallback || isnan(c->gain.estimate) ? 0 : proof * c->gain.estimate;
    }
}

/* If a host, rank and resource has candidates in several phases, the largest stands for all. */
static void mark_repeats(struct candidates *candidates) {
    for (size_t i = 0; i < candidates->n; i++)
        for (size_t k = 0; k < i && !candidates->items[i].repeated; k++)
            candidates->items[i].repeated =
                candidates->items[k].host == candidates->items[i].host &&
                candidates->items[k].rank == candidates->items[i].rank &&
                candidates->items[k].resource == candidates->items[i].resource;
}

static int detect_all(const struct run_model *model, struct candidates *found) {
    int result = arithmetic_make(model, &found->arithmetic, &found->n_arithmetic);
    double run_ns = (double)windows_length(phase_windows(&model->groups[0]));
    for (size_t g = model->n_groups > 1 ? 1 : 0; result == 0 && g < model->n_groups; g++) {
        size_t first = found->n;
        int64_t length = windows_length(phase_windows(&model->groups[g]));
        if (length < number_of(model, GROUP_MIN_NS) && g != model->main_group)
            continue;
        result = detect(model, g, ~0u, found);
        if (result == 0)
            result = start_take_out(model, found);
        for (size_t i = first; i < found->n; i++) {
            struct candidate *c = &found->items[i];
            c->run_share = c->blocked * (double)length / run_ns;
        }
    }
    for (size_t i = 0; result == 0 && i < found->n; i++) {
        const struct candidate *c = &found->items[i];
        result = c->cause.kind ? c->evidence.error + c->against.error : -ENOMEM;
    }
    return result;
}

/* -ENOMEM. */
static int ask_last(const struct run_model *model, const struct whatif *whatif,
                    struct candidates *found) {
    int result = 0;
    for (size_t i = 0; result == 0 && i < CAUSES; i++) {
        size_t before = found->n;
        if (causes[i]->detect_last && applies(model, i))
            result = causes[i]->detect_last(model, whatif, found);
        for (size_t k = before; k < found->n; k++)
            found->items[k].by = causes[i];
        if (result == 0)
            result = candidates_estimate(model, whatif, before, found);
    }
    return result;
}

int causes_find(const struct run_model *model, const struct whatif *whatif,
                const struct stragglers *stragglers, struct candidates *ret_candidates) {
    struct candidates found = {.stragglers = stragglers};
    int result = detect_all(model, &found);
    if (result == 0)
        result = candidates_estimate(model, whatif, 0, &found);
    if (result == 0 && whatif)
        result = ask_last(model, whatif, &found);
    if (result < 0) {
        candidates_release(&found);
        return result;
    }
    start_take_out_by_spans(model, &found);
    for (size_t i = 0; i < CAUSES; i++)
        if (causes[i]->settle)
            causes[i]->settle(model, &found);
    weigh_by_gain(model, &found);
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, compare_weight);
    mark_repeats(&found);
    *ret_candidates = found;
    return 0;
}

typedef int tell_of(const struct run_model *model, struct candidates *found,
                    struct whatif_told *told);

static int tell_found(const struct run_model *model, unsigned resources, tell_of *tell,
                      struct whatif_told *told) {
    struct candidates found = {0};
    int result = detect(model, model->main_group, resources, &found);
    if (result == 0)
        result = tell(model, &found, told);
    candidates_release(&found);
    return result;
}

int causes_tell(const struct run_model *model, struct whatif *whatif) {
    struct whatif_told told = {0};
    if (model_has_path(model))
        return 0;
    int result = tell_found(model, SHORT_OF_NETWORK, candidates_tell_links, &told);
    if (result == 0)
        result = tell_found(model, 1u << RESOURCE_IMBALANCE | 1u << RESOURCE_APPLICATION,
                            candidates_tell_processes, &told);
    if (result < 0) {
        free(told.links);
        free(told.processes);
        return result;
    }
    whatif_tell(whatif, &told);
    return 0;
}
