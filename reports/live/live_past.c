/* SPDX-License-Identifier: MIT */
/* How full the fullest host was, from the begin of the run on: where a look back is worth while. */
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/rate.h"
#include "common/clock.h"
#include "common/error.h"
#include "reports/live/live_private.h"

static const struct {
    enum metric metric;
    enum live_resource resource;
    int ceiling; /* index of the host's ceilings; -1: per cent as it is */
} shown[] = {
    {METRIC_CPU_CORE_MAX, LIVE_FULL_CORE, -1}, {METRIC_DISK_BUSY, LIVE_FULL_DISK, -1},
    {METRIC_NET_SEND, LIVE_FULL_NETWORK, 0},   {METRIC_NET_RECV, LIVE_FULL_NETWORK, 1},
    {METRIC_GPU_SM, LIVE_FULL_GPU, -1},        {METRIC_GPU_BUSY, LIVE_FULL_GPU, -1},
};

const char *live_resource_name(enum live_resource resource) {
    static const char *const names[] = {"core", "memory", "disk", "network", "gpu"};
    return names[resource];
}

/* scale: of a value, to per cent. */
static void add(struct live_past *past, enum live_resource resource, const struct rate *rate,
                double scale) {
    int64_t step_ns = (int64_t)(past->step_s * 1e9);
    for (size_t i = 0; i < past->n; i++) {
        double value =
            scale * rate_mean_between(rate, (int64_t)i * step_ns, (int64_t)(i + 1) * step_ns);
        float *to = &past->pct[resource][i];
        if (!isnan(value))
            *to = fmaxf(*to, (float)fmin(value, 100));
    }
}

static int add_metric(const struct recording *recording, int host, size_t which, double ceiling,
                      struct live_past *past) {
    struct rate rate;
    int result = metric_rate(recording, host, shown[which].metric, &rate);
    if (result < 0)
        return result;
    add(past, shown[which].resource, &rate, shown[which].ceiling < 0 ? 1 : 100 / ceiling);
    rate_release(&rate);
    return 0;
}

/* Used and free memory are what there is. */
static int add_memory(const struct recording *recording, int host, struct live_past *past) {
    struct rate used, left;
    int result = metric_rate(recording, host, METRIC_MEM_USED, &used);
    if (result < 0)
        return result;
    result = metric_rate(recording, host, METRIC_MEM_FREE, &left);
    if (result == 0) {
        double all = rate_mean_between(&used, 0, recording->duration_ns) +
                     rate_mean_between(&left, 0, recording->duration_ns);
        if (all > 0)
            add(past, LIVE_FULL_MEMORY, &used, 100 / all);
        rate_release(&left);
    }
    rate_release(&used);
    return result;
}

int live_past_of(const struct recording *recording, const double *ceilings,
                 struct live_past *ret_past) {
    struct live_past *past = ret_past;
    double seconds = (double)recording->duration_ns / 1e9;
    *past = (struct live_past){.step_s = ceil(seconds / LIVE_PAST_MAX)};
    past->n = past->step_s > 0 ? (size_t)ceil(seconds / past->step_s) : 0;
    for (int r = 0; r < LIVE_RESOURCES; r++)
        for (size_t i = 0; i < LIVE_PAST_MAX; i++)
            past->pct[r][i] = NAN;
    int result = 0;
    for (size_t h = 0; result == 0 && h < recording->n_hosts; h++) {
        for (size_t m = 0; result == 0 && m < ARRAY_SIZE(shown); m++) {
            double ceiling =
                shown[m].ceiling < 0 ? NAN : ceilings[4 * h + (size_t)shown[m].ceiling];
            if (shown[m].ceiling < 0 || ceiling > 0)
                result = add_metric(recording, (int)h, m, ceiling, past);
        }
        if (result == 0)
            result = add_memory(recording, (int)h, past);
    }
    return result;
}
