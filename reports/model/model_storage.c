/* SPDX-License-Identifier: MIT */
/* Facts about a host beside cores, memory and links: servers of files, file systems, load. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/remote_storage.h"
#include "reports/model/model_private.h"

static int add_export(struct report *report, int host, const struct remote_storage *from) {
    struct report_export *room =
        realloc(report->exports, (report->n_exports + 1) * sizeof *report->exports);
    if (!room)
        return -ENOMEM;
    report->exports = room;
    struct report_export *to = &room[report->n_exports++];
    *to = (struct report_export){.host = host,
                                 .calls = from->calls,
                                 .retransmissions = from->retransmissions,
                                 .read_mb = from->receive_bytes / 1e6,
                                 .write_mb = from->send_bytes / 1e6,
                                 .queue_ms = 1e3 * from->queue_s / from->calls,
                                 .rtt_ms = 1e3 * from->rtt_s / from->calls,
                                 .execute_ms = 1e3 * from->execute_s / from->calls};
    memcpy(to->name, from->export, sizeof to->name);
    return 0;
}

static int fill_exports(struct report *report, const struct run_model *model, int host) {
    struct remote_storage *items;
    size_t n;
    int result = remote_storage_make(model, host, phase_windows(&model->groups[0]), &items, &n);
    if (result < 0)
        return result;
    for (size_t i = 0; i < n && result == 0; i++)
        result = add_export(report, host, &items[i]);
    free(items);
    return result;
}

static double last_of(const struct series_set *set, const struct series *series, size_t column,
                      double scale) {
    int64_t value = series_last(set, series, column);
    return value == VALUE_ABSENT ? NAN : (double)value * scale;
}

static int fill_filesystems(struct report *report, const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_FILESYSTEM];
    report->filesystems = calloc(set->n + 1, sizeof *report->filesystems);
    if (!report->filesystems)
        return -ENOMEM;
    for (size_t k = 0; k < set->n * report->n_hosts; k++) {
        const struct series *series = &set->items[k % set->n];
        if (series->host != (int)(k / set->n))
            continue;
        struct report_filesystem *to = &report->filesystems[report->n_filesystems++];
        double size = last_of(set, series, FILESYSTEM_SIZE, 1e-9);
        double free_gb = last_of(set, series, FILESYSTEM_FREE, 1e-9);
        double available = last_of(set, series, FILESYSTEM_AVAILABLE, 1e-9);
        *to = (struct report_filesystem){.host = series->host,
                                         .size_gb = size,
                                         .used_gb = size - free_gb,
                                         .available_gb = available,
                                         .used_pct =
                                             100 * (size - free_gb) / (size - free_gb + available)};
        strncpy(to->mount, series->name, sizeof to->mount - 1);
    }
    return 0;
}

static int fill_loads(struct report *report, const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_LOAD];
    report->loads = calloc(set->n + 1, sizeof *report->loads);
    if (!report->loads)
        return -ENOMEM;
    for (size_t k = 0; k < set->n * report->n_hosts; k++) { /* host by host */
        const struct series *series = &set->items[k % set->n];
        if (series->host != (int)(k / set->n))
            continue;
        report->loads[report->n_loads++] =
            (struct report_load){.host = series->host,
                                 .load_1 = last_of(set, series, LOAD_1, 1e-9),
                                 .load_5 = last_of(set, series, LOAD_5, 1e-9),
                                 .load_15 = last_of(set, series, LOAD_15, 1e-9),
                                 .uptime_s = last_of(set, series, LOAD_UPTIME, 1e-9),
                                 .running = last_of(set, series, LOAD_RUNNING, 1),
                                 .sleeping = last_of(set, series, LOAD_SLEEPING, 1),
                                 .waiting = last_of(set, series, LOAD_WAITING, 1),
                                 .stopped = last_of(set, series, LOAD_STOPPED, 1),
                                 .zombie = last_of(set, series, LOAD_ZOMBIE, 1),
                                 .other = last_of(set, series, LOAD_OTHER, 1)};
    }
    return 0;
}

int report_fill_storage(struct report *report, const struct run_model *model) {
    int result = fill_filesystems(report, model);
    if (result == 0)
        result = fill_loads(report, model);
    for (size_t h = 0; result == 0 && h < model->n_hosts; h++)
        result = fill_exports(report, model, (int)h);
    return result;
}
