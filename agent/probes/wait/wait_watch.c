/* SPDX-License-Identifier: MIT */
/*
 * Adds up slots by process. The figures of an ended thread go to its process; those of a process
 * that ended before it was listed go to "ended unseen".
 */
#include "agent/probes/wait/wait_watch.h"

#include <string.h>

#include "agent/probes/wait/wait_private.h"
#include "common/clock.h"

#define READ_TRIES 8

static void add_clocks(uint64_t *ns, uint64_t *times, const uint64_t *more_ns,
                       const uint64_t *more_times) {
    for (size_t i = 0; i < WAIT_STATES; i++) {
        ns[i] += more_ns[i];
        times[i] += more_times[i];
    }
}

/* ---- slots ---- */

/* Copies a thread's slot if nothing wrote to it meanwhile and its figures are possible. */
static bool copy_thread(const struct wait_thread *slot, struct wait_thread *ret_thread) {
    for (int i = 0; i < READ_TRIES; i++) {
        uint32_t before = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
        memcpy(ret_thread, slot, sizeof *slot);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        uint32_t after = __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED);
        if (before == after && before % 2 == 0)
            return ret_thread->tgid > 0 && ret_thread->tgid <= INT32_MAX &&
                   ret_thread->state < WAIT_STATES;
    }
    return false;
}

/* A wait in progress counts for its socket, too. */
static void note_socket(struct wait_watch *watch, const struct wait_thread *thread, uint64_t ns) {
    if (!thread->wait_slot || thread->wait_slot > WAIT_SOCKETS)
        return;
    struct wait_socket_seen *socket = &watch->sockets[thread->wait_slot - 1];
    if (thread->state == WAIT_SOCKET_RECEIVE)
        socket->waits_ns[0] += ns;
    else if (thread->state == WAIT_SOCKET_SEND)
        socket->waits_ns[1] += ns;
}

static void take_live_thread(struct wait_watch *watch, const struct wait_thread *slot,
                             uint64_t now_ns) {
    struct wait_thread thread;
    bool whole = copy_thread(slot, &thread);
    struct wait_group *group = whole ? wait_group_of(watch, thread.tgid, thread.start_ns)
                                     : wait_group_find(watch, slot->tgid);
    if (!group)
        return;
    group->threads++;
    group->seen = watch->sample;
    if (!whole)
        return; /* unchanged since it was last told */
    group->state = thread.state;
    group->states |= UINT32_C(1) << thread.state;
    const struct wait_totals *totals = watch->memory.totals;
    if (thread.generation != totals->generation && totals->paused_ns < now_ns)
        now_ns = totals->paused_ns; /* nothing later is known */
    if (now_ns > thread.since_ns) {
        thread.ns[thread.state] += now_ns - thread.since_ns;
        note_socket(watch, &thread, now_ns - thread.since_ns);
    }
    add_clocks(group->now_ns, group->now_times, thread.ns, thread.times);
}

static void take_ended_thread(struct wait_watch *watch, struct wait_thread *slot) {
    struct wait_thread thread;
    if (copy_thread(slot, &thread)) {
        struct wait_group *group = wait_group_of(watch, thread.tgid, thread.start_ns);
        if (group) {
            add_clocks(group->ended_ns, group->ended_times, thread.ns, thread.times);
            add_clocks(group->now_ns, group->now_times, thread.ns, thread.times);
            group->seen = watch->sample;
        } else {
            add_clocks(watch->unseen_ns, watch->unseen_times, thread.ns, thread.times);
        }
    }
    __atomic_store_n(&slot->slot, WAIT_FREE, __ATOMIC_RELEASE);
}

static void take_threads(struct wait_watch *watch, uint64_t now_ns) {
    uint32_t *next = &watch->memory.totals->next_thread;
    struct wait_walk walk = wait_walk_begin(watch->high_threads, next, WAIT_THREADS);
    for (uint32_t i = 0; i < walk.n; i++) {
        struct wait_thread *slot = &watch->memory.threads[i];
        uint32_t use = __atomic_load_n(&slot->slot, __ATOMIC_ACQUIRE);
        if (use == WAIT_LIVE)
            take_live_thread(watch, slot, now_ns);
        else if (use == WAIT_ENDED)
            take_ended_thread(watch, slot);
        wait_walk_saw(&walk, i, use == WAIT_FREE || use == WAIT_ENDED);
    }
    watch->high_threads = wait_walk_end(&walk, next, WAIT_THREADS);
}

/* ---- the job ---- */

static void list_group(struct wait_group *group, const struct job_process *process) {
    if (group->sent && strcmp(group->name, process->name) != 0 && !group->old_name[0])
        memcpy(group->old_name, group->name, sizeof group->old_name);
    memcpy(group->name, process->name, sizeof group->name);
    group->rank = process->rank;
    group->listed = true;
}

/* A living process that the last look at all processes left out has moved to another host of the
 * same kernel. That host's agent clocks it, too, and alone reports it from then on. */
static void unlist_left(struct wait_watch *watch, const struct probe_env *env) {
    for (size_t i = 0; watch->job_passes != env->job->passes && i < watch->by_pid.n; i++)
        watch->groups[i].listed &= !watch->groups[i].threads;
}

static void list_groups(struct wait_watch *watch, const struct probe_env *env) {
    unlist_left(watch, env);
    for (size_t i = 0; i < env->job->n; i++) {
        const struct job_process *process = &env->job->processes[i];
        struct wait_group *group = wait_group_find(watch, (uint32_t)process->pid);
        if (group && wait_group_is(group, process, env->ticks_per_s))
            list_group(group, process);
    }
}

/* ---- a sample ---- */

static void begin_groups(struct wait_watch *watch) {
    for (size_t i = 0; i < watch->by_pid.n; i++) {
        struct wait_group *group = &watch->groups[i];
        memcpy(group->now_ns, group->ended_ns, sizeof group->now_ns);
        memcpy(group->now_times, group->ended_times, sizeof group->now_times);
        memcpy(group->process_now_ns, group->process_ended_ns, sizeof group->process_now_ns);
        group->threads = 0;
        group->states = 0;
    }
}

static void raise_clocks(uint64_t *values, const uint64_t *now) {
    for (size_t i = 0; i < WAIT_STATES; i++)
        values[i] = now[i] > values[i] ? now[i] : values[i];
}

static void end_groups(struct wait_watch *watch, uint64_t pause_ns) {
    for (size_t i = 0; i < watch->by_pid.n; i++) {
        struct wait_group *group = &watch->groups[i];
        wait_share_out(&group->shares, group->now_ns, (double)pause_ns * (double)group->threads);
        wait_share_out(&group->process_shares, group->process_now_ns,
                       group->threads ? (double)pause_ns : 0);
        raise_clocks(group->ns, group->now_ns);
        raise_clocks(group->process_ns, group->process_now_ns);
        raise_clocks(group->times, group->now_times);
        if (group->threads || group->listed || group->seen != watch->sample)
            continue;
        add_clocks(watch->unseen_ns, watch->unseen_times, group->ns, group->times);
        for (size_t k = 0; k < WAIT_STATES; k++)
            watch->unseen_process_ns[k] += group->process_ns[k];
        watch->unseen++;
    }
}

int wait_watch_read(struct wait_watch *watch, const struct probe_env *env) {
    uint64_t now_ns = env->mono_ns > 0 ? (uint64_t)env->mono_ns : 0;
    watch->sample++;
    int paced = wait_keep_pace(watch, env), r = wait_add_members(watch, env);
    r = paced < 0 ? paced : r;
    if (__atomic_load_n(&watch->memory.totals->paused, __ATOMIC_ACQUIRE) &&
        watch->memory.totals->paused_ns < now_ns)
        now_ns = watch->memory.totals->paused_ns; /* nothing later is known yet */
    watch->known_ns = now_ns;
    for (size_t i = 0; i < watch->high_sockets; i++)
        watch->sockets[i].waits_ns[0] = watch->sockets[i].waits_ns[1] = 0;
    begin_groups(watch);
    take_threads(watch, now_ns);
    wait_take_processes(watch, now_ns);
    list_groups(watch, env);
    wait_follow_drivers(watch, env);
    end_groups(watch, (uint64_t)env->mono_ns > now_ns ? (uint64_t)env->mono_ns - now_ns : 0);
    watch->job_passes = env->job->passes;
    watch->job_changes = env->job->changes;
    wait_tell_losses(watch, env);
    return r;
}

void wait_watch_forget(struct wait_watch *watch) {
    size_t kept = 0;
    for (size_t i = 0; i < watch->by_pid.n; i++) {
        if (!watch->groups[i].threads)
            continue;
        if (kept != i) {
            watch->by_pid.ids[kept] = watch->by_pid.ids[i];
            watch->groups[kept] = watch->groups[i];
        }
        kept++;
    }
    if (kept == watch->by_pid.n)
        return;
    watch->by_pid.n = kept;
    idmap_rebuild(&watch->by_pid);
}
