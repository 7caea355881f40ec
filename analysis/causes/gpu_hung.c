/* SPDX-License-Identifier: MIT */
/*
 * A process waits for a GPU that says it is busy, draws the power of an idle one and moves nothing:
 * what it was given never ends.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(HUNG_BUSY, 0.95, "of the time", "it says that it is busy, without a break")             \
    NUMBER(HUNG_NOTHING, 0.02, "of the time, or of a link",                                        \
           "its multiprocessors, memory and links are used: any work uses one of them more")       \
    NUMBER(HUNG_WATTS, 0.3, "of its power limit",                                                  \
           "it draws: 17 to 19 % of it when idle or when it copies only, on one model")
#define OWN_REMARKS                                                                                \
    REMARK(GPU_HANGS, "it says that it is busy, and does nothing: what it was given does not end", \
           SLOTS(), SLOTS())                                                                       \
    REMARK(GPU_HUNG_WATTS, "it drew %.0f of at most %.0f W, and moved nothing over PCIe",          \
           SLOTS("W", "W, at most"), SLOTS())                                                      \
    REMARK(ADVISE_GPU_HUNG,                                                                        \
           "see what the process on %s waits for (`py-spy dump`, `cuda-gdb`): a collective whose " \
           "peer never came, or a kernel that waits for itself",                                   \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

static bool hangs(const struct run_model *model, const struct gpu_use *use) {
    const double *mean = use->waiting.mean;
    double nothing = number_of(model, HUNG_NOTHING), link = nothing * gpu_pcie_ceiling(model, use);
    double limit = gpu_fact(model, use, GPU_DEVICE_WATTS_LIMIT) / 1e9;
    return mean[GPU_FIGURE_BUSY] >= number_of(model, HUNG_BUSY) && mean[GPU_FIGURE_SM] <= nothing &&
           mean[GPU_FIGURE_DRAM] <= nothing && mean[GPU_FIGURE_PCIE_TO] <= link &&
           mean[GPU_FIGURE_PCIE_FROM] <= link &&
           mean[GPU_FIGURE_WATTS] <= number_of(model, HUNG_WATTS) * limit;
}

static int look_for_hang(const struct run_model *model, size_t group, int host,
                         struct candidates *candidates) {
    double demand = model_demand(model, group, host, BUDGET_GPU);
    struct gpu_use use;
    if (!(demand >= number_of(model, BLOCKED_MIN)) || !gpu_use_find(model, group, host, &use) ||
        !hangs(model, &use))
        return 0;
    struct candidate c = gpu_awaited(group, host, BUDGET_GPU, CAUSE_GPU_HUNG, demand);
    remark_set(&c.cause, GPU_HANGS, NUMBERS(), NAMES());
    remarks_add(&c.evidence, GPU_HUNG_WATTS,
                NUMBERS(use.waiting.mean[GPU_FIGURE_WATTS],
                        gpu_fact(model, &use, GPU_DEVICE_WATTS_LIMIT) / 1e9),
                NAMES());
    gpu_tell_work(model, &use, &use.waiting, &c.evidence);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; result == 0 && h < (int)model->n_hosts; h++)
        result = look_for_hang(model, group, h, candidates);
    return result;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_GPU_HUNG, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_hung = {
    .name = "gpu-hung",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_HUNG,
    .needs = 1u << SOURCE_CLOCKS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a GPU whose work never ends is waited for without end",
    .detect = detect,
    .advise = advise,
};
