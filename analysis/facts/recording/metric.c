/* SPDX-License-Identifier: MIT */
#include "analysis/facts/recording/metric.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/recording/recording.h"
#include "analysis/facts/series/align.h"

#define BIT(column) (UINT64_C(1) << (column))
#define CPU_ALL (BIT(CPU_STEAL + 1) - 1) /* the parts of a core's time */

#define PER_CENT 100.0
#define GIGA 1e-9
#define MEGA_PER_S 1e3 /* bytes/ns -> MB/s */

/* How several instances are combined: their sum, the largest at each instant, or their mean. */
enum reduce { REDUCE_SUM, REDUCE_MAX, REDUCE_MEAN };

struct metric_source {
    const char *name, *unit;
    enum recording_table table;
    double scale;
    uint64_t plus, minus;       /* columns */
    uint64_t base;              /* columns whose sum is the base; 0: elapsed time */
    const char *only, *without; /* the only instance that counts; an instance that does not */
    enum reduce reduce;
    bool level, job;
};

static const struct metric_source sources[METRIC_COUNT_] = {
    [METRIC_CPU_IDLE] = {"cpu_idle", "%", RECORDING_CPU, PER_CENT, .plus = BIT(CPU_IDLE),
                         .base = CPU_ALL},
    [METRIC_CPU_USER] = {"cpu_user", "%", RECORDING_CPU, PER_CENT,
                         .plus = BIT(CPU_USER) | BIT(CPU_NICE), .base = CPU_ALL},
    [METRIC_CPU_SYSTEM] = {"cpu_system", "%", RECORDING_CPU, PER_CENT,
                           .plus = BIT(CPU_SYSTEM) | BIT(CPU_IRQ) | BIT(CPU_SOFTIRQ),
                           .base = CPU_ALL},
    [METRIC_CPU_IOWAIT] = {"cpu_iowait", "%", RECORDING_CPU, PER_CENT, .plus = BIT(CPU_IOWAIT),
                           .base = CPU_ALL},
    [METRIC_CPU_STEAL] = {"cpu_steal", "%", RECORDING_CPU, PER_CENT, .plus = BIT(CPU_STEAL),
                          .base = CPU_ALL},
    [METRIC_MEM_USED] = {"mem_used", "GB", RECORDING_MEMORY, GIGA, .plus = BIT(MEMORY_TOTAL),
                         .minus = BIT(MEMORY_AVAILABLE), .level = true},
    [METRIC_MEM_FREE] = {"mem_free", "GB", RECORDING_MEMORY, GIGA, .plus = BIT(MEMORY_AVAILABLE),
                         .level = true},
    [METRIC_NET_RECV] = {"net_recv", "MB/s", RECORDING_NET, MEGA_PER_S,
                         .plus = BIT(NET_RECEIVE_BYTES), .without = KEY_LOOPBACK},
    [METRIC_NET_SEND] = {"net_send", "MB/s", RECORDING_NET, MEGA_PER_S, .plus = BIT(NET_SEND_BYTES),
                         .without = KEY_LOOPBACK},
    [METRIC_DISK_READ] = {"disk_read", "MB/s", RECORDING_DISK, MEGA_PER_S,
                          .plus = BIT(DISK_READ_BYTES)},
    [METRIC_DISK_WRITE] = {"disk_write", "MB/s", RECORDING_DISK, MEGA_PER_S,
                           .plus = BIT(DISK_WRITE_BYTES)},
    [METRIC_DISK_BUSY] = {"disk_busy", "%", RECORDING_DISK, PER_CENT, .plus = BIT(DISK_BUSY),
                          .reduce = REDUCE_MAX},
    [METRIC_PSI_CPU] = {"psi_cpu", "%", RECORDING_PSI, PER_CENT, .plus = BIT(PSI_SOME),
                        .only = "cpu"},
    [METRIC_PSI_MEMORY] = {"psi_memory", "%", RECORDING_PSI, PER_CENT, .plus = BIT(PSI_SOME),
                           .only = "memory"},
    [METRIC_PSI_IO] = {"psi_io", "%", RECORDING_PSI, PER_CENT, .plus = BIT(PSI_SOME), .only = "io"},
    [METRIC_CPU_CORE_MAX] = {"cpu_core_max", "%", RECORDING_CPU, PER_CENT,
                             .plus = CPU_ALL & ~(BIT(CPU_IDLE) | BIT(CPU_IOWAIT)), .base = CPU_ALL,
                             .reduce = REDUCE_MAX},
    [METRIC_JOB_CPU] = {"job_cpu", "%", RECORDING_PROCESS, PER_CENT,
                        .plus = BIT(PROCESS_USER) | BIT(PROCESS_SYSTEM) | BIT(PROCESS_UNSEEN),
                        .job = true},
    [METRIC_JOB_RUN_QUEUE] = {"job_run_queue", "%", RECORDING_PROCESS, PER_CENT,
                              .plus = BIT(PROCESS_RUN_QUEUE), .job = true},
    [METRIC_JOB_MEM] = {"job_mem", "GB", RECORDING_PROCESS, GIGA, .plus = BIT(PROCESS_RSS),
                        .level = true, .job = true},
    [METRIC_GPU_SM] = {"gpu_sm", "%", RECORDING_GPU, PER_CENT, .plus = BIT(GPU_SM),
                       .reduce = REDUCE_MEAN},
    [METRIC_GPU_BUSY] = {"gpu_busy", "%", RECORDING_GPU, PER_CENT, .plus = BIT(GPU_BUSY),
                         .reduce = REDUCE_MEAN},
    [METRIC_GPU_TENSOR] = {"gpu_tensor", "%", RECORDING_GPU, PER_CENT, .plus = BIT(GPU_TENSOR),
                           .reduce = REDUCE_MEAN},
    [METRIC_GPU_DRAM] = {"gpu_dram", "%", RECORDING_GPU, PER_CENT, .plus = BIT(GPU_DRAM),
                         .reduce = REDUCE_MEAN},
    [METRIC_GPU_TO] = {"gpu_pcie_to", "MB/s", RECORDING_GPU, MEGA_PER_S,
                       .plus = BIT(GPU_PCIE_RECEIVE)},
    [METRIC_GPU_FROM] = {"gpu_pcie_from", "MB/s", RECORDING_GPU, MEGA_PER_S,
                         .plus = BIT(GPU_PCIE_SEND)},
    [METRIC_GPU_MEM] = {"gpu_mem", "GB", RECORDING_GPU, GIGA, .plus = BIT(GPU_MEMORY_USED),
                        .level = true},
    [METRIC_GPU_WATTS] = {"gpu_watts", "W", RECORDING_GPU, GIGA, .plus = BIT(GPU_WATTS),
                          .level = true},
};

const char *metric_name(enum metric metric) {
    return sources[metric].name;
}
const char *metric_unit(enum metric metric) {
    return sources[metric].unit;
}

bool metric_is_of_gpu(enum metric metric) {
    return sources[metric].table == RECORDING_GPU;
}

/* A part of a divided GPU (MIG) counts with the card. */
static bool counts(const void *ctx, const struct series_set *set, const struct series *series) {
    const struct metric_source *source = ctx;
    if (source->only && strcmp(series->name, source->only) != 0)
        return false;
    if (source->without && strcmp(series->name, source->without) == 0)
        return false;
    if (!source->only && source->table == RECORDING_GPU && strchr(series->name, '/'))
        return false;
    return !source->job || series_ever(set, series, PROCESS_JOB, 1);
}

/* Amounts and bases of one instance. */
struct part {
    double *amount, *covered, *base, *base_covered;
};

static void fill_part(const struct metric_source *source, const struct series_set *set,
                      const struct series *series, const struct rate *grid, struct part *part) {
    memset(part->amount, 0, 4 * (grid->n + 1) * sizeof *part->amount);
    if (source->level)
        align_level(set, series, source->plus, source->minus, grid, part->amount, part->covered);
    else
        align_growth(set, series, source->plus, grid, part->amount, part->covered);
    if (source->base)
        align_growth(set, series, source->base, grid, part->base, part->base_covered);
    else
        memcpy(part->base, part->covered, grid->n * sizeof *part->base);
    for (size_t i = 0; i < grid->n; i++)
        if (!(part->covered[i] > 0))
            part->base[i] = 0;
}

static void add_part(const struct metric_source *source, struct rate *rate,
                     const struct part *part) {
    for (size_t i = 0; i < rate->n; i++) {
        if (!(part->base[i] > 0))
            continue;
        double value = part->amount[i] / part->base[i];
        if (source->reduce == REDUCE_MAX) {
            if (rate->base[i] > 0 && value <= rate->amount[i] / rate->base[i])
                continue;
            rate->amount[i] = value * part->covered[i]; /* weighted by the time of the instants */
            rate->base[i] = part->covered[i];
        } else {
            rate->amount[i] += part->amount[i];
            if (source->base || source->reduce == REDUCE_MEAN)
                rate->base[i] += part->base[i];
            else if (part->base[i] > rate->base[i])
                rate->base[i] = part->base[i];
        }
    }
}

/* The first row of any process of the host after after_ns, or until_ns. */
static int64_t next_scan(const struct series_set *set, int host, int64_t after_ns,
                         int64_t until_ns) {
    for (size_t s = 0; s < set->n; s++)
        for (size_t i = set->items[s].n; set->items[s].host == host && i-- > 0;) {
            if (set->items[s].t_ns[i] <= after_ns)
                break;
            if (set->items[s].t_ns[i] < until_ns)
                until_ns = set->items[s].t_ns[i];
        }
    return until_ns;
}

/* After the last scan of the job's processes nothing is known about them until the next scan, which
 * finds them gone. That is within one interval, even if no other row shows it.
 */
static struct window unseen_end(const struct metric_source *source, const struct series_set *set,
                                int host) {
    struct window unseen = {INT64_MIN, INT64_MIN};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *series = &set->items[s];
        if (series->host != host || !series->n || !counts(source, set, series) ||
            series->t_ns[series->n - 1] <= unseen.begin_ns)
            continue;
        int64_t interval = series->interval_ns[series->n - 1];
        unseen.begin_ns = series->t_ns[series->n - 1];
        unseen.end_ns = unseen.begin_ns + (interval == VALUE_ABSENT ? 0 : interval);
    }
    unseen.end_ns = next_scan(set, host, unseen.begin_ns, unseen.end_ns);
    return unseen;
}

static bool lies_in(const struct rate *rate, size_t cell, struct window window) {
    return rate->t_ns[cell] - rate->dt_ns[cell] >= window.begin_ns &&
           rate->t_ns[cell] <= window.end_ns;
}

/* For the job's processes: while the host was observed, no process is a zero. */
static void cover_absent(const struct series_set *clock, int host, struct window unseen,
                         struct rate *rate, struct part *part) {
    for (size_t s = 0; s < clock->n; s++) {
        if (clock->items[s].host != host)
            continue;
        memset(part->amount, 0, 4 * (rate->n + 1) * sizeof *part->amount);
        align_growth(clock, &clock->items[s], UINT64_MAX, rate, part->amount, part->covered);
        for (size_t i = 0; i < rate->n; i++)
            if (part->covered[i] > rate->base[i] && !lies_in(rate, i, unseen))
                rate->base[i] = part->covered[i];
    }
}

static bool has_host(const struct series_set *set, int host) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            return true;
    return false;
}

/* Processes come and go, so their rows are no clock; the host's CPU rows are, if there are any. */
static const struct series_set *clock_of(const struct recording *recording, int host,
                                         const struct metric_source *source) {
    const struct series_set *cpu = &recording->tables[RECORDING_CPU];
    return source->job && has_host(cpu, host) ? cpu : &recording->tables[source->table];
}

static int rate_of_source(const struct recording *recording, int host,
                          const struct metric_source *source, struct rate *ret_rate) {
    const struct series_set *set = &recording->tables[source->table];
    const struct series_set *clock = clock_of(recording, host, source);
    struct rate rate = {0};
    if (source->job && !set->n)
        return rate_init(ret_rate, 0, source->scale);
    int result = align_grid(clock, host, source->job ? NULL : counts, source, source->scale, &rate);
    if (result == 0 && source->job) /* the job's start and end split cells exactly */
        result = rate_cut(&rate, 0);
    if (result == 0 && source->job)
        result = rate_cut(&rate, recording->duration_ns);
    if (result < 0)
        return rate_release(&rate), result;
    double *room = calloc(4 * (rate.n + 1), sizeof *room);
    if (!room)
        return rate_release(&rate), -ENOMEM;
    struct part part = {room, room + rate.n + 1, room + 2 * (rate.n + 1), room + 3 * (rate.n + 1)};
    for (size_t s = 0; s < set->n; s++) {
        if (set->items[s].host != host || !counts(source, set, &set->items[s]))
            continue;
        fill_part(source, set, &set->items[s], &rate, &part);
        add_part(source, &rate, &part);
    }
    if (source->job)
        cover_absent(clock, host, unseen_end(source, set, host), &rate, &part);
    free(room);
    *ret_rate = rate;
    return 0;
}

int metric_rate(const struct recording *recording, int host, enum metric metric,
                struct rate *ret_rate) {
    return rate_of_source(recording, host, &sources[metric], ret_rate);
}

int metric_rate_of(const struct recording *recording, int host, enum metric metric,
                   const char *instance, struct rate *ret_rate) {
    struct metric_source source = sources[metric];
    source.only = instance;
    return rate_of_source(recording, host, &source, ret_rate);
}
