/* SPDX-License-Identifier: MIT */
/* Parts of the causes that a GPU has. */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

struct candidate gpu_awaited(size_t group, int host, enum budget_term term, enum cause_kind kind,
                             double demand) {
    struct candidate c = candidate_of(host, group, RESOURCE_GPU, kind);
    c.blocked = demand;
    c.saturated = true;
    c.signals = 3; /* its own figures, the waits of the process, the path */
    c.path.terms = 1u << term;
    c.can_remove = true;
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = term};
    return c;
}

struct candidate gpu_awaited_in_part(size_t group, int host, enum cause_kind kind, double demand,
                                     double part) {
    struct candidate c = gpu_awaited(group, host, BUDGET_GPU, kind, demand * part);
    c.path.part = part;
    c.can_remove = c.saturated = false;
    return c;
}

struct candidate gpu_feeding(const struct run_model *model, size_t group, const struct gpu_use *use,
                             enum cause_kind kind) {
    double demand = model_rank_demand(model, group, use->who, BUDGET_CPU);
    double part = awaited_part(model, group, use->who, BUDGET_CPU, demand);
    int host = model->budgets.items[use->who].host;
    struct candidate c = candidate_of(host, group, RESOURCE_CPU, kind);
    c.blocked = demand * use->span_part;
    c.signals = 3;
    c.path.terms = 1u << BUDGET_CPU;
    c.path.part = part * use->span_part;
    c.path.own = awaited_term_share(model, group, use->who, 1u << BUDGET_CPU);
    c.saturated = c.can_remove = c.path.part >= number_of(model, GPU_FEEDS_ALONE);
    c.remove = (struct whatif_scenario){.kind = WHATIF_CPU, .host = host, .rank = -1, .factor = 2};
    return c;
}

bool gpu_works(const struct run_model *model, const struct gpu_while *during) {
    double sm = during->mean[GPU_FIGURE_SM];
    return (isnan(sm) ? during->mean[GPU_FIGURE_BUSY] : sm) >= number_of(model, GPU_WORKS_MIN);
}

/* Whether all ranks wait for a GPU that is slower than its peers: then no host's own GPU is it. */
static bool is_of_peer(const struct candidates *candidates, size_t group, enum budget_term term) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].group == group && candidates->items[i].kind == CAUSE_GPU_PEER)
            return term == BUDGET_GPU;
    return false;
}

bool gpu_is_told(const struct candidates *candidates, size_t group, int host,
                 enum budget_term term) {
    if (is_of_peer(candidates, group, term))
        return true;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct candidate *c = &candidates->items[i];
        if (c->group == group && c->host == host && c->resource == RESOURCE_GPU &&
            c->kind != CAUSE_GPU_POWER && c->kind != CAUSE_GPU_HEAT && c->path.terms >> term & 1)
            return true;
    }
    return false;
}

void gpu_tell_work(const struct run_model *model, const struct gpu_use *use,
                   const struct gpu_while *during, struct remarks *evidence) {
    const char *process = model->budgets.items[use->who].process;
    int does = during == &use->computing ? 1 : during == &use->copying ? 3 : 2;
    double busy = during->mean[GPU_FIGURE_BUSY], sm = during->mean[GPU_FIGURE_SM];
    if (!isnan(busy))
        remarks_add(evidence, GPU_BUSY_MEANWHILE, NUMBERS(does, 100 * busy),
                    NAMES(process, use->gpu->name));
    if (!isnan(sm))
        remarks_add(evidence, GPU_WORKED_MEANWHILE, NUMBERS(100 * sm), NAMES());
}

int gpu_add_cap(const struct run_model *model, size_t group, enum gpu_figure cap,
                enum cause_kind kind, const struct remark_kind *words,
                struct candidates *candidates) {
    for (int h = 0; h < (int)model->n_hosts && !is_of_peer(candidates, group, BUDGET_GPU); h++) {
        double demand = model_demand(model, group, h, BUDGET_GPU);
        struct gpu_use use;
        if (!(demand >= number_of(model, BLOCKED_MIN)) || !gpu_use_find(model, group, h, &use))
            continue;
        double capped = use.waiting.mean[cap];
        double clock =
            use.waiting.mean[GPU_FIGURE_CLOCK] / gpu_fact(model, &use, GPU_DEVICE_SM_CLOCK);
        if (!(capped * (1 - clock) >= number_of(model, GPU_CAP_MIN)))
            continue;
        struct candidate c = gpu_awaited_in_part(group, h, kind, demand, fmin(capped, 1 - clock));
        remark_fill(&c.cause, words, NUMBERS(100 * clock), NAMES());
        gpu_tell_work(model, &use, &use.waiting, &c.evidence);
        if (!candidates_add(candidates, &c))
            return -ENOMEM;
    }
    return 0;
}
