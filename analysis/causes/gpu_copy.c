/* SPDX-License-Identifier: MIT */
/* Copies to or from a GPU fill the link that they go over, while its multiprocessors idle. */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(GPU_LINK_FULL_OF_COPIES, "copies %[to|from] it fill %[PCIe|NVLink]",                    \
           SLOTS("1 to, 2 from", "1 PCIe, 2 NVLink"), SLOTS())                                     \
    REMARK(GPU_LINK_CARRIED, "%.3g of %.3g GB/s went over it meanwhile",                           \
           SLOTS("GB/s", "it can carry, GB/s"), SLOTS())                                           \
    REMARK(ADVISE_GPU_COPY,                                                                        \
           "copy less to and from the GPU of %s (smaller types, keep there what is used again), "  \
           "and while it computes (another stream, `non_blocking=True`)",                          \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

struct carried {
    int way, link; /* as in the remark */
    double rate, ceiling;
};

/* The way that is full, if one is. */
static bool find_full(const struct run_model *model, const struct gpu_use *use,
                      const struct gpu_while *during, struct carried *ret_carried) {
    for (int f = GPU_FIGURE_PCIE_TO; f <= GPU_FIGURE_NVLINK_FROM; f++) {
        bool is_nvlink = f >= GPU_FIGURE_NVLINK_TO;
        double ceiling = is_nvlink ? gpu_nvlink_ceiling(model, use) : gpu_pcie_ceiling(model, use);
        *ret_carried = (struct carried){1 + (f - GPU_FIGURE_PCIE_TO) % 2, is_nvlink ? 2 : 1,
                                        during->mean[f], ceiling};
        if (during->mean[f] >= number_of(model, GPU_LINK_FULL) * ceiling)
            return true;
    }
    return false;
}

static int look_at_link(const struct run_model *model, size_t group, int host,
                        enum budget_term term, struct candidates *candidates) {
    double demand = model_demand(model, group, host, term);
    struct gpu_use use;
    struct carried full;
    if (!(demand >= number_of(model, BLOCKED_MIN)) || gpu_is_told(candidates, group, host, term) ||
        !gpu_use_find(model, group, host, &use))
        return 0;
    const struct gpu_while *during = term == BUDGET_GPU ? &use.waiting : &use.copying;
    if (!find_full(model, &use, during, &full) ||
        during->mean[GPU_FIGURE_SM] >= number_of(model, GPU_WORKS_MIN))
        return 0;
    struct candidate c = gpu_awaited(group, host, term, CAUSE_GPU_COPY, demand);
    remark_set(&c.cause, GPU_LINK_FULL_OF_COPIES, NUMBERS(full.way, full.link), NAMES());
    remarks_add(&c.evidence, GPU_LINK_CARRIED, NUMBERS(full.rate / 1e9, full.ceiling / 1e9),
                NAMES());
    gpu_tell_work(model, &use, during, &c.evidence);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; result == 0 && h < (int)model->n_hosts; h++) {
        result = look_at_link(model, group, h, BUDGET_GPU, candidates);
        if (result == 0)
            result = look_at_link(model, group, h, BUDGET_GPU_COPY, candidates);
    }
    return result;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_GPU_COPY, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_copy = {
    .name = "gpu-copy",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_COPY,
    .needs = 1u << SOURCE_CLOCKS,
    .remarks = own_remarks,
    .reason = "data move to a GPU no faster than its link carries them",
    .detect = detect,
    .advise = advise,
};
