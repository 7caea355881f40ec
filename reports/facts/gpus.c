/* SPDX-License-Identifier: MIT */
#include "reports/facts/gpus.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/gpu_use.h"
#include "common/error.h"

void gpu_model_name(const char *row, char model[GPU_MODEL_MAX]) {
    static const char *const ends[] = {" GPU-", " MIG-", " driver "};
    const char *begin = strchr(row, ' ');
    size_t size = begin ? strlen(++begin) : 0;
    for (size_t i = 0; i < ARRAY_SIZE(ends) && begin; i++) {
        const char *end = strstr(begin, ends[i]);
        if (end && (size_t)(end - begin) < size)
            size = (size_t)(end - begin);
    }
    size = size < GPU_MODEL_MAX - 1 ? size : GPU_MODEL_MAX - 1;
    if (size)
        memcpy(model, begin, size);
    model[size] = '\0';
}

static double most_of(const struct run_model *model, const struct series *gpu, size_t column,
                      struct window span) {
    const struct series_set *set = &model->recording->tables[RECORDING_GPU];
    double most = NAN;
    for (size_t i = 0; i < gpu->n; i++) {
        int64_t value = series_value(set, gpu, i, column);
        if (value != VALUE_ABSENT && series_row_ends_in(gpu, i, (struct windows){&span, 1}))
            most = fmax(most, series_amount(value));
    }
    return most;
}

static int count_of(const struct run_model *model, const struct series *gpu, size_t column) {
    const struct series_set *set = &model->recording->tables[RECORDING_GPU];
    int sum = -1;
    for (size_t i = 0; i < gpu->n; i++) {
        int64_t value = series_value(set, gpu, i, column);
        if (value != VALUE_ABSENT && value >= 0)
            sum = (sum < 0 ? 0 : sum) + (int)(value < 1 << 20 ? value : 1 << 20);
    }
    return sum;
}

/* Its mean over the whole run. -ENOMEM. */
static int mean_of(const struct run_model *model, const struct series *gpu, enum metric metric,
                   double *ret_mean) {
    struct window whole = {0, model->recording->duration_ns};
    struct rate rate;
    int result = metric_rate_of(model->recording, gpu->host, metric, gpu->name, &rate);
    if (result < 0)
        return result;
    *ret_mean = rate_mean(&rate, (struct windows){&whole, 1});
    rate_release(&rate);
    return 0;
}

static int fill_means(struct report_gpu *of, const struct run_model *model,
                      const struct series *gpu) {
    const struct {
        enum metric metric;
        double *to;
    } means[] = {{METRIC_GPU_BUSY, &of->busy_pct},     {METRIC_GPU_SM, &of->sm_pct},
                 {METRIC_GPU_TENSOR, &of->tensor_pct}, {METRIC_GPU_DRAM, &of->dram_pct},
                 {METRIC_GPU_TO, &of->to_mb_s},        {METRIC_GPU_FROM, &of->from_mb_s},
                 {METRIC_GPU_WATTS, &of->watts}};
    int result = 0;
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(means); i++)
        result = mean_of(model, gpu, means[i].metric, means[i].to);
    of->joules = of->watts * (double)model->recording->duration_ns / 1e9;
    return result;
}

static int fill_gpu(struct report_gpu *of, const struct run_model *model,
                    const struct series *gpu) {
    struct window whole = {0, model->recording->duration_ns};
    struct gpu_use use = {.gpu = gpu, .device = gpu_device_of(model, gpu)};
    struct gpu_while all = gpu_means(model, gpu, whole);
    *of = (struct report_gpu){
        .host = gpu->host,
        .name = gpu->name,
        .memory_gb = gpu_fact(model, &use, GPU_DEVICE_MEMORY) / 1e9,
        .peak_gb = most_of(model, gpu, GPU_MEMORY_USED, whole) / 1e9,
        .watts_limit = gpu_fact(model, &use, GPU_DEVICE_WATTS_LIMIT) / 1e9,
        .power_cap_pct = 100 * all.mean[GPU_FIGURE_POWER_CAP],
        .heat_cap_pct = 100 * all.mean[GPU_FIGURE_HEAT_CAP],
        .xids = count_of(model, gpu, GPU_XIDS),
    };
    if (use.device)
        gpu_model_name(use.device->name, of->model);
    return fill_means(of, model, gpu);
}

static int compare_gpus(const void *a, const void *b) {
    const struct report_gpu *x = a, *y = b;
    return x->host != y->host ? x->host - y->host : strverscmp(x->name, y->name);
}

int gpus_summarize(const struct run_model *model, struct gpus *ret_gpus) {
    const struct series_set *set = &model->recording->tables[RECORDING_GPU];
    struct gpus gpus = {.items = calloc(set->n + 1, sizeof *gpus.items)};
    if (!gpus.items)
        return -ENOMEM;
    int result = 0;
    for (size_t s = 0; result == 0 && s < set->n; s++)
        if (set->items[s].n)
            result = fill_gpu(&gpus.items[gpus.n++], model, &set->items[s]);
    if (gpus.n)
        qsort(gpus.items, gpus.n, sizeof *gpus.items, compare_gpus);
    *ret_gpus = gpus;
    return result;
}
