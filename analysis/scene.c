/* SPDX-License-Identifier: MIT */
#include "analysis/scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/iteration/phase_detect.h"
#include "analysis/series/align.h"
#include "analysis/verdict/straggler.h"
#include "analysis/whatif/whatif.h"

static int swap_rate(const struct recording *recording, int host, struct rate *ret_rate) {
    const struct series_set *set = &recording->tables[RECORDING_MEMORY];
    struct rate rate;
    int result = align_grid(set, host, NULL, NULL, 1e-9, &rate);
    if (result < 0)
        return result;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            align_level(set, &set->items[s], UINT64_C(1) << MEMORY_SWAP_TOTAL,
                        UINT64_C(1) << MEMORY_SWAP_FREE, &rate, rate.amount, rate.base);
    *ret_rate = rate;
    return 0;
}

static double last_gb(const struct recording *recording, int host, size_t column) {
    const struct series_set *set = &recording->tables[RECORDING_MEMORY];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host) {
            int64_t value = series_last(set, &set->items[s], column);
            return value == VALUE_ABSENT ? NAN : (double)value / 1e9;
        }
    return NAN;
}

/* One row a core; a control group of version 2 has one row for all, whose time per second tells. */
static unsigned count_cpus(const struct recording *recording, int host) {
    const struct series_set *set = &recording->tables[RECORDING_CPU];
    const struct series *only = NULL;
    unsigned n = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host) {
            n++;
            only = &set->items[s];
        }
    if (n != 1 || strcmp(only->name, "cpus") != 0)
        return n;
    struct window all = {INT64_MIN / 2, INT64_MAX / 2};
    int64_t covered;
    double time = 0;
    for (size_t c = 0; c < set->n_columns; c++)
        time += series_growth(set, only, c, (struct windows){&all, 1}, &covered);
    series_growth(set, only, CPU_IDLE, (struct windows){&all, 1}, &covered);
    return covered > 0 ? (unsigned)lround(time / (double)covered) : 1;
}

static int build_host(const struct recording *recording, int h, struct scene_host *host) {
    int result = swap_rate(recording, h, &host->swap);
    for (int m = 0; result == 0 && m < METRIC_COUNT_; m++)
        result = metric_rate(recording, h, m, &host->metrics[m]);
    host->name = recording->hosts[h];
    host->memory_gb = last_gb(recording, h, MEMORY_TOTAL);
    host->swap_gb = last_gb(recording, h, MEMORY_SWAP_TOTAL);
    host->n_cpus = count_cpus(recording, h);
    return result;
}

static int build_hosts(struct scene *scene) {
    const struct recording *recording = scene->recording;
    scene->hosts = calloc(recording->n_hosts + 1, sizeof *scene->hosts);
    if (!scene->hosts)
        return -ENOMEM;
    scene->n_hosts = recording->n_hosts;
    for (size_t h = 0; h < scene->n_hosts; h++) {
        int result = build_host(recording, (int)h, &scene->hosts[h]);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Once of the job, always of the job: an agent may have looked at it when it was ending. */
static int build_processes(struct scene *scene) {
    const struct series_set *set = &scene->recording->tables[RECORDING_PROCESS];
    scene->processes = calloc(set->n + 1, sizeof *scene->processes);
    if (!scene->processes)
        return -ENOMEM;
    for (size_t s = 0; s < set->n; s++) {
        int64_t rank = series_last(set, &set->items[s], PROCESS_RANK);
        scene->processes[scene->n_processes++] =
            (struct scene_process){.series = &set->items[s],
                                   .host = set->items[s].host,
                                   .rank = rank < 0 || rank > 1 << 24 ? -1 : (int)rank,
                                   .job = series_ever(set, &set->items[s], PROCESS_JOB, 1)};
    }
    return 0;
}

static size_t choose_main(const struct scene *scene) {
    size_t best = 0, most = 0;
    int64_t longest = 0;
    for (size_t g = 1; g < scene->n_groups; g++) {
        size_t count = scene_iteration_count(scene, g);
        int64_t length = windows_length(phase_windows(&scene->groups[g]));
        if (count > most || (count == most && length > longest)) {
            best = g;
            most = count;
            longest = length;
        }
    }
    return best;
}

static struct call_clock clock_of(const struct recording *recording) {
    static const int64_t none;
    return (struct call_clock){recording->clock_bound_ns ? recording->clock_bound_ns : &none,
                               recording->clock_bound_ns ? recording->n_hosts : 0};
}

/* Marks win. */
static int find_phases(struct scene *scene) {
    int result = phases_from_marks(scene->recording, &scene->phases, &scene->n_phases);
    if (result < 0 || scene->n_phases)
        return result;
    free(scene->phases);
    scene->phases = NULL;
    result = phases_detect(scene->recording, &scene->iterations, &scene->phases, &scene->n_phases);
    scene->phases_detected = scene->n_phases > 0;
    return result;
}

int scene_build(const struct recording *recording, struct scene *ret_scene) {
    struct scene scene = {.recording = recording};
    scene.whatif = calloc(1, sizeof(struct whatif *));
    scene.stragglers = calloc(1, sizeof(struct stragglers *));
    int result = scene.whatif && scene.stragglers ? build_hosts(&scene) : -ENOMEM;
    if (result == 0)
        result = iterations_find(recording, &scene.iterations);
    if (result == 0)
        result = find_phases(&scene);
    if (result == 0)
        result = phase_groups_make(scene.phases, scene.n_phases, recording->duration_ns,
                                   &scene.groups, &scene.n_groups);
    if (result == 0)
        result = build_processes(&scene);
    if (result < 0) {
        scene_release(&scene);
        return result;
    }
    scene.main_group = choose_main(&scene);
    scene.clock = clock_of(recording);
    result = call_match(&recording->calls, &scene.clock, &scene.matches);
    if (result == 0)
        result = rank_budgets_make(&scene, &scene.budgets, &scene.critical);
    if (result < 0) {
        scene_release(&scene);
        return result;
    }
    *ret_scene = scene;
    return 0;
}

int scene_whatif(const struct scene *scene, const struct whatif **ret_whatif) {
    int result = *scene->whatif ? 0 : whatif_new(scene, scene->whatif);
    *ret_whatif = *scene->whatif;
    return result;
}

int scene_stragglers(const struct scene *scene, const struct stragglers **ret_stragglers) {
    if (!*scene->stragglers) {
        struct stragglers *found = calloc(1, sizeof *found);
        int result = found ? straggler_find(scene, found) : -ENOMEM;
        if (result < 0) {
            free(found);
            return result;
        }
        *scene->stragglers = found;
    }
    *ret_stragglers = *scene->stragglers;
    return 0;
}

void scene_release(struct scene *scene) {
    if (scene->whatif)
        whatif_free(*scene->whatif);
    free(scene->whatif);
    if (scene->stragglers && *scene->stragglers)
        stragglers_release(*scene->stragglers);
    if (scene->stragglers)
        free(*scene->stragglers);
    free(scene->stragglers);
    for (size_t h = 0; scene->hosts && h < scene->n_hosts; h++) {
        for (int m = 0; m < METRIC_COUNT_; m++)
            rate_release(&scene->hosts[h].metrics[m]);
        rate_release(&scene->hosts[h].swap);
    }
    free(scene->hosts);
    free(scene->phases);
    phase_groups_free(scene->groups, scene->n_groups);
    iterations_release(&scene->iterations);
    free(scene->processes);
    rank_budgets_release(&scene->budgets);
    critical_path_release(&scene->critical);
    call_matches_release(&scene->matches);
    *scene = (struct scene){0};
}

/* NAN if the column was never known. */
static double known_growth(const struct series_set *set, const struct series *series, size_t column,
                           struct windows windows) {
    bool known = series_last(set, series, column) != VALUE_ABSENT;
    return known ? series_growth(set, series, column, windows, NULL) : NAN;
}

struct process_use scene_process_use(const struct scene *scene, const struct scene_process *process,
                                     struct windows windows) {
    const struct series_set *set = &scene->recording->tables[RECORDING_PROCESS];
    const struct series *series = process->series;
    double user_s = known_growth(set, series, PROCESS_USER, windows) / 1e9;
    return (struct process_use){
        .wall_s = (double)windows_length(windows) / 1e9,
        .cpu_s = user_s + known_growth(set, series, PROCESS_SYSTEM, windows) / 1e9,
        .user_s = user_s,
        .run_queue_s = known_growth(set, series, PROCESS_RUN_QUEUE, windows) / 1e9,
        .disk_s = known_growth(set, series, PROCESS_BLOCK_IO, windows) / 1e9,
        .read_bytes = known_growth(set, series, PROCESS_READ, windows),
        .write_bytes = known_growth(set, series, PROCESS_WRITE, windows),
    };
}

bool scene_process_has_threads(const struct scene *scene, const struct scene_process *process) {
    const struct series_set *set = &scene->recording->tables[RECORDING_PROCESS];
    for (size_t row = 0; row < process->series->n; row++)
        if (series_value(set, process->series, row, PROCESS_THREADS) > 1)
            return true;
    return false;
}

double scene_growth(const struct scene *scene, int host, enum recording_table table, size_t column,
                    struct windows windows) {
    const struct series_set *set = &scene->recording->tables[table];
    double growth = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            growth += series_growth(set, &set->items[s], column, windows, NULL);
    return growth;
}

double scene_mean(const struct scene *scene, int host, enum metric metric, size_t group) {
    return rate_mean(&scene->hosts[host].metrics[metric], phase_windows(&scene->groups[group]));
}

size_t scene_iteration_count(const struct scene *scene, size_t group) {
    size_t count = 0;
    for (size_t r = 0; r < scene->iterations.n; r++) {
        const struct rank_iterations *rank = &scene->iterations.ranks[r];
        double *values = malloc((rank->n + 1) * sizeof *values);
        if (values)
            count += iteration_durations(rank, phase_windows(&scene->groups[group]), values);
        free(values);
    }
    return count;
}
