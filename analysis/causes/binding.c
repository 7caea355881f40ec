/* SPDX-License-Identifier: MIT */
/*
 * The job's own binding: processes that may run on some cores of a host only (taskset, numactl, a
 * cpuset, a launcher's binding of ranks) have more threads ready than these cores take, while other
 * cores of the host idle. The job itself fills the cores that it is bound to. If another program
 * has them, that one is the cause (contention.c).
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(BOUND_FULL, 0.8, "of the cores that it is bound to",                                    \
           "used by the job itself: a known ceiling is reached at four fifths")
#define OWN_REMARKS                                                                                \
    REMARK(BOUND_TO_CORE, "%s is bound to core %d, and other cores idle", SLOTS("core"),           \
           SLOTS("process"))                                                                       \
    REMARK(BOUND_TO_CORES,                                                                         \
           "%s is bound to %d of %d cores (from core %d on), and other cores idle",                \
           SLOTS("cores", "of the host, cores", "the first core"), SLOTS("process"))               \
    REMARK(                                                                                        \
        WANTED_CORES,                                                                              \
        "%d process%[|es] with this binding had %.2g threads ready to run on average, and %.2g "   \
        "cores of the host idled",                                                                 \
        SLOTS("processes", "processes", "threads", "cores"), SLOTS())                              \
    REMARK(ADVISE_UNBIND,                                                                          \
           "let that process use more cores of %s: bind it to none (`taskset`, `numactl`, the "    \
           "cpuset of its container), or to as many as it has busy threads",                       \
           SLOTS(), SLOTS("host"))                                                                 \
    REMARK(                                                                                        \
        ADVISE_UNBIND_RANKS,                                                                       \
        "let each rank on %s use more cores: mpirun --bind-to none, or --map-by slot:PE=N with "   \
        "N busy threads a rank",                                                                   \
        SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

/* Processes of the job on one host with the same binding. */
struct bound {
    int64_t cores, first;
    const struct model_process *busiest; /* of them */
    double used, wanted;                 /* cores that they used, and could have used */
    double most;                         /* used by the busiest */
    size_t n;
};

/* Reads a process's binding; false if it is not known, or leaves no core of the host out. */
static bool read_binding(const struct run_model *model, const struct model_process *process,
                         struct bound *ret_bound) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    int64_t cores = series_last(set, process->series, PROCESS_CORES);
    *ret_bound = (struct bound){.cores = cores,
                                .first = series_last(set, process->series, PROCESS_FIRST_CORE)};
    return cores != VALUE_ABSENT && cores > 0 && cores < model->hosts[process->host].n_cpus;
}

/* CPU time and waits for a core. A rank inside MPI may spin, so where calls are known they decide.
 */
static struct process_use use_of(const struct run_model *model, size_t group,
                                 const struct model_process *process) {
    struct process_use use = model_group_use(model, process, group);
    const struct budget *b = saturation_budget(model, process, group);
    if (b && model->budgets.events && process->rank >= 0) {
        use.cpu_s = budget_sum(b, 1u << BUDGET_CPU) + stats_or_zero(b->other_cpu_s);
        use.run_queue_s = budget_sum(b, 1u << BUDGET_RUN_QUEUE);
    }
    return use;
}

static void add_process(const struct run_model *model, size_t group,
                        const struct model_process *process, double length_s, struct bound *bound) {
    struct process_use use = use_of(model, group, process);
    double used = stats_or_zero(use.cpu_s) / length_s;
    bound->used += used;
    bound->wanted += used + stats_or_zero(use.run_queue_s) / length_s;
    bound->n += used >= number_of(model, ONE_CORE_LITTLE);
    if (!bound->busiest || used > bound->most) {
        bound->busiest = process;
        bound->most = used;
    }
}

static void add_all_bound(const struct run_model *model, size_t group, int host,
                          struct bound *bound) {
    double length_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    const struct model_process *process = NULL;
    struct bound other;
    while (length_s > 0 && (process = model_next_process(model, host, true, process)))
        if (read_binding(model, process, &other) && other.cores == bound->cores &&
            other.first == bound->first)
            add_process(model, group, process, length_s, bound);
}

/* Cores of the host that idle beside those of the binding. */
static double idle_beside(const struct run_model *model, size_t group, int host,
                          const struct bound *bound) {
    double idle = stats_or_zero(model_mean(model, host, METRIC_CPU_IDLE, group)) / 100 *
                  model->hosts[host].n_cpus;
    return fmax(0, idle - fmax(0, (double)bound->cores - bound->used));
}

/* The binding of a host's processes that costs most. *ret_more: times the cores that they could
 * have used beside those that they used; 1: none costs anything.
 */
static struct bound find_tightest(const struct run_model *model, size_t group, int host,
                                  double *ret_more) {
    struct bound tightest = {.n = 0}, bound;
    const struct model_process *process = NULL;
    *ret_more = 1;
    while ((process = model_next_process(model, host, true, process))) {
        if (!read_binding(model, process, &bound))
            continue;
        add_all_bound(model, group, host, &bound);
        double cores = (double)bound.cores, idle = idle_beside(model, group, host, &bound);
        double more = fmin(bound.wanted, bound.used + idle) / fmax(bound.used, 1e-9);
        if (bound.used >= number_of(model, BOUND_FULL) * cores && more > *ret_more) {
            tightest = bound;
            *ret_more = more;
        }
    }
    return tightest;
}

/* The part of the path in which the host's processes computed or waited for a core. */
static double on_path(const struct run_model *model, size_t group, int host) {
    double share = stats_or_zero(model_demand(model, group, host, BUDGET_CPU)) +
                   stats_or_zero(model_demand(model, group, host, BUDGET_RUN_QUEUE));
    return model_has_path(model) ? fmin(1, share) : 1;
}

/* Waits of single threads are on the path; those of a process of which some thread always runs are
 * not, and more cores are then as good as faster ones.
 */
static struct whatif_scenario remedy(const struct run_model *model, size_t group, int host,
                                     double demand, double more) {
    double waits = stats_or_zero(model_demand(model, group, host, BUDGET_RUN_QUEUE));
    if (waits >= demand / 2 && waits <= 2 * demand)
        return (struct whatif_scenario){
            .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_RUN_QUEUE};
    return (struct whatif_scenario){
        .kind = WHATIF_CPU, .host = host, .rank = -1, .factor = fmin(more, 4)};
}

static int add_binding(const struct run_model *model, size_t group, int host,
                       const struct bound *bound, double demand, double more,
                       struct candidates *candidates) {
    const char *name = bound->busiest->series->name;
    struct candidate c = candidate_of(host, group, RESOURCE_CPU, CAUSE_BINDING);
    double mean = model_mean(model, host, METRIC_JOB_CPU, group);
    c.blocked = demand;
    c.rank = bound->n == 1 ? bound->busiest->rank : -1;
    c.saturated = true;
    c.signals = 2; /* its waits for a core, and cores that idle */
    c.metric.signal = &model->hosts[host].metrics[METRIC_JOB_CPU];
    c.metric.factor = mean > 0 ? demand / mean : 0;
    c.can_remove = true;
    c.remove = remedy(model, group, host, demand, more);
    if (bound->cores == 1)
        remark_set(&c.cause, BOUND_TO_CORE, NUMBERS((double)bound->first), NAMES(name));
    else
        remark_set(&c.cause, BOUND_TO_CORES,
                   NUMBERS((double)bound->cores, model->hosts[host].n_cpus, (double)bound->first),
                   NAMES(name));
    remarks_add(&c.evidence, WANTED_CORES,
                NUMBERS((double)bound->n, (double)bound->n, bound->wanted,
                        idle_beside(model, group, host, bound)),
                NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    int result = 0;
    for (size_t h = 0; result == 0 && h < model->n_hosts; h++) {
        double more;
        struct bound bound = find_tightest(model, group, (int)h, &more);
        double demand = (1 - 1 / more) * on_path(model, group, (int)h);
        /* idle cores that other hosts use as well are not the host's */
        if (bound.busiest && demand >= number_of(model, BLOCKED_MIN) &&
            !model_shares_cores(model, (int)h))
            result = add_binding(model, group, (int)h, &bound, demand, more, candidates);
    }
    return result;
}

static void advise(const struct advised *advised) {
    if (model_has_ranks(advised->model))
        remarks_add(advised->next, ADVISE_UNBIND_RANKS, NUMBERS(), NAMES(advised->host));
    else
        remarks_add(advised->next, ADVISE_UNBIND, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_binding = {
    .name = "binding",
    .resource = RESOURCE_CPU,
    .kind = CAUSE_BINDING,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a thread waits for one of the cores that it may use, however many others idle",
    .detect = detect,
    .advise = advise,
};
