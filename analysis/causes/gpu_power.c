/* SPDX-License-Identifier: MIT */
/*
 * A GPU's power limit holds its clock down while the run waits for it. Time of work grows at most
 * as the clock falls.
 */
#include "analysis/causes/gpu_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(GPU_POWER_CAPS, "its power limit holds its clock at %.0f %%",                           \
           SLOTS("of its highest, %"), SLOTS())                                                    \
    REMARK(ADVISE_GPU_POWER,                                                                       \
           "raise the power limit of the GPU of %s where it was lowered (`nvidia-smi -pl`), or "   \
           "let it do less work for the same result: at its limit a GPU is as fast as its watts",  \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    return gpu_add_cap(model, group, GPU_FIGURE_POWER_CAP, CAUSE_GPU_POWER, &remark_GPU_POWER_CAPS,
                       candidates);
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_GPU_POWER, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_power = {
    .name = "gpu-power",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_POWER,
    .needs = 1u << SOURCE_CLOCKS,
    .remarks = own_remarks,
    .reason = "at its power limit a GPU lowers its clock, and takes longer for the same work",
    .detect = detect,
    .advise = advise,
};
