/* SPDX-License-Identifier: MIT */
/*
 * What a process is. Its class is looked up once and kept, because that costs two more files a
 * process, with two exceptions: a process younger than SETTLED_NS may still be between fork and
 * exec, or on its way into its cgroup, and a process that changed its name has called exec since.
 * One that is ending is not looked up again: with its memory its environment is gone, and in some
 * hierarchies its cgroup, so it would seem to be of nobody.
 *
 * Not of the job although it carries the job's CHOKEPOINT_RUN: whoever runs the agent's own
 * executable (the agent and its supervisor), and whoever has CHOKEPOINT_AGENT in its environment
 * (what launches and collects for them sets it).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/counter.h"
#include "agent/probes/process.h"
#include "agent/scope.h"
#include "common/error.h"

#define SETTLED_NS (3 * NS_PER_S)

static bool is_inside(const struct processes *all, int32_t pid, const struct scope *scope) {
    char path[32], groups[8192];
    if (scope->kind == SCOPE_HOST || !*scope->member_path)
        return true;
    snprintf(path, sizeof path, "%d/cgroup", pid);
    int n = file_read_small(all->proc_fd, path, groups, sizeof groups);
    return n > 0 && scope_has_process(scope, groups, (size_t)n);
}

static bool runs_agent(const struct processes *all, int32_t pid) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "%d/exe", pid);
    return all->agent_inode && fstatat(all->proc_fd, path, &st, 0) == 0 &&
           st.st_dev == all->agent_device && st.st_ino == all->agent_inode;
}

/* Launchers of ranks have no rank of their own, but inherit that of the batch step they are in. */
static bool is_launcher(const struct process_stat *stat) {
    static const char *const names[] = {"mpirun",  "mpiexec", "orterun", "orted",
                                        "prterun", "prted",   "srun",    "hydra_pmi_proxy"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (span_equal((struct span){stat->comm, stat->comm_size}, names[i]))
            return true;
    return false;
}

static enum process_class classify_inside(struct processes *all, struct process *process,
                                          int32_t pid, const struct probe_env *env) {
    struct process_environ environ;
    process->rank = -1;
    if (!env->run_token_id || process_read_environ(all->proc_fd, pid, env->run_token_id,
                                                   all->environ, ENVIRON_MAX, &environ) < 0)
        return PROCESS_FOREIGN;
    if (!environ.of_job || environ.of_agent || runs_agent(all, pid))
        return PROCESS_FOREIGN;
    process->rank = is_launcher(&process->stat) ? -1 : environ.rank;
    return PROCESS_JOB;
}

int64_t process_start_ns(const struct processes *all, const struct process *process,
                         const struct probe_env *env) {
    int64_t boot_ns = counter_value(process->stat.start_ticks, tick_ns(env->ticks_per_s));
    return boot_ns == VALUE_ABSENT ? VALUE_ABSENT : boot_ns - all->boot_offset_ns;
}

/* Or about to end: only a process without memory has no executable. */
static bool has_ended(const struct processes *all, int32_t pid) {
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "%d/exe", pid);
    return fstatat(all->proc_fd, path, &st, 0) < 0 && (errno == ENOENT || errno == ESRCH);
}

static void look_up(struct processes *all, struct process *process, int32_t pid,
                    const struct probe_env *env) {
    if (process->stat.is_kernel)
        process->class = PROCESS_KERNEL;
    else if (!is_inside(all, pid, env->scope))
        process->class = PROCESS_OUTSIDE;
    else
        process->class = classify_inside(all, process, pid, env);
}

void process_classify(struct processes *all, struct process *process, int32_t pid,
                      const struct probe_env *env) {
    int64_t start_ns = process_start_ns(all, process, env);
    process->settled = start_ns == VALUE_ABSENT || start_ns + SETTLED_NS < env->mono_ns;
    enum process_class class = process->class;
    int32_t rank = process->rank;
    look_up(all, process, pid, env);
    bool same = process->class == class && process->rank == rank;
    if (class == PROCESS_JOB && !same && has_ended(all, pid)) {
        process->class = class;
        process->rank = rank;
    }
}
