/* SPDX-License-Identifier: MIT */
/*
 * The share of its control groups' limits that each host used, row by row. A quota is used up in
 * periods in which the kernel throttled the group, even if the group ran little. Memory at its
 * limit is full only if the limit was hit: caches fill memory and give way.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/model_private.h"

#define HARDLY .1  /* a limit of which never more was used limits nothing */
#define NEARLY .89 /* the highest share of memory whose caches gave way each time */

struct group_row {
    const struct series_set *set;
    const struct series *group;
    size_t at;
};

static double value_at(struct group_row r, size_t column) {
    int64_t value = series_value(r.set, r.group, r.at, column);
    return value == VALUE_ABSENT ? NAN : (double)value;
}

static double per_ns(struct group_row r, size_t column) {
    int64_t interval = r.group->interval_ns[r.at];
    return interval == VALUE_ABSENT || interval <= 0 ? NAN : value_at(r, column) / (double)interval;
}

static double cpu_used(struct group_row r) {
    double cores = value_at(r, CGROUP_QUOTA) / value_at(r, CGROUP_PERIOD);
    double periods = value_at(r, CGROUP_PERIODS);
    double throttled = periods > 0 ? value_at(r, CGROUP_THROTTLED_PERIODS) / periods : NAN;
    return cores > 0 ? fmax(per_ns(r, CGROUP_CPU) / cores, throttled) : NAN;
}

static double memory_used(struct group_row r) {
    double limit = value_at(r, CGROUP_MEMORY_LIMIT), used = value_at(r, CGROUP_MEMORY) / limit;
    return !(limit > 0) ? NAN : value_at(r, CGROUP_LIMIT_HITS) > 0 ? used : fmin(used, NEARLY);
}

/* The use of the fullest limit on reading or writing. */
static double disk_used(struct group_row r) {
    static const size_t limits[][2] = {{CGROUP_READ_LIMIT, CGROUP_READ_BYTES},
                                       {CGROUP_WRITE_LIMIT, CGROUP_WRITE_BYTES},
                                       {CGROUP_READS_LIMIT, CGROUP_READS},
                                       {CGROUP_WRITES_LIMIT, CGROUP_WRITES}};
    double used = NAN;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        double limit = value_at(r, limits[i][0]);
        if (limit > 0)
            used = fmax(used, 1e9 * per_ns(r, limits[i][1]) / limit);
    }
    return used;
}

static double (*const used_of[ALLOWANCES])(struct group_row) = {
    [ALLOWANCE_CPU] = cpu_used, [ALLOWANCE_MEMORY] = memory_used, [ALLOWANCE_DISK] = disk_used};

/* Sum of the known values; NAN: all are unknown. */
static double used_in_all(const struct series_set *set, const struct series *group,
                          double (*used)(struct group_row)) {
    double sum = NAN;
    for (size_t i = 0; i < group->n; i++) {
        double value = used((struct group_row){set, group, i});
        sum = isnan(value) ? sum : isnan(sum) ? value : sum + value;
    }
    return sum;
}

/* The fullest of the host's groups, which may be nested. */
static const struct series *fullest(const struct series_set *set, int host,
                                    double (*used)(struct group_row)) {
    const struct series *found = NULL;
    double most = -1;
    for (size_t s = 0; s < set->n; s++) {
        if (set->items[s].host != host)
            continue;
        double sum = used_in_all(set, &set->items[s], used);
        if (sum > most) {
            most = sum;
            found = &set->items[s];
        }
    }
    return found;
}

static int fill_allowance(struct report_series *series, const struct series_set *set, int host,
                          double (*used)(struct group_row)) {
    const struct series *group = fullest(set, host, used);
    double most = 0;
    if (!group)
        return 0;
    series->t_s = calloc(group->n + 1, sizeof *series->t_s);
    series->value = calloc(group->n + 1, sizeof *series->value);
    if (!series->t_s || !series->value)
        return -ENOMEM;
    for (size_t i = 0; i < group->n; i++) {
        double share = used((struct group_row){set, group, i});
        series->t_s[i] = (double)group->t_ns[i] / 1e9;
        series->value[i] = share > 1 ? 1 : share;
        most = fmax(most, share);
    }
    series->n = most >= HARDLY ? group->n : 0;
    return 0;
}

int report_fill_allowances(struct report *report, const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_CGROUP];
    int result = 0;
    for (size_t h = 0; h < report->n_hosts; h++)
        for (size_t a = 0; result == 0 && a < ALLOWANCES; a++)
            result = fill_allowance(&report->series[h].allowances[a], set, (int)h, used_of[a]);
    return result;
}
