/* SPDX-License-Identifier: MIT */
/*
 * GPM, by which Hopper and later measure their own units: two samples, and means of what happened
 * between them. Asking for these alone costs a fifth of asking for all. A metric may be NaN once in
 * a while (memory bandwidth was), and then the next mean stands for that time, too.
 */
#include <math.h>

#include "agent/probes/gpu/gpu_private.h"
#include "common/error.h"

#define BYTES_PER_MIB (1024.0 * 1024)
#define RATE_MAX 1e8 /* MiB/s: more is no figure */

enum gpm_kind { GPM_PERCENT, GPM_MIB_S, GPM_NVLINK_MIB_S };

static const struct {
    unsigned id;
    int column;
    enum gpm_kind kind;
} metrics[] = {
    {NVML_GPM_GRAPHICS, GPU_GRAPHICS, GPM_PERCENT},
    {NVML_GPM_SM, GPU_SM, GPM_PERCENT},
    {NVML_GPM_OCCUPANCY, GPU_OCCUPANCY, GPM_PERCENT},
    {NVML_GPM_TENSOR, GPU_TENSOR, GPM_PERCENT},
    {NVML_GPM_DRAM, GPU_DRAM, GPM_PERCENT},
    {NVML_GPM_FP64, GPU_FP64, GPM_PERCENT},
    {NVML_GPM_FP32, GPU_FP32, GPM_PERCENT},
    {NVML_GPM_FP16, GPU_FP16, GPM_PERCENT},
    {NVML_GPM_PCIE_SEND, GPU_PCIE_SEND, GPM_MIB_S},
    {NVML_GPM_PCIE_RECEIVE, GPU_PCIE_RECEIVE, GPM_MIB_S},
    {NVML_GPM_NVLINK_RECEIVE, GPU_NVLINK_RECEIVE, GPM_NVLINK_MIB_S},
    {NVML_GPM_NVLINK_SEND, GPU_NVLINK_SEND, GPM_NVLINK_MIB_S},
};
static_assert(ARRAY_SIZE(metrics) == GPU_GPM_METRICS, "a flow for each");

void nvml_gpm_open(struct gpus *gpus, struct gpu_part *part) {
    struct nvml *nvml = &gpus->nvml;
    struct nvml_gpm_support support = {.version = 1};
    part->has_gpm = NVML(nvml, GPM_SUPPORT, part->card, &support) == NVML_SUCCESS &&
                    support.is_supported == 1 &&
                    NVML(nvml, GPM_ALLOC, &part->before) == NVML_SUCCESS &&
                    NVML(nvml, GPM_ALLOC, &part->now) == NVML_SUCCESS;
}

static int take_sample(struct nvml *nvml, const struct gpu_part *part) {
    return part->instance < 0
               ? NVML(nvml, GPM_SAMPLE, part->card, part->now)
               : NVML(nvml, GPM_MIG_SAMPLE, part->card, (unsigned)part->instance, part->now);
}

/* In ns a ns, or bytes a ns; NaN where the metric says nothing. */
static double rate_of(const struct nvml_gpm_metric *metric, enum gpm_kind kind) {
    double value = metric->value;
    if (metric->answer != NVML_SUCCESS || !(value >= 0) || value > RATE_MAX)
        return NAN;
    if (kind == GPM_PERCENT)
        return value > 100 ? 1 : value / 100;
    return value * BYTES_PER_MIB / NS_PER_S;
}

/* Where no NVLink is known to be up, the figure is 0 whatever happens. */
static bool is_asked(const struct gpu_part *part, size_t i) {
    return metrics[i].kind != GPM_NVLINK_MIB_S || part->has_nvlink;
}

static size_t fill_request(struct nvml_gpm_metrics *request, const struct gpu_part *part) {
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
        if (is_asked(part, i))
            request->metrics[n++] = (struct nvml_gpm_metric){.id = metrics[i].id, .value = NAN};
    request->version = 1;
    request->n = (unsigned)n;
    request->before = part->before;
    request->now = part->now;
    return n;
}

static void take_metrics(struct gpu_part *part, const struct nvml_gpm_metrics *request, bool good,
                         int64_t now_ns) {
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
        if (!is_asked(part, i))
            continue;
        double rate = good ? rate_of(&request->metrics[n], metrics[i].kind) : NAN;
        n++;
        gpu_flow_add(&part->gpm[i], rate, now_ns);
    }
}

void nvml_gpm_show(const struct gpus *gpus, struct gpu_part *part, int64_t now_ns) {
    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
        if (is_asked(part, i))
            part->values[metrics[i].column] = gpu_units_value(gpus, &part->gpm[i], now_ns);
}

void nvml_gpm_read(struct gpus *gpus, struct gpu_part *part) {
    struct nvml *nvml = &gpus->nvml;
    if (!nvml_good(part, take_sample(nvml, part)))
        return;
    int64_t now_ns = clock_monotonic_ns();
    if (part->has_before) {
        fill_request(&gpus->metrics, part);
        int answer = NVML(nvml, GPM_METRICS, &gpus->metrics);
        take_metrics(part, &gpus->metrics, nvml_good(part, answer), now_ns);
    } else {
        for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
            part->gpm[i].since_ns = now_ns;
    }
    nvml_gpm_sample older = part->before;
    part->before = part->now;
    part->now = older;
    part->has_before = true;
}
