/* SPDX-License-Identifier: MIT */
/*
 * The processes of the job, and the few busiest others of the same host, so that a culprit has a
 * name. libproc2 could list them, but neither from another root than /proc nor without reading the
 * status of every process.
 *
 * There are two lists, the busiest by CPU and the busiest by disk, since a process that fills a
 * disk may use no CPU.
 *
 * Three rules keep thousands of processes cheap. A sample lists /proc once and reads one stat per
 * process. It reads no stat of processes that can never be reported (threads of the kernel,
 * processes of other emulated hosts); the inode of their directory tells them apart from later
 * processes of the same id. If more than IDLE_FEW processes outside the job are idle, they take
 * turns: each is looked at in one of IDLE_TURNS samples, and more seldom if a sample would have
 * more than IDLE_READS of them.
 *
 * A process outside the job that leaves the list is reported once more, so that its growth can be
 * computed.
 */
#include "agent/probes/process/process_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define IDLE_FEW 50 /* idle processes: they cost a millisecond or less */
#define IDLE_TURNS 3
#define IDLE_READS 500       /* idle processes in one sample */
#define CHECK_AGAIN_EVERY 64 /* samples; a process may be moved into the scope's group */

/* ---- reading what is there ---- */

/* In one of how many samples an idle process outside the job is looked at. */
static uint64_t idle_turns(size_t n_idle) {
    uint64_t turns = n_idle / IDLE_FEW + 1, least = n_idle / IDLE_READS + 1;
    turns = turns < IDLE_TURNS ? turns : IDLE_TURNS;
    return turns > least ? turns : least;
}

/* Whether this process need not be read now. */
static bool can_skip(const struct processes *all, const struct process *process, int32_t pid) {
    uint64_t turn = all->sample + (uint64_t)pid;
    if (!process->settled)
        return false;
    if (process->class == PROCESS_KERNEL || process->class == PROCESS_OWN)
        return true;
    if (process->class == PROCESS_OUTSIDE)
        return turn % CHECK_AGAIN_EVERY != 0;
    bool idle = process_is_idle(process) && process->sent + 1 < all->sample;
    return idle && turn % idle_turns(all->n_idle_before) != 0;
}

/* Begins to track a process. It is born if it started after the previous sample; the tick to which
 * its start is rounded is allowed for. */
static void begin_process(struct processes *all, struct process *process, uint64_t inode,
                          const struct process_stat *stat, const struct probe_env *env) {
    process_keep_drop(all, process);
    *process = (struct process){
        .inode = inode, .stat = *stat, .rank = -1, .helps = -1, .looked_ns = env->mono_ns};
    int64_t start_ns = process_start_ns(all, process, env);
    process->born = all->sample > 1 && start_ns != VALUE_ABSENT &&
                    start_ns + tick_ns(env->ticks_per_s) >= env->previous_mono_ns;
}

static bool is_same(const struct process *process, const struct process_stat *stat) {
    return process->class != PROCESS_NEW && process->stat.start_ticks == stat->start_ticks;
}

static bool has_new_name(const struct process *process, const struct process_stat *stat) {
    return process->stat.comm_size != stat->comm_size ||
           memcmp(process->stat.comm, stat->comm, stat->comm_size) != 0;
}

/* The state at this scan counts for the time since the last one. */
static void sample_stop(struct process *process, const struct process_stat *now, int64_t now_ns) {
    if (process_is_stopped(now))
        process->stopped_ns += now_ns - process->looked_ns;
    process->looked_ns = now_ns;
}

static void update(struct processes *all, struct process *process, int32_t pid, uint64_t inode,
                   const struct probe_env *env) {
    struct process_stat stat;
    if (process_stat_now(all, process, pid, inode, &stat) < 0)
        return; /* it has just ended */
    bool is_new = !is_same(process, &stat);
    if (is_new)
        begin_process(all, process, inode, &stat, env);
    bool renamed = !is_new && has_new_name(process, &stat);
    if (renamed) {
        process_note_old_name(all, process);
        process->label_stands = false;
    }
    bool check = is_new || !process->settled || renamed || process->class == PROCESS_OUTSIDE;
    process_judge_cpu(process, &stat, is_new);
    sample_stop(process, &stat, env->mono_ns);
    process->stat = stat;
    process->inode = inode;
    process->seen = process->read = all->sample;
    if (check)
        process_classify(all, process, pid, env);
    process_judge_disk(all, process, pid);
}

static void look_at(struct processes *all, int32_t pid, uint64_t inode, const struct probe_env *env,
                    struct rows *rows) {
    int at = idmap_find(&all->by_pid, pid);
    if (at < 0) {
        at = idmap_add(&all->by_pid, pid);
        if (at < 0) {
            rows->dropped++;
            return;
        }
        all->items[at] = (struct process){.inode = inode};
    }
    struct process *process = &all->items[at];
    if (process->inode == inode && can_skip(all, process, pid))
        process->seen = all->sample;
    else
        update(all, process, pid, inode, env);
    all->n_idle += process_is_idle(process);
}

static int look_at_all(struct processes *all, const struct probe_env *env, struct rows *rows) {
    struct dirents dirents = {
        .fd = all->proc_fd, .buffer = all->listing, .capacity = sizeof all->listing};
    int32_t pid;
    uint64_t inode;
    if (lseek(all->proc_fd, 0, SEEK_SET) < 0)
        return negative_errno();
    all->n_idle_before = all->n_idle;
    all->n_idle = 0;
    while (dirents_next_id(&dirents, &pid, &inode))
        look_at(all, pid, inode, env, rows);
    return dirents.error;
}

/* The record of a process that ended during this sample comes with the next one. */
static bool is_awaited(const struct processes *all, const struct process *process) {
    return all->exits.on && process->class == PROCESS_MEMBER && !process->end.is_whole &&
           process->seen + 1 == all->sample;
}

static void forget_ended(struct processes *all) {
    size_t kept = 0;
    for (size_t i = 0; i < all->by_pid.n; i++) {
        if (all->items[i].seen != all->sample && !is_awaited(all, &all->items[i])) {
            process_keep_drop(all, &all->items[i]);
            continue;
        }
        if (kept != i) {
            all->by_pid.ids[kept] = all->by_pid.ids[i];
            all->items[kept] = all->items[i];
        }
        kept++;
    }
    if (kept == all->by_pid.n)
        return;
    all->by_pid.n = kept;
    idmap_rebuild(&all->by_pid);
}

static void note_delay_accounting(struct processes *all) {
    struct source *source = &all->delay_accounting;
    all->has_delays = !source_is_open(source) || source_read(source) < 0 || !source->size ||
                      source->data[0] != '0';
}

struct process_probe {
    struct processes *all; /* owned; NULL while closed */
};

static int process_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct processes *all = ((struct process_probe *)state)->all;
    all->sample++;
    all->n_gpu_looks = all->n_core_looks = 0;
    note_delay_accounting(all);
    process_exits_take(all, env);
    int r = look_at_all(all, env, rows);
    if (r < 0)
        return r;
    process_choose_listeners(all, env);
    process_adopt(all, env);
    process_settle_ranks(all);
    process_exits_settle(all, env);
    if (env->watches_busiest)
        process_watch_busiest(all, env);
    process_report_ended(all, env, rows);
    forget_ended(all);
    if (env->job)
        process_tell_job(all, env);
    process_ask_threads(all);
    process_report(all, env, rows);
    process_forget_threads(all);
    return 0;
}

/* ---- life ---- */

static void note_agent(struct processes *all) {
    char groups[GROUPS_MAX];
    struct stat st;
    int n = file_read_small(all->proc_fd, "self/cgroup", groups, sizeof groups);
    all->agent_group = n > 0 ? process_group_hash(groups, (size_t)n) : 0;
    if (fstatat(all->proc_fd, "self/exe", &st, 0) < 0)
        return;
    all->agent_device = st.st_dev;
    all->agent_inode = st.st_ino;
}

/* The offset of a machine that never slept is zero; two readings of two clocks must not invent
 * one. */
static int64_t measure_boot_offset(void) {
    int64_t offset_ns = clock_ns(CLOCK_BOOTTIME) - clock_monotonic_ns();
    return offset_ns > NS_PER_MS ? offset_ns : 0;
}

static struct processes *processes_new(void) {
    struct processes *all =
        mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    madvise(all, sizeof *all, MADV_NOHUGEPAGE);
    return all;
}

static int process_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct processes *all = processes_new();
    int fd = all ? open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0) {
        int r = negative_errno();
        snprintf(why, why_size, "cannot list processes in %s: %s", env->proc, strerror(-r));
        if (all)
            munmap(all, sizeof *all);
        return r;
    }
    all->proc_fd = fd;
    all->boot_offset_ns = measure_boot_offset();
    note_agent(all);
    if (source_open(&all->delay_accounting, env->proc, "sys/kernel/task_delayacct") < 0)
        all->delay_accounting = (struct source){0}; /* before 5.14: always on */
    process_exits_open(all, env, why, why_size);
    process_keep_open(all);
    process_choices_open(all, env);
    ((struct process_probe *)state)->all = all;
    return 0;
}

static void process_close(void *state) {
    struct process_probe *probe = state;
    if (!probe->all)
        return;
    for (size_t i = 0; i < probe->all->by_pid.n; i++)
        process_keep_drop(probe->all, &probe->all->items[i]);
    process_exits_close(probe->all);
    source_close(&probe->all->delay_accounting);
    close(probe->all->proc_fd);
    munmap(probe->all, sizeof *probe->all);
    probe->all = NULL;
}

const struct probe probe_process = {
    .table = &all_tables[TABLE_PROCESS],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct process_probe),
    .max_rows = process_rows_most,
    .open = process_open,
    .sample = process_sample,
    .close = process_close,
};
