/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/frozen.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"

#define SLOTS_MISSED 2 /* slots: on a busy machine a single one is late now and then */
#define RAN_MEANWHILE                                                                              \
    0.1 /* of the missed time, on all cores: with more CPU time the host did not stand still */

/* The usual interval of samples: the median, since the last sample of a run comes early. NAN if
 * unknown.
 */
static double slot_ns(const struct series *series) {
    double *intervals = malloc((series->n + 1) * sizeof *intervals);
    size_t n = 0;
    for (size_t i = 0; intervals && i < series->n; i++)
        if (series->interval_ns[i] != VALUE_ABSENT)
            intervals[n++] = (double)series->interval_ns[i];
    double usual = intervals ? stats_median(intervals, n) : NAN;
    free(intervals);
    return usual;
}

static const struct series *core_of(const struct series_set *set, int host) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && set->items[s].n)
            return &set->items[s];
    return NULL;
}

/* CPU time of all programs on the host's cores. */
static double ran_ns(const struct run_model *model, int host, struct windows w) {
    double sum = 0;
    for (size_t c = CPU_USER; c <= CPU_STEAL; c++)
        sum +=
            c == CPU_IDLE || c == CPU_IOWAIT ? 0 : model_growth(model, host, RECORDING_CPU, c, w);
    return sum;
}

double process_stopped_part(const struct run_model *model, int host, int64_t pid,
                            struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    double stopped = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && series_last(set, &set->items[s], PROCESS_PID) == pid)
            stopped += series_growth(set, &set->items[s], PROCESS_STOPPED, windows, NULL);
    return stopped > 0 ? stopped / (double)windows_length(windows) : 0;
}

double host_frozen_s(const struct run_model *model, int host, struct windows windows) {
    const struct series *core = core_of(&model->recording->tables[RECORDING_CPU], host);
    double slot = core ? slot_ns(core) : NAN, frozen = 0;
    if (isnan(slot))
        return NAN;
    for (size_t i = 0; i < core->n; i++) {
        double length = (double)core->interval_ns[i], missed = length - slot;
        if (core->interval_ns[i] == VALUE_ABSENT || missed < SLOTS_MISSED * slot)
            continue;
        struct window row = {core->t_ns[i] - core->interval_ns[i], core->t_ns[i]};
        if (ran_ns(model, host, (struct windows){&row, 1}) <= slot + RAN_MEANWHILE * missed)
            frozen += windows_common_ns(windows, row.begin_ns, row.end_ns) * (missed / length);
    }
    return frozen / 1e9;
}
