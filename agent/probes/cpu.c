/* SPDX-License-Identifier: MIT */
/*
 * CPU time of every core, from /proc/stat. A group's CPU time comes from its cpuacct.usage_all
 * (v1, per core), or from cpu.stat or cpuacct.stat (one row for all its cores).
 *
 * The two numbers of cpuacct are samples of the tick: load that is shorter than a tick is missed by
 * 10 to 40 %. The sum of a v1 group therefore comes from the scheduler's clock
 * (cpuacct.usage_percpu, cpuacct.usage). The tick only divides it into user and system time, as in
 * the kernel's own figures of processes.
 *
 * A group has no idle time of its own, so its idle time is the time passed less its use and less
 * the hypervisor's share of those cores: the sum over a row's columns is then wall time, as for a
 * host. A column of its own has the time that its cores spend on programs outside of it: by the
 * group's account alone a core is idle meanwhile.
 *
 * The kernel's idle and iowait may step back a little (proc(5)): each is held until it grows again,
 * so that nobody takes the step for a restart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/scope.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"
#include "tables/keys.h"

/* The numbers of a core in /proc/stat have the order of the columns. */
enum { N_NUMBERS = CPU_STEAL + 1 };

#define STEP_BACK_MAX (2 * NS_PER_S) /* a larger step is a restart and is passed on */

struct held {
    int64_t idle, iowait, steal; /* of the last sample */
    int64_t user, system;        /* of the last sample, divided from the scheduler's clock */
    int64_t busy;                /* of the machine's core, for any program; of the last sample */
    int64_t outside;             /* the part of it that the group did not use */
};

struct cpu {
    struct source stat;  /* /proc/stat: the machine's cores */
    struct source group; /* the group's own file, when the scope is one */
    struct source exact; /* v1 group: from the scheduler's clock, one number or one per core */
    bool per_core;       /* group: usage_all has a line per core */
    int64_t unit_ns;     /* group: unit of the numbers in its one-row file */
    struct held *held;   /* by core, SCOPE_CPUS_MAX of them */
    struct held total;   /* for the single row */
};

static int64_t hold(int64_t *last, int64_t value) {
    if (value == VALUE_ABSENT)
        return value;
    if (value > *last || *last - value > STEP_BACK_MAX)
        *last = value;
    return *last;
}

/* "cpu12 user nice system idle iowait irq softirq steal guest guest_nice": user and nice include
 * guest time. False for any other line. */
static bool parse_core(struct span line, unsigned *ret_core, uint64_t numbers[N_NUMBERS],
                       size_t *ret_n) {
    const char *p = line.data + 3, *end = line.data + line.size;
    uint64_t core;
    if (!span_starts(line, "cpu") || p == end || *p < '0' || *p > '9' ||
        !text_u64(&p, end, &core) || core >= SCOPE_CPUS_MAX)
        return false;
    *ret_core = (unsigned)core;
    *ret_n = text_numbers(&p, end, numbers, N_NUMBERS);
    return *ret_n >= 4;
}

static struct row *append_core(struct rows *rows, int64_t core) {
    const struct table_key key = {.form = KEY_CORE, .core = core};
    return rows_append_key(rows, &key);
}

static void host_row(struct cpu *cpu, const struct probe_env *env, unsigned core,
                     const uint64_t *numbers, size_t n, struct rows *rows) {
    struct row *row = append_core(rows, core);
    struct held *held = &cpu->held[core];
    if (!row)
        return;
    for (size_t i = 0; i < n; i++)
        row->values[i] = counter_value(numbers[i], tick_ns(env->ticks_per_s));
    row->values[CPU_IDLE] = hold(&held->idle, row->values[CPU_IDLE]);
    row->values[CPU_IOWAIT] = hold(&held->iowait, row->values[CPU_IOWAIT]);
}

static int64_t time_of(const struct probe_env *env, const uint64_t *numbers, size_t n,
                       size_t column) {
    int64_t ns = n > column ? counter_value(numbers[column], tick_ns(env->ticks_per_s)) : 0;
    return ns == VALUE_ABSENT ? 0 : ns;
}

/* Stores the steal and the busy time of a core of the scope, and adds them to the total's. */
static void note_core(struct cpu *cpu, const struct probe_env *env, unsigned core,
                      const uint64_t *numbers, size_t n) {
    struct held *held = &cpu->held[core];
    held->steal = time_of(env, numbers, n, CPU_STEAL);
    held->busy = 0;
    for (size_t i = CPU_USER; i <= CPU_SYSTEM; i++)
        held->busy = counter_add(held->busy, time_of(env, numbers, n, i));
    cpu->total.steal = counter_add(cpu->total.steal, held->steal);
    cpu->total.busy = counter_add(cpu->total.busy, held->busy);
}

/* A machine's cores may come and go; a group's cores are fixed. */
static bool is_ours(const struct scope *scope, unsigned core) {
    return scope->kind == SCOPE_HOST || scope_has_cpu(scope, core);
}

/* Lines of cores follow the line of the sum; reading stops behind them. */
static void read_cores(struct cpu *cpu, const struct probe_env *env, struct rows *rows) {
    const char *p = cpu->stat.data, *end = source_end(&cpu->stat);
    uint64_t numbers[N_NUMBERS];
    struct span line;
    unsigned core;
    size_t n;
    cpu->total.steal = cpu->total.busy = 0;
    while (text_line(&p, end, &line) && span_starts(line, "cpu")) {
        if (!parse_core(line, &core, numbers, &n) || !is_ours(env->scope, core))
            continue;
        if (rows)
            host_row(cpu, env, core, numbers, n, rows);
        else
            note_core(cpu, env, core, numbers, n);
    }
}

/* The machine's clock is a tick, and the group's may be exact: what others used may seem to step
 * back. */
static int64_t outside_of(struct held *held, int64_t user_ns, int64_t system_ns) {
    int64_t outside_ns;
    if (__builtin_sub_overflow(held->busy, user_ns, &outside_ns) ||
        __builtin_sub_overflow(outside_ns, system_ns, &outside_ns))
        return VALUE_ABSENT;
    return hold(&held->outside, outside_ns > 0 ? outside_ns : 0);
}

static void fill_group_row(struct row *row, struct held *held, int64_t passed_ns, int64_t user_ns,
                           int64_t system_ns) {
    int64_t steal_ns = held->steal;
    if (!row)
        return;
    row->values[CPU_USER] = user_ns;
    row->values[CPU_SYSTEM] = system_ns;
    row->values[CPU_STEAL] = steal_ns;
    if (user_ns == VALUE_ABSENT || system_ns == VALUE_ABSENT)
        return;
    /* The three cannot exceed INT64_MAX, so the subtractions from passed_ns wrap only if the
     * numbers are nonsense; then the row says so by an absent idle time. */
    int64_t idle_ns;
    if (__builtin_sub_overflow(passed_ns, user_ns, &idle_ns) ||
        __builtin_sub_overflow(idle_ns, system_ns, &idle_ns) ||
        __builtin_sub_overflow(idle_ns, steal_ns, &idle_ns))
        return;
    row->values[CPU_IDLE] = hold(&held->idle, idle_ns > 0 ? idle_ns : 0);
    row->values[CPU_OUTSIDE] = outside_of(held, user_ns, system_ns);
}

/* Divides `exact` as user and system time are to each other; neither part steps back
 * (cputime_adjust() in the kernel's sched/cputime.c). */
static void divide_exact(struct held *held, int64_t exact_ns, int64_t *user_ns,
                         int64_t *system_ns) {
    double sum = (double)*user_ns + (double)*system_ns;
    if (exact_ns == VALUE_ABSENT || *user_ns == VALUE_ABSENT || *system_ns == VALUE_ABSENT)
        return;
    if (exact_ns - held->user < held->system)
        held->user = held->system = 0; /* a restart */
    int64_t most_ns = exact_ns - held->user;
    int64_t system = sum > 0 ? (int64_t)((double)exact_ns * ((double)*system_ns / sum)) : 0;
    system = system > most_ns ? most_ns : system;
    held->system = system < held->system ? held->system : system;
    held->user = exact_ns - held->system;
    *user_ns = held->user;
    *system_ns = held->system;
}

/* The number at that place of the exact file; VALUE_ABSENT: missing. */
static int64_t exact_ns(const struct cpu *cpu, unsigned place) {
    const char *p = cpu->exact.data,
               *end = source_is_open(&cpu->exact) ? source_end(&cpu->exact) : p;
    uint64_t number = 0;
    for (unsigned i = 0; i <= place; i++)
        if (!p || !text_u64(&p, end, &number))
            return VALUE_ABSENT;
    return counter_value(number, 1);
}

/* "cpu user system", then a line per core, in ns. */
static void group_cores(struct cpu *cpu, const struct probe_env *env, struct rows *rows) {
    const char *p = cpu->group.data, *end = source_end(&cpu->group);
    uint64_t numbers[3];
    struct span line;
    while (text_line(&p, end, &line)) {
        const char *q = line.data;
        if (text_numbers(&q, line.data + line.size, numbers, 3) < 3 ||
            numbers[0] >= SCOPE_CPUS_MAX || !scope_has_cpu(env->scope, (unsigned)numbers[0]))
            continue;
        struct held *held = &cpu->held[numbers[0]];
        int64_t user_ns = counter_value(numbers[1], 1), system_ns = counter_value(numbers[2], 1);
        divide_exact(held, exact_ns(cpu, (unsigned)numbers[0]), &user_ns, &system_ns);
        fill_group_row(append_core(rows, (unsigned)numbers[0]), held, env->mono_ns, user_ns,
                       system_ns);
    }
}

/* cpu.stat: user_usec, system_usec; cpuacct.stat: user, system. */
static void group_sum(struct cpu *cpu, const struct probe_env *env, struct rows *rows) {
    const char *p = cpu->group.data, *end = source_end(&cpu->group);
    int64_t user_ns = VALUE_ABSENT, system_ns = VALUE_ABSENT, passed_ns;
    struct span line, word;
    uint64_t number;
    while (text_line(&p, end, &line)) {
        const char *q = line.data;
        if (!text_word(&q, line.data + line.size, &word) ||
            !text_u64(&q, line.data + line.size, &number))
            continue;
        if (span_equal(word, "user_usec") || span_equal(word, "user"))
            user_ns = counter_value(number, cpu->unit_ns);
        else if (span_equal(word, "system_usec") || span_equal(word, "system"))
            system_ns = counter_value(number, cpu->unit_ns);
    }
    divide_exact(&cpu->total, exact_ns(cpu, 0), &user_ns, &system_ns);
    if (!__builtin_mul_overflow(env->mono_ns, (int64_t)env->scope->n_cpus, &passed_ns))
        fill_group_row(append_core(rows, KEY_ALL_CORES), &cpu->total, passed_ns, user_ns,
                       system_ns);
}

static int cpu_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct cpu *cpu = state;
    bool of_group = source_is_open(&cpu->group);
    int r = of_group ? source_read(&cpu->group) : 0;
    if (r == 0)
        r = source_read(&cpu->stat);
    if (r == 0 && source_is_open(&cpu->exact))
        r = source_read(&cpu->exact);
    if (r < 0)
        return r;
    read_cores(cpu, env, of_group ? NULL : rows);
    if (cpu->per_core)
        group_cores(cpu, env, rows);
    else if (of_group)
        group_sum(cpu, env, rows);
    return rows->n ? 0 : -ENODATA;
}

static int open_cpu_group(struct cpu *cpu, const struct probe_env *env) {
    const struct scope *scope = env->scope;
    cpu->unit_ns = scope->v2_cpu ? NS_PER_US : tick_ns(env->ticks_per_s);
    if (scope->v2_cpu)
        return source_open(&cpu->group, scope->cpu, "cpu.stat");
    cpu->per_core = source_open(&cpu->group, scope->cpu, "cpuacct.usage_all") == 0;
    /* If this fails, the numbers of the tick are used. */
    source_open(&cpu->exact, scope->cpu, cpu->per_core ? "cpuacct.usage_percpu" : "cpuacct.usage");
    return cpu->per_core ? 0 : source_open(&cpu->group, scope->cpu, "cpuacct.stat");
}

static int cpu_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct cpu *cpu = state;
    const char *where = env->proc;
    int r = source_open(&cpu->stat, env->proc, "stat");
    if (r == 0 && env->scope->kind == SCOPE_CGROUP && *env->scope->cpu) {
        where = env->scope->cpu;
        r = open_cpu_group(cpu, env);
    }
    if (r < 0) {
        snprintf(why, why_size, "cannot read CPU time from %s: %s", where, strerror(-r));
        return r;
    }
    cpu->held = calloc(SCOPE_CPUS_MAX, sizeof *cpu->held);
    return cpu->held ? 0 : -ENOMEM;
}

/* The rows suffice for twice the cores of now. */
static size_t cpu_max_rows(const void *state, const struct probe_env *env) {
    const struct cpu *cpu = state;
    const char *p = cpu->stat.data;
    struct span line;
    size_t n = 0;
    if (source_is_open(&cpu->group) && !cpu->per_core)
        return 1;
    while (text_line(&p, source_end(&cpu->stat), &line) && span_starts(line, "cpu"))
        n++;
    return env->scope->kind == SCOPE_HOST ? 2 * n + 8 : env->scope->n_cpus;
}

static void cpu_close(void *state) {
    struct cpu *cpu = state;
    source_close(&cpu->stat);
    source_close(&cpu->group);
    source_close(&cpu->exact);
    free(cpu->held);
    cpu->held = NULL;
}

const struct probe probe_cpu = {
    .table = &all_tables[TABLE_CPU],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct cpu),
    .max_rows = cpu_max_rows,
    .open = cpu_open,
    .sample = cpu_sample,
    .close = cpu_close,
};
