/* SPDX-License-Identifier: MIT */
/* The GPUs of each host in their last second, and what they have, which is told once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/live/live_private.h"

/* Bits of NVML. */
#define REASON_POWER 4
#define REASON_HARDWARE (8 | 128) /* slowed down, or a brake of the power supply */
#define REASON_HEAT (32 | 64)

const char *live_cap_name(enum live_cap cap) {
    static const char *const names[] = {[LIVE_CAP_UNKNOWN] = "unknown",
                                        [LIVE_CAP_NONE] = "none",
                                        [LIVE_CAP_POWER] = "power",
                                        [LIVE_CAP_HEAT] = "heat",
                                        [LIVE_CAP_HARDWARE] = "hardware"};
    return names[cap];
}

static enum live_cap cap_of(int64_t reasons) {
    if (reasons == VALUE_ABSENT)
        return LIVE_CAP_UNKNOWN;
    return reasons & REASON_HEAT       ? LIVE_CAP_HEAT
           : reasons & REASON_POWER    ? LIVE_CAP_POWER
           : reasons & REASON_HARDWARE ? LIVE_CAP_HARDWARE
                                       : LIVE_CAP_NONE;
}

static double in_unit(int64_t value, double scale) {
    return value == VALUE_ABSENT ? NAN : (double)value * scale;
}

/* ---- what it has ---- */

/* Whether the row of table gpu_device is of the GPU: "gpu1 NVIDIA ..." of gpu1, not of gpu10. */
static bool is_of(const struct series *device, int host, const char *gpu) {
    size_t size = strlen(gpu);
    return device->host == host && strncmp(device->name, gpu, size) == 0 &&
           (device->name[size] == ' ' || device->name[size] == '\0');
}

void live_gpu_facts(const struct series_set *devices, int host, struct live_gpu *gpu,
                    char model[GPU_MODEL_MAX]) {
    *model = '\0';
    for (size_t s = 0; s < devices->n; s++) {
        const struct series *device = &devices->items[s];
        if (!device->n || !is_of(device, host, gpu->name))
            continue;
        gpu->memory_gb = in_unit(series_last(devices, device, GPU_DEVICE_MEMORY), 1e-9);
        gpu->watts_limit = in_unit(series_last(devices, device, GPU_DEVICE_WATTS_LIMIT), 1e-9);
        gpu_model_name(device->name, model);
    }
}

/* ---- what it does ---- */

static double per_s(const struct series_set *set, const struct series *series, size_t column,
                    struct window now, double scale) {
    return live_window_growth(set, series, UINT64_C(1) << column, now) * scale;
}

/* A share is told as a mean of the time since it was read last. */
static double share(const struct series_set *set, const struct series *series, size_t column,
                    struct window now) {
    double pct = per_s(set, series, column, now, 1e-7);
    return pct > 100 ? 100 : pct;
}

/* In its newest row: what it told before it was lost is of no use. */
static int64_t newest(const struct series_set *set, const struct series *series, size_t column) {
    return series_value(set, series, series->n - 1, column);
}

static void fill_figures(struct live_gpu *to, const struct series_set *set,
                         const struct series *series, struct window now) {
    to->busy_pct = share(set, series, GPU_BUSY, now);
    to->sm_pct = share(set, series, GPU_SM, now);
    to->tensor_pct = share(set, series, GPU_TENSOR, now);
    to->dram_pct = share(set, series, GPU_DRAM, now);
    to->to_mb_s = per_s(set, series, GPU_PCIE_RECEIVE, now, 1e-6);
    to->from_mb_s = per_s(set, series, GPU_PCIE_SEND, now, 1e-6);
    to->memory_used_gb = in_unit(newest(set, series, GPU_MEMORY_USED), 1e-9);
    to->watts = in_unit(newest(set, series, GPU_WATTS), 1e-9);
    to->cap = cap_of(newest(set, series, GPU_CLOCK_REASONS));
    to->lost = newest(set, series, GPU_LOST) == 1;
    int64_t xid = newest(set, series, GPU_LAST_XID);
    to->xid = xid == VALUE_ABSENT ? -1 : xid;
}

static int compare_gpus(const void *a, const void *b) {
    return strverscmp(((const struct live_gpu *)a)->name, ((const struct live_gpu *)b)->name);
}

static int take_history(struct live_history *history, const char *host_name,
                        const struct live_window *window, const struct series *series) {
    int at = live_history_find(history, host_name, series->name);
    if (at < 0)
        return -ENOMEM;
    struct live_history_entry *entry = &history->items[at];
    struct live_seconds seconds = live_history_advance(entry, series->t_ns[series->n - 1]);
    return live_history_take_gpu(entry, seconds, &window->recording, series->host);
}

/* A GPU whose rows have ended is one that nobody reads any more: it is left out. */
int live_fill_gpus(struct live_picture *picture, struct live_host *to,
                   const struct live_window *window, int host, struct live_history *history) {
    const struct series_set *set = &window->recording.tables[RECORDING_GPU];
    const struct series_set *devices = &window->recording.tables[RECORDING_GPU_DEVICE];
    struct series_range range = series_set_of_host(set, host);
    to->gpus = calloc(range.end - range.begin + 1, sizeof *to->gpus);
    if (!to->gpus)
        return -ENOMEM;
    for (size_t s = range.begin; s < range.end; s++) {
        const struct series *series = &set->items[s];
        struct live_gpu *gpu = &to->gpus[to->n_gpus];
        char model[GPU_MODEL_MAX];
        struct window now;
        if (!series->n || !live_window_now_of(window, series, &now))
            continue;
        *gpu = (struct live_gpu){.name = live_keep(picture, series->name, strlen(series->name)),
                                 .memory_gb = NAN,
                                 .watts_limit = NAN};
        if (!gpu->name)
            return -ENOMEM;
        live_gpu_facts(devices, host, gpu, model);
        gpu->model = live_keep(picture, model, strlen(model));
        if (!gpu->model)
            return -ENOMEM;
        fill_figures(gpu, set, series, now);
        if (take_history(history, to->name, window, series) < 0)
            return -ENOMEM;
        to->n_gpus++;
    }
    if (to->n_gpus)
        qsort(to->gpus, to->n_gpus, sizeof *to->gpus, compare_gpus);
    return 0;
}
