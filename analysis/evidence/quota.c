/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/quota.h"

#include <math.h>

struct quota quota_of(const struct run_model *model, int host, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_CGROUP];
    double seconds = (double)windows_length(windows) / 1e9;
    struct quota most = {NAN, NAN};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *group = &set->items[s];
        if (group->host != host || series_last(set, group, CGROUP_THROTTLED) == VALUE_ABSENT)
            continue;
        double share = series_growth(set, group, CGROUP_THROTTLED, windows, NULL) / 1e9 / seconds;
        if (!isnan(most.throttled) && share <= most.throttled)
            continue;
        int64_t quota = series_last(set, group, CGROUP_QUOTA);
        int64_t period = series_last(set, group, CGROUP_PERIOD);
        most =
            (struct quota){share, quota > 0 && period > 0 ? (double)quota / (double)period : NAN};
    }
    return most;
}

double quota_used(const struct run_model *model, int host, struct windows windows,
                  double job_cores) {
    const struct series_set *set = &model->recording->tables[RECORDING_CGROUP];
    double seconds = (double)windows_length(windows) / 1e9, most = NAN;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *group = &set->items[s];
        int64_t quota = series_last(set, group, CGROUP_QUOTA);
        int64_t period = series_last(set, group, CGROUP_PERIOD);
        if (group->host != host || quota <= 0 || period <= 0)
            continue;
        double used = job_cores; /* of cgroup v1, where CPU time may be another hierarchy's */
        if (series_last(set, group, CGROUP_CPU) != VALUE_ABSENT)
            used = fmin(used, series_growth(set, group, CGROUP_CPU, windows, NULL) / 1e9 / seconds);
        most = fmax(most, used * (double)period / (double)quota);
    }
    return most;
}

double quota_throttled(const struct run_model *model, int host) {
    return quota_of(model, host, phase_windows(&model->groups[0])).throttled;
}
