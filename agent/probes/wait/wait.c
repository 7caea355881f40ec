/* SPDX-License-Identifier: MIT */
/*
 * Where the time of the job's threads goes, by process and by reason. Programs in the kernel keep
 * the clocks, so nothing is lost between samples, however rare these are. The states exclude each
 * other: their sum, without unclocked_ns, is the lifetime of the threads.
 *
 * Columns process_* are clocks of the process as one, in which idle threads do not outweigh the one
 * that works: while a thread is on a core the process runs; else, while a thread is ready, it is
 * runnable; else it is blocked, for the reason of the thread that continues first. Their sum is the
 * process's lifetime. While all threads are blocked, the reason is a guess: that of the only
 * thread, or of the thread that blocked last.
 *
 * A thread on its core counts as running even while an interrupt or the hypervisor uses the core.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/probes/probes.h"
#include "agent/probes/wait/wait_watch.h"
#include "common/error.h"

#define ENDED_UNSEEN "ended unseen"
#define OFTEN_MAX 64 /* processes with a row in each sample; others at rest have one a second */
#define ROW_EVERY_NS (NS_PER_S - 50 * NS_PER_MS)

/* A process has no clock before it is found, nor have children that it began before. So the job is
 * looked for at once in the first samples, and a few times more when there is one. */
#define SEEKS_MAX 50
#define SEEKS_MORE 3

struct wait_probe {
    struct wait_watch *watch;
    unsigned sought, sought_more;
    bool seeks;
};

#define UNCOUNTED SIZE_MAX

static const struct {
    size_t ns, times;
} columns[WAIT_STATES] = {
#define STATE(ID, number, name, times, what, as_one) [WAIT_##ID] = {WAIT_NS_##ID, WAIT_TIMES_##ID},
#define BLOCKED_UNCOUNTED(ID, number, name, what) [WAIT_##ID] = {WAIT_NS_##ID, UNCOUNTED},
#include "tables/wait_states.def"
};

static void fill_clocks(const uint64_t *ns, const uint64_t *times, const uint64_t *process_ns,
                        int64_t *values) {
    for (size_t i = 0; i < WAIT_STATES; i++) {
        values[columns[i].ns] = counter_value(ns[i], 1);
        if (columns[i].times != UNCOUNTED)
            values[columns[i].times] = counter_value(times[i], 1);
        values[WAIT_PROCESS_RUN + i] = counter_value(process_ns[i], 1);
    }
}

static struct row *append_group(const struct wait_group *group, const char *name,
                                struct rows *rows) {
    struct row *row = rows_append(rows, name, strlen(name));
    if (!row)
        return NULL;
    row->values[WAIT_PID] = group->pid;
    if (group->rank >= 0)
        row->values[WAIT_RANK] = group->rank;
    row->values[WAIT_CLOCKED] = (int64_t)group->threads;
    fill_clocks(group->ns, group->times, group->process_ns, row->values);
    return row;
}

static uint64_t changes_of(const struct wait_group *group) {
    uint64_t n = group->threads;
    for (size_t i = 0; i < WAIT_STATES; i++)
        n += group->times[i];
    return n;
}

static bool can_wait(const struct wait_group *group, int64_t now_ns) {
    return group->sent && group->threads && group->told_changes == changes_of(group) &&
           now_ns - group->told_ns < ROW_EVERY_NS;
}

/* A renamed process has one more row under its old name. */
static void report(struct wait_group *group, int64_t now_ns, struct rows *rows) {
    if (group->old_name[0])
        append_group(group, group->old_name, rows);
    group->old_name[0] = '\0';
    struct row *row = append_group(group, group->name, rows);
    if (!row)
        return;
    row->flags = group->born && !group->sent ? ROW_BORN : 0;
    group->sent = true;
    group->told_ns = now_ns;
    group->told_changes = changes_of(group);
}

static void report_unseen(struct wait_watch *watch, struct rows *rows) {
    if (!watch->unseen)
        return;
    struct row *row = rows_append(rows, ENDED_UNSEEN, strlen(ENDED_UNSEEN));
    if (!row)
        return;
    row->flags = watch->unseen_sent ? 0 : ROW_BORN;
    watch->unseen_sent = true;
    fill_clocks(watch->unseen_ns, watch->unseen_times, watch->unseen_process_ns, row->values);
}

static int wait_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct wait_probe *probe = state;
    struct wait_watch *watch = probe->watch;
    probe->seeks = env->job->n ? probe->sought_more++ < SEEKS_MORE : probe->sought++ < SEEKS_MAX;
    wait_watch_forget(watch);
    int r = wait_watch_read(watch, env);
    if (r < 0)
        return r;
    bool often = watch->by_pid.n <= OFTEN_MAX;
    for (size_t i = 0; i < watch->by_pid.n; i++) {
        struct wait_group *group = &watch->groups[i];
        if (group->listed && (often || !can_wait(group, env->mono_ns)))
            report(group, env->mono_ns, rows);
    }
    report_unseen(watch, rows);
    return 0;
}

static bool wait_has_news(void *state) {
    return ((const struct wait_probe *)state)->seeks;
}

/* ---- life ---- */

static int wait_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct wait_probe *probe = state;
    if (!env->waits)
        return PROBE_ABSENT; /* turned off: nothing to tell */
    if (!env->run_token_id || !env->job) {
        snprintf(why, why_size, "no job whose waits to clock: CHOKEPOINT_RUN is not set");
        return PROBE_ABSENT;
    }
    int r = env->waits->is_open ? 0 : wait_watch_open(env->waits, env, why, why_size);
    if (r == 0)
        probe->watch = env->waits;
    return r;
}

static size_t wait_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return JOB_PROCESSES_MAX + OFTEN_MAX + 1;
}

static void wait_close(void *state) {
    struct wait_probe *probe = state;
    if (probe->watch)
        wait_watch_close(probe->watch);
    probe->watch = NULL;
}

const struct probe probe_wait = {
    .table = &all_tables[TABLE_WAIT],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct wait_probe),
    .max_rows = wait_max_rows,
    .open = wait_open,
    .sample = wait_sample,
    .has_news = wait_has_news,
    .close = wait_close,
};
