/* SPDX-License-Identifier: MIT */
/* The agent tells the programs in the kernel which processes are of the job, and how much time
 * events may cost. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "agent/probes/wait/wait_private.h"
#include "common/clock.h"
#include "common/error.h"

#define FIRST_NAMESPACE 0xeffffffcu /* process ids; its inode is the same on all machines */
#define EVENTS_PER_S 23000          /* per core: 1 % of it at 430 ns each */
/* Detaching and attaching programs holds up all cores for 7 ms. */
#define REST_NS (3 * NS_PER_S - 50 * NS_PER_MS)

/* ---- opening ---- */

static uint64_t boot_now_ns(void) {
    struct timespec t;
    return clock_gettime(CLOCK_BOOTTIME, &t) < 0
               ? 0
               : (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Finds the namespace of this process's ids. Its depth cannot be read if /proc belongs to the same
 * namespace, as in a container. */
static void find_namespace(const char *proc, struct wait_config *config) {
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%.480s/self/ns/pid", proc);
    if (stat(path, &st) == 0 && st.st_ino != FIRST_NAMESPACE)
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

/* ---- the job ---- */

/* The place of an id in the sorted ids, or the place to insert it. */
static size_t place_of(const struct wait_watch *watch, uint32_t pid) {
    size_t low = 0, high = watch->n_members;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (watch->members[middle] < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_member(const struct wait_watch *watch, uint32_t pid) {
    size_t at = place_of(watch, pid);
    return at < watch->n_members && watch->members[at] == pid;
}

/* Removes processes that left the job, so that a later process with the id does not join. */
static void remove_members(struct wait_watch *watch, const struct job *job) {
    bool there[JOB_PROCESSES_MAX] = {false};
    size_t kept = 0;
    for (size_t k = 0; k < job->n; k++)
        if (is_member(watch, (uint32_t)job->processes[k].pid))
            there[place_of(watch, (uint32_t)job->processes[k].pid)] = true;
    for (size_t i = 0; i < watch->n_members; i++)
        if (there[i])
            watch->members[kept++] = watch->members[i];
        else
            wait_source_remove(watch->source, watch->members[i]);
    watch->n_members = kept;
}

static bool add_member(struct wait_watch *watch, uint32_t pid) {
    size_t at = place_of(watch, pid);
    if (is_member(watch, pid))
        return true;
    if (watch->n_members == JOB_PROCESSES_MAX || wait_source_add(watch->source, pid) < 0)
        return false;
    memmove(&watch->members[at + 1], &watch->members[at],
            (watch->n_members - at) * sizeof *watch->members);
    watch->members[at] = pid;
    watch->n_members++;
    return true;
}

int wait_add_members(struct wait_watch *watch, const struct probe_env *env) {
    const struct job *job = env->job;
    bool any = false;
    if (!watch->source || watch->job_passes == job->passes)
        return 0;
    if (watch->job_changes != job->changes)
        remove_members(watch, job);
    for (size_t i = 0; i < job->n; i++) {
        const struct job_process *process = &job->processes[i];
        const struct wait_group *group = wait_group_find(watch, (uint32_t)process->pid);
        if (!group || !wait_group_is(group, process, env->ticks_per_s))
            any |= add_member(watch, (uint32_t)process->pid);
    }
    return any ? wait_source_adopt(watch->source) : 0;
}

/* ---- cost ---- */

/* Clocks go on before threads are looked at: events that come first are more exact. An event of a
 * thread from another generation finds that its state is unknown. */
static int resume(struct wait_watch *watch, uint64_t now_ns) {
    struct wait_totals *totals = watch->memory.totals;
    __atomic_fetch_add(&totals->generation, 1, __ATOMIC_RELEASE);
    int r = watch->source ? wait_source_go_on(watch->source) : 0;
    if (r < 0)
        return r;
    wait_resume_processes(watch, now_ns);
    totals->resumed_ns = (uint64_t)clock_monotonic_ns();
    watch->rests = false;
    __atomic_store_n(&totals->paused, 0, __ATOMIC_RELEASE);
    return watch->source ? wait_source_adopt(watch->source) : 0;
}

static void clear_pace(struct wait_pace *pace) {
    __atomic_store_n(&pace->events, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&pace->driver_events, 0, __ATOMIC_RELAXED);
}

/* If calls of GPU drivers are rare, they stay followed in pauses: then it is known who is in a long
 * one when the clocks go on. */
static bool drivers_are_costly(const struct wait_watch *watch) {
    for (size_t i = 0; i < WAIT_CORES; i++)
        if (watch->memory.paces[i].driver_events > watch->memory.totals->budget / 2)
            return true;
    return false;
}

/* Each sample resets the budget of events. Above the budget, clocks run in slices: between slices
 * the programs are detached, so events cost nothing. */
int wait_keep_pace(struct wait_watch *watch, const struct probe_env *env) {
    struct wait_totals *totals = watch->memory.totals;
    bool paused = __atomic_load_n(&totals->paused, __ATOMIC_ACQUIRE);
    if (paused && !watch->told_pause && env->note)
        env->note(env->note_ctx, NOTE_INFO, "wait",
                  "the job switches too often to clock it all: clocked in slices, one in 3 s");
    watch->told_pause |= paused;
    if (paused && !watch->rests && watch->source)
        wait_source_rest(watch->source, drivers_are_costly(watch));
    watch->rests = paused;
    if (paused && (uint64_t)env->mono_ns < totals->paused_ns + REST_NS)
        return 0;
    for (size_t i = 0; i < WAIT_CORES; i++)
        clear_pace(&watch->memory.paces[i]);
    int64_t span = watch->counted_ns ? env->mono_ns - watch->counted_ns : NS_PER_S / 10;
    span = span < NS_PER_S / 10 ? NS_PER_S / 10 : span > NS_PER_S ? NS_PER_S : span;
    totals->budget = (uint32_t)(EVENTS_PER_S * span / NS_PER_S);
    watch->counted_ns = env->mono_ns;
    return paused ? resume(watch, (uint64_t)env->mono_ns) : 0;
}

void wait_tell_losses(struct wait_watch *watch, const struct probe_env *env) {
    static const char *const words[WAIT_LOSSES] = {
        "more threads of the job than wait clocks have room for: some are not seen",
        "more connections than wait clocks have room for: some are not seen",
        "more pairs of processes wake each other than have room: the rest is summed",
        "more processes of the job than wait clocks have room for: some have threads' clocks only"};
    for (size_t i = 0; i < WAIT_LOSSES; i++) {
        if (!__atomic_load_n(&watch->memory.totals->lost[i], __ATOMIC_RELAXED) || watch->told[i])
            continue;
        watch->told[i] = true;
        if (env->note)
            env->note(env->note_ctx, NOTE_INFO, "wait", words[i]);
    }
}
