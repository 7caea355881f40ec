/* SPDX-License-Identifier: MIT */
/*
 * Members of the job besides those that carry its mark in their environment: the process that
 * `run` started on this host, a child of a member, a process of a session that began in the job,
 * and an orphan in a control group that members have for themselves. A title may overwrite an
 * environment, and a daemon leaves its parent and session, but neither leaves all of these. A
 * member stays a member.
 *
 * The ancestors of a rank are members, too, up to the leader of the session, but no ranks: daemons
 * of launchers, also over ssh, which drops the environment. Other processes pass nothing upwards.
 * Other children of the leader do not join the job: the leader may be a user's shell.
 *
 * The number from a batch step is the rank of processes that the step itself started. The command
 * and its descendants inherit it: for them it counts only if no process below has a rank from a
 * better source.
 *
 * A child of a rank inherits its number. If PyTorch gave the number, a child that runs the same
 * program (a loader of data that the rank forked) is a helper and no rank; a child that runs
 * another program was started by a rank's shell and is the rank.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/job.h"
#include "agent/probes/process/process_private.h"

#define ANCESTORS_MAX 64
#define INIT 1 /* the parent of orphans */

struct process *process_parent(const struct processes *all, const struct process *process) {
    int at = process->stat.parent > 0 ? idmap_find(&all->by_pid, process->stat.parent) : -1;
    const struct process *parent = at < 0 ? NULL : &all->items[at];
    bool is = parent && parent != process && parent->class != PROCESS_NEW &&
              parent->stat.start_ticks <= process->stat.start_ticks;
    return is ? (struct process *)(uintptr_t)parent : NULL;
}

/* ---- sessions and groups ---- */

static const struct process *find_process(const struct processes *all, int32_t pid) {
    int at = idmap_find(&all->by_pid, pid);
    return at < 0 ? NULL : &all->items[at];
}

static bool any_member(const struct processes *all, const struct job *job,
                       const struct process *process,
                       bool (*alike)(const struct process *member, const struct process *process)) {
    for (size_t i = 0; job && i < job->n; i++) {
        const struct process *member = find_process(all, job->processes[i].pid);
        if (member && member->class == PROCESS_MEMBER && alike(member, process))
            return true;
    }
    return false;
}

static bool is_in_session(const struct process *member, const struct process *process) {
    return member->own_session && member->stat.session == process->stat.session;
}

static bool is_in_group(const struct process *member, const struct process *process) {
    return member->group == process->group;
}

/* Other members of the session are searched only if its leader has ended. */
static bool has_session_of_job(const struct processes *all, const struct process *process,
                               int32_t pid, const struct probe_env *env) {
    const struct process *leader = find_process(all, process->stat.session);
    if (process->stat.session <= INIT || process->stat.session == pid)
        return false;
    return leader ? process_has_kin(leader)
                  : any_member(all, env->job, process, is_in_session) ||
                        process_ended_in_job(all, process->stat.session, env);
}

/* The agent's group does not count: the process that started the agent may be in it, and so may any
 * process of an emulated host. */
static bool has_group_of_job(const struct processes *all, struct process *process, int32_t pid,
                             const struct job *job) {
    if (process->stat.parent != INIT || !process->born || !all->agent_group || !job || !job->n)
        return false;
    process->group = process_group_of(all, process, pid);
    return process->group && process->group != all->agent_group &&
           any_member(all, job, process, is_in_group);
}

/* If the command's environment is emptied before a sample sees it (env -i), it carries no mark; its
 * parent is the process that started the agent. A child of that parent which still runs the same
 * program has not called exec yet. */
static bool is_command(const struct processes *all, const struct process *process, int32_t pid,
                       const struct probe_env *env) {
    char own[32], parents[32];
    struct stat child, parent;
    if (!env->job_parent || process->stat.parent != env->job_parent)
        return false;
    snprintf(own, sizeof own, "%d/exe", pid);
    snprintf(parents, sizeof parents, "%d/exe", env->job_parent);
    return fstatat(all->proc_fd, own, &child, 0) == 0 &&
           fstatat(all->proc_fd, parents, &parent, 0) == 0 &&
           (child.st_dev != parent.st_dev || child.st_ino != parent.st_ino);
}

bool process_is_relative(struct processes *all, struct process *process, int32_t pid,
                         const struct probe_env *env) {
    return process_has_kin(process_parent(all, process)) || is_command(all, process, pid, env) ||
           has_session_of_job(all, process, pid, env) ||
           has_group_of_job(all, process, pid, env->job);
}

/* A pass may meet a child before its parent. */
static void disown_parents(struct processes *all) {
    for (size_t i = 0; i < all->by_pid.n; i++)
        if (all->items[i].serves && all->items[i].classified == all->sample)
            process_disown(all, &all->items[i]);
}

void process_adopt(struct processes *all, const struct probe_env *env) {
    disown_parents(all);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all->by_pid.n; i++) {
            struct process *process = &all->items[i];
            bool asked = process->classified == all->sample || all->has_chosen;
            if (process->class != PROCESS_FOREIGN || !asked ||
                !process_has_kin(process_parent(all, process)))
                continue;
            process->class = PROCESS_MEMBER;
            process_join(all, process, all->by_pid.ids[i], env, NULL);
            more = true;
        }
    }
    all->has_chosen = false;
}

/* ---- ranks ---- */

static void take_rank(struct process *process, const struct process *parent,
                      const struct process_environ *environ) {
    bool of_step = environ->rank_quality == RANK_OF_STEP;
    if (of_step && parent && parent->class == PROCESS_OWN) {
        process->step_quality = environ->rank_quality;
        process->step_rank = environ->rank;
    } else if (parent && parent->class == PROCESS_MEMBER && !process->step_quality) {
        process->step_quality = parent->step_quality;
        process->step_rank = parent->step_rank;
    }
    bool is_step =
        process->step_quality == environ->rank_quality && process->step_rank == environ->rank;
    process->rank = is_step ? -1 : environ->rank;
    process->rank_quality = is_step ? RANK_OF_NONE : environ->rank_quality;
    process->helps = -1;
}

static bool run_same_program(const struct processes *all, int32_t one, int32_t other) {
    char path[32];
    struct stat first, second;
    snprintf(path, sizeof path, "%d/exe", one);
    if (fstatat(all->proc_fd, path, &first, 0) < 0)
        return false;
    snprintf(path, sizeof path, "%d/exe", other);
    return fstatat(all->proc_fd, path, &second, 0) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static bool is_helper(const struct processes *all, const struct process *process, int32_t pid) {
    const struct process *parent = process_parent(all, process);
    bool of_torch =
        process->rank_quality == RANK_OF_TORCH || process->rank_quality == RANK_OF_TORCH_LAUNCHER;
    if (!of_torch || !parent || parent->class != PROCESS_MEMBER)
        return false;
    bool is_rank = parent->rank == process->rank && parent->rank_quality == process->rank_quality;
    return (is_rank || parent->helps == process->rank) &&
           run_same_program(all, pid, process->stat.parent);
}

/* Takes the rank from a process if the rank below has a better source: the number is then that of
 * the step that started the process. */
static void lose_rank(struct process *process, const struct process *below) {
    if (process->rank < 0 || process->rank_quality >= below->rank_quality)
        return;
    process->step_quality = process->rank_quality;
    process->step_rank = process->rank;
    process->rank = -1;
    process->rank_quality = RANK_OF_NONE;
}

static void claim_ancestors(struct processes *all, const struct process *rank) {
    const struct process *below = rank;
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        struct process *process = process_parent(all, below);
        bool is_session = process && process->stat.session == below->stat.session;
        if (!process || below->stat.parent <= INIT)
            return;
        if (process->class == PROCESS_FOREIGN && is_session) {
            process->class = PROCESS_MEMBER;
            process->above = true;
        } else if (process->class == PROCESS_MEMBER) {
            lose_rank(process, rank);
        } else {
            return;
        }
        below = process;
    }
}

static bool is_new_rank(const struct processes *all, const struct process *process) {
    return process->class == PROCESS_MEMBER && process->classified == all->sample &&
           process->rank >= 0;
}

/* Repeats while there are new helpers: a helper may itself have helpers, which a pass may meet
 * first. */
void process_settle_ranks(struct processes *all) {
    for (size_t i = 0; i < all->by_pid.n; i++)
        if (is_new_rank(all, &all->items[i]))
            claim_ancestors(all, &all->items[i]);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all->by_pid.n; i++) {
            struct process *process = &all->items[i];
            if (!is_new_rank(all, process) || !is_helper(all, process, all->by_pid.ids[i]))
                continue;
            process->helps = process->rank;
            process->rank = -1;
            process->rank_quality = RANK_OF_NONE;
            more = true;
        }
    }
}

void process_join(struct processes *all, struct process *process, int32_t pid,
                  const struct probe_env *env, const struct process_environ *environ) {
    const struct process *parent = process_parent(all, process);
    process->own_session |=
        process->stat.session == pid || has_session_of_job(all, process, pid, env);
    process->group = process_group_of(all, process, pid);
    process->chosen |= parent && parent->chosen && !(environ && environ->of_job);
    if (environ && environ->rank_quality && !process->above)
        take_rank(process, parent, environ);
    if (process->rank >= 0)
        claim_ancestors(all, process);
}

void process_disown(struct processes *all, struct process *process) {
    struct process *parent = process_parent(all, process);
    process->class = PROCESS_OWN;
    process->serves = true;
    if (!parent || process->stat.parent <= INIT)
        return;
    if (parent->class == PROCESS_FOREIGN || (parent->class == PROCESS_MEMBER && parent->chosen))
        parent->class = PROCESS_OWN;
}
