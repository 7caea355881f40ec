/* SPDX-License-Identifier: MIT */
/*
 * Disk and memory. A throttled disk looks idle to its own counters, so PSI decides whether anybody
 * waited and the device only which of the two names the waiting gets. What the job itself lost is
 * known only where the kernel accounts block-I/O delay; without it a disk is suspected at most.
 */
#include <errno.h>
#include <math.h>

#include "analysis/saturation.h"

/* The longest block-I/O delay of a process of the job, as a share of the phase; NAN if the kernel
 * keeps none (all zero looks the same). */
static double job_delay(const struct scene *scene, size_t group, int host) {
    double most = NAN;
    for (size_t p = 0; p < scene->n_processes; p++) {
        const struct scene_process *process = &scene->processes[p];
        if (process->host != host || !process->job)
            continue;
        struct process_use use =
            scene_process_use(scene, process, phase_windows(&scene->groups[group]));
        most = fmax(most, use.disk_s / use.wall_s);
    }
    return most > 0 ? most : NAN;
}

static int add_disk(const struct scene *scene, size_t group, int host, double psi, double busy,
                    struct candidates *candidates) {
    double delay = job_delay(scene, group, host);
    bool device = busy >= 100 * DISK_BUSY_MIN;
    double blocked = isnan(delay) ? psi / 100 : delay;
    if (!(blocked >= BLOCKED_MIN))
        return 0;
    struct candidate c = {.host = host,
                          .group = group,
                          .resource = device ? "disk" : "disk-throttle",
                          .blocked = fmin(1, blocked),
                          .supply = psi >= 100 * PSI_IO_MIN && delay >= BLOCKED_MIN,
                          .signals = (psi >= 100 * PSI_IO_MIN) + device + !isnan(delay),
                          .signal = &scene->hosts[host].metrics[METRIC_PSI_IO],
                          .factor = psi > 0 ? fmin(1, blocked) / psi : 0,
                          .cause = text_format(device ? "the device is busy"
                                                      : "slow I/O on an idle device: throttled or "
                                                        "remote storage")};
    text_list_add(&c.evidence, "PSI io: some task waited for I/O %.0f %% of the time", psi);
    text_list_add(&c.evidence, "the busiest device had requests %.0f %% of the time", busy);
    if (isnan(delay))
        text_list_add(&c.against, "whether the job itself waited is not known: the kernel keeps no "
                                  "block-I/O delay (sysctl kernel.task_delayacct=1)");
    else
        text_list_add(&c.evidence, "a process of the job was blocked on I/O %.0f %% of the time",
                      100 * delay);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

int saturation_disk(const struct scene *scene, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double most_psi = NAN, most_busy = NAN;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        double psi = scene_mean(scene, (int)h, METRIC_PSI_IO, group);
        double busy = scene_mean(scene, (int)h, METRIC_DISK_BUSY, group);
        most_psi = fmax(most_psi, psi);
        most_busy = fmax(most_busy, busy);
        if (psi >= 100 * PSI_IO_MIN || (busy >= 100 * DISK_BUSY_MIN && psi >= 100 * BLOCKED_MIN)) {
            int result = add_disk(scene, group, (int)h, psi, isnan(busy) ? 0 : busy, candidates);
            if (result < 0)
                return result;
        }
    }
    if (candidates->n == before && group == scene->main_group && !isnan(most_busy))
        text_list_add(&candidates->ruled_out,
                      isnan(most_psi) ? "disk: the busiest device %.0f %% busy"
                                      : "disk: the busiest device %.0f %% busy, tasks waited for "
                                        "I/O %.1f %% of the time at most",
                      most_busy, most_psi);
    return 0;
}

struct shortage {
    double psi, available, refault_mb_s, swap_mb_s;
};

static struct shortage measure(const struct scene *scene, size_t group, int host) {
    struct windows windows = phase_windows(&scene->groups[group]);
    double seconds = (double)windows_length(windows) / 1e9;
    return (struct shortage){
        .psi = scene_mean(scene, host, METRIC_PSI_MEMORY, group),
        .available = scene_mean(scene, host, METRIC_MEM_FREE, group) / scene->hosts[host].memory_gb,
        .refault_mb_s =
            scene_growth(scene, host, RECORDING_VMSTAT, VMSTAT_REFAULT, windows) / 1e6 / seconds,
        .swap_mb_s = (scene_growth(scene, host, RECORDING_VMSTAT, VMSTAT_SWAP_IN, windows) +
                      scene_growth(scene, host, RECORDING_VMSTAT, VMSTAT_SWAP_OUT, windows)) /
                     1e6 / seconds,
    };
}

static int add_memory(const struct scene *scene, size_t group, int host, struct shortage s,
                      struct candidates *candidates) {
    bool moving = s.refault_mb_s >= REFAULT_MIN_MB_S || s.swap_mb_s >= SWAP_MIN_MB_S;
    struct candidate c = {
        .host = host,
        .group = group,
        .resource = "memory",
        .blocked = s.psi / 100,
        .supply = s.psi >= 100 * PSI_MEMORY_MIN && moving && s.available < HEADROOM_MIN,
        .signals = (s.psi >= 100 * PSI_MEMORY_MIN) + moving + (s.available < HEADROOM_MIN),
        .signal = &scene->hosts[host].metrics[METRIC_PSI_MEMORY],
        .factor = 0.01,
        .cause = text_format(s.swap_mb_s >= SWAP_MIN_MB_S ? "swapping"
                                                          : "the working set does not fit")};
    text_list_add(&c.evidence, "PSI memory: some task waited for memory %.0f %% of the time",
                  s.psi);
    text_list_add(&c.evidence, "%.0f MB/s read again after eviction, %.0f MB/s swapped",
                  s.refault_mb_s, s.swap_mb_s);
    text_list_add(s.available < HEADROOM_MIN ? &c.evidence : &c.against,
                  "%.0f %% of memory was available", 100 * s.available);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

int saturation_memory(const struct scene *scene, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double most_psi = NAN, least = NAN;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        struct shortage s = measure(scene, group, (int)h);
        most_psi = fmax(most_psi, s.psi);
        least = fmin(least, s.available);
        if (s.psi >= 100 * BLOCKED_MIN && add_memory(scene, group, (int)h, s, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && group == scene->main_group && !isnan(least))
        text_list_add(&candidates->ruled_out,
                      isnan(most_psi) ? "memory: %.0f %% available at least"
                                      : "memory: %.0f %% available at least, tasks waited for it "
                                        "%.1f %% of the time at most",
                      100 * least, most_psi);
    return 0;
}
