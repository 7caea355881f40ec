/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/frozen.h"

#include <math.h>

#define SLOTS_MISSED 2 /* at least: one is late now and then on a busy machine */
#define RAN_MEANWHILE                                                                              \
    0.1 /* of the time of the missed slots, on all cores: it did not stand still */

/* The shortest there is: what follows upon it without a gap. */
static int64_t slot_ns(const struct series *series) {
    int64_t shortest = INT64_MAX;
    for (size_t i = 0; i < series->n; i++)
        if (series->interval_ns[i] != VALUE_ABSENT && series->interval_ns[i] < shortest)
            shortest = series->interval_ns[i];
    return shortest;
}

static const struct series *core_of(const struct series_set *set, int host) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && set->items[s].n)
            return &set->items[s];
    return NULL;
}

/* CPU time of all that ran on the host's cores. */
static double ran_ns(const struct run_model *model, int host, struct windows w) {
    double sum = 0;
    for (size_t c = CPU_USER; c <= CPU_STEAL; c++)
        sum +=
            c == CPU_IDLE || c == CPU_IOWAIT ? 0 : model_growth(model, host, RECORDING_CPU, c, w);
    return sum;
}

static double common_ns(struct windows windows, struct window w) {
    double sum = 0;
    for (size_t i = 0; i < windows.n; i++) {
        double from = fmax((double)w.begin_ns, (double)windows.items[i].begin_ns);
        double to = fmin((double)w.end_ns, (double)windows.items[i].end_ns);
        sum += fmax(to - from, 0);
    }
    return sum;
}

double host_frozen_s(const struct run_model *model, int host, struct windows windows) {
    const struct series *core = core_of(&model->recording->tables[RECORDING_CPU], host);
    int64_t slot = core ? slot_ns(core) : INT64_MAX;
    double frozen = 0;
    if (slot == INT64_MAX)
        return NAN;
    for (size_t i = 0; i < core->n; i++) {
        if (core->interval_ns[i] == VALUE_ABSENT || core->interval_ns[i] / slot <= SLOTS_MISSED)
            continue;
        struct window row = {core->t_ns[i] - core->interval_ns[i], core->t_ns[i]};
        double missed = (double)(core->interval_ns[i] - slot);
        if (ran_ns(model, host, (struct windows){&row, 1}) <= (double)slot + RAN_MEANWHILE * missed)
            frozen += common_ns(windows, row) * (missed / (double)core->interval_ns[i]);
    }
    return frozen / 1e9;
}
