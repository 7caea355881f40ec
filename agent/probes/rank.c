/* SPDX-License-Identifier: MIT */
/*
 * CPU time, memory and waits of each rank, at the pace of iterations: the kernel's own clocks of
 * its processes. Table process has more figures, and other processes, at the slower pace. Its probe
 * finds the processes (agent/base/job.h), so a rank appears here with its next sample.
 *
 * A rank's shell or launcher script inherits its number: every process of a rank has a row, and
 * run_ns shows which of them runs.
 */
#include "agent/probes/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/job.h"
#include "agent/base/process_files.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"
#include "tables/keys.h"

/* ---- who is there ---- */

static struct ranked *find_rank(struct ranks *ranks, const struct job_process *process) {
    for (size_t i = 0; i < ranks->n; i++)
        if (ranks->items[i].pid == process->pid && ranks->items[i].born == process->born)
            return &ranks->items[i];
    return NULL;
}

static bool add_rank(struct ranks *ranks, const struct job_process *process) {
    char path[32];
    if (ranks->n == RANKS_MAX)
        return false;
    snprintf(path, sizeof path, "%d/stat", process->pid);
    int fd = openat(ranks->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT; /* it has just ended */
    ranks->items[ranks->n++] = (struct ranked){
        .pid = process->pid, .born = process->born, .seen = true, .stat_fd = fd, .n_threads = -1};
    return true;
}

static void forget(struct ranks *ranks, bool seen_too) {
    size_t kept = 0;
    for (size_t i = 0; i < ranks->n; i++) {
        if (ranks->items[i].seen && !seen_too) {
            ranks->items[kept++] = ranks->items[i];
            continue;
        }
        rank_drop_threads(ranks, ranks->items[i].pid);
        close(ranks->items[i].stat_fd);
    }
    ranks->n = kept;
}

static void look_at_job(struct ranks *ranks, const struct job *job, struct rows *rows) {
    if (ranks->looked && ranks->job_changes == job->changes)
        return;
    ranks->looked = true;
    ranks->job_changes = job->changes;
    for (size_t i = 0; i < ranks->n; i++)
        ranks->items[i].seen = false;
    for (size_t i = 0; i < job->n; i++) {
        const struct job_process *process = &job->processes[i];
        struct ranked *known = find_rank(ranks, process);
        if (process->rank < 0)
            continue;
        if (known)
            known->seen = true;
        else if (!add_rank(ranks, process))
            rows->dropped++;
        known = find_rank(ranks, process);
        if (known)
            known->rank = process->rank;
    }
    forget(ranks, false);
}

/* ---- rows ---- */

static bool read_stat(const struct ranked *rank, struct process_stat *ret_stat) {
    char text[2048];
    ssize_t n = pread(rank->stat_fd, text, sizeof text, 0);
    return n > 0 && process_parse_stat(text, (size_t)n, ret_stat);
}

static void fill_rank_row(int64_t *values, const struct ranked *rank,
                          const struct process_stat *stat, bool has_delays,
                          const struct probe_env *env) {
    values[RANK_RANK] = rank->rank;
    values[RANK_PID] = rank->pid;
    values[RANK_THREADS] = stat->threads;
    if (stat->last_cpu >= 0)
        values[RANK_CPU] = stat->last_cpu;
    if (rank->complete && rank->has_times) {
        values[RANK_RUN] = rank->run_ns;
        values[RANK_RUN_QUEUE] = rank->wait_ns;
        values[RANK_LONGEST] = rank->longest_ns;
    }
    if (has_delays)
        values[RANK_BLOCK_IO] = counter_value(stat->block_io_ticks, tick_ns(env->ticks_per_s));
    values[RANK_MINOR_FAULTS] = counter_value(stat->minor_faults, 1);
    values[RANK_MAJOR_FAULTS] = counter_value(stat->major_faults, 1);
    if (stat->rss_pages >= 0)
        values[RANK_RSS] = counter_value((uint64_t)stat->rss_pages, env->page_size);
    values[RANK_STOPPED] = rank->stopped_ns;
}

/* The process's own sum has the CPU time of threads between their last reading and their end,
 * rounded down to ticks. It counts as one thread's time, since the thread is not known. */
static void add_ended(struct ranked *rank, const struct process_stat *stat, int64_t tick_ns) {
    int64_t all_ns = counter_value(stat->user_ticks + stat->system_ticks, tick_ns);
    if (all_ns == VALUE_ABSENT || all_ns <= rank->run_ns)
        return;
    rank->longest_ns = counter_add(rank->longest_ns, all_ns - rank->run_ns);
    rank->run_ns = all_ns;
}

/* The kernel keeps no clock of stops: the state at this sample counts for the time since the last
 * one. Stops last for parts of a second, which the slower pace of table process would miss. */
static void add_stop(struct ranked *rank, const struct process_stat *stat, int64_t now_ns) {
    if (process_is_stopped(stat) && rank->sampled_ns)
        rank->stopped_ns += now_ns - rank->sampled_ns;
    rank->sampled_ns = now_ns;
}

static void report_one(struct ranks *ranks, struct ranked *rank, bool has_delays,
                       const struct probe_env *env, struct rows *rows) {
    struct process_stat stat;
    if (!read_stat(rank, &stat))
        return; /* it has ended */
    add_stop(rank, &stat, env->mono_ns);
    if (stat.threads != rank->n_threads)
        rank_list_threads(ranks, rank, stat.threads);
    rank_read_threads(ranks, rank);
    if (rank->has_times)
        add_ended(rank, &stat, tick_ns(env->ticks_per_s));
    const struct table_key key = {.form = KEY_RANK, .rank = rank->rank, .pid = rank->pid};
    struct row *row = rows_append_key(rows, &key);
    if (row)
        fill_rank_row(row->values, rank, &stat, has_delays, env);
}

/* kernel.task_delayacct; kernels before Linux 5.14 lack it and account delays. */
static bool accounts_delays(struct ranks *ranks, int64_t now_ns) {
    char text[16];
    if (!ranks->switch_ns || now_ns - ranks->switch_ns >= NS_PER_S) {
        int n = file_read_small(ranks->proc_fd, "sys/kernel/task_delayacct", text, sizeof text);
        ranks->has_delays = n <= 0 || text[0] != '0';
        ranks->switch_ns = now_ns;
    }
    return ranks->has_delays;
}

static void tell_delays(struct ranks *ranks, const struct probe_env *env) {
    if (ranks->told_delays || !ranks->n || !env->note)
        return;
    ranks->told_delays = true;
    env->note(env->note_ctx, NOTE_INFO, "rank",
              "waits for disks are unknown; before a run: sysctl kernel.task_delayacct=1");
}

struct rank_probe {
    struct ranks *ranks; /* owned; NULL while closed */
};

static int rank_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct ranks *ranks = ((struct rank_probe *)state)->ranks;
    look_at_job(ranks, env->job, rows);
    if (!ranks->n)
        return 0;
    bool has_delays = accounts_delays(ranks, env->mono_ns);
    if (!has_delays)
        tell_delays(ranks, env);
    for (size_t i = 0; i < ranks->n; i++)
        report_one(ranks, &ranks->items[i], has_delays, env, rows);
    return 0;
}

/* ---- life ---- */

static int rank_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct rank_probe *probe = state;
    if (!env->job || !env->run_token_id) {
        snprintf(why, why_size, "no job to look for: CHOKEPOINT_RUN is not set");
        return PROBE_ABSENT;
    }
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (!ranks)
        return -ENOMEM;
    ranks->proc_fd = open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ranks->proc_fd < 0) {
        int r = negative_errno();
        snprintf(why, why_size, "cannot read %s: %s", env->proc, strerror(-r));
        free(ranks);
        return r;
    }
    probe->ranks = ranks;
    return 0;
}

static void rank_close(void *state) {
    struct rank_probe *probe = state;
    if (!probe->ranks)
        return;
    forget(probe->ranks, true);
    close(probe->ranks->proc_fd);
    free(probe->ranks);
    probe->ranks = NULL;
}

static size_t rank_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return RANKS_MAX;
}

const struct probe probe_rank = {
    .table = &all_tables[TABLE_RANK],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct rank_probe),
    .max_rows = rank_max_rows,
    .open = rank_open,
    .sample = rank_sample,
    .close = rank_close,
};
