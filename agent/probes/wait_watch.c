/* SPDX-License-Identifier: MIT */
/*
 * From slots to processes. A thread that ended leaves its figures to its process; a process that
 * ended before anybody listed it leaves them to "ended unseen".
 */
#include "agent/probes/wait_watch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/counter.h"
#include "common/clock.h"
#include "common/error.h"

#define READ_TRIES 8
#define EVENTS_PER_S 40000 /* of a core: 1 % of it at 250 ns each */
#define REST_NS (NS_PER_S - 50 * NS_PER_MS)
#define CLOCK_SLACK_TICKS 1

/* ---- opening ---- */

static uint64_t boot_now_ns(void) {
    struct timespec t;
    return clock_gettime(CLOCK_BOOTTIME, &t) < 0
               ? 0
               : (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* How deep this process's namespace of ids is, as "NSpid: 812 7" tells, and which it is. */
static void find_namespace(const char *proc, struct wait_config *config) {
    char path[512], line[512];
    struct stat st;
    snprintf(path, sizeof path, "%.480s/self/status", proc);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "NSpid:", 6) != 0)
            continue;
        uint32_t numbers = 0;
        for (const char *p = line + 6; *p; p++)
            numbers += (*p >= '0' && *p <= '9') && !(p[-1] >= '0' && p[-1] <= '9');
        config->namespace_level = numbers ? numbers - 1 : 0;
    }
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "%.480s/self/ns/pid", proc);
    if (stat(path, &st) == 0)
        config->namespace_inode = (uint32_t)st.st_ino;
}

int wait_watch_open(struct wait_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size) {
    struct wait_config config = {0};
    find_namespace(env->proc, &config);
    int r = wait_source_open(&config, env->sys, &watch->source, why, why_size);
    if (r != 0)
        return r == WAIT_ABSENT ? PROBE_ABSENT : r;
    watch->memory = *wait_source_memory(watch->source);
    watch->first_boot_ns = boot_now_ns();
    watch->is_open = true;
    return 0;
}

void wait_watch_close(struct wait_watch *watch) {
    wait_source_close(watch->source);
    watch->source = NULL;
    watch->is_open = false;
}

/* ---- processes ---- */

static struct wait_group *find_group(struct wait_watch *watch, uint32_t pid) {
    int at = pid <= INT32_MAX ? idmap_find(&watch->by_pid, (int32_t)pid) : -1;
    return at < 0 ? NULL : &watch->groups[at];
}

const struct wait_group *wait_watch_find(const struct wait_watch *watch, uint32_t pid) {
    int at = pid <= INT32_MAX ? idmap_find(&watch->by_pid, (int32_t)pid) : -1;
    return at < 0 ? NULL : &watch->groups[at];
}

/* The id has gone to another process: the one before keeps its last rows. */
static void leave_id(struct wait_watch *watch, struct wait_group *group) {
    watch->by_pid.ids[group - watch->groups] = -group->pid;
    idmap_rebuild(&watch->by_pid);
}

static struct wait_group *group_of(struct wait_watch *watch, const struct wait_thread *thread) {
    struct wait_group *known = find_group(watch, thread->tgid);
    if (known && known->start_ns == thread->start_ns)
        return known;
    if (known && known->start_ns < thread->start_ns)
        leave_id(watch, known);
    else if (known)
        return NULL; /* the last of one whose id is in use again */
    int at =
        watch->by_pid.n < WAIT_GROUPS_MAX ? idmap_add(&watch->by_pid, (int32_t)thread->tgid) : -1;
    if (at < 0)
        return NULL;
    watch->groups[at] = (struct wait_group){.pid = (int32_t)thread->tgid,
                                            .start_ns = thread->start_ns,
                                            .rank = -1,
                                            .born = thread->start_ns > watch->first_boot_ns};
    return &watch->groups[at];
}

static void add_clocks(uint64_t *ns, uint64_t *times, const uint64_t *more_ns,
                       const uint64_t *more_times) {
    for (size_t i = 0; i < WAIT_STATES; i++) {
        ns[i] += more_ns[i];
        times[i] += more_times[i];
    }
}

/* ---- slots ---- */

/* A copy of a thread's slot that was not written to meanwhile, and makes sense. */
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

/* A wait that goes on belongs to its socket, too. */
static void note_socket(struct wait_watch *watch, const struct wait_thread *thread, uint64_t ns) {
    if (!thread->wait_slot || thread->wait_slot > WAIT_SOCKETS)
        return;
    struct wait_socket_seen *socket = &watch->sockets[thread->wait_slot - 1];
    if (thread->state == WAIT_SOCKET_RECEIVE)
        socket->waits_ns[0] += ns;
    else if (thread->state == WAIT_SOCKET_SEND)
        socket->waits_ns[1] += ns;
}

static void take_live(struct wait_watch *watch, const struct wait_thread *slot, uint64_t now_ns) {
    struct wait_thread thread;
    bool whole = copy_thread(slot, &thread);
    struct wait_group *group = whole ? group_of(watch, &thread) : find_group(watch, slot->tgid);
    if (!group)
        return;
    group->threads++;
    group->seen = watch->sample;
    if (!whole)
        return; /* it stands where it was told last */
    if (now_ns > thread.since_ns) {
        thread.ns[thread.state] += now_ns - thread.since_ns;
        note_socket(watch, &thread, now_ns - thread.since_ns);
    }
    add_clocks(group->now_ns, group->now_times, thread.ns, thread.times);
}

static void take_ended(struct wait_watch *watch, struct wait_thread *slot) {
    struct wait_thread thread;
    if (copy_thread(slot, &thread)) {
        struct wait_group *group = group_of(watch, &thread);
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

uint32_t wait_slots_in_use(uint32_t high, uint32_t next, uint32_t capacity) {
    uint32_t n = high > next ? high : next;
    return n < capacity ? n : capacity;
}

static void take_threads(struct wait_watch *watch, uint64_t now_ns) {
    struct wait_memory *memory = &watch->memory;
    uint32_t *next = &memory->totals->next_thread, high = 0;
    uint32_t n = wait_slots_in_use(watch->high_threads, __atomic_load_n(next, __ATOMIC_RELAXED),
                                   WAIT_THREADS);
    uint32_t lowest = n;
    for (uint32_t i = 0; i < n; i++) {
        struct wait_thread *slot = &memory->threads[i];
        uint32_t use = __atomic_load_n(&slot->slot, __ATOMIC_ACQUIRE);
        if (use == WAIT_LIVE)
            take_live(watch, slot, now_ns);
        else if (use == WAIT_ENDED)
            take_ended(watch, slot);
        if (use == WAIT_FREE || use == WAIT_ENDED)
            lowest = i < lowest ? i : lowest;
        else
            high = i + 1;
    }
    /* Slots that were taken meanwhile are below what this returns. */
    uint32_t taken = __atomic_exchange_n(next, lowest, __ATOMIC_RELAXED);
    watch->high_threads = wait_slots_in_use(high, taken, WAIT_THREADS);
}

/* ---- the job ---- */

static bool is_same(const struct wait_group *group, const struct job_process *process,
                    int64_t ticks_per_s) {
    uint64_t ticks = group->start_ns / (uint64_t)tick_ns(ticks_per_s);
    return ticks + CLOCK_SLACK_TICKS >= process->born && ticks <= process->born + CLOCK_SLACK_TICKS;
}

static void list_group(struct wait_group *group, const struct job_process *process) {
    if (group->sent && strcmp(group->name, process->name) != 0 && !group->old_name[0])
        memcpy(group->old_name, group->name, sizeof group->old_name);
    memcpy(group->name, process->name, sizeof group->name);
    group->rank = process->rank;
    group->listed = true;
}

/* Those that are no longer of the job, so that a later process of their id does not join. */
static void remove_members(struct wait_watch *watch, const struct job *job) {
    size_t kept = 0;
    for (size_t i = 0; i < watch->n_members; i++) {
        bool is_there = false;
        for (size_t k = 0; k < job->n && !is_there; k++)
            is_there = (uint32_t)job->processes[k].pid == watch->members[i];
        if (is_there)
            watch->members[kept++] = watch->members[i];
        else
            wait_source_remove(watch->source, watch->members[i]);
    }
    watch->n_members = kept;
}

static bool add_member(struct wait_watch *watch, uint32_t pid) {
    for (size_t i = 0; i < watch->n_members; i++)
        if (watch->members[i] == pid)
            return true;
    if (watch->n_members == JOB_PROCESSES_MAX || wait_source_add(watch->source, pid) < 0)
        return false;
    watch->members[watch->n_members++] = pid;
    return true;
}

/* Processes that did not join by themselves: those that began outside the job. */
static int add_members(struct wait_watch *watch, const struct probe_env *env) {
    const struct job *job = env->job;
    bool any = false;
    if (!watch->source || watch->job_passes == job->passes)
        return 0;
    if (watch->job_changes != job->changes)
        remove_members(watch, job);
    for (size_t i = 0; i < job->n; i++) {
        const struct job_process *process = &job->processes[i];
        const struct wait_group *group = find_group(watch, (uint32_t)process->pid);
        if (!group || !is_same(group, process, env->ticks_per_s))
            any |= add_member(watch, (uint32_t)process->pid);
    }
    return any ? wait_source_adopt(watch->source) : 0;
}

static void list_groups(struct wait_watch *watch, const struct probe_env *env) {
    for (size_t i = 0; i < env->job->n; i++) {
        const struct job_process *process = &env->job->processes[i];
        struct wait_group *group = find_group(watch, (uint32_t)process->pid);
        if (group && is_same(group, process, env->ticks_per_s))
            list_group(group, process);
    }
}

/* ---- a sample ---- */

static void begin_groups(struct wait_watch *watch) {
    for (size_t i = 0; i < watch->by_pid.n; i++) {
        struct wait_group *group = &watch->groups[i];
        memcpy(group->now_ns, group->ended_ns, sizeof group->now_ns);
        memcpy(group->now_times, group->ended_times, sizeof group->now_times);
        group->threads = 0;
    }
}

static void raise_to(uint64_t *values, const uint64_t *now) {
    for (size_t i = 0; i < WAIT_STATES; i++)
        values[i] = now[i] > values[i] ? now[i] : values[i];
}

/* Time that was not clocked went as the time did that was, of late. */
static void share_out(struct wait_group *group) {
    double sum = 0;
    uint64_t unclocked = 0;
    for (size_t i = 0; i < WAIT_STATES; i++) {
        uint64_t now = group->now_ns[i], before = group->before_ns[i];
        uint64_t grown = now > before ? now - before : 0;
        group->before_ns[i] = now > before ? now : before;
        if (i == WAIT_UNCLOCKED)
            unclocked = grown;
        else
            sum += group->share[i] += (double)grown;
    }
    if (!unclocked || !(sum > 0))
        return;
    for (size_t i = 0; i < WAIT_UNCLOCKED; i++) {
        double part = group->share[i] / sum;
        group->shared_ns[i] += (uint64_t)(part * (double)unclocked);
        group->share[i] /= 2;
    }
}

static void end_groups(struct wait_watch *watch) {
    for (size_t i = 0; i < watch->by_pid.n; i++) {
        struct wait_group *group = &watch->groups[i];
        share_out(group);
        for (size_t k = 0; k < WAIT_STATES; k++)
            group->now_ns[k] += group->shared_ns[k];
        raise_to(group->ns, group->now_ns);
        raise_to(group->times, group->now_times);
        if (group->threads || group->listed || group->seen != watch->sample)
            continue;
        add_clocks(watch->unseen_ns, watch->unseen_times, group->ns, group->times);
        watch->unseen++;
    }
}

static void tell_losses(struct wait_watch *watch, const struct probe_env *env) {
    static const char *const words[WAIT_LOSSES] = {
        "more threads of the job than wait clocks have room for: some are not seen",
        "more connections than wait clocks have room for: some are not seen",
        "more pairs of processes wake each other than have room: the rest is summed"};
    for (size_t i = 0; i < WAIT_LOSSES; i++) {
        if (!__atomic_load_n(&watch->memory.totals->lost[i], __ATOMIC_RELAXED) || watch->told[i])
            continue;
        watch->told[i] = true;
        if (env->note)
            env->note(env->note_ctx, NOTE_INFO, "wait", words[i]);
    }
}

/* What the job may cost is set anew with each sample. Above that its clocks run for a slice of each
 * second: between slices no program is there that an event could call. */
static int keep_pace(struct wait_watch *watch, const struct probe_env *env) {
    struct wait_totals *totals = watch->memory.totals;
    bool paused = __atomic_load_n(&totals->paused, __ATOMIC_ACQUIRE);
    int r = 0;
    if (paused && !watch->told_pause && env->note)
        env->note(env->note_ctx, NOTE_INFO, "wait",
                  "the job switches too often to clock it all: clocked in slices of each second");
    watch->told_pause |= paused;
    if (paused && !watch->rests && watch->source)
        wait_source_rest(watch->source);
    watch->rests = paused;
    if (paused && (uint64_t)env->mono_ns < totals->paused_ns + REST_NS)
        return 0;
    for (size_t i = 0; i < WAIT_CORES; i++)
        __atomic_store_n(&watch->memory.paces[i].events, 0, __ATOMIC_RELAXED);
    int64_t span = watch->counted_ns ? env->mono_ns - watch->counted_ns : NS_PER_S / 10;
    span = span < NS_PER_S / 10 ? NS_PER_S / 10 : span > NS_PER_S ? NS_PER_S : span;
    totals->budget = (uint32_t)(EVENTS_PER_S * span / NS_PER_S);
    watch->counted_ns = env->mono_ns;
    if (!paused)
        return 0;
    if (watch->source)
        r = wait_source_go_on(watch->source);
    totals->resumed_ns = (uint64_t)clock_monotonic_ns();
    watch->rests = r < 0;
    __atomic_store_n(&totals->paused, r < 0, __ATOMIC_RELEASE);
    return r;
}

int wait_watch_read(struct wait_watch *watch, const struct probe_env *env) {
    uint64_t now_ns = env->mono_ns > 0 ? (uint64_t)env->mono_ns : 0;
    watch->sample++;
    int paced = keep_pace(watch, env), r = add_members(watch, env);
    r = paced < 0 ? paced : r;
    if (__atomic_load_n(&watch->memory.totals->paused, __ATOMIC_ACQUIRE) &&
        watch->memory.totals->paused_ns < now_ns)
        now_ns = watch->memory.totals->paused_ns; /* beyond that nothing is known yet */
    for (size_t i = 0; i < watch->high_sockets; i++)
        watch->sockets[i].waits_ns[0] = watch->sockets[i].waits_ns[1] = 0;
    begin_groups(watch);
    take_threads(watch, now_ns);
    list_groups(watch, env);
    end_groups(watch);
    watch->job_passes = env->job->passes;
    watch->job_changes = env->job->changes;
    tell_losses(watch, env);
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
