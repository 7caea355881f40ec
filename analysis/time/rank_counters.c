/* SPDX-License-Identifier: MIT */
/*
 * Divides time that is counted only for a host or a group among its processes, in proportion to
 * their own symptoms: throttling by their waits for a core, steal by their CPU time; for short
 * memory see rank_memory.c.
 *
 * The kernel counts each thread's wait for a core, even behind threads of its own process. A
 * process waits at most as long as other processes have its cores, or keep it from them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/times.h"
#include "analysis/time/rank_counters_private.h"

static bool withheld(const struct process_part *p, enum observed_source source) {
    return judge_withholds(p->model->judge, source);
}

static bool is_known(const struct series_set *set, const struct series *series, size_t column) {
    return series_last(set, series, column) != VALUE_ABSENT;
}

/* ---- of the host ---- */

static double sum_of_job(const struct process_part *p, size_t column, struct windows w) {
    const struct series_set *set = &p->model->recording->tables[RECORDING_PROCESS];
    double sum = 0;
    for (size_t i = 0; i < p->model->n_processes; i++) {
        const struct model_process *process = &p->model->processes[i];
        if (process->host == p->host && process->job)
            sum += series_growth(set, process->series, column, w, NULL);
    }
    return sum;
}

/* How long the job's processes on the host waited for a core. */
static double job_queue(const struct process_part *p, struct windows w) {
    double sum = counters_of_host(p, RECORDING_RANK, RANK_RUN_QUEUE, w);
    return sum > 0 ? sum : sum_of_job(p, PROCESS_RUN_QUEUE, w);
}

/* The mean number of the job's tasks that were ready for each core of the host; 1 at least. */
static double ready_for_a_core(const struct process_part *p, double queue, struct windows w) {
    double ran = sum_of_job(p, PROCESS_USER, w) + sum_of_job(p, PROCESS_SYSTEM, w);
    double cores = fmax(1, p->model->hosts[p->host].n_cpus), length = (double)windows_length(w);
    return length > 0 ? fmax(1, (queue + ran) / length / cores) : 1;
}

/* Throttled time of the group that was throttled most, since groups contain each other. NAN if none
 * is known.
 */
static double throttled(const struct process_part *p, struct windows w) {
    const struct series_set *set = &p->model->recording->tables[RECORDING_CGROUP];
    double most = NAN;
    if (withheld(p, SOURCE_CGROUP))
        return NAN;
    for (size_t s = p->at[RECORDING_CGROUP].begin; s < p->at[RECORDING_CGROUP].end; s++)
        if (set->items[s].host == p->host && is_known(set, &set->items[s], CGROUP_THROTTLED))
            most = fmax(isnan(most) ? 0 : most,
                        series_growth(set, &set->items[s], CGROUP_THROTTLED, w, NULL));
    return most;
}

static bool knows_steal(const struct recording *recording, int host) {
    const struct series_set *set = &recording->tables[RECORDING_CPU];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && is_known(set, &set->items[s], CPU_STEAL))
            return true;
    return false;
}

/* ---- a process's part ---- */

static double steal_part(const struct process_part *p, double cpu, struct windows w) {
    if (!p->knows_steal)
        return NAN;
    double steal = counters_of_host(p, RECORDING_CPU, CPU_STEAL, w), busy = 0;
    if (steal <= 0)
        return 0;
    for (size_t c = CPU_USER; c <= CPU_SYSTEM; c++)
        busy += counters_of_host(p, RECORDING_CPU, c, w);
    return busy > 0 ? steal * fmin(cpu / busy, 1) : 0;
}

/* The busiest of its connections, since they are busy at the same time. NAN if none was ever seen.
 */
static double sending_part(const struct process_part *p, struct windows w) {
    const struct series_set *set = &p->model->recording->tables[RECORDING_CONNECTION];
    double longest = NAN;
    for (size_t s = p->at[RECORDING_CONNECTION].begin; s < p->at[RECORDING_CONNECTION].end; s++)
        if (set->items[s].host == p->host &&
            series_last(set, &set->items[s], CONNECTION_PID) == p->pid)
            longest = fmax(isnan(longest) ? 0 : longest,
                           series_growth(set, &set->items[s], CONNECTION_BUSY, w, NULL));
    return longest;
}

/* How long the threads of this process waited for its quota, for each ns that the group was
 * throttled, from counters around w: a wait is counted when it ends, throttling when the group may
 * run again. Throttling is counted once a core, and all tasks that are ready for the core wait at
 * once, each in full: at most the process's own threads that were ready. as_one: its wait is that
 * of the process, in which threads that wait at once count once.
 */
static double waits_at_once(const struct process_part *p, const struct source *s, bool as_one,
                            struct windows w) {
    struct window wide;
    struct windows around = counters_around(&w.items[0], &wide);
    double all = job_queue(p, around), own = counters_growth(s, s->run_queue, around);
    double ran = counters_cpu(s, around), length = (double)windows_length(around);
    double ready = as_one || isnan(ran) ? 1 : fmax(1, (ran + own) / length);
    return all > 0 && own > 0 ? fmin(own / all * ready_for_a_core(p, all, around), ready) : 0;
}

/* May be more than the process is known to have waited in that interval: see budget_settle_waits.
 */
static double quota_part(const struct process_part *p, const struct source *s, bool as_one,
                         struct windows w) {
    double all = throttled(p, w);
    return isnan(all) || all <= 0 ? all : all * waits_at_once(p, s, as_one, w);
}

#define CROWDED 1.05  /* of an interval: more is beyond the jitter of sampling */
#define OWN_CORES 0.9 /* of its CPU time: it did not run on cores that were busy for less */

/* CPU time of everything else on the host's cores, including the host itself; NAN if only the sum
 * of a group's own time is counted, or not all of the time.
 */
static double others_cpu(const struct process_part *p, double own, struct windows w) {
    const struct series_set *set = &p->model->recording->tables[RECORDING_CPU];
    double sum = 0;
    bool any = false;
    for (size_t s = p->at[RECORDING_CPU].begin; s < p->at[RECORDING_CPU].end; s++) {
        const struct series *core = &set->items[s];
        if (core->host != p->host)
            continue;
        bool outside = is_known(set, core, CPU_OUTSIDE);
        if ((core->key.core == KEY_ALL_CORES && !outside) || !is_known(set, core, CPU_USER))
            return NAN;
        for (size_t c = CPU_USER; c <= CPU_STEAL; c++)
            sum += c == CPU_IDLE || c == CPU_IOWAIT ? 0 : series_growth(set, core, c, w, NULL);
        sum += outside ? series_growth(set, core, CPU_OUTSIDE, w, NULL) : 0;
        any = true;
    }
    return any && sum >= OWN_CORES * own ? fmax(sum - own, 0) : NAN;
}

/* Throttled time of its group, which is counted when the group may run again: within w, or soon
 * after.
 */
static double held_back(const struct process_part *p, struct windows w) {
    struct window wide;
    double about = throttled(p, counters_around(&w.items[0], &wide)) / 3;
    double held = fmax(throttled(p, w), about);
    return held > 0 ? held : 0;
}

/* Time in which other processes kept its threads from running. NAN if not known. Used only if its
 * threads ran and waited longer than the interval: otherwise each may have waited for its own
 * reasons.
 */
static double foreign_part(const struct process_part *p, double cpu, double queue,
                           struct windows w) {
    if (isnan(cpu) || !(cpu + queue > CROWDED * (double)windows_length(w)) || !p->has_threads)
        return NAN;
    return others_cpu(p, cpu, w) + held_back(p, w);
}

/* Stopped time in the row that contains the interval, at most the time in which the process did
 * nothing there.
 */
static double stopped_part(const struct process_part *p, const struct source *s, double cpu,
                           struct windows w) {
    const struct source *often = &p->often;
    bool is_often = often->series && is_known(often->set, often->series, RANK_STOPPED);
    const struct source *stops = is_often ? often : &p->seldom;
    struct window row = rank_row_around(stops->series, w);
    struct windows rows = {&row, 1};
    double stopped = counters_growth(stops, is_often ? RANK_STOPPED : PROCESS_STOPPED, rows);
    if (!(stopped > 0))
        return stopped; /* or not known */
    double room = fmax((double)windows_length(w) - (isnan(cpu) ? 0 : cpu), 0);
    double all = (double)windows_length(rows) - counters_cpu(s, rows);
    return all > 0 ? stopped * fmin(room / all, 1) : 0;
}

/* Ranks whose every call is known, or that spin, keep the waits of their own threads. */
static double queue_part(const struct process_part *p, double cpu, double queue, struct windows w) {
    if (p->often.series || p->mpi || isnan(cpu) || !p->has_threads)
        return queue;
    double others = others_cpu(p, cpu, w);
    return isnan(others) || isnan(queue) ? queue : fmin(queue, others + held_back(p, w));
}

/* When the process began; INT64_MAX if that is not known or makes no sense. */
static int64_t start_of(const struct run_model *model, const struct model_process *process) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    int64_t start = series_last(set, process->series, PROCESS_START);
    return start != VALUE_ABSENT && time_is_sane(start) && start <= process->series->t_ns[0]
               ? start
               : INT64_MAX;
}

static struct process_part part_of(const struct run_model *model,
                                   const struct model_process *process, int64_t pid) {
    const struct series_set *rank = &model->recording->tables[RECORDING_RANK];
    struct process_part part = {
        .model = model,
        .process = process,
        .often = {rank, series_of_pid(rank, process->host, RANK_PID, pid), UINT64_C(1) << RANK_RUN,
                  RANK_RUN_QUEUE, RANK_BLOCK_IO, RANK_MAJOR_FAULTS, RANK_LONGEST},
        .seldom = {&model->recording->tables[RECORDING_PROCESS], process->series,
                   UINT64_C(1) << PROCESS_USER | UINT64_C(1) << PROCESS_SYSTEM, PROCESS_RUN_QUEUE,
                   PROCESS_BLOCK_IO, PROCESS_MAJOR_FAULTS, 0},
        .mpi = series_of_pid(&model->recording->tables[RECORDING_MPI], process->host, MPI_PID, pid),
        .start_ns = start_of(model, process),
        .host = process->host,
        .pid = pid,
        .knows_steal = knows_steal(model->recording, process->host)};
    part.has_threads = model_process_has_threads(model, process);
    for (size_t t = 0; t < RECORDING_COUNT_; t++)
        part.at[t] = series_set_of_host(&model->recording->tables[t], process->host);
    return part;
}

static void add_mpi(const struct process_part *p, struct windows w, struct budget_interval *to) {
    const struct series_set *set = &p->model->recording->tables[RECORDING_MPI];
    to->mpi = to->mpi_cpu = NAN;
    if (!p->mpi || withheld(p, SOURCE_CALLS))
        return;
    to->mpi = series_growth(set, p->mpi, MPI_INSIDE, w, NULL);
    double measured = series_growth(set, p->mpi, MPI_MEASURED, w, NULL);
    to->mpi_cpu = series_growth(set, p->mpi, MPI_CPU, w, NULL) + fmax(to->mpi - measured, 0);
}

static struct budget_interval make_interval(const struct process_part *p, const struct source *s,
                                            int64_t begin, int64_t end) {
    struct window window = {begin, end};
    struct windows w = {&window, 1};
    struct budget_interval to = {.begin_ns = begin, .end_ns = end};
    to.cpu = counters_cpu(s, w);
    to.disk = withheld(p, SOURCE_DELAYS) ? NAN : counters_growth(s, s->disk, w);
    to.queued = counters_growth(s, s->run_queue, w);
    to.run_queue = queue_part(p, to.cpu, to.queued, w);
    to.quota = quota_part(p, s, to.run_queue < to.queued, w);
    to.one_thread = !p->has_threads;
    to.foreign = foreign_part(p, to.cpu, to.run_queue, w);
    to.stopped = stopped_part(p, s, to.cpu, w);
    to.longest = s->longest ? fmax(counters_growth(s, s->longest, w), 0) : 0;
    to.io_pressure = isnan(to.disk) ? rank_pressure(p, "io", w) : 0;
    to.steal = steal_part(p, isnan(to.cpu) ? 0 : to.cpu, w);
    rank_memory(p, s, w, &to);
    to.sending = withheld(p, SOURCE_CONNECTIONS) ? NAN : sending_part(p, w);
    if (p->waits.n_clocks)
        to.clocks = process_waits_in(&p->waits, w);
    add_mpi(p, w, &to);
    return to;
}

/* Appends [begin, end), split where the wait clocks were read: they are read more often than the
 * process table.
 */
static size_t add_interval(const struct process_part *p, const struct source *s, int64_t begin,
                           int64_t end, struct budget_interval *items, size_t n) {
    for (size_t k = 0; k < p->waits.n_clocks; k++) {
        const struct series *clocks = p->waits.clocks[k];
        size_t at = times_until(clocks->t_ns, sizeof *clocks->t_ns, clocks->n, begin);
        for (; at < clocks->n && clocks->t_ns[at] < end; at++) {
            items[n++] = make_interval(p, s, begin, clocks->t_ns[at]);
            begin = clocks->t_ns[at];
        }
    }
    items[n++] = make_interval(p, s, begin, end);
    return n;
}

/* Appends the rows of a series within [from, to]; a row that crosses an end is cut. */
static size_t add_rows(const struct process_part *p, const struct source *s, int64_t from,
                       int64_t to, struct budget_interval *items, size_t n) {
    for (size_t i = 0; i < s->series->n; i++) {
        int64_t dt = s->series->interval_ns[i], end = s->series->t_ns[i];
        int64_t begin = dt == VALUE_ABSENT ? end : end - dt;
        if (i == 0 && dt != VALUE_ABSENT && p->start_ns < begin)
            begin = p->start_ns; /* born in this row: all its counters grew since its birth */
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        if (n && begin < items[n - 1].end_ns)
            begin = items[n - 1].end_ns;
        if (end > begin)
            n = add_interval(p, s, begin, end, items, n);
    }
    return n;
}

static int64_t first_begin(const struct series *series) {
    for (size_t i = 0; i < series->n; i++)
        if (series->interval_ns[i] != VALUE_ABSENT)
            return series->t_ns[i] - series->interval_ns[i];
    return INT64_MAX;
}

int budget_intervals(const struct run_model *model, const struct model_process *process,
                     int64_t pid, struct budget_interval **ret_intervals, size_t *ret_n) {
    struct process_part p = part_of(model, process, pid);
    const struct series *often = p.often.series;
    size_t room = 2 * process->series->n + (often ? often->n : 0) + 1, n = 0;
    int result = withheld(&p, SOURCE_WAITS)
                     ? 0
                     : process_waits_find(model->recording, p.host, pid, &p.waits);
    if (result < 0)
        return result;
    for (size_t k = 0; k < p.waits.n_clocks; k++)
        room += p.waits.clocks[k]->n;
    struct budget_interval *items = malloc(room * sizeof *items);
    if (!items) {
        process_waits_release(&p.waits);
        return -ENOMEM;
    }
    int64_t begin = often ? first_begin(often) : INT64_MAX;
    int64_t end = begin == INT64_MAX ? begin : often->t_ns[often->n - 1];
    n = add_rows(&p, &p.seldom, INT64_MIN, begin, items, n);
    if (begin != INT64_MAX) {
        n = add_rows(&p, &p.often, INT64_MIN, INT64_MAX, items, n);
        n = add_rows(&p, &p.seldom, end, INT64_MAX, items, n);
    }
    budget_settle_waits(items, n);
    process_waits_release(&p.waits);
    *ret_intervals = items;
    *ret_n = n;
    return 0;
}

void budget_life(const struct run_model *model, const struct model_process *process,
                 struct budget_subject *subject) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    const struct series *series = process->series;
    int64_t begin = series->t_ns[0], end = series->t_ns[series->n - 1];
    if (series->interval_ns[0] != VALUE_ABSENT)
        begin -= series->interval_ns[0];
    if (start_of(model, process) != INT64_MAX)
        begin = start_of(model, process);
    const struct mpi_rank *rank = subject->log ? &subject->log->ranks[subject->log_rank] : NULL;
    for (size_t i = 0; rank && i < rank->n; i++) {
        begin = rank->events[i].enter_ns < begin ? rank->events[i].enter_ns : begin;
        end = rank->events[i].exit_ns > end ? rank->events[i].exit_ns : end;
    }
    const struct series_set *ranks = &model->recording->tables[RECORDING_RANK];
    const struct series *often =
        series_of_pid(ranks, process->host, RANK_PID, series_last(set, series, PROCESS_PID));
    if (often && often->t_ns[often->n - 1] > end)
        end = often->t_ns[often->n - 1];
    subject->begin_ns = begin;
    subject->end_ns = end;
}

struct transfer_split budget_transfer_split(const struct recording *recording, int host,
                                            int64_t pid, struct windows windows) {
    const struct series_set *set = &recording->tables[RECORDING_CONNECTION];
    double busy = 0, receiver = 0, send_buffer = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *c = &set->items[s];
        if (c->host != host || series_last(set, c, CONNECTION_PID) != pid)
            continue;
        busy += series_growth(set, c, CONNECTION_BUSY, windows, NULL);
        receiver += series_growth(set, c, CONNECTION_RWND_LIMITED, windows, NULL);
        send_buffer += series_growth(set, c, CONNECTION_SNDBUF_LIMITED, windows, NULL);
    }
    if (busy <= 0)
        return (struct transfer_split){NAN, NAN, NAN};
    receiver = fmin(receiver / busy, 1);
    send_buffer = fmin(send_buffer / busy, 1 - receiver);
    return (struct transfer_split){1 - receiver - send_buffer, receiver, send_buffer};
}
