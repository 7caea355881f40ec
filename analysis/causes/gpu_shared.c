/* SPDX-License-Identifier: MIT */
/*
 * Another program uses the GPU that the run waits for. The two take turns on it, each with an equal
 * part of the time.
 */
#include <errno.h>

#include "analysis/causes/gpu_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(SHARED_CORES, 0.1, "cores",                                                             \
           "used by another program on the GPU: who gives a GPU work, or waits for it, computes "  \
           "or spins; one that only holds memory sleeps")                                          \
    NUMBER(SHARED_PART, 0.5, "of the waits",                                                       \
           "are for the other one's work at most: the GPU takes turns between two programs")
#define OWN_REMARKS                                                                                \
    REMARK(GPU_SHARED_WITH, "it is shared with %s, which is not of the job", SLOTS(),              \
           SLOTS("process"))                                                                       \
    REMARK(GPU_OTHER_COMPUTES, "%s is on %s, too, and used %.2g cores", SLOTS("cores"),            \
           SLOTS("process", "GPU"))                                                                \
    REMARK(ADVISE_GPU_ALONE,                                                                       \
           "stop %s on %s, or give the job a GPU of its own (`CUDA_VISIBLE_DEVICES`, the batch "   \
           "system's request, MIG)",                                                               \
           SLOTS(), SLOTS("process", "host"))
#include "analysis/causes/own.h"

static int look_for_others(const struct run_model *model, size_t group, int host,
                           struct candidates *candidates) {
    double demand = model_demand(model, group, host, BUDGET_GPU), cores;
    struct gpu_use use;
    if (!(demand >= number_of(model, BLOCKED_MIN)) ||
        gpu_is_told(candidates, group, host, BUDGET_GPU) ||
        !gpu_use_find(model, group, host, &use) || !gpu_works(model, &use.waiting))
        return 0;
    const struct model_process *other = gpu_other_user(model, &use, &cores);
    if (!other || cores < number_of(model, SHARED_CORES))
        return 0;
    struct candidate c =
        gpu_awaited_in_part(group, host, CAUSE_GPU_SHARED, demand, number_of(model, SHARED_PART));
    c.culprit = culprit_of(model, other);
    remark_set(&c.cause, GPU_SHARED_WITH, NUMBERS(), NAMES(other->series->name));
    remarks_add(&c.evidence, GPU_OTHER_COMPUTES, NUMBERS(cores),
                NAMES(other->series->name, use.gpu->name));
    gpu_tell_work(model, &use, &use.waiting, &c.evidence);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; result == 0 && h < (int)model->n_hosts; h++)
        result = look_for_others(model, group, h, candidates);
    return result;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_GPU_ALONE, NUMBERS(),
                NAMES(advised->c->cause.names[0], advised->host));
}

const struct cause cause_gpu_shared = {
    .name = "gpu-shared",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_SHARED,
    .needs = 1u << SOURCE_CLOCKS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "two programs on one GPU take turns, and each waits for the other's work",
    .detect = detect,
    .advise = advise,
};
