/* SPDX-License-Identifier: MIT */
/*
 * One thread gives a GPU one small piece of work after the other, and the GPU is done with each
 * before the next one comes: the run is as fast as that thread.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(LAUNCH_BUSY, 0.05, "of the time",                                                       \
           "the GPU is busy: the shortest piece of work takes about 2 us there, and to give it "   \
           "takes 5 to 40 us; less is a thread that does something else")                          \
    NUMBER(LAUNCH_OTHERS, 0.2, "of what one thread computes",                                      \
           "other threads compute beside it: with more of them not one thread alone is the limit")
#define OWN_REMARKS                                                                                \
    REMARK(GPU_WORK_IS_SMALL,                                                                      \
           "%s launches small pieces of work one by one, and the GPU waits for the next", SLOTS(), \
           SLOTS("process"))                                                                       \
    REMARK(ADVISE_LAUNCH,                                                                          \
           "launch less often from %s: CUDA graphs (`torch.compile` with "                         \
           "`mode=\"reduce-overhead\"`), larger batches, fused kernels and optimizers, and no "    \
           "`.item()` in each step",                                                               \
           SLOTS(), SLOTS("process"))
#include "analysis/causes/own.h"

static bool launches(const struct run_model *model, size_t group, const struct gpu_use *use) {
    const struct budget *b = &model->budgets.items[use->who].groups[group];
    return use->computing.mean[GPU_FIGURE_BUSY] >= number_of(model, LAUNCH_BUSY) &&
           !gpu_works(model, &use->computing) &&
           b->other_cpu_s <= number_of(model, LAUNCH_OTHERS) * budget_sum(b, 1u << BUDGET_CPU);
}

static int look_for_launches(const struct run_model *model, size_t group, int host,
                             struct candidates *candidates) {
    struct gpu_use use;
    if (gpu_is_told(candidates, group, host, BUDGET_CPU) ||
        !gpu_use_find(model, group, host, &use) || !launches(model, group, &use))
        return 0;
    struct candidate c = gpu_feeding(model, group, &use, CAUSE_GPU_LAUNCH);
    const char *process = model->budgets.items[use.who].process;
    if (!(c.blocked >= number_of(model, BLOCKED_MIN)))
        return 0;
    c.subject = SUBJECT_CORE;
    remark_set(&c.cause, GPU_WORK_IS_SMALL, NUMBERS(), NAMES(process));
    gpu_tell_work(model, &use, &use.computing, &c.evidence);
    remarks_add(&c.evidence, PROCESS_COMPUTED, NUMBERS(100 * c.path.own), NAMES(process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; result == 0 && h < (int)model->n_hosts; h++)
        result = look_for_launches(model, group, h, candidates);
    return result;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_LAUNCH, NUMBERS(), NAMES(advised->c->cause.names[0]));
}

const struct cause cause_gpu_launch = {
    .name = "gpu-launch",
    .resource = RESOURCE_CPU,
    .kind = CAUSE_GPU_LAUNCH,
    .needs = 1u << SOURCE_CLOCKS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a GPU waits for a thread that launches little work at a time",
    .yields_to = YIELDS_TO(&cause_gpu_memory),
    .detect = detect,
    .advise = advise,
};
