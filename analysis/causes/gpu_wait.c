/* SPDX-License-Identifier: MIT */
/*
 * Processes wait for a GPU, or for copies to and from it. Wait clocks show how long, whether the
 * driver polls or sleeps meanwhile. The path shows whether the run waited for it: a wait that
 * overlaps with other processes' work holds up nobody.
 *
 * Clocks do not tell what the GPU did: its own figures do.
 */
#include <errno.h>

#include "analysis/causes/gpu_private.h"
#include "common/error.h" /* ARRAY_SIZE */

#define OWN_REMARKS                                                                                \
    REMARK(GPU_AWAITED, "processes %[wait for it|copy to or from it]", SLOTS("1 wait, 2 copy"),    \
           SLOTS())                                                                                \
    REMARK(GPU_WAITED_FOR,                                                                         \
           "%w waited for the GPU %.0f %% of the time, and copied to or from it %.0f %%",          \
           SLOTS("rank, or -1", "waited, %", "copied, %"), SLOTS("process"))                       \
    REMARK(GPU_ONLY_AWAITED,                                                                       \
           "what the GPU did meanwhile is not known from the waits: it may compute, copy, or "     \
           "start one small piece of work after the other",                                        \
           SLOTS(), SLOTS())                                                                       \
    REMARK(ADVISE_GPU,                                                                             \
           "see what the GPU of %s does meanwhile (`nvidia-smi dmon`, or its maker's profiler): "  \
           "if it computes, a faster one, more of them, or lower precision; if it is often idle, " \
           "larger batches, and fewer waits for it in each step",                                  \
           SLOTS(), SLOTS("host"))                                                                 \
    REMARK(ADVISE_GPU_COPIES,                                                                      \
           "on %s, copy from and to pinned memory, while the GPU computes; keep on the GPU what "  \
           "is used again",                                                                        \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

#define WAIT 1
#define COPY 2

/* The process with most waits and copies on a host; SIZE_MAX: no process has any. */
static size_t waiter_of(const struct run_model *model, size_t group, int host) {
    size_t most = SIZE_MAX;
    double longest = 0;
    for (size_t r = 0; r < rank_budgets_all(&model->budgets); r++) {
        const struct rank_budget *b = &model->budgets.items[r];
        double s = budget_sum(&b->groups[group], 1u << BUDGET_GPU | 1u << BUDGET_GPU_COPY);
        if (b->host != host || s <= longest)
            continue;
        longest = s;
        most = r;
    }
    return most;
}

static void tell_waiter(const struct run_model *model, size_t group, int host,
                        struct candidate *c) {
    size_t who = waiter_of(model, group, host);
    if (who == SIZE_MAX)
        return;
    const struct rank_budget *b = &model->budgets.items[who];
    remarks_add(&c->evidence, GPU_WAITED_FOR,
                NUMBERS(b->rank, 100 * awaited_term_share(model, group, who, 1u << BUDGET_GPU),
                        100 * awaited_term_share(model, group, who, 1u << BUDGET_GPU_COPY)),
                NAMES(b->process));
}

static int add_gpu(const struct run_model *model, size_t group, int host, enum budget_term term,
                   double demand, struct candidates *candidates) {
    struct candidate c = candidate_of(host, group, RESOURCE_GPU, CAUSE_GPU_WAIT);
    c.blocked = demand;
    c.saturated = true;
    c.signals = 1;
    c.path.terms = 1u << term;
    c.can_remove = true;
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = term};
    remark_set(&c.cause, GPU_AWAITED, NUMBERS(term == BUDGET_GPU_COPY ? COPY : WAIT), NAMES());
    tell_waiter(model, group, host, &c);
    remarks_add(&c.against, GPU_ONLY_AWAITED, NUMBERS(), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    static const enum budget_term terms[] = {BUDGET_GPU, BUDGET_GPU_COPY};
    for (size_t h = 0; h < model->n_hosts; h++)
        for (size_t t = 0; t < ARRAY_SIZE(terms); t++) {
            double demand = model_demand(model, group, (int)h, terms[t]);
            if (demand >= number_of(model, BLOCKED_MIN) &&
                !gpu_is_told(candidates, group, (int)h, terms[t]) &&
                add_gpu(model, group, (int)h, terms[t], demand, candidates) < 0)
                return -ENOMEM;
        }
    return 0;
}

static void advise(const struct advised *advised) {
    if (advised->c->remove.term == BUDGET_GPU_COPY)
        remarks_add(advised->next, ADVISE_GPU_COPIES, NUMBERS(), NAMES(advised->host));
    else
        remarks_add(advised->next, ADVISE_GPU, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_wait = {
    .name = "gpu-wait",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_WAIT,
    .needs = 1u << SOURCE_CLOCKS,
    .remarks = own_remarks,
    .reason = "a process that has given work to a GPU waits until it is done, or until data are "
              "copied",
    .yields_to = YIELDS_TO(&cause_gpu_lost, &cause_gpu_hung, &cause_gpu_shared, &cause_gpu_copy,
                           &cause_gpu_pageable, &cause_gpu_compute),
    .detect = detect,
    .advise = advise,
};
