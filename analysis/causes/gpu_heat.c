/* SPDX-License-Identifier: MIT */
/*
 * Heat holds a GPU's clock down while the run waits for it. Time of work grows at most as the clock
 * falls.
 */
#include "analysis/causes/gpu_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(GPU_HEAT_CAPS, "heat holds its clock at %.0f %%", SLOTS("of its highest, %"), SLOTS())  \
    REMARK(ADVISE_GPU_HEAT,                                                                        \
           "cool the GPU of %s better (fans, filters, air flow, neighbours in its rack)", SLOTS(), \
           SLOTS("host"))
#include "analysis/causes/own.h"

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    return gpu_add_cap(model, group, GPU_FIGURE_HEAT_CAP, CAUSE_GPU_HEAT, &remark_GPU_HEAT_CAPS,
                       candidates);
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_GPU_HEAT, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_heat = {
    .name = "gpu-heat",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_HEAT,
    .needs = 1u << SOURCE_CLOCKS,
    .remarks = own_remarks,
    .reason = "a GPU that is too hot lowers its clock, and takes longer for the same work",
    .detect = detect,
    .advise = advise,
};
