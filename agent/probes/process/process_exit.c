/* SPDX-License-Identifier: MIT */
/*
 * Processes that end between two samples. If a sample saw a thread, its record is its last reading.
 * A process that no sample saw is of the job if its parent is. Such processes are added up by name,
 * so that many short ones do not make as many rows.
 *
 * Records are read before a sample looks at /proc: tasks that end after that are told with the next
 * sample, and are not counted twice.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/probes/process/process_private.h"

#define DEPTH_MAX 64 /* generations of a family; ends a circle of parents, too */
#define OTHERS "(others)"
#define LOSS                                                                                       \
    "more processes ended at once than could be told; the CPU time and I/O of some are missing"

static void add_times(struct thread_times *sum, const struct thread_times *part) {
    sum->run_ns += part->run_ns;
    sum->wait_ns += part->wait_ns;
    sum->voluntary += part->voluntary;
    sum->involuntary += part->involuntary;
    sum->read_bytes += part->read_bytes;
    sum->write_bytes += part->write_bytes;
}

static void add_ends(struct process_end *sum, const struct process_end *part) {
    sum->user_us += part->user_us;
    sum->system_us += part->system_us;
    sum->minor_faults += part->minor_faults;
    sum->major_faults += part->major_faults;
    sum->block_io_ns += part->block_io_ns;
    if (part->peak_rss_bytes > sum->peak_rss_bytes)
        sum->peak_rss_bytes = part->peak_rss_bytes;
}

/* ---- what no sample saw ---- */

static struct unknown *find_or_add(struct process_exits *exits, const struct exit_record *record,
                                   uint64_t sample) {
    int at = idmap_find(&exits->by_pid, record->pid);
    if (at >= 0)
        return &exits->unknown[at];
    at = idmap_add(&exits->by_pid, record->pid);
    if (at < 0)
        return NULL;
    exits->unknown[at] = (struct unknown){.told = sample};
    return &exits->unknown[at];
}

struct taker {
    struct processes *all;
    bool full;
};

/* Rows of the child and its descendants tell told_ns, a part of the parent's time of children. */
static void tell_parent(struct processes *all, int32_t parent, int64_t told_ns) {
    int at = parent > 0 ? idmap_find(&all->by_pid, parent) : -1;
    if (at >= 0)
        all->items[at].totals.below_ns += told_ns;
}

static void end_thread(struct processes *all, struct process *process,
                       const struct exit_record *record) {
    process_end_thread(all, process, record);
    if (record->is_last)
        tell_parent(all, record->parent,
                    process->totals.cpu_ns + process->totals.below_ns + process->totals.unseen_ns);
}

static void take(void *ctx, const struct exit_record *record) {
    struct taker *taker = ctx;
    struct processes *all = taker->all;
    int at = idmap_find(&all->by_pid, record->pid);
    if (at >= 0 && all->items[at].class == PROCESS_MEMBER)
        end_thread(all, &all->items[at], record);
    if (at >= 0 && all->items[at].class != PROCESS_NEW)
        return;
    struct unknown *unknown = find_or_add(&all->exits, record, all->sample);
    if (!unknown) {
        taker->full = true;
        return;
    }
    unknown->parent = record->parent;
    memcpy(unknown->comm, record->comm, record->comm_size);
    unknown->comm_size = record->comm_size;
    add_times(&unknown->times, &record->times);
    process_end_add(&unknown->end, record);
}

static void note_loss(struct process_exits *exits, const struct probe_env *env) {
    if (!exits->told_loss && env->note)
        env->note(env->note_ctx, NOTE_WARNING, "process", LOSS);
    exits->told_loss = true;
}

void process_exits_take(struct processes *all, const struct probe_env *env) {
    struct taker taker = {.all = all};
    if (!all->exits.on)
        return;
    if (exit_records_drain(&all->exits.records, take, &taker) < 0 || taker.full)
        note_loss(&all->exits, env);
}

/* ---- whose it was ---- */

static bool is_of_job(const struct processes *all, const struct unknown *unknown,
                      const struct probe_env *env) {
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        if (env->job_parent && unknown->parent == env->job_parent)
            return true;
        int at = idmap_find(&all->by_pid, unknown->parent);
        if (at >= 0)
            return process_has_kin(&all->items[at]);
        at = idmap_find(&all->exits.by_pid, unknown->parent);
        if (at < 0)
            return false;
        unknown = &all->exits.unknown[at];
    }
    return false;
}

bool process_ended_in_job(const struct processes *all, int32_t pid, const struct probe_env *env) {
    int at = all->exits.on ? idmap_find(&all->exits.by_pid, pid) : -1;
    return at >= 0 && is_of_job(all, &all->exits.unknown[at], env);
}

static bool has_name(const struct short_lived *name, const struct unknown *unknown) {
    return name->comm_size == unknown->comm_size &&
           memcmp(name->comm, unknown->comm, unknown->comm_size) == 0;
}

static struct short_lived *name_of(struct process_exits *exits, const struct unknown *unknown) {
    for (size_t i = 0; i < exits->n_names; i++)
        if (has_name(&exits->names[i], unknown))
            return &exits->names[i];
    if (exits->n_names == SHORT_MAX)
        return &exits->names[SHORT_MAX - 1];
    struct short_lived *name = &exits->names[exits->n_names++];
    if (exits->n_names == SHORT_MAX) {
        memcpy(name->comm, OTHERS, sizeof OTHERS);
        name->comm_size = sizeof OTHERS - 1;
    } else {
        memcpy(name->comm, unknown->comm, unknown->comm_size);
        name->comm_size = unknown->comm_size;
    }
    return name;
}

static void add_to_name(struct processes *all, const struct unknown *unknown) {
    struct short_lived *name = name_of(&all->exits, unknown);
    name->has_grown = true;
    name->n++;
    add_times(&name->times, &unknown->times);
    add_ends(&name->end, &unknown->end);
    tell_parent(all, unknown->parent, (int64_t)unknown->times.run_ns);
}

/* A later sample saw the process: the time of its ended threads belongs to it. */
static void join(struct process *process, const struct unknown *unknown) {
    process->totals.run_ns += (int64_t)unknown->times.run_ns;
    process->totals.wait_ns += (int64_t)unknown->times.wait_ns;
    process->totals.voluntary += (int64_t)unknown->times.voluntary;
    process->totals.involuntary += (int64_t)unknown->times.involuntary;
    process->totals.read_bytes += (int64_t)unknown->times.read_bytes;
    process->totals.write_bytes += (int64_t)unknown->times.write_bytes;
    add_ends(&process->end, &unknown->end);
}

void process_find_unseen(struct process *process, int64_t ticks_per_s) {
    int64_t tick = tick_ns(ticks_per_s);
    int64_t all_ns = counter_add(counter_value(process->stat.children_user_ticks, tick),
                                 counter_value(process->stat.children_system_ticks, tick));
    if (all_ns != VALUE_ABSENT && all_ns - process->totals.below_ns > process->totals.unseen_ns)
        process->totals.unseen_ns = all_ns - process->totals.below_ns;
}

/* Returns whether the entry is settled. An entry with an unknown parent is kept for one more
 * sample, which may see the parent. */
static bool settle(struct processes *all, int32_t pid, const struct unknown *unknown,
                   const struct probe_env *env) {
    int at = idmap_find(&all->by_pid, pid);
    bool is_seen = at >= 0 && !unknown->end.is_whole;
    if (is_seen && all->items[at].class == PROCESS_MEMBER)
        join(&all->items[at], unknown);
    else if (unknown->end.is_whole && is_of_job(all, unknown, env))
        add_to_name(all, unknown);
    else
        return is_seen || unknown->told < all->sample;
    return true;
}

/* Two passes, since a parent may be among the settled entries. */
void process_exits_settle(struct processes *all, const struct probe_env *env) {
    struct process_exits *exits = &all->exits;
    static_assert(IDMAP_CAPACITY % 8 == 0, "a bit for each");
    uint8_t done[IDMAP_CAPACITY / 8] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < exits->by_pid.n; i++)
        if (settle(all, exits->by_pid.ids[i], &exits->unknown[i], env))
            done[i / 8] |= (uint8_t)(1 << i % 8);
    for (size_t i = 0; i < exits->by_pid.n; i++) {
        if (done[i / 8] >> i % 8 & 1)
            continue;
        exits->by_pid.ids[kept] = exits->by_pid.ids[i];
        exits->unknown[kept++] = exits->unknown[i];
    }
    if (kept == exits->by_pid.n)
        return;
    exits->by_pid.n = kept;
    idmap_rebuild(&exits->by_pid);
}

/* ---- life ---- */

/* Ids in a tree of fixtures are not the kernel's ids. */
void process_exits_open(struct processes *all, const struct probe_env *env, char *why,
                        size_t why_size) {
    if (strcmp(env->proc, "/proc") == 0)
        all->exits.on = exit_records_open(&all->exits.records, env->sys, why, why_size) == 0;
    if (all->exits.on && thread_ask_open(&all->ask, all->exits.records.family) < 0)
        all->ask = (struct thread_ask){0}; /* files have the same figures */
}

void process_exits_close(struct processes *all) {
    exit_records_close(&all->exits.records);
    thread_ask_close(&all->ask);
}
