/* SPDX-License-Identifier: MIT */
/*
 * A GPU computes while the run waits for it, or for as long as its process computes beside it. The
 * unit of which most is in use says which kind of work would have to become less.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/gpu_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(                                                                                        \
        GPU_UNIT_FULL, 0.6, "of the time",                                                         \
        "a unit in use: below it neither arithmetic nor memory is what takes the time, but how "   \
        "long each piece of work takes (latency); 72 to 95 % where one unit limited, at most "     \
        "33 % where none did")
#define UNITS                                                                                      \
    "%[its tensor cores|its units for 16-bit floats|its units for 32-bit floats|its units for "    \
    "64-bit floats|the bandwidth of its memory]"
#define OWN_REMARKS                                                                                \
    REMARK(GPU_UNIT_LIMITS, "it computes: " UNITS " limit%[||||s] it",                             \
           SLOTS("1 tensor, 2 fp16, 3 fp32, 4 fp64, 5 memory", "the same choice"), SLOTS())        \
    REMARK(GPU_LATENCY_LIMITS, "it computes, and no unit of it is full: latency limits it",        \
           SLOTS(), SLOTS())                                                                       \
    REMARK(GPU_FULLEST, "of its units most in use were " UNITS ", %.0f %% of the time",            \
           SLOTS("1 tensor, 2 fp16, 3 fp32, 4 fp64, 5 memory", "of the time, %"), SLOTS())         \
    REMARK(                                                                                        \
        ADVISE_GPU_ARITHMETIC,                                                                     \
        "lower precision%[ (8-bit floats)|| (TF32, or mixed precision on tensor cores)| (32-bit "  \
        "floats)], fewer operations, a faster GPU than that of %s, or more of them",               \
        SLOTS("1 tensor, 2 fp16, 3 fp32, 4 fp64"), SLOTS("host"))                                  \
    REMARK(ADVISE_GPU_TRAFFIC,                                                                     \
           "let less go through the memory of the GPU of %s: fused kernels (`torch.compile`), "    \
           "lower precision; or one with more bandwidth",                                          \
           SLOTS(), SLOTS("host"))                                                                 \
    REMARK(ADVISE_GPU_LATENCY,                                                                     \
           "give the GPU of %s larger pieces of work: larger batches, fused kernels "              \
           "(`torch.compile`), channels last, mixed precision; or a faster one, or more of them",  \
           SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

static int unit_number(enum gpu_figure unit) {
    return (int)unit - GPU_FIGURE_TENSOR + 1;
}

static int add_units(const struct run_model *model, const struct gpu_use *use,
                     const struct gpu_while *during, struct candidate *c,
                     struct candidates *candidates) {
    enum gpu_figure unit = gpu_fullest_unit(during);
    double used = unit == GPU_FIGURES ? 0 : during->mean[unit];
    if (used >= number_of(model, GPU_UNIT_FULL))
        remark_set(&c->cause, GPU_UNIT_LIMITS, NUMBERS(unit_number(unit), unit_number(unit)),
                   NAMES());
    else
        remark_set(&c->cause, GPU_LATENCY_LIMITS, NUMBERS(), NAMES());
    gpu_tell_work(model, use, during, &c->evidence);
    if (unit != GPU_FIGURES)
        remarks_add(&c->evidence, GPU_FULLEST, NUMBERS(unit_number(unit), 100 * used), NAMES());
    return candidates_add(candidates, c) ? 0 : -ENOMEM;
}

/* The host's threads compute beside a GPU that works meanwhile: they are ahead of it. Its worth
 * is not known, since the path holds their computing.
 */
static struct candidate beside(const struct run_model *model, size_t group,
                               const struct gpu_use *use) {
    struct candidate c = gpu_feeding(model, group, use, CAUSE_GPU_COMPUTE);
    double works = use->computing.mean[GPU_FIGURE_SM];
    c.resource = RESOURCE_GPU;
    c.blocked *= works;
    c.path.part *= works;
    c.can_remove = c.saturated = false;
    return c;
}

static int look_at_units(const struct run_model *model, size_t group, int host,
                         struct candidates *candidates) {
    double demand = model_demand(model, group, host, BUDGET_GPU);
    double least = number_of(model, BLOCKED_MIN);
    struct gpu_use use;
    if (gpu_is_told(candidates, group, host, BUDGET_GPU) ||
        gpu_is_told(candidates, group, host, BUDGET_CPU) ||
        !gpu_use_find(model, group, host, &use) || isnan(use.all.mean[GPU_FIGURE_SM]))
        return 0;
    if (demand >= least && gpu_works(model, &use.waiting)) {
        struct candidate c = gpu_awaited(group, host, BUDGET_GPU, CAUSE_GPU_COMPUTE, demand);
        return add_units(model, &use, &use.waiting, &c, candidates);
    }
    struct candidate c = beside(model, group, &use);
    if (!(c.blocked >= least) || !gpu_works(model, &use.computing))
        return 0;
    return add_units(model, &use, &use.computing, &c, candidates);
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (int h = 0; result == 0 && h < (int)model->n_hosts; h++)
        result = look_at_units(model, group, h, candidates);
    return result;
}

static void advise(const struct advised *advised) {
    const struct remark *cause = &advised->c->cause;
    int unit = cause->kind == &remark_GPU_UNIT_LIMITS ? (int)cause->numbers[0] : 0;
    if (unit == unit_number(GPU_FIGURE_DRAM))
        remarks_add(advised->next, ADVISE_GPU_TRAFFIC, NUMBERS(), NAMES(advised->host));
    else if (unit)
        remarks_add(advised->next, ADVISE_GPU_ARITHMETIC, NUMBERS(unit), NAMES(advised->host));
    else
        remarks_add(advised->next, ADVISE_GPU_LATENCY, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_gpu_compute = {
    .name = "gpu-compute",
    .resource = RESOURCE_GPU,
    .kind = CAUSE_GPU_COMPUTE,
    .needs = 1u << SOURCE_CLOCKS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a GPU that works all the time while it is waited for is as fast as its units are",
    .yields_to = YIELDS_TO(&cause_gpu_shared, &cause_gpu_memory),
    .detect = detect,
    .advise = advise,
};
