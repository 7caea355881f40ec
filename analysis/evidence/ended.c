/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/ended.h"

#include <math.h>

/* The part that ext4 holds back of a full file system: a write fails while so much is free. */
#define HELD_BACK_SHARE 0.02
#define HELD_BACK_BYTES 16777216

/* A kill is seen by the first sample after it, which may be taken after the command has ended. */
static struct windows since_start(void) {
    static const struct window since = {0, INT64_MAX / 2};
    return (struct windows){&since, 1};
}

/* The highest value of a level; 0: it is not known. */
static double most_ever(const struct series_set *set, const struct series *series, size_t column) {
    int64_t most = 0;
    for (size_t row = 0; row < series->n; row++) {
        int64_t value = series_value(set, series, row, column);
        most = value != VALUE_ABSENT && value > most ? value : most;
    }
    return (double)most;
}

/* ---- memory ---- */

/* The group on the host that has a limit and in which a process was killed; the smallest limit, as
 * groups contain each other. */
static void find_group(const struct run_model *model, struct memory_kill *k) {
    const struct series_set *set = &model->recording->tables[RECORDING_CGROUP];
    for (size_t s = 0; s < set->n; s++) {
        const struct series *group = &set->items[s];
        double limit_mb = most_ever(set, group, CGROUP_MEMORY_LIMIT) / 1e6;
        double kills = series_growth(set, group, CGROUP_OOM_KILLS, since_start(), NULL);
        if (group->host != k->host || kills < 0.5)
            continue;
        k->kills = fmax(k->kills, kills);
        if (limit_mb <= 0 || (k->group && limit_mb >= k->limit_mb))
            continue;
        k->group = group;
        k->limit_mb = limit_mb;
        k->hits = fmax(1, series_growth(set, group, CGROUP_LIMIT_HITS, since_start(), NULL));
        k->used_mb = limit_mb; /* the kernel kills only when the group is at its limit */
    }
}

static void find_largest(const struct run_model *model, struct memory_kill *k) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (!process->job || process->host != k->host)
            continue;
        double held = fmax(most_ever(set, process->series, PROCESS_RSS),
                           most_ever(set, process->series, PROCESS_PEAK_RSS));
        if (held / 1e6 <= k->process_mb)
            continue;
        k->process = process->series;
        k->process_mb = held / 1e6;
    }
}

static double least_free_gb(const struct run_model *model, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_MEMORY];
    double least = NAN;
    for (size_t s = 0; s < set->n; s++)
        for (size_t row = 0; set->items[s].host == host && row < set->items[s].n; row++) {
            int64_t available = series_value(set, &set->items[s], row, MEMORY_AVAILABLE);
            if (available != VALUE_ABSENT)
                least = fmin((double)available / 1e9, least); /* fmin() ignores NAN */
        }
    return least;
}

bool memory_kill_of(const struct run_model *model, int host, struct memory_kill *ret_kill) {
    struct memory_kill k = {.host = host};
    double kills = model_growth(model, host, RECORDING_VMSTAT, VMSTAT_OOM, since_start());
    k.kills = isnan(kills) ? 0 : kills;
    find_group(model, &k);
    if (k.kills < 0.5)
        return false;
    k.total_gb = model->hosts[host].memory_gb;
    k.free_gb = least_free_gb(model, host);
    find_largest(model, &k);
    *ret_kill = k;
    return true;
}

bool memory_kill_find(const struct run_model *model, struct memory_kill *ret_kill) {
    bool found = false;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct memory_kill k;
        if (!memory_kill_of(model, (int)h, &k) || (found && ret_kill->group && !k.group) ||
            (found && !ret_kill->group == !k.group && k.kills <= ret_kill->kills))
            continue;
        *ret_kill = k;
        found = true;
    }
    return found;
}

static bool is_counted(const struct run_model *model, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_VMSTAT];
    for (size_t s = 0; s < set->n; s++)
        for (size_t row = 0; set->items[s].host == host && row < set->items[s].n; row++)
            if (series_value(set, &set->items[s], row, VMSTAT_OOM) != VALUE_ABSENT)
                return true;
    return false;
}

bool memory_kills_counted(const struct run_model *model) {
    for (size_t h = 0; h < model->n_hosts; h++)
        if (!is_counted(model, (int)h))
            return false;
    return model->n_hosts > 0;
}

/* ---- disks ---- */

static bool job_writes(const struct run_model *model, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->job && process->host == host &&
            series_growth(set, process->series, PROCESS_WRITE, since_start(), NULL) > 0)
            return true;
    }
    return false;
}

static double held_back(const struct series_set *set, const struct series *series) {
    double size = (double)series_last(set, series, FILESYSTEM_SIZE);
    return size > 0 ? fmin(HELD_BACK_SHARE * size, HELD_BACK_BYTES) : 0;
}

/* One that was full from the beginning may be read-only, as images of optical disks are. */
static bool filled_up(const struct series_set *set, const struct series *series,
                      struct full_disk *ret_full) {
    int64_t before = VALUE_ABSENT;
    for (size_t row = 0; row < series->n && before == VALUE_ABSENT; row++)
        before = series_value(set, series, row, FILESYSTEM_AVAILABLE);
    int64_t after = series_last(set, series, FILESYSTEM_AVAILABLE);
    double full = held_back(set, series);
    if ((double)before <= full || after == VALUE_ABSENT || (double)after > full)
        return false;
    *ret_full =
        (struct full_disk){series->host, series->name, (double)before / 1e6, (double)after / 1e6};
    return true;
}

bool full_disk_find(const struct run_model *model, struct full_disk *ret_full) {
    const struct series_set *set = &model->recording->tables[RECORDING_FILESYSTEM];
    for (size_t s = 0; s < set->n; s++)
        if (filled_up(set, &set->items[s], ret_full) && job_writes(model, ret_full->host))
            return true;
    return false;
}
