/* SPDX-License-Identifier: MIT */
/*
 * The class of a process. Looking it up costs two more files, so it is looked up once and kept.
 * There are two exceptions: a process younger than SETTLED_NS may still be between fork and exec,
 * or on its way into its cgroup; a process with a new name has called exec. A process of the job
 * always stays one: it may change its environment, name or parent later, and a process that is
 * ending has lost its environment with its memory.
 *
 * The run identifies the profiler itself: a process with the run's CHOKEPOINT_AGENT in its
 * environment (those that `chokepoint run` starts for itself), its parent, and a process that runs
 * the agent's own executable with the job's CHOKEPOINT_RUN.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/counter.h"
#include "agent/base/scope.h"
#include "agent/probes/process/process_private.h"
#include "common/error.h"

#define SETTLED_NS (3 * NS_PER_S)

static bool is_inside(const struct processes *all, struct process *process, int32_t pid,
                      const struct scope *scope) {
    char path[32], groups[GROUPS_MAX];
    if (scope->kind == SCOPE_HOST || !*scope->member_path)
        return true;
    snprintf(path, sizeof path, "%d/cgroup", pid);
    int n = file_read_small(all->proc_fd, path, groups, sizeof groups);
    process->group = n > 0 ? process_group_hash(groups, (size_t)n) : 0;
    return n > 0 && scope_has_process(scope, groups, (size_t)n);
}

static bool runs_agent(const struct processes *all, int32_t pid) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "%d/exe", pid);
    return all->agent_inode && fstatat(all->proc_fd, path, &st, 0) == 0 &&
           st.st_dev == all->agent_device && st.st_ino == all->agent_inode;
}

/* Leaves class and rank alone if the files say nothing about them. */
static void classify_inside(struct processes *all, struct process *process, int32_t pid,
                            const struct probe_env *env) {
    struct process_environ environ = {.rank = -1};
    bool readable =
        env->run_token_id && process_read_environ(all->proc_fd, pid, env->run_token_id,
                                                  all->environ, ENVIRON_MAX, &environ) == 0;
    if (environ.of_agent || (environ.of_job && runs_agent(all, pid))) {
        process_disown(all, process);
        return;
    }
    bool is_ours = process->class == PROCESS_OWN && !environ.of_job;
    bool is_job = environ.of_job || process->class == PROCESS_MEMBER;
    if (!is_job && !is_ours && process_is_chosen(all, process, pid, env))
        process->chosen = is_job = true;
    if (is_job || (!is_ours && process_is_relative(all, process, pid, env))) {
        process->class = PROCESS_MEMBER;
        if (*environ.role)
            memcpy(process->role, environ.role, sizeof process->role);
        process_join(all, process, pid, env, readable ? &environ : NULL);
    } else if (process->class != PROCESS_OWN) {
        process->class = PROCESS_FOREIGN;
    }
}

int64_t process_start_ns(const struct processes *all, const struct process *process,
                         const struct probe_env *env) {
    int64_t boot_ns = counter_value(process->stat.start_ticks, tick_ns(env->ticks_per_s));
    return boot_ns == VALUE_ABSENT ? VALUE_ABSENT : boot_ns - all->boot_offset_ns;
}

/* Whether it ended or is about to: only a process without memory has no executable. */
static bool has_ended(const struct processes *all, int32_t pid) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "%d/exe", pid);
    return fstatat(all->proc_fd, path, &st, 0) < 0 && (errno == ENOENT || errno == ESRCH);
}

void process_classify(struct processes *all, struct process *process, int32_t pid,
                      const struct probe_env *env) {
    int64_t start_ns = process_start_ns(all, process, env);
    process->classified = all->sample;
    process->settled = start_ns == VALUE_ABSENT || start_ns + SETTLED_NS < env->mono_ns;
    if (process->stat.is_kernel)
        process->class = PROCESS_KERNEL;
    else if (is_inside(all, process, pid, env->scope))
        classify_inside(all, process, pid, env);
    else if (process->class != PROCESS_MEMBER || !has_ended(all, pid))
        process->class = PROCESS_OUTSIDE;
}
