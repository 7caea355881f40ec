/* SPDX-License-Identifier: MIT */
/*
 * A GPU's memory is full, so that its allocator gives blocks back and takes them again in each
 * step. Each time the driver, in the kernel, waits for the GPU and maps memory anew.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(GPU_MEMORY_FULL, 0.97, "of the GPU's memory",                                           \
           "in use at the most: an allocator gives blocks back once the next one does not fit")    \
    NUMBER(GPU_MEMORY_SYSTEM, 0.2, "of the process's CPU time",                                    \
           "in the kernel: 24 % where each step gave memory back, 1 to 17 % elsewhere")
#define OWN_REMARKS                                                                                \
    REMARK(GPU_MEMORY_GIVEN_BACK, "its memory is full, and %s gives some back and takes it again", \
           SLOTS(), SLOTS("process"))                                                              \
    REMARK(GPU_MEMORY_USED, "%.1f of its %.1f GB were in use", SLOTS("GB", "it has, GB"), SLOTS()) \
    REMARK(GPU_DRIVER_IN_KERNEL,                                                                   \
           "of the CPU time of %s %.0f %% was the kernel's, as when a driver maps memory",         \
           SLOTS("of its CPU time, %"), SLOTS("process"))                                          \
    REMARK(                                                                                        \
        ADVISE_GPU_MEMORY,                                                                         \
        "leave room in the memory of the GPU of %s: smaller batches, activation checkpointing, "   \
        "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`; `torch.cuda.memory_stats()` "         \
        "counts `num_alloc_retries`",                                                              \
        SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

static bool gives_back(const struct run_model *model, const struct gpu_use *use) {
    return use->memory >=
               number_of(model, GPU_MEMORY_FULL) * gpu_fact(model, use, GPU_DEVICE_MEMORY) &&
           use->system_part >= number_of(model, GPU_MEMORY_SYSTEM);
}

/* Without it the GPU would be what limits: it cannot gain more than the time in which that idles.
 */
static int add_full_memory(const struct run_model *model, size_t group, const struct gpu_use *use,
                           struct candidates *candidates) {
    struct candidate c = gpu_feeding(model, group, use, CAUSE_GPU_MEMORY);
    double idles = 1 - use->computing.mean[GPU_FIGURE_SM];
    const char *process = model->budgets.items[use->who].process;
    c.resource = RESOURCE_GPU;
    c.blocked *= idles;
    c.path.part *= idles;
    c.can_remove = c.saturated = false;
    if (!(c.blocked >= number_of(model, BLOCKED_MIN)))
        return 0;
    remark_set(&c.cause, GPU_MEMORY_GIVEN_BACK, NUMBERS(), NAMES(process));
    remarks_add(&c.evidence, GPU_MEMORY_USED,
                NUMBERS(use->memory / 1e9, gpu_fact(model, use, GPU_DEVICE_MEMORY) / 1e9), NAMES());
    remarks_add(&c.evidence, GPU_DRIVER_IN_KERNEL, NUMBERS(100 * use->system_part), NAMES(process));
    gpu_tell_work(model, use, &use->computing, &c.evidence);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; result == 0 && h < (int)model->n_hosts; h++) {
        struct gpu_use use;
        if (gpu_use_find(model, group, h, &use) && gives_back(model, &use))
            result = add_full_memory(model, group, &use, candidates);
    }
    return result;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_GPU_MEMORY, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_memory = {
    .name = "gpu-memory",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_MEMORY,
    .needs = 1u << SOURCE_CLOCKS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "memory given back to the driver and taken again is mapped anew",
    .detect = detect,
    .advise = advise,
};
