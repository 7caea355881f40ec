/* SPDX-License-Identifier: MIT */
/*
 * For an agent that always runs, and has no job: processes that are busy are read as those of a job
 * are, thread by thread, so that a cut which is made later has them whole. Their rows say that they
 * are of no job; who was of one is decided by their lineage (agent/base/lineage.h).
 *
 * A process is watched from a hundredth of a core on, or from the disk traffic that counts as busy,
 * and until it has done nothing for a while. Its counters go on where they stood when it comes
 * back: its threads then begin at their present readings, since those from before are forgotten.
 */
#include <stdio.h>

#include "agent/base/lineage.h"
#include "agent/probes/process/process_private.h"
#include "common/error.h"

#define WATCHED_MAX 256
#define CPU_SCORE_MIN 32 /* of process_judge_cpu: a tick a second */
#define QUIET_SAMPLES 30

static bool is_quiet(const struct process *process) {
    return !process->cpu_score && !process_is_busy_with_disk(process);
}

/* Returns how many stay. */
static size_t leave_quiet(struct processes *all) {
    size_t n = 0;
    for (size_t i = 0; i < all->by_pid.n; i++) {
        struct process *process = &all->items[i];
        if (!process->watched || process->class != PROCESS_MEMBER)
            continue;
        if (!is_quiet(process))
            process->busy_at = all->sample;
        if (process->busy_at + QUIET_SAMPLES >= all->sample) {
            n++;
            continue;
        }
        process->class = PROCESS_FOREIGN;
        process->watched = false;
        process->left = true;
    }
    return n;
}

static void find_rank(struct processes *all, struct process *process, int32_t pid,
                      const struct probe_env *env) {
    struct process_environ environ = {.rank = -1};
    if (!env->run_token_id || process_read_environ(all->proc_fd, pid, env->run_token_id,
                                                   all->environ, ENVIRON_MAX, &environ) < 0)
        return;
    if (environ.rank_quality)
        process_join(all, process, pid, env, &environ);
}

/* Its children are not watched for its sake: it may be a user's shell, or a daemon. */
static void watch(struct processes *all, struct process *process, int32_t pid,
                  const struct probe_env *env) {
    process->class = PROCESS_MEMBER;
    process->watched = true;
    process->busy_at = all->sample;
    process->rejoined = process->sent ? all->sample : 0;
    process->left = false;
    if (!process->sent)
        find_rank(all, process, pid, env);
    process->above = true;
}

void process_watch_busiest(struct processes *all, const struct probe_env *env) {
    size_t places[2 * FOREIGN_MAX], most = env->foreign_processes;
    size_t watched = leave_quiet(all);
    size_t n = process_find_busiest(all, most < FOREIGN_MAX ? most : FOREIGN_MAX, places);
    for (size_t i = 0; i < n && watched < WATCHED_MAX; i++) {
        struct process *process = &all->items[places[i]];
        if (process->cpu_score < CPU_SCORE_MIN && !process_is_busy_with_disk(process))
            continue;
        watch(all, process, all->by_pid.ids[places[i]], env);
        watched++;
    }
}

/* ---- lineage ---- */

static void find_ancestors(const struct processes *all, const struct process *process,
                           struct lineage_entry *entry) {
    entry->n_above = 0;
    while (entry->n_above < LINEAGE_ABOVE_MAX && process->stat.parent > 0) {
        entry->above[entry->n_above++] = process->stat.parent;
        process = process_parent(all, process);
        if (!process)
            return;
    }
}

/* An orphan keeps the ancestors that it had. */
static void fill_entry(const struct processes *all, const struct process *process, int32_t pid,
                       struct lineage_entry *entry) {
    char path[32], groups[GROUPS_MAX];
    snprintf(path, sizeof path, "%d/cgroup", pid);
    int n = file_read_small(all->proc_fd, path, groups, sizeof groups);
    if (n > 0)
        lineage_set_groups(entry, groups, (size_t)n);
    process_read_user(all->proc_fd, pid, &entry->user);
    entry->session = process->stat.session;
    if (!entry->n_above || process->stat.parent > 1)
        find_ancestors(all, process, entry);
}

void process_tell_lineage(const struct processes *all, struct process *process, int32_t pid,
                          const struct probe_env *env) {
    int64_t start_ns = process_start_ns(all, process, env);
    struct lineage_entry *entry = env->lineage ? lineage_report(env->lineage, &process->lineage_at,
                                                                pid, start_ns, !process->settled)
                                               : NULL;
    if (entry)
        fill_entry(all, process, pid, entry);
}
