/* SPDX-License-Identifier: MIT */
/*
 * Computing as the limit: the work itself, if nothing else holds up the run. It limits all hosts,
 * or one core if a single thread does all the work and the other cores idle. A fallback: any other
 * finding that is worth naming comes first.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/causes/gpu_private.h"
#include "analysis/evidence/awaited.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(                                                                                        \
        QUEUED_LITTLE, 0.25, "threads",                                                            \
        "of the job queue for a core in the mean: with more of them not one thread alone wants "   \
        "to compute")
#define OWN_REMARKS                                                                                \
    REMARK(PROGRAM_COMPUTES, "%s computes", SLOTS(), SLOTS("program"))                             \
    REMARK(USED_BY_SHORT_PROCESSES,                                                                \
           "most of its CPU time was used by processes too short-lived to be seen one by one",     \
           SLOTS(), SLOTS())                                                                       \
    REMARK(ONE_THREAD_COMPUTES, "one thread of %s computes", SLOTS(), SLOTS("program"))            \
    REMARK(OTHER_CORES_IDLE, "the other cores of %s idle", SLOTS(), SLOTS("host"))                 \
    REMARK(NO_OTHER_IS_READY, "no other thread of the job is ready to compute", SLOTS(), SLOTS())  \
    REMARK(THREADS_TAKE_TURNS, "threads of %s wait for a lock, and compute one at a time",         \
           SLOTS(), SLOTS("process"))                                                              \
    REMARK(ADVISE_SHORTER_LOCK,                                                                    \
           "hold that lock for a shorter time in %s on %s, or divide what it guards: more cores "  \
           "do not help until then",                                                               \
           SLOTS(), SLOTS("process", "host"))                                                      \
    REMARK(CORES_USED, "the job used %.2g of the %.0f cores of its %d host%[|s]",                  \
           SLOTS("used, cores", "cores", "hosts", "hosts"), SLOTS())                               \
    REMARK(CORES_USED_HERE, "the job used %.2g of the %.0f cores of %s",                           \
           SLOTS("used, cores", "cores"), SLOTS("host"))                                           \
    REMARK(SPINNING_LOOKS_ALIKE, "ranks that spin while they wait would look the same", SLOTS(),   \
           SLOTS())                                                                                \
    REMARK(ADVISE_MORE_THREADS,                                                                    \
           "divide the work among threads or processes: %s has %d cores. `perf top` there shows "  \
           "what the one thread computes",                                                         \
           SLOTS("cores"), SLOTS("host"))
#include "analysis/causes/own.h"

struct computing {
    double share;       /* of the run that is computing: of the critical path, else of processes */
    double used, cores; /* cores that the job used on its hosts; cores that they have */
    double computing;   /* cores that compute or could, outside MPI, over the whole run */
    size_t n_hosts;     /* of the job */
    size_t workers;     /* processes that compute, plus their threads that fill more cores */
    int busiest;        /* a host */
    bool one_thread;    /* one process computes, in one thread at a time */
    bool alone;         /* and the host's other cores idle */
    bool locked;        /* since others of its threads wait for a lock that this one holds */
    double waited_s;    /* for that lock, by all threads in sum */
    size_t who;         /* that process, as index of the budgets */
    bool come_and_go;   /* its processes are too short to be seen one by one */
};

/* Share of the critical path; without one, of the processes' own time. */
static double share_of(const struct run_model *model, size_t group) {
    if (!model_has_path(model))
        return fmin(1, ranks_busy(model, group));
    if (throughput_counts(model, group))
        return rank_budgets_share(&model->budgets, group, BUDGET_CPU);
    return critical_share_of_all(&model->critical.groups[group], model->n_hosts, BUDGET_CPU);
}

/* Cores that the job's processes and threads could fill. */
static size_t count_workers(const struct run_model *model, size_t group) {
    double workers = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = &model->budgets.items[r].groups[group];
        if (b->wall_s > 0 &&
            budget_sum(b, 1u << BUDGET_CPU) >= number_of(model, ONE_CORE_LITTLE) * b->wall_s)
            workers += 1 + ceil(b->other_cpu_s / b->wall_s - number_of(model, ONE_CORE_LITTLE));
    }
    return (size_t)fmax(1, workers);
}

/* CPU time of a rank inside MPI may be spinning. */
static double computing_cores(const struct run_model *model) {
    double cores = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = &model->budgets.items[r].groups[0];
        double ready = budget_sum(b, 1u << BUDGET_CPU | 1u << BUDGET_RUN_QUEUE);
        if (b->wall_s > 0 && ready >= number_of(model, ONE_CORE_LITTLE) * b->wall_s)
            cores += (ready + b->other_cpu_s) / b->wall_s;
    }
    return cores;
}

/* Whether only one thread of one process computes. *ret_who: the last that computes. */
static bool is_one_thread(const struct run_model *model, size_t group, size_t *ret_who) {
    size_t computing = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = &model->budgets.items[r].groups[group];
        double cpu = budget_sum(b, 1u << BUDGET_CPU);
        if (b->wall_s > 0 && cpu >= number_of(model, ONE_CORE_LITTLE) * b->wall_s) {
            computing++;
            *ret_who = r;
        }
        if (b->other_cpu_s >= number_of(model, ONE_CORE_LITTLE) * b->wall_s && b->wall_s > 0)
            return false;
    }
    return computing == 1;
}

/* Whether the host's other cores idle. */
static bool is_alone(const struct run_model *model, size_t group, int host) {
    double idle = model_mean(model, host, METRIC_CPU_IDLE, group) / 100;
    double cores = model->hosts[host].n_cpus;
    return !(idle * cores < (cores - 1) / 2);
}

static struct computing look(const struct run_model *model, size_t group) {
    struct computing c = {.share = share_of(model, group), .busiest = -1, .who = SIZE_MAX};
    double most = 0;
    for (size_t h = 0; h < model->n_hosts; h++) {
        double used = model_mean(model, (int)h, METRIC_JOB_CPU, group) / 100;
        if (!(used >= number_of(model, ONE_CORE_LITTLE)))
            continue;
        c.used += used;
        c.cores += model->hosts[h].n_cpus;
        c.n_hosts++;
        c.busiest = used > most ? (int)h : c.busiest;
        most = fmax(most, used);
    }
    c.come_and_go = processes_come_and_go(model, group);
    c.computing = c.come_and_go ? c.used : computing_cores(model);
    c.workers = c.come_and_go ? (size_t)fmax(1, ceil(c.used - number_of(model, ONE_CORE_LITTLE)))
                              : count_workers(model, group);
    c.one_thread = c.n_hosts == 1 && c.cores > 1 &&
                   (c.come_and_go ? c.used <= 1 + number_of(model, ONE_CORE_LITTLE)
                                  : is_one_thread(model, group, &c.who));
    c.alone = c.one_thread && is_alone(model, group, c.busiest);
    return c;
}

/* Whether the one thread computes alone because it holds a lock. If it does not, threads of the job
 * that queue for a core want to compute as well. -ENOMEM.
 */
static int look_for_lock(const struct run_model *model, size_t group, struct computing *x) {
    double queued = x->one_thread ? model_mean(model, x->busiest, METRIC_JOB_RUN_QUEUE, group) : 0;
    struct awaited_lock lock = {.computing = false};
    int result =
        x->one_thread && x->who != SIZE_MAX ? awaited_lock_find(model, x->who, group, &lock) : 0;
    x->locked = lock.computing;
    x->waited_s = lock.waited_s;
    x->one_thread &= x->locked || !(queued > 100 * number_of(model, QUEUED_LITTLE));
    return result;
}

#define PROGRAM_SIZE 48

static double own_cpu(const struct run_model *model, size_t item, size_t group) {
    const struct budget *b = &model->budgets.items[item].groups[group];
    return budget_sum(b, 1u << BUDGET_CPU) + fmax(0, b->other_cpu_s);
}

/* The program of the one process that computes, else of the process that computes most. */
static const char *say_program(const struct run_model *model, const struct computing *x,
                               size_t group, char to[PROGRAM_SIZE]) {
    size_t most = x->one_thread ? x->who : SIZE_MAX;
    bool known = most != SIZE_MAX;
    for (size_t r = 0; !known && r < model->budgets.n; r++)
        if (most == SIZE_MAX || own_cpu(model, r, group) > own_cpu(model, most, group))
            most = r;
    const char *process = most == SIZE_MAX ? NULL : model->budgets.items[most].process;
    struct table_key key = process ? key_read(KEY_PROCESS, process) : (struct table_key){0};
    struct span program = key.form == KEY_PROCESS ? key.process.program : (struct span){0};
    if (!process)
        return "job";
    size_t size = program.size ? program.size : strlen(process);
    snprintf(to, PROGRAM_SIZE, "%.*s", (int)size, program.size ? program.data : process);
    return to;
}

static void put_compute_remarks(const struct run_model *model, const struct computing *x,
                                struct candidate *c) {
    const char *host = model->hosts[c->host].name;
    char text[PROGRAM_SIZE];
    const char *program = say_program(model, x, c->group, text);
    if (x->come_and_go)
        remarks_add(&c->evidence, USED_BY_SHORT_PROCESSES, NUMBERS(), NAMES());
    if (x->locked) {
        remark_set(&c->cause, THREADS_TAKE_TURNS, NUMBERS(),
                   NAMES(model->budgets.items[x->who].process));
        remarks_add(&c->evidence, THREADS_WAITED_FOR_LOCK, NUMBERS(x->waited_s), NAMES());
    }
    if (x->one_thread) {
        if (!x->locked)
            remark_set(&c->cause, ONE_THREAD_COMPUTES, NUMBERS(), NAMES(program));
        if (!x->locked && x->alone)
            remarks_add(&c->evidence, OTHER_CORES_IDLE, NUMBERS(), NAMES(host));
        else if (!x->locked)
            remarks_add(&c->evidence, NO_OTHER_IS_READY, NUMBERS(), NAMES());
        remarks_add(&c->evidence, CORES_USED_HERE, NUMBERS(x->used, x->cores), NAMES(host));
        return;
    }
    remark_set(&c->cause, PROGRAM_COMPUTES, NUMBERS(), NAMES(program));
    remarks_add(&c->evidence, CORES_USED, NUMBERS(x->used, x->cores, x->n_hosts, x->n_hosts),
                NAMES());
}

/* A GPU that idles while its process computes could work as well. */
static void tell_idle_gpu(const struct run_model *model, size_t group, struct candidate *c) {
    struct gpu_use use;
    if (gpu_use_find(model, group, c->host, &use) && !gpu_works(model, &use.computing))
        gpu_tell_work(model, &use, &use.computing, &c->evidence);
}

static bool is_seen_inside(const struct run_model *model) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].rank >= 0 && !model->budgets.events)
            return false;
    return true;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    if (group != model->main_group)
        return 0;
    struct computing x = look(model, group);
    if (!(x.share >= number_of(model, COMPUTE_BOUND)) || x.busiest < 0)
        return 0;
    if (look_for_lock(model, group, &x) < 0)
        return -ENOMEM;
    struct candidate c = candidate_of(x.busiest, group, RESOURCE_CPU,
                                      x.locked       ? CAUSE_LOCK
                                      : x.one_thread ? CAUSE_SINGLE_THREAD
                                                     : CAUSE_COMPUTE_BOUND);
    c.subject = x.one_thread ? SUBJECT_CORE : SUBJECT_ALL_HOSTS;
    c.fallback = c.everywhere = c.path.all_hosts = true;
    c.blocked = fmin(1, x.share);
    bool seen = is_seen_inside(model);
    c.saturated =
        seen && x.computing >= number_of(model, MACHINE_FULL) * fmin(x.cores, (double)x.workers);
    c.signals = 2; /* CPU time of its processes, and of its hosts */
    c.path.terms = 1u << BUDGET_CPU;
    c.can_remove = true;
    c.remove = (struct whatif_scenario){.kind = WHATIF_CPU, .host = -1, .rank = -1, .factor = 2};
    put_compute_remarks(model, &x, &c);
    tell_idle_gpu(model, group, &c);
    if (!seen)
        remarks_add(&c.against, SPINNING_LOOKS_ALIKE, NUMBERS(), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static void advise(const struct advised *advised) {
    unsigned cores = advised->model->hosts[advised->c->host].n_cpus;
    if (advised->c->kind == CAUSE_LOCK)
        remarks_add(advised->next, ADVISE_SHORTER_LOCK, NUMBERS(),
                    NAMES(advised->c->cause.names[0], advised->host));
    else if (advised->c->kind == CAUSE_SINGLE_THREAD)
        remarks_add(advised->next, ADVISE_MORE_THREADS, NUMBERS(cores), NAMES(advised->host));
    else
        remarks_add(advised->next, ADVISE_SEE_COMPUTING, NUMBERS(), NAMES());
}

const struct cause cause_compute_bound = {
    .name = "compute-bound",
    .resource = RESOURCE_CPU,
    .kind = CAUSE_COMPUTE_BOUND,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a program that computes all the time ends sooner only on faster or more cores",
    .detect = detect,
    .advise = advise,
};
