/* SPDX-License-Identifier: MIT */
/*
 * Disks. A throttled disk looks idle in its own counters, so PSI decides whether a task waited, and
 * the device only decides the name of the wait. The job's own loss is known only if the kernel
 * accounts block-I/O delay. Without it a disk is suspected at most, and a rank's sleep outside MPI
 * while its host waited for I/O counts as a wait for the disk.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/lustre_use.h"
#include "analysis/evidence/remote_storage.h"
#include "analysis/evidence/storage_limit.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(OWN_IO_MIN, 1e5, "bytes/s", "a job that reads and writes less waits for no disk")       \
    NUMBER(PSI_IO_MIN, 0.10, "PSI io some", "less is the page cache writing back")                 \
    NUMBER(DISK_LIMIT_REACHED, 0.8, "of a group's limit",                                          \
           "moved in the time that the job waited: the limit ran out")                             \
    NUMBER(DISK_SERVING_PART, 0.5, "of the job's waiting",                                         \
           "one request at a time keeps a device busy for as long as it is waited for; a "         \
           "throttle lets it idle")
#define OWN_REMARKS                                                                                \
    REMARK(IO_SLOW_DEVICE_IDLE, "its I/O is slow though the device is idle", SLOTS(), SLOTS())     \
    REMARK(IO_OF_SERVER,                                                                           \
           "its I/O is slow though the device is idle: it waits for the NFS server of %s",         \
           SLOTS(), SLOTS("export"))                                                               \
    REMARK(IO_LIMITED, "its control group may %[read|write] %.4g %[MB|times] a second",            \
           SLOTS("1: read, else write", "MB, or times, a second", "1: MB, else times"), SLOTS())   \
    REMARK(IO_AT_LIMIT,                                                                            \
           "the control group %s %[read|wrote] %.4g %[MB|times] in each second that the job "      \
           "waited, and may do so %.4g %[MB|times]",                                               \
           SLOTS("1: read, else wrote", "MB, or times, a second", "1: MB, else times",             \
                 "allowed a second", "1: MB, else times"),                                         \
           SLOTS("group"))                                                                         \
    REMARK(                                                                                        \
        NFS_CALLS,                                                                                 \
        "calls to %s: %.0f a second, %.1f ms each, %.1f ms of it network and server (mountstats)", \
        SLOTS("calls a second", "ms a call", "of it network and server, ms"), SLOTS("export"))     \
    REMARK(IO_OF_LUSTRE,                                                                           \
           "its I/O is slow though the device is idle: it waits for the servers of Lustre %s",     \
           SLOTS(), SLOTS("file system"))                                                          \
    REMARK(LUSTRE_WAITED,                                                                          \
           "calls to Lustre %s: %.0f a second; they waited for at least %.1f %% of the time, all " \
           "of them summed",                                                                       \
           SLOTS("calls a second", "waited at least, %"), SLOTS("file system"))                    \
    REMARK(LUSTRE_SLOWEST,                                                                         \
           "requests to its target %s took longest: %.0f %% of what all of them took",             \
           SLOTS("of the time of requests, %"), SLOTS("target"))                                   \
    REMARK(IO_ONE_BY_ONE, "one request after the other, each served as fast as the device can",    \
           SLOTS(), SLOTS())                                                                       \
    REMARK(DEVICE_BUSY, "the device is busy", SLOTS(), SLOTS())                                    \
    REMARK(DEVICE_SHARED, "%s uses the device, too", SLOTS(), SLOTS("program"))                    \
    REMARK(FOREIGN_IO, "%s, not of the job, read and wrote %.1f MB/s", SLOTS("MB/s"),              \
           SLOTS("program"))                                                                       \
    REMARK(PSI_IO, "some task waited for I/O %.0f %% of the time (PSI io)",                        \
           SLOTS("some task waited, %"), SLOTS())                                                  \
    REMARK(DEVICE_HAD_REQUESTS, "the busiest device had requests %.0f %% of the time",             \
           SLOTS("busy, %"), SLOTS())                                                              \
    REMARK(BLOCKED_ON_IO, "a process of the job was blocked on I/O %.0f %% of the time",           \
           SLOTS("blocked, %"), SLOTS())                                                           \
    REMARK(DELAY_NOT_COUNTED,                                                                      \
           "whether the job itself waited is not known: the kernel keeps no block-I/O delay "      \
           "(sysctl kernel.task_delayacct=1)",                                                     \
           SLOTS(), SLOTS())                                                                       \
    REMARK(DISK_BUSY_AT_MOST, "disk: busy %.0f %% of the time at most", SLOTS("busy, %"), SLOTS()) \
    REMARK(DISK_NOT_SHORT, "disk: busy %.0f %% of the time at most, tasks waited for it %.1f %%",  \
           SLOTS("busy, %", "waited, %"), SLOTS())                                                 \
    REMARK(ADVISE_COUNT_DELAY,                                                                     \
           "set kernel.task_delayacct=1 before the run, so that the job's own waiting for disks "  \
           "is counted",                                                                           \
           SLOTS(), SLOTS())                                                                       \
    REMARK(ADVISE_READ_AHEAD,                                                                      \
           "read ahead while the program computes, or keep in memory what it reads again",         \
           SLOTS(), SLOTS())                                                                       \
    REMARK(DISK_SHARED_WITH, "disk: shared with %s", SLOTS(), SLOTS("program"))                    \
    REMARK(WAITS_FOR_BUSY_DISK, "disk: it waits for a busy disk", SLOTS(), SLOTS())                \
    REMARK(WAITS_FOR_IDLE_DISK,                                                                    \
           "disk: it waits for block I/O of a disk that is not busy: throttled or remote",         \
           SLOTS(), SLOTS())                                                                       \
    REMARK(                                                                                        \
        ADVISE_RAISE_IO_MAX,                                                                       \
        "on %s, raise the limit of %[reading|writing] of the control group %s (io.max, or "        \
        "blkio.throttle of cgroup v1): it may %[read|write] %.4g %[MB|times] a second",            \
        SLOTS("1: reading", "1: read, else write", "MB, or times, a second", "1: MB, else times"), \
        SLOTS("host", "group"))                                                                    \
    REMARK(ADVISE_SEE_VOLUME,                                                                      \
           "see on %s what the job's files lie on (`findmnt -T DIR`): if it is a network file "    \
           "system, or a volume with a limit of its own, copy them to a local disk",               \
           SLOTS(), SLOTS("host"))                                                                 \
    REMARK(ADVISE_SEE_SERVER,                                                                      \
           "see what %s waits for at the NFS server of %s: its disks, its link, or copy the "      \
           "files to a local disk first",                                                          \
           SLOTS(), SLOTS("host", "export"))                                                       \
    REMARK(ADVISE_SEE_LUSTRE,                                                                      \
           "see what %s waits for at the servers of Lustre %s: which targets its files lie on "    \
           "(`lfs getstripe FILE`), and how busy these are; spread large files over more of them " \
           "(`lfs setstripe -c`), or copy the files to a local disk first",                        \
           SLOTS(), SLOTS("host", "file system"))                                                  \
    REMARK(ADVISE_FASTER_DISK,                                                                     \
           "give %s a faster disk than %s, or read less of it: keep data in memory, read ahead",   \
           SLOTS(), SLOTS("host", "disk"))                                                         \
    REMARK(                                                                                        \
        ADVISE_FASTER_SOME_DISK,                                                                   \
        "give %s a faster disk than its own, or read less of it: keep data in memory, read ahead", \
        SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

/* The share of its time that a process of the job on the host waited for disks by its wait clocks,
 * the longest. As one, a process of several threads waits only while none of them does anything
 * else: too little proves nothing, and is NAN, as without clocks. */
static double clocked_delay(const struct run_model *model, size_t group, int host) {
    double most = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *process = &model->budgets.items[r];
        const struct budget *b = &process->groups[group];
        if (process->host == host && b->source == BUDGET_FROM_CLOCKS && b->wall_s > 0 &&
            budget_closes(b))
            most = fmax(most, stats_or_zero(b->term_s[BUDGET_DISK]) / b->wall_s);
    }
    return most >= number_of(model, BLOCKED_MIN) ? most : NAN;
}

/* The longest wait of a process of the job for disks, as a share of the phase; NAN if neither the
 * kernel's counters, in which all zero looks the same as not counted, nor wait clocks tell. */
static double job_delay(const struct run_model *model, size_t group, int host) {
    double most = NAN;
    const struct model_process *process = NULL;
    while ((process = model_next_process(model, host, true, process))) {
        struct process_use use = model_group_use(model, process, group);
        most = fmax(most, use.disk_s / use.wall_s);
    }
    return fmax(most > 0 ? most : NAN, clocked_delay(model, group, host)); /* NAN if both are */
}

struct disk {
    double psi, busy; /* % */
    double delay;     /* of a process of the job, share; NAN: not accounted */
    double demand;
    unsigned terms;
};

/* The delay without the time of reading back pages that had been in memory, if the budget shows it:
 * that part belongs to memory. */
static double delay_for_disk(const struct run_model *model, size_t group, int host) {
    double delay = job_delay(model, group, host);
    double budget = model_worst_rank(model, group, host, BUDGET_DISK, NULL);
    return isnan(delay) || isnan(budget) ? delay : fmin(delay, budget);
}

/* Bytes per second that the job's own processes read and wrote there. */
static double job_bytes(const struct run_model *model, size_t group, int host) {
    double bytes = 0, wall_s = 0;
    const struct model_process *process = NULL;
    while ((process = model_next_process(model, host, true, process))) {
        struct process_use use = model_group_use(model, process, group);
        bytes += (isnan(use.read_bytes) ? 0 : use.read_bytes) +
                 (isnan(use.write_bytes) ? 0 : use.write_bytes);
        wall_s = fmax(wall_s, use.wall_s);
    }
    return wall_s > 0 ? bytes / wall_s : 0;
}

/* Pressure on the host is no reason for blame: without the job's own block-I/O delay, its own
 * reading and writing must show that it uses a disk. */
static bool is_own(const struct run_model *model, size_t group, int host, const struct disk *d) {
    return !isnan(d->delay) || job_bytes(model, group, host) >= number_of(model, OWN_IO_MIN);
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
        if (asleep > d.demand) { /* otherwise it waited in calls to files */
            d.terms |= 1u << BUDGET_IDLE;
            d.demand += asleep;
        }
        d.demand = fmin(d.demand, d.psi / 100);
    }
    return d;
}

/* Activity of the device while the job waited for it. */
enum device { DEVICE_IDLE, DEVICE_SERVING, DEVICE_FULL };

/* Whether it was busy for about as long as the job waited: then it served one request after another
 * at full speed, for the job alone. */
static enum device device_of(const struct run_model *model, const struct disk *d) {
    if (d->busy >= 100 * number_of(model, DISK_BUSY_MIN))
        return DEVICE_FULL;
    return d->busy >= 100 * number_of(model, DISK_SERVING_PART) *
                          fmax(d->demand, number_of(model, BLOCKED_MIN))
               ? DEVICE_SERVING
               : DEVICE_IDLE;
}

static void name_lustre(const struct lustre_use *use, double seconds, struct candidate *c) {
    c->kind = CAUSE_REMOTE_STORAGE;
    remark_set(&c->cause, IO_OF_LUSTRE, NUMBERS(), NAMES(use->name));
    remarks_add(&c->evidence, LUSTRE_WAITED,
                NUMBERS(use->calls / seconds, 100 * use->waited_s / seconds), NAMES(use->name));
    if (use->slowest && use->requests_s > 0)
        remarks_add(&c->evidence, LUSTRE_SLOWEST, NUMBERS(100 * use->slowest_s / use->requests_s),
                    NAMES(use->slowest->name));
}

/* Whether calls to file servers took as much of the time as makes a disk DEVICE_SERVING. */
static bool name_server(const struct run_model *model, size_t group, double demand,
                        struct candidate *c) {
    struct remote_storage remote = {.execute_s = 0};
    struct lustre_use use = {.waited_s = 0};
    double seconds = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    double least =
        number_of(model, DISK_SERVING_PART) * fmax(demand, number_of(model, BLOCKED_MIN)) * seconds;
    remote_storage_most(model, group, c->host, &remote);
    lustre_use_most(model, group, c->host, &use);
    if (fmax(remote.execute_s, use.waited_s) < least)
        return false;
    if (use.waited_s > remote.execute_s) {
        name_lustre(&use, seconds, c);
        return true;
    }
    c->kind = CAUSE_REMOTE_STORAGE;
    remark_set(&c->cause, IO_OF_SERVER, NUMBERS(), NAMES(remote.export));
    remarks_add(&c->evidence, NFS_CALLS,
                NUMBERS(remote.calls / seconds, 1e3 * remote.execute_s / remote.calls,
                        1e3 * remote.rtt_s / remote.calls),
                NAMES(remote.export));
    return true;
}

/* Megabytes, or operations. */
static double amount_of(const struct storage_limit *l, double a_second) {
    return l->operations ? a_second : a_second / 1e6;
}

/* The limit of a group that ran out while the job waited for a disk. */
static bool limit_of(const struct run_model *model, size_t group, int host, double demand,
                     struct storage_limit *ret_limit) {
    struct windows windows = phase_windows(&model->groups[group]);
    double waited_s = demand * (double)windows_length(windows) / 1e9;
    return storage_limit_nearest(model, host, windows, waited_s, ret_limit) &&
           ret_limit->moved >= number_of(model, DISK_LIMIT_REACHED) * ret_limit->limit;
}

static bool name_limit(const struct run_model *model, size_t group, double demand,
                       struct candidate *c) {
    struct storage_limit l;
    if (!limit_of(model, group, c->host, demand, &l))
        return false;
    c->resource = RESOURCE_DISK_THROTTLE;
    c->kind = CAUSE_THROTTLE;
    c->saturated = true;
    c->signals++;
    c->next = NULL;
    remark_set(&c->cause, IO_LIMITED, NUMBERS(!l.writes, amount_of(&l, l.limit), !l.operations),
               NAMES());
    remarks_add(&c->evidence, IO_AT_LIMIT,
                NUMBERS(!l.writes, amount_of(&l, l.moved), !l.operations, amount_of(&l, l.limit),
                        !l.operations),
                NAMES(l.group->name));
    return true;
}

static void name_disk(const struct run_model *model, size_t group, enum device device,
                      double demand, struct candidate *c) {
    double bytes_s;
    const struct model_process *other = writing_foreign(model, group, c->host, &bytes_s);
    if (other && bytes_s >= number_of(model, FOREIGN_WRITE_MIN)) {
        c->culprit = culprit_of(model, other);
        c->kind = CAUSE_DISK_CONTENTION;
        remark_set(&c->cause, DEVICE_SHARED, NUMBERS(), NAMES(c->culprit.process));
        remarks_add(&c->evidence, FOREIGN_IO, NUMBERS(bytes_s / 1e6), NAMES(c->culprit.process));
        c->signals++;
        return;
    }
    if (name_limit(model, group, demand, c) ||
        (device == DEVICE_IDLE && name_server(model, group, demand, c)))
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
    static const enum cause_kind kinds[] = {[DEVICE_IDLE] = CAUSE_THROTTLE,
                                            [DEVICE_SERVING] = CAUSE_UNKNOWN,
                                            [DEVICE_FULL] = CAUSE_DISK_CONTENTION};
    enum device device = device_of(model, d);
    struct candidate c = candidate_of(
        host, group, device == DEVICE_IDLE ? RESOURCE_DISK_THROTTLE : RESOURCE_DISK, kinds[device]);
    c.blocked = fmin(1, d->demand);
    c.saturated = d->psi >= 100 * number_of(model, PSI_IO_MIN) &&
                  d->delay >= number_of(model, BLOCKED_MIN) && device != DEVICE_SERVING;
    c.signals =
        (d->psi >= 100 * number_of(model, PSI_IO_MIN)) + (device == DEVICE_FULL) + !isnan(d->delay);
    bool uncounted = isnan(d->delay) && !model->recording->tables[RECORDING_WAIT].n;
    c.next = uncounted                  ? &remark_ADVISE_COUNT_DELAY
             : device == DEVICE_SERVING ? &remark_ADVISE_READ_AHEAD
                                        : NULL;
    c.metric.signal = &model->hosts[host].metrics[METRIC_PSI_IO];
    c.metric.factor = d->psi > 0 ? c.blocked / d->psi : 0;
    c.path.terms = d->terms;
    c.can_remove = true;
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_WITHOUT,
                                 .host = host,
                                 .rank = -1,
                                 .term = d->terms >> BUDGET_IDLE & 1 ? BUDGET_IDLE : BUDGET_DISK};
    remarks_add(&c.evidence, PSI_IO, NUMBERS(d->psi), NAMES());
    remarks_add(&c.evidence, DEVICE_HAD_REQUESTS, NUMBERS(d->busy), NAMES());
    if (uncounted)
        remarks_add(&c.against, DELAY_NOT_COUNTED, NUMBERS(), NAMES());
    else if (!isnan(d->delay))
        remarks_add(&c.evidence, BLOCKED_ON_IO, NUMBERS(100 * d->delay), NAMES());
    name_disk(model, group, device, d->demand, &c);
    c.saturated |= c.culprit.process && d->psi >= 100 * number_of(model, PSI_IO_MIN) &&
                   d->delay >= number_of(model, BLOCKED_MIN);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static void rule_out_disk(double psi, double busy, struct remarks *ruled_out) {
    if (isnan(psi))
        remarks_add(ruled_out, DISK_BUSY_AT_MOST, NUMBERS(busy), NAMES());
    else
        remarks_add(ruled_out, DISK_NOT_SHORT, NUMBERS(busy, psi), NAMES());
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double most_psi = NAN, most_busy = NAN;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct disk d = look_at_disk(model, group, (int)h);
        most_psi = fmax(most_psi, d.psi);
        most_busy = fmax(most_busy, d.busy);
        d.busy = isnan(d.busy) ? 0 : d.busy;
        bool waited = d.psi >= 100 * number_of(model, PSI_IO_MIN) ||
                      d.delay >= number_of(model, BLOCKED_MIN) ||
                      (d.busy >= 100 * number_of(model, DISK_BUSY_MIN) &&
                       d.psi >= 100 * number_of(model, BLOCKED_MIN));
        if (waited && d.demand >= number_of(model, BLOCKED_MIN) &&
            is_own(model, group, (int)h, &d) && add_disk(model, group, (int)h, &d, candidates) < 0)
            return -ENOMEM;
    }
    if (found_none(model, group, candidates, before) && !isnan(most_busy))
        rule_out_disk(most_psi, most_busy, &candidates->ruled_out);
    return 0;
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    const struct run_model *model = slowed->matrix->model;
    struct windows at = slowed->at;
    double bytes, wall = (double)windows_length(at) / 1e9;
    const struct model_process *other = slowed_foreign(model, s->host, at, true, &bytes);
    double busy = rate_mean(&model->hosts[s->host].metrics[METRIC_DISK_BUSY], at) / 100;
    if (other && bytes >= number_of(model, FOREIGN_WRITE_MIN) * wall) {
        slowed_blame(model, other, s);
        s->cause_kind = CAUSE_DISK_CONTENTION;
        remark_set(&s->cause, DISK_SHARED_WITH, NUMBERS(), NAMES(s->culprit));
    } else if (busy >= number_of(model, DISK_BUSY_MIN)) {
        s->cause_kind = CAUSE_DISK_CONTENTION;
        remark_set(&s->cause, WAITS_FOR_BUSY_DISK, NUMBERS(), NAMES());
    } else {
        s->cause_kind = CAUSE_THROTTLE;
        remark_set(&s->cause, WAITS_FOR_IDLE_DISK, NUMBERS(), NAMES());
    }
}

static bool most_remote(const struct advised *advised, struct remote_storage *ret_remote) {
    return remote_storage_most(advised->model, advised->c->group, advised->c->host, ret_remote);
}

static void advise(const struct advised *advised) {
    const struct series *disk = advised_most(advised, RECORDING_DISK, DISK_BUSY, "//");
    struct storage_limit l;
    bool idle = advised->c->resource == RESOURCE_DISK_THROTTLE;
    struct remote_storage remote;
    if (advised->c->culprit.process)
        advise_culprit(advised);
    else if (advised->c->cause.kind == &remark_IO_OF_LUSTRE)
        remarks_add(advised->next, ADVISE_SEE_LUSTRE, NUMBERS(),
                    NAMES(advised->host, advised->c->cause.names[0]));
    else if (advised->c->kind == CAUSE_REMOTE_STORAGE && most_remote(advised, &remote))
        remarks_add(advised->next, ADVISE_SEE_SERVER, NUMBERS(),
                    NAMES(advised->host, remote.export));
    else if (idle &&
             limit_of(advised->model, advised->c->group, advised->c->host, advised->c->blocked, &l))
        remarks_add(advised->next, ADVISE_RAISE_IO_MAX,
                    NUMBERS(!l.writes, !l.writes, amount_of(&l, l.limit), !l.operations),
                    NAMES(advised->host, l.group->name));
    else if (idle)
        remarks_add(advised->next, ADVISE_SEE_VOLUME, NUMBERS(), NAMES(advised->host));
    else if (!advised->c->next && disk)
        remarks_add(advised->next, ADVISE_FASTER_DISK, NUMBERS(), NAMES(advised->host, disk->name));
    else if (!advised->c->next)
        remarks_add(advised->next, ADVISE_FASTER_SOME_DISK, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_disk = {
    .name = "disk",
    .resource = RESOURCE_DISK,
    .kind = CAUSE_DISK_CONTENTION,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a task blocked on block I/O waits for a device, or for a throttle before it",
    .detect = detect,
    .slows = BUDGET_DISK,
    .explain = explain_slow,
    .advise = advise,
};
