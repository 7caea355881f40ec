/* SPDX-License-Identifier: MIT */
/* The rows of a sample: the job's processes, those that ended, and the busiest others. */
#include "agent/probes/process/process_private.h"

#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/job.h"
#include "agent/probes/call_watch.h"

#define JOB_ROWS_MAX 1024
#define ARGUMENTS_MAX ((size_t)64 << 10) /* to look at; Java has long paths before its class */

void process_note_old_name(const struct processes *all, struct process *process) {
    if (process->old_label_size || process->sent + 1 != all->sample)
        return;
    memcpy(process->old_label, process->label, process->label_size);
    process->old_label_size = process->label_size;
}

/* A process that has not run has no I/O, and neither have the children it waited for. */
static int read_io(const struct processes *all, struct process *process, int32_t pid) {
    bool knows =
        process->class == PROCESS_MEMBER && process->totals.has_times && process->totals.run_ns > 0;
    if (knows && process->io_run_ns == process->totals.run_ns)
        return 0;
    int r = process_read_io(all->proc_fd, pid, &process->io);
    process->io_run_ns = r == 0 && knows ? process->totals.run_ns : 0;
    return r;
}

/* The process's I/O. Where exits are told it is its own alone, without its children's. */
static void fill_io(const struct processes *all, struct process *process, int32_t pid,
                    int64_t *values) {
    if (all->exits.on && process->class == PROCESS_MEMBER) {
        values[PROCESS_READ] = process->totals.has_io ? process->totals.read_bytes : VALUE_ABSENT;
        values[PROCESS_WRITE] = process->totals.has_io ? process->totals.write_bytes : VALUE_ABSENT;
        return;
    }
    if (read_io(all, process, pid) < 0)
        return;
    values[PROCESS_READ] = counter_value(process->io.read_bytes, 1);
    values[PROCESS_WRITE] = counter_value(process->io.write_bytes, 1);
}

static void fill_stat(const struct processes *all, const struct process *process,
                      const struct probe_env *env, int64_t *values) {
    const struct process_stat *stat = &process->stat;
    values[PROCESS_THREADS] = stat->threads;
    if (stat->rss_pages >= 0)
        values[PROCESS_RSS] = counter_value((uint64_t)stat->rss_pages, env->page_size);
    values[PROCESS_PARENT] = stat->parent;
    values[PROCESS_STOPPED] = process->stopped_ns;
    int64_t tick = tick_ns(env->ticks_per_s);
    if (all->exits.on)
        values[PROCESS_UNSEEN] = process->totals.unseen_ns;
    else
        values[PROCESS_CHILDREN] = counter_add(counter_value(stat->children_user_ticks, tick),
                                               counter_value(stat->children_system_ticks, tick));
    values[PROCESS_START] = process_start_ns(all, process, env);
    values[PROCESS_MINOR_FAULTS] = counter_value(stat->minor_faults, 1);
    values[PROCESS_MAJOR_FAULTS] = counter_value(stat->major_faults, 1);
    if (all->has_delays)
        values[PROCESS_BLOCK_IO] = counter_value(stat->block_io_ticks, tick_ns(env->ticks_per_s));
}

static void fill_times(const struct process *process, int64_t *values) {
    if (!process->totals.has_cpu)
        return;
    values[PROCESS_USER] = process->totals.user_ns;
    values[PROCESS_SYSTEM] = process->totals.system_ns;
    if (process->class != PROCESS_MEMBER)
        return;
    if (process->totals.has_times)
        values[PROCESS_RUN_QUEUE] = process->totals.wait_ns;
    if (process->totals.has_collector)
        values[PROCESS_COLLECTOR] = process->totals.collector_ns;
    if (process->totals.has_switches) {
        values[PROCESS_VOLUNTARY_SWITCHES] = process->totals.voluntary;
        values[PROCESS_INVOLUNTARY_SWITCHES] = process->totals.involuntary;
    }
}

static void raise_to(int64_t *value, int64_t at_least) {
    if (*value == VALUE_ABSENT || (at_least != VALUE_ABSENT && at_least > *value))
        *value = at_least;
}

/* The last row of a process: its threads' exit records have more than its last stat. */
static void fill_end(const struct processes *all, const struct process_end *end, int64_t *values) {
    raise_to(&values[PROCESS_MINOR_FAULTS], counter_value(end->minor_faults, 1));
    raise_to(&values[PROCESS_MAJOR_FAULTS], counter_value(end->major_faults, 1));
    if (all->has_delays)
        raise_to(&values[PROCESS_BLOCK_IO], counter_value(end->block_io_ns, 1));
    values[PROCESS_PEAK_RSS] = counter_value(end->peak_rss_bytes, 1);
    values[PROCESS_THREADS] = values[PROCESS_RSS] = VALUE_ABSENT;
}

/* A young process may set its title later, so its name is made again until it is settled. */
static void name_process(struct processes *all, struct process *process, int32_t pid,
                         const struct probe_env *env) {
    char path[32], label[LABEL_MAX + 1];
    if (process->label_stands)
        return;
    snprintf(path, sizeof path, "%d/cmdline", pid);
    ssize_t n =
        env->no_command_lines ? 0 : file_read_head(all->proc_fd, path, all->environ, ARGUMENTS_MAX);
    size_t size = process_label((struct span){process->stat.comm, process->stat.comm_size},
                                (struct span){all->environ, n > 0 ? (size_t)n : 0}, label);
    if (!env->no_command_lines)
        size = process_label_add(label, size, process->role);
    if (process->label_size &&
        (size != process->label_size || memcmp(label, process->label, size) != 0))
        process_note_old_name(all, process);
    memcpy(process->label, label, size);
    process->label_size = (uint8_t)size;
    process->label_stands = process->settled;
}

static struct row *append_named(struct rows *rows, const char *label, size_t size, int32_t pid) {
    return rows_append_key(rows, &KEY_OF_PROCESS(label, size, pid));
}

/* The rank comes from the launcher, or from MPI, which knows it without a launcher, too. */
static int32_t rank_of(const struct process *process, int32_t pid, const struct processes *all,
                       const struct probe_env *env) {
    bool asks = process->class == PROCESS_MEMBER && process->rank < 0 && env->calls;
    return asks ? call_watch_rank_of(env->calls, pid, process_start_ns(all, process, env))
                : process->rank;
}

static void fill_row(struct processes *all, size_t at, const struct probe_env *env,
                     struct row *row) {
    struct process *process = &all->items[at];
    int32_t pid = all->by_pid.ids[at];
    row->values[PROCESS_PID] = pid;
    row->values[PROCESS_JOB] = process->class == PROCESS_MEMBER && !process->watched;
    int32_t rank = rank_of(process, pid, all, env);
    if (rank >= 0)
        row->values[PROCESS_RANK] = rank;
    fill_stat(all, process, env, row->values);
    fill_times(process, row->values);
    fill_io(all, process, pid, row->values);
    if (process->gpu.state != GPU_UNKNOWN)
        row->values[PROCESS_GPU] = process->gpu.state == GPU_SEEN;
    if (process->cores.n) {
        row->values[PROCESS_CORES] = process->cores.n;
        row->values[PROCESS_FIRST_CORE] = process->cores.first;
    }
    if (process->end.is_whole)
        fill_end(all, &process->end, row->values);
}

/* A row's growth refers to the row before it under the same name. So a renamed process has one more
 * row under its old name, with its growth since the row before. */
static void report_old_name(struct processes *all, size_t at, const struct probe_env *env,
                            struct rows *rows) {
    struct process *process = &all->items[at];
    struct row *row =
        append_named(rows, process->old_label, process->old_label_size, all->by_pid.ids[at]);
    process->old_label_size = 0;
    if (row)
        fill_row(all, at, env, row);
}

static void report(struct processes *all, size_t at, const struct probe_env *env,
                   struct rows *rows) {
    struct process *process = &all->items[at];
    int32_t pid = all->by_pid.ids[at];
    name_process(all, process, pid, env);
    struct row *row = append_named(rows, process->label, process->label_size, pid);
    if (!row)
        return;
    process_tell_lineage(all, process, pid, env);
    process_account(all, process, pid, env);
    process_find_unseen(process, env->ticks_per_s);
    process_look_for_gpu(all, process, pid);
    process_look_for_cores(all, process, pid);
    /* Its class may be known one sample late: then all it did since its birth still counts. */
    bool first = process->sent == 0 && !process->settled;
    row->flags = process->born && first ? ROW_BORN : 0;
    fill_row(all, at, env, row);
    if (process->old_label_size)
        report_old_name(all, at, env, rows);
    process->sent = all->sample;
}

static void report_ended(struct processes *all, size_t at, const struct probe_env *env,
                         struct rows *rows) {
    const struct process *process = &all->items[at];
    struct row *row = append_named(rows, process->label, process->label_size, all->by_pid.ids[at]);
    if (row)
        fill_row(all, at, env, row);
}

void process_report_ended(struct processes *all, const struct probe_env *env, struct rows *rows) {
    for (size_t i = 0; i < all->by_pid.n; i++) {
        const struct process *process = &all->items[i];
        if (process->class == PROCESS_MEMBER && process->end.is_whole && process->sent &&
            process->seen != all->sample)
            report_ended(all, i, env, rows);
    }
}

static void fill_short(const struct processes *all, const struct short_lived *name,
                       int64_t *values) {
    const struct thread_times *times = &name->times;
    uint64_t sum_us = name->end.user_us + name->end.system_us;
    double share = sum_us ? (double)name->end.user_us / (double)sum_us : 1;
    int64_t run_ns = counter_value(times->run_ns, 1);
    values[PROCESS_JOB] = 1;
    if (run_ns != VALUE_ABSENT) {
        values[PROCESS_USER] = (int64_t)((double)run_ns * share);
        values[PROCESS_SYSTEM] = run_ns - values[PROCESS_USER];
    }
    values[PROCESS_RUN_QUEUE] = counter_value(times->wait_ns, 1);
    values[PROCESS_VOLUNTARY_SWITCHES] = counter_value(times->voluntary, 1);
    values[PROCESS_INVOLUNTARY_SWITCHES] = counter_value(times->involuntary, 1);
    values[PROCESS_READ] = counter_value(times->read_bytes, 1);
    values[PROCESS_WRITE] = counter_value(times->write_bytes, 1);
    fill_end(all, &name->end, values);
}

/* Adds a row for each name of processes that no sample saw. */
static void report_short(struct processes *all, struct rows *rows) {
    struct process_exits *exits = &all->exits;
    for (size_t i = 0; i < exits->n_names; i++) {
        struct short_lived *name = &exits->names[i];
        struct row *row =
            name->has_grown ? append_named(rows, name->comm, name->comm_size, KEY_ENDED) : NULL;
        if (!row)
            continue;
        row->flags = name->was_sent ? 0 : ROW_BORN;
        fill_short(all, name, row->values);
        name->was_sent = true;
        name->has_grown = false;
    }
}

static void report_job(struct processes *all, const struct probe_env *env, struct rows *rows) {
    for (size_t i = 0; i < all->by_pid.n; i++)
        if (all->items[i].class == PROCESS_MEMBER && all->items[i].read == all->sample)
            report(all, i, env, rows);
}

void process_tell_job(const struct processes *all, const struct probe_env *env) {
    size_t n = 0;
    for (size_t i = 0; i < all->by_pid.n; i++) {
        const struct process *process = &all->items[i];
        int32_t pid = all->by_pid.ids[i];
        if (process->class != PROCESS_MEMBER || process->seen != all->sample)
            continue;
        struct job_process member = {
            .pid = pid, .rank = rank_of(process, pid, all, env), .born = process->stat.start_ticks};
        key_write(&KEY_OF_PROCESS(process->stat.comm, process->stat.comm_size, pid), member.name);
        n += job_set(env->job, n, &member);
    }
    job_end(env->job, n);
}

static size_t foreign_most(const struct probe_env *env) {
    return env->foreign_processes < FOREIGN_MAX ? env->foreign_processes : FOREIGN_MAX;
}

size_t process_rows_most(const void *state, const struct probe_env *env) {
    (void)state;
    return JOB_ROWS_MAX + SHORT_MAX + 4 * foreign_most(env);
}

static void report_foreign(struct processes *all, const struct probe_env *env, struct rows *rows) {
    size_t places[2 * FOREIGN_MAX], listed[2 * FOREIGN_MAX], n_listed = 0;
    for (size_t i = 0; i < all->by_pid.n && n_listed < 2 * FOREIGN_MAX; i++) {
        const struct process *process = &all->items[i];
        if (process->class == PROCESS_FOREIGN && process->sent && !process->left &&
            process->sent + 1 == all->sample && process->read == all->sample)
            listed[n_listed++] = i;
    }
    size_t n = process_find_busiest(all, foreign_most(env), places);
    for (size_t i = 0; i < n; i++) {
        all->items[places[i]].left = false;
        report(all, places[i], env, rows);
    }
    for (size_t i = 0; i < n_listed; i++) {
        struct process *process = &all->items[listed[i]];
        if (process->sent == all->sample)
            continue;
        process->left = true;
        report(all, listed[i], env, rows);
    }
}

void process_report(struct processes *all, const struct probe_env *env, struct rows *rows) {
    report_job(all, env, rows);
    report_short(all, rows);
    if (!env->watches_busiest)
        report_foreign(all, env, rows);
}
