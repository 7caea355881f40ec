/* SPDX-License-Identifier: MIT */
/*
 * Disk and memory. A throttled disk looks idle to its own counters, so PSI decides whether anybody
 * waited and the device only which of the two names the waiting gets. The job's own loss is known
 * only if the kernel accounts block-I/O delay. Without it a disk is suspected at most, and sleep of
 * a rank outside MPI while its host waited for I/O counts as waiting for it.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/remote_storage.h"

/* The longest block-I/O delay of a process of the job, as a share of the phase; NAN if the kernel
 * keeps none (all zero looks the same). */
static double job_delay(const struct run_model *model, size_t group, int host) {
    double most = NAN;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->host != host || !process->job)
            continue;
        struct process_use use =
            model_process_use(model, process, phase_windows(&model->groups[group]));
        most = fmax(most, use.disk_s / use.wall_s);
    }
    return most > 0 ? most : NAN;
}

struct disk {
    double psi, busy; /* % */
    double delay;     /* of a process of the job, share; NAN: not accounted */
    double demand;
    unsigned terms;
};

/* Less what a budget says was reading back what had been in memory before: that is memory's. */
static double delay_for_disk(const struct run_model *model, size_t group, int host) {
    double delay = job_delay(model, group, host);
    double budget = model_worst_rank(model, group, host, BUDGET_DISK, NULL);
    return isnan(delay) || isnan(budget) ? delay : fmin(delay, budget);
}

/* Bytes a second that the job's own processes read and wrote there. */
static double job_bytes(const struct run_model *model, size_t group, int host) {
    double bytes = 0, wall_s = 0;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->host != host || !process->job)
            continue;
        struct process_use use =
            model_process_use(model, process, phase_windows(&model->groups[group]));
        bytes += (isnan(use.read_bytes) ? 0 : use.read_bytes) +
                 (isnan(use.write_bytes) ? 0 : use.write_bytes);
        wall_s = fmax(wall_s, use.wall_s);
    }
    return wall_s > 0 ? bytes / wall_s : 0;
}

/* Pressure on the host accuses nobody: without the job's own block-I/O delay its own reading and
 * writing must show that it uses a disk at all. */
static bool is_own(const struct run_model *model, size_t group, int host, const struct disk *d) {
    return !isnan(d->delay) || job_bytes(model, group, host) >= OWN_IO_MIN;
}

static struct disk look_at_disk(const struct run_model *model, size_t group, int host) {
    struct disk d = {.psi = model_mean(model, host, METRIC_PSI_IO, group),
                     .busy = model_mean(model, host, METRIC_DISK_BUSY, group),
                     .delay = delay_for_disk(model, group, host),
                     .terms = 1u << BUDGET_DISK};
    double waited = isnan(d.delay) ? d.psi / 100 : d.delay;
    d.demand = model_demand(model, group, host, BUDGET_DISK);
    if (isnan(d.demand)) {
        d.demand = waited;
    } else if (isnan(d.delay)) {
        double asleep = model_demand(model, group, host, BUDGET_IDLE);
        if (asleep > d.demand) { /* else it waited in calls to files */
            d.terms |= 1u << BUDGET_IDLE;
            d.demand += asleep;
        }
        d.demand = fmin(d.demand, d.psi / 100);
    }
    return d;
}

/* Activity of the device while the job waited for it. */
enum device { DEVICE_IDLE, DEVICE_SERVING, DEVICE_FULL };

/* Busy for about as long as the job waited: it served one request after the other, as fast as it
 * can, and nobody else had it. */
static enum device device_of(const struct disk *d) {
    if (d->busy >= 100 * DISK_BUSY_MIN)
        return DEVICE_FULL;
    return d->busy >= 100 * DISK_SERVING_PART * fmax(d->demand, BLOCKED_MIN) ? DEVICE_SERVING
                                                                             : DEVICE_IDLE;
}

/* Calls to a server of files took as much of the time as makes a device one that serves. */
static bool name_server(const struct run_model *model, size_t group, double demand,
                        struct candidate *c) {
    struct remote_storage remote;
    double seconds = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    if (!remote_storage_most(model, group, c->host, &remote) ||
        remote.execute_s < DISK_SERVING_PART * fmax(demand, BLOCKED_MIN) * seconds)
        return false;
    c->kind = CAUSE_REMOTE_STORAGE;
    remark_set(&c->cause, IO_OF_SERVER, NUMBERS(), NAMES(remote.export));
    remarks_add(&c->evidence, NFS_CALLS,
                NUMBERS(remote.calls / seconds, 1e3 * remote.execute_s / remote.calls,
                        1e3 * remote.rtt_s / remote.calls),
                NAMES(remote.export));
    return true;
}

static void name_disk(const struct run_model *model, size_t group, enum device device,
                      double demand, struct candidate *c) {
    double bytes_s;
    const struct model_process *other = writing_foreign(model, group, c->host, &bytes_s);
    if (other && bytes_s >= FOREIGN_WRITE_MIN) {
        c->culprit = culprit_of(model, other);
        c->kind = CAUSE_DISK_CONTENTION;
        remark_set(&c->cause, DEVICE_SHARED, NUMBERS(), NAMES(c->culprit.process));
        remarks_add(&c->evidence, FOREIGN_IO, NUMBERS(bytes_s / 1e6), NAMES(c->culprit.process));
        c->signals++;
        return;
    }
    if (device == DEVICE_IDLE && name_server(model, group, demand, c))
        return;
    if (device == DEVICE_IDLE)
        remark_set(&c->cause, IO_SLOW_DEVICE_IDLE, NUMBERS(), NAMES());
    else if (device == DEVICE_SERVING)
        remark_set(&c->cause, IO_ONE_BY_ONE, NUMBERS(), NAMES());
    else
        remark_set(&c->cause, DEVICE_BUSY, NUMBERS(), NAMES());
}

static int add_disk(const struct run_model *model, size_t group, int host, const struct disk *d,
                    struct candidates *candidates) {
    static const enum cause kinds[] = {[DEVICE_IDLE] = CAUSE_THROTTLE,
                                       [DEVICE_SERVING] = CAUSE_UNKNOWN,
                                       [DEVICE_FULL] = CAUSE_DISK_CONTENTION};
    enum device device = device_of(d);
    struct candidate c = candidate_of(
        host, group, device == DEVICE_IDLE ? RESOURCE_DISK_THROTTLE : RESOURCE_DISK, kinds[device]);
    c.blocked = fmin(1, d->demand);
    c.saturated = d->psi >= 100 * PSI_IO_MIN && d->delay >= BLOCKED_MIN && device != DEVICE_SERVING;
    c.signals = (d->psi >= 100 * PSI_IO_MIN) + (device == DEVICE_FULL) + !isnan(d->delay);
    c.next = isnan(d->delay)            ? REMARK_ADVISE_COUNT_DELAY
             : device == DEVICE_SERVING ? REMARK_ADVISE_READ_AHEAD
                                        : REMARK_NONE;
    c.signal = &model->hosts[host].metrics[METRIC_PSI_IO];
    c.factor = d->psi > 0 ? c.blocked / d->psi : 0;
    c.terms = d->terms;
    c.can_remove = true;
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_WITHOUT,
                                 .host = host,
                                 .rank = -1,
                                 .term = d->terms >> BUDGET_IDLE & 1 ? BUDGET_IDLE : BUDGET_DISK};
    remarks_add(&c.evidence, PSI_IO, NUMBERS(d->psi), NAMES());
    remarks_add(&c.evidence, DEVICE_HAD_REQUESTS, NUMBERS(d->busy), NAMES());
    if (isnan(d->delay))
        remarks_add(&c.against, DELAY_NOT_COUNTED, NUMBERS(), NAMES());
    else
        remarks_add(&c.evidence, BLOCKED_ON_IO, NUMBERS(100 * d->delay), NAMES());
    name_disk(model, group, device, d->demand, &c);
    c.saturated |= c.culprit.process && d->psi >= 100 * PSI_IO_MIN && d->delay >= BLOCKED_MIN;
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static void rule_out_disk(double psi, double busy, struct remarks *ruled_out) {
    if (isnan(psi))
        remarks_add(ruled_out, DISK_BUSY_AT_MOST, NUMBERS(busy), NAMES());
    else
        remarks_add(ruled_out, DISK_NOT_SHORT, NUMBERS(busy, psi), NAMES());
}

int saturation_disk(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double most_psi = NAN, most_busy = NAN;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct disk d = look_at_disk(model, group, (int)h);
        most_psi = fmax(most_psi, d.psi);
        most_busy = fmax(most_busy, d.busy);
        d.busy = isnan(d.busy) ? 0 : d.busy;
        bool waited = d.psi >= 100 * PSI_IO_MIN || d.delay >= BLOCKED_MIN ||
                      (d.busy >= 100 * DISK_BUSY_MIN && d.psi >= 100 * BLOCKED_MIN);
        if (waited && d.demand >= BLOCKED_MIN && is_own(model, group, (int)h, &d) &&
            add_disk(model, group, (int)h, &d, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && group == model->main_group && !isnan(most_busy))
        rule_out_disk(most_psi, most_busy, &candidates->ruled_out);
    return 0;
}

/* ---- memory ---- */

struct shortage {
    double psi, available, refault_mb_s, swap_mb_s;
    double limit_used, limit_hits_s; /* of the job's control group; NAN without a limit */
    double demand;
};

/* At its end a job has given back what it held. */
static int64_t most_used(const struct series_set *set, const struct series *group) {
    int64_t most = 0;
    for (size_t row = 0; row < group->n; row++) {
        int64_t used = series_value(set, group, row, CGROUP_MEMORY);
        most = used != VALUE_ABSENT && used > most ? used : most;
    }
    return most;
}

/* The group with a limit that is fullest. */
static void look_at_limit(const struct run_model *model, int host, struct windows windows,
                          struct shortage *s) {
    const struct series_set *set = &model->recording->tables[RECORDING_CGROUP];
    s->limit_used = s->limit_hits_s = NAN;
    for (size_t i = 0; i < set->n; i++) {
        const struct series *group = &set->items[i];
        int64_t limit = series_last(set, group, CGROUP_MEMORY_LIMIT);
        int64_t used = most_used(set, group);
        if (group->host != host || limit <= 0 || used <= 0)
            continue;
        double share = (double)used / (double)limit;
        if (!isnan(s->limit_used) && share <= s->limit_used)
            continue;
        s->limit_used = share;
        s->limit_hits_s = series_growth(set, group, CGROUP_LIMIT_HITS, windows, NULL) /
                          ((double)windows_length(windows) / 1e9);
    }
}

static struct shortage measure(const struct run_model *model, size_t group, int host) {
    struct windows windows = phase_windows(&model->groups[group]);
    double seconds = (double)windows_length(windows) / 1e9;
    struct shortage s = {
        .psi = model_mean(model, host, METRIC_PSI_MEMORY, group),
        .available = model_mean(model, host, METRIC_MEM_FREE, group) / model->hosts[host].memory_gb,
        .refault_mb_s =
            model_growth(model, host, RECORDING_VMSTAT, VMSTAT_REFAULT, windows) / 1e6 / seconds,
        .swap_mb_s = (model_growth(model, host, RECORDING_VMSTAT, VMSTAT_SWAP_IN, windows) +
                      model_growth(model, host, RECORDING_VMSTAT, VMSTAT_SWAP_OUT, windows)) /
                     1e6 / seconds,
    };
    look_at_limit(model, host, windows, &s);
    double demand = model_demand(model, group, host, BUDGET_MEMORY);
    if (isnan(demand)) /* the kernel's pressure leaves out what the budget of a process knows */
        demand = fmax(s.psi / 100, model_worst_rank(model, group, host, BUDGET_MEMORY, NULL));
    s.demand = demand;
    return s;
}

static bool is_moving(const struct shortage *s) {
    return s->refault_mb_s >= REFAULT_MIN_MB_S || s->swap_mb_s >= SWAP_MIN_MB_S;
}

/* Reading back what its own limit had pushed out shows as waiting for a disk or for memory: with
 * the limit reached again and again both are for want of memory. */
static bool is_at_limit(const struct shortage *s) {
    return s->limit_used >= LIMIT_NEAR && s->limit_hits_s > 0;
}

static void say_memory(const struct shortage *s, struct candidate *c) {
    bool short_of_it = s->available < HEADROOM_MIN;
    remarks_add(&c->evidence, PSI_MEMORY, NUMBERS(s->psi), NAMES());
    remarks_add(&c->evidence, PAGES_READ_AGAIN, NUMBERS(s->refault_mb_s, s->swap_mb_s), NAMES());
    if (is_at_limit(s))
        remarks_add(&c->evidence, LIMIT_HIT, NUMBERS(100 * s->limit_used, s->limit_hits_s),
                    NAMES());
    else
        remarks_add(short_of_it ? &c->evidence : &c->against, MEMORY_AVAILABLE,
                    NUMBERS(100 * s->available), NAMES());
}

static int add_memory(const struct run_model *model, size_t group, int host,
                      const struct shortage *s, struct candidates *candidates) {
    bool swaps = s->swap_mb_s >= SWAP_MIN_MB_S, limited = is_at_limit(s);
    bool short_of_it = s->available < HEADROOM_MIN || limited;
    struct candidate c = candidate_of(host, group, RESOURCE_MEMORY,
                                      swaps && !limited ? CAUSE_SWAP : CAUSE_MEMORY_LIMIT);
    c.blocked = fmin(1, s->demand);
    c.saturated = (s->psi >= 100 * PSI_MEMORY_MIN || limited) && is_moving(s) && short_of_it;
    c.signals = (s->psi >= 100 * PSI_MEMORY_MIN) + is_moving(s) + short_of_it;
    c.signal = &model->hosts[host].metrics[METRIC_PSI_MEMORY];
    c.factor = s->psi > 0 ? c.blocked / s->psi : 0;
    c.terms = 1u << BUDGET_MEMORY | (limited ? 1u << BUDGET_DISK : 0);
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_MEMORY};
    if (limited)
        remark_set(&c.cause, OVER_GROUP_LIMIT, NUMBERS(), NAMES());
    else if (swaps)
        remark_set(&c.cause, SWAPPING, NUMBERS(), NAMES());
    else
        remark_set(&c.cause, OVER_MEMORY, NUMBERS(), NAMES());
    say_memory(s, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Which is charged to the disk, since that is where they sleep. */
static double with_limit(const struct run_model *model, size_t group, int host,
                         const struct shortage *s) {
    double disk = model_demand(model, group, host, BUDGET_DISK);
    return is_at_limit(s) && is_moving(s) && disk > 0 ? s->demand + disk : s->demand;
}

static void rule_out_memory(double least, double psi, struct remarks *ruled_out) {
    bool little = least < 0.995, waited = psi >= 0.05;
    if (little && waited)
        remarks_add(ruled_out, MEMORY_FREE_BUT_WAITED, NUMBERS(100 * least, psi), NAMES());
    else if (little)
        remarks_add(ruled_out, MEMORY_FREE, NUMBERS(100 * least), NAMES());
    else if (waited)
        remarks_add(ruled_out, MEMORY_NEARLY_FREE_BUT_WAITED, NUMBERS(psi), NAMES());
    else
        remarks_add(ruled_out, MEMORY_NEARLY_FREE, NUMBERS(), NAMES());
}

int saturation_memory(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double most_psi = NAN, least = NAN;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct shortage s = measure(model, group, (int)h);
        s.demand = with_limit(model, group, (int)h, &s);
        most_psi = fmax(most_psi, s.psi);
        least = fmin(least, s.available);
        if (s.demand >= BLOCKED_MIN && (s.psi >= 100 * PSI_MEMORY_MIN || is_at_limit(&s)) &&
            add_memory(model, group, (int)h, &s, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && group == model->main_group && !isnan(least))
        rule_out_memory(least, most_psi, &candidates->ruled_out);
    return 0;
}
