/* SPDX-License-Identifier: MIT */
/*
 * A thread of the host copies data between memory that can be paged out and the pinned memory that
 * a GPU reads: the call takes as long as that copy, and the link is hardly used.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(                                                                                        \
        PAGEABLE_LINK, 0.5, "of what PCIe can carry",                                              \
        "less goes over it during copies: one core moves 5 to 15 GB/s, a GPU that reads pinned "   \
        "memory nearly all that its link can")
#define OWN_REMARKS                                                                                \
    REMARK(GPU_COPIES_PAGEABLE, "%s copies pageable memory into pinned memory, or back, for it",   \
           SLOTS(), SLOTS("process"))                                                              \
    REMARK(GPU_LINK_HARDLY_USED, "meanwhile PCIe carried %.3g of %.3g GB/s",                       \
           SLOTS("GB/s", "it can carry, GB/s"), SLOTS())                                           \
    REMARK(ADVISE_PIN,                                                                             \
           "pin the memory that %s copies to and from the GPU (`pin_memory=True`, "                \
           "`cudaHostAlloc`), and copy with `non_blocking=True` while it computes",                \
           SLOTS(), SLOTS("process"))
#include "analysis/causes/own.h"

static int look_at_copies(const struct run_model *model, size_t group, int host,
                          struct candidates *candidates) {
    double demand = model_demand(model, group, host, BUDGET_GPU_COPY);
    struct gpu_use use;
    if (!(demand >= number_of(model, BLOCKED_MIN)) ||
        gpu_is_told(candidates, group, host, BUDGET_GPU_COPY) ||
        !gpu_use_find(model, group, host, &use))
        return 0;
    double ceiling = gpu_pcie_ceiling(model, &use);
    double rate =
        fmax(use.copying.mean[GPU_FIGURE_PCIE_TO], use.copying.mean[GPU_FIGURE_PCIE_FROM]);
    if (!(rate <= number_of(model, PAGEABLE_LINK) * ceiling) || gpu_works(model, &use.copying))
        return 0;
    struct candidate c = gpu_awaited(group, host, BUDGET_GPU_COPY, CAUSE_GPU_PAGEABLE, demand);
    remark_set(&c.cause, GPU_COPIES_PAGEABLE, NUMBERS(),
               NAMES(model->budgets.items[use.who].process));
    remarks_add(&c.evidence, GPU_LINK_HARDLY_USED, NUMBERS(rate / 1e9, ceiling / 1e9), NAMES());
    gpu_tell_work(model, &use, &use.copying, &c.evidence);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; result == 0 && h < (int)model->n_hosts; h++)
        result = look_at_copies(model, group, h, candidates);
    return result;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_PIN, NUMBERS(), NAMES(advised->c->cause.names[0]));
}

const struct cause cause_gpu_pageable = {
    .name = "gpu-pageable",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_PAGEABLE,
    .needs = 1u << SOURCE_CLOCKS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a GPU reads pinned memory alone: other memory is copied there first, by one core",
    .yields_to = YIELDS_TO(&cause_gpu_copy),
    .detect = detect,
    .advise = advise,
};
