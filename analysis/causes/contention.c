/* SPDX-License-Identifier: MIT */
/*
 * CPU: the time that a host's ranks lost on the critical path while they were ready to run and had
 * no core. A rank that spins inside MPI loses nothing by losing its core, so if calls are known
 * only waits outside MPI count. Without calls the evidence is the run-queue delay of the job's
 * processes, which is weak if all of them keep their cores busy. The kernel counts quota and steal.
 *
 * If all hosts are equally short of cores, the path passes any of them by chance: each is charged
 * an equal share.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/beside_job.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(OWN_THREADS_MIN, 0.25, "of a process's time",                                           \
           "two threads that take turns wait for as long as the shorter turn is; below a quarter " \
           "that is one helper thread")                                                            \
    NUMBER(OWN_THREADS_ALONE, 0.45, "of a process's time",                                         \
           "the same where its peers wait alike, or its budget shows nobody else")                 \
    NUMBER(OWN_THREADS_REST, 0.10, "of a process's time", "waiting for others that is left then")  \
    NUMBER(CONTENTION_ALIKE, 0.5, "of the most that a host's ranks wait for cores",                \
           "as short of them as that host")                                                        \
    NUMBER(FOREIGN_MAIN, 0.5, "of use outside the job", "such a process stands for all of it")
#define OWN_REMARKS                                                                                \
    REMARK(WAITED_FOR_CORE, "%s was ready to run but waited for a core %.0f %% of the time",       \
           SLOTS("waited, %"), SLOTS("process"))                                                   \
    REMARK(RANKS_ALL_BUSY,                                                                         \
           "every rank keeps its core busy: ranks that spin while they wait would look the same",  \
           SLOTS(), SLOTS())                                                                       \
    REMARK(CONTENTION_WITH, "contention with %s%[| and other programs]", SLOTS("1: it alone"),     \
           SLOTS("program"))                                                                       \
    REMARK(CONTENTION_WITH_MANY, "contention with other programs", SLOTS(), SLOTS())               \
    REMARK(FOREIGN_USED, "%s, not of the job, used %.0f %% of a core", SLOTS("of a core, %"),      \
           SLOTS("program"))                                                                       \
    REMARK(OUTSIDERS_USED, "programs outside the job used %.2g cores there", SLOTS("cores"),       \
           SLOTS())                                                                                \
    REMARK(MORE_READY_THAN_CORES, "the job has more threads ready than cores: %d", SLOTS("cores"), \
           SLOTS())                                                                                \
    REMARK(JOB_USED_BESIDE, "other processes of the job used %.0f %% of a core there",             \
           SLOTS("of a core, %"), SLOTS())                                                         \
    REMARK(CORES_SHARED_OUTSIDE, "its cores are shared with something outside this host's view",   \
           SLOTS(), SLOTS())                                                                       \
    REMARK(HOST_USED_ONLY,                                                                         \
           "the host itself used only %.0f %% of its cores: they are shared with others "          \
           "(emulated hosts, containers)",                                                         \
           SLOTS("used, %"), SLOTS())                                                              \
    REMARK(READY_AT_TIMES, "at times more threads are ready than there are cores", SLOTS(),        \
           SLOTS())                                                                                \
    REMARK(CPU_HARMLESS,                                                                           \
           "cpu: somebody waited for a core %.0f %% of the time, which hardly held up the run",    \
           SLOTS("waited, %"), SLOTS())                                                            \
    REMARK(CPU_NOT_SHORT,                                                                          \
           "cpu: hosts were at most %.0f %% busy, and tasks waited for a core %[only |]%.1f %% "   \
           "of the time",                                                                          \
           SLOTS("used by the fullest host, %", "1: short of PSI_CPU_MIN", "waited, %"), SLOTS())  \
    REMARK(CPU_SHARED_ALIKE,                                                                       \
           "cpu: these hosts share their cores and waited for one up to %.0f %% of the time, so "  \
           "no host stands out",                                                                   \
           SLOTS("waited, %"), SLOTS())                                                            \
    REMARK(ADVISE_FIND_OUTSIDER,                                                                   \
           "see who else computes on that host (`top` there), and stop it or keep it away from "   \
           "the job (another host, cores of its own)",                                             \
           SLOTS(), SLOTS())                                                                       \
    REMARK(ADVISE_OWN_CORES,                                                                       \
           "give that host cores of its own: another virtual machine or container has them, too",  \
           SLOTS(), SLOTS())                                                                       \
    REMARK(WAITS_FOR_CORE, "contention: it waits for a core", SLOTS(), SLOTS())                    \
    REMARK(FOREIGN_USED_MEANWHILE, "%s, not of the job, used %.0f %% of a core meanwhile",         \
           SLOTS("of a core, %"), SLOTS("program"))                                                \
    REMARK(                                                                                        \
        ADVISE_FEWER_RANKS,                                                                        \
        "run no more ranks and threads on %s than it has cores: %d (OMP_NUM_THREADS, mpirun -N)",  \
        SLOTS("cores"), SLOTS("host"))                                                             \
    REMARK(ADVISE_FEWER_WORKERS,                                                                   \
           "run no more processes and threads on %s at a time than it has cores: %d; or give it "  \
           "more cores",                                                                           \
           SLOTS("cores"), SLOTS("host"))
#include "analysis/causes/own.h"

struct contended {
    const struct model_process *process; /* the process of the job with the most delay */
    struct process_use use;
    double blocked; /* share of its time lost in the run queue */
};

/* Time lost by one process; of several threads the delay of one counts. */
static double lost_share(struct process_use use) {
    double wanted = stats_or_zero(use.cpu_s) + stats_or_zero(use.run_queue_s);
    if (wanted <= 0 || use.wall_s <= 0)
        return 0;
    return stats_or_zero(use.run_queue_s) / wanted * fmin(1, wanted / use.wall_s);
}

/* If a rank's budget is known, only the delay that held up the rank counts. */
static double lost_by(const struct run_model *model, size_t group,
                      const struct model_process *process, struct process_use use) {
    const struct budget *b = saturation_budget(model, process, group);
    if (b)
        return stats_or_zero(b->term_s[BUDGET_RUN_QUEUE]) / b->wall_s;
    double quota = model_worst_rank(model, group, process->host, BUDGET_QUOTA, NULL);
    return fmax(0, lost_share(use) - stats_or_zero(quota)); /* the quota is a separate resource */
}

static struct contended most_contended(const struct run_model *model, size_t group, int host) {
    struct contended worst = {0};
    const struct model_process *process = NULL;
    while ((process = model_next_process(model, host, true, process))) {
        struct process_use use = model_group_use(model, process, group);
        double lost = lost_by(model, group, process, use);
        if (!worst.process || lost > worst.blocked)
            worst = (struct contended){process, use, lost};
    }
    return worst;
}

/* Whether nearly all waits of a process with several threads were for its own threads, from its
 * budget (rank_counters.c). */
static bool waits_for_itself(const struct run_model *model, size_t group,
                             const struct model_process *process) {
    const struct budget *b = saturation_counted(model, process, group);
    return b && stats_or_zero(b->term_s[BUDGET_RUN_QUEUE]) <
                    number_of(model, OWN_THREADS_REST) * b->wall_s;
}

/* Whether the same program, without ranks, waits about as long for its core on all other hosts that
 * run it: then the cause is how the program is made. (Ranks may wait for each other so.) */
static bool peers_wait_alike(const struct run_model *model, size_t group,
                             const struct contended *worst) {
    size_t alike = 0;
    /* if it has one thread, another program must have had its core */
    bool ours = worst->process->rank < 0 && model_process_has_threads(model, worst->process);
    for (size_t h = 0; ours && h < model->n_hosts; h++) {
        struct contended other = most_contended(model, group, (int)h);
        if ((int)h == worst->process->host || !other.process ||
            !key_same_program(&other.process->series->key, &worst->process->series->key))
            continue;
        if (other.blocked < number_of(model, CONTENTION_ALIKE) * worst->blocked)
            return false;
        alike++;
    }
    return alike > 0;
}

/* Whether processes on other hosts wait for processes on this one, as clients for a server: then
 * its cores do not limit the whole job, and a path shows the cost. */
static bool is_awaited_from_elsewhere(const struct run_model *model, int host) {
    const struct rank_budgets *budgets = &model->budgets;
    for (size_t i = 0; i < budgets->n_waits; i++) {
        const struct process_wait *wait = &budgets->waits[i];
        const struct rank_budget *who = &budgets->items[wait->who];
        if (who->host != host && budgets->items[wait->whom].host == host &&
            wait->seconds >= number_of(model, BLOCKED_MIN) * who->groups[model->main_group].wall_s)
            return true;
    }
    return false;
}

/* If no other process uses the cores, a process waits for its own threads: a loader beside one that
 * computes, a library's helpers. These take turns even in a healthy run, and the host lacks
 * nothing; only far more threads than cores are a finding. Nor is it one if processes compute on
 * all cores and none elsewhere waits for them: then all cores are full. With calls the path is
 * known, and the cost of the wait. */
static bool is_own_turn(const struct run_model *model, size_t group, enum holder holder,
                        const struct contended *worst, const struct candidate *c) {
    double quota = model_worst_rank(model, group, c->host, BUDGET_QUOTA, NULL);
    bool alone = waits_for_itself(model, group, worst->process) ||
                 (holder == HELD_AT_TIMES && peers_wait_alike(model, group, worst));
    if (holder == HELD_BY_JOB && processes_fill_their_cores(model, group) &&
        !is_awaited_from_elsewhere(model, c->host))
        return true;
    double most = alone ? number_of(model, OWN_THREADS_ALONE) : number_of(model, OWN_THREADS_MIN);
    return (holder == HELD_AT_TIMES || holder == HELD_BY_MANY) && !model_has_path(model) &&
           (c->blocked < most || quota >= number_of(model, QUOTA_MIN));
}

/* Whether the job's own binding keeps it from cores of the host that idle. */
static bool is_bound(const struct candidates *candidates, size_t group, int host) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].kind == CAUSE_BINDING && candidates->items[i].group == group &&
            candidates->items[i].host == host)
            return true;
    return false;
}

/* Share of the path, or of the worst process's time, that was spent waiting for a core. */
static double demand_of(const struct run_model *model, size_t group, int host,
                        const struct contended *worst) {
    double share = model_demand(model, group, host, BUDGET_RUN_QUEUE);
    return isnan(share) ? worst->blocked : share;
}

/* Which host the path passed by chance while all of them were short of cores. */
struct even {
    bool alike;    /* all hosts are equally short */
    double demand; /* an equal share of the path's waits for cores; 0: not alike, or too little */
};

/* Where the waits of all hosts are too little for each to be charged, none is: the one that the
 * path passed most often is as short of cores as the others. Without a path none was passed. */
static struct even even_demand(const struct run_model *model, size_t group) {
    double all = 0, least = INFINITY, most = 0;
    bool passed = false;
    for (size_t h = 0; h < model->n_hosts; h++) {
        if (!model->hosts[h].has_job)
            continue;
        double lost = stats_or_zero(model_worst_rank(model, group, (int)h, BUDGET_RUN_QUEUE, NULL));
        double demand = model_demand(model, group, (int)h, BUDGET_RUN_QUEUE);
        passed = passed || !isnan(demand);
        all += stats_or_zero(demand);
        least = fmin(least, model_shares_cores(model, (int)h) ? 0 : lost);
        most = fmax(most, lost);
    }
    size_t n = model_job_hosts(model);
    bool alike = passed && n > 1 && least >= number_of(model, BLOCKED_MIN) &&
                 least >= number_of(model, CONTENTION_ALIKE) * most;
    bool enough = alike && all >= 2 * number_of(model, BLOCKED_MIN);
    return (struct even){alike, enough ? all / (double)n : 0};
}

static struct candidate contention_of(const struct run_model *model, size_t group, int host,
                                      double demand) {
    struct candidate c = candidate_of(host, group, RESOURCE_CPU, CAUSE_CONTENTION);
    double mean = model_mean(model, host, METRIC_JOB_RUN_QUEUE, group);
    c.blocked = demand;
    c.signals = 1;
    c.saturated = true;
    c.metric.signal = &model->hosts[host].metrics[METRIC_JOB_RUN_QUEUE];
    c.metric.factor = mean > 0 ? c.blocked / mean : 0;
    c.path.terms = 1u << BUDGET_RUN_QUEUE;
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = host, .rank = -1, .term = BUDGET_RUN_QUEUE};
    return c;
}

/* If other hosts of the run use this host's cores, too, they cause the part of the waiting that
 * matches their part of the used time. */
static void share_with_hosts(const struct run_model *model, size_t group, struct candidate *c) {
    double foreign, hosts = 0;
    busiest_foreign(model, group, c->host, &foreign);
    for (size_t h = 0; h < model->n_hosts; h++) {
        double idle = model_mean(model, (int)h, METRIC_CPU_IDLE, group);
        if ((int)h != c->host && model_shares_machine(model, c->host, (int)h) && !isnan(idle))
            hosts += (1 - idle / 100) * model->hosts[h].n_cpus;
    }
    c->path.part = foreign > 0 ? foreign / (foreign + hosts) : 0;
    c->can_remove = false; /* no replay can remove a part of the waiting: the bound remains */
    c->blocked *= c->path.part;
    c->metric.factor *= c->path.part;
}

static void say_many(double cores, struct candidate *c) {
    remarks_add(&c->evidence, OUTSIDERS_USED, NUMBERS(cores), NAMES());
}

static void name_foreign(const struct run_model *model, size_t group, struct candidate *c) {
    double foreign, many = core_outside_job(model, group, c->host);
    c->culprit = culprit_of(model, busiest_foreign(model, group, c->host, &foreign));
    bool alone =
        model_shares_cores(model, c->host) || foreign >= number_of(model, FOREIGN_MAIN) * many;
    remark_set(&c->cause, CONTENTION_WITH, NUMBERS(alone), NAMES(c->culprit.process));
    remarks_add(&c->evidence, FOREIGN_USED, NUMBERS(100 * foreign), NAMES(c->culprit.process));
    if (!alone)
        say_many(many, c);
    c->signals++;
}

/* A program that took too little to be the cause, and yet much of what the job waited, is said. */
static void say_small(const struct run_model *model, size_t group, struct candidate *c) {
    double cores;
    const struct model_process *other = busiest_foreign(model, group, c->host, &cores);
    if (!other || cores < number_of(model, FOREIGN_PART) * c->blocked)
        return;
    struct culprit small = culprit_of(model, other);
    remarks_add(&c->evidence, FOREIGN_USED, NUMBERS(100 * cores), NAMES(small.process));
}

/* For programs that each took too little to be named: the cores show that there were some. */
static void name_many(const struct run_model *model, size_t group, struct candidate *c) {
    remark_set(&c->cause, CONTENTION_WITH_MANY, NUMBERS(), NAMES());
    c->next = &remark_ADVISE_FIND_OUTSIDER;
    say_many(core_outside_job(model, group, c->host), c);
    c->signals++;
}

/* Cause, evidence and culprit of the candidate. */
static void core_holder_name(const struct run_model *model, size_t group, enum holder holder,
                             double own, struct candidate *c) {
    double busy = 100 - stats_or_zero(model_mean(model, c->host, METRIC_CPU_IDLE, group));
    if (holder == HELD_BY_FOREIGN) {
        name_foreign(model, group, c);
    } else if (holder == HELD_BY_MANY) {
        name_many(model, group, c);
    } else if (holder == HELD_BY_JOB) {
        remark_set(&c->cause, MORE_READY_THAN_CORES, NUMBERS(model->hosts[c->host].n_cpus),
                   NAMES());
        remarks_add(&c->evidence, JOB_USED_BESIDE, NUMBERS(100 * own), NAMES());
    } else if (holder == HELD_OUTSIDE) {
        remark_set(&c->cause, CORES_SHARED_OUTSIDE, NUMBERS(), NAMES());
        c->next = &remark_ADVISE_OWN_CORES;
        remarks_add(&c->evidence, HOST_USED_ONLY, NUMBERS(busy), NAMES());
    } else {
        remark_set(&c->cause, READY_AT_TIMES, NUMBERS(), NAMES());
        say_small(model, group, c);
    }
}

/* Returns 1 if the cores belong to other hosts of the run, which wait for the host as it waits for
 * them. */
static int add_contention(const struct run_model *model, size_t group, int host,
                          const struct contended *worst, double demand, double all_busy,
                          struct candidates *candidates) {
    struct candidate c = contention_of(model, group, host, demand);
    double psi = model_mean(model, host, METRIC_PSI_CPU, group);
    double own = core_beside(model, group, host, worst->process);
    enum holder holder = core_holder(model, group, c.host, own, c.blocked);
    c.inferred = holder >= HELD_OUTSIDE; /* nobody was seen to have the core */
    if (holder >= HELD_BY_MANY && model_shares_cores(model, host))
        return 1;
    if (holder == HELD_BY_FOREIGN && model_shares_cores(model, host))
        share_with_hosts(model, group, &c);
    if (is_own_turn(model, group, holder, worst, &c))
        return 0;
    remarks_add(&c.evidence, WAITED_FOR_CORE, NUMBERS(100 * worst->blocked),
                NAMES(worst->process->series->name));
    if (psi >= 100 * number_of(model, PSI_CPU_MIN)) {
        remarks_add(&c.evidence, PSI_CPU, NUMBERS(psi), NAMES());
        c.signals++;
    }
    bool clocked = model->observed.sources >> SOURCE_WAITS & 1;
    if (all_busy >= number_of(model, BUSY_RANK) && model_job_hosts(model) > 1 && !clocked &&
        !saturation_budget(model, worst->process, group)) {
        c.saturated = false;
        remarks_add(&c.against, RANKS_ALL_BUSY, NUMBERS(), NAMES());
    }
    core_holder_name(model, group, holder, own, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Share of the time in which a task waited for a core, in %, beyond the waits for its quota, which
 * the kernel does not separate. NAN: not known. */
static double waited_pct(const struct run_model *model, int host, size_t group) {
    double waited = fmax(model_mean(model, host, METRIC_PSI_CPU, group),
                         model_mean(model, host, METRIC_JOB_RUN_QUEUE, group));
    double throttled = quota_throttled(model, host);
    return throttled > 0 && !isnan(waited) ? fmax(waited - 100 * throttled, 0) : waited;
}

static void rule_out_contention(const struct run_model *model, size_t group,
                                struct candidates *candidates) {
    double waited = NAN, busy = NAN;
    for (size_t h = 0; h < model->n_hosts; h++) {
        waited = fmax(waited, waited_pct(model, (int)h, group));
        busy = fmax(busy, 100 - model_mean(model, (int)h, METRIC_CPU_IDLE, group));
    }
    struct beside_job beside;
    if (beside_job_find(model, group, &beside) >= 0) /* a host is full, but not with the job */
        return;
    if (isnan(busy) || isnan(waited)) /* whether a task waited is not known */
        return;
    if (model_has_path(model) && waited >= 100 * number_of(model, PSI_CPU_MIN))
        remarks_add(&candidates->ruled_out, CPU_HARMLESS, NUMBERS(fmin(100, waited)), NAMES());
    else
        remarks_add(&candidates->ruled_out, CPU_NOT_SHORT,
                    NUMBERS(busy, waited < 100 * number_of(model, PSI_CPU_MIN), waited), NAMES());
    candidates->cpu_ruled_out = candidates->ruled_out.n;
}

/* For the cores of emulated hosts: no host is shorter of them than another. */
static void rule_out_shared(double most, struct candidates *candidates) {
    remarks_add(&candidates->ruled_out, CPU_SHARED_ALIKE, NUMBERS(100 * most), NAMES());
    candidates->cpu_ruled_out = candidates->ruled_out.n;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double all_busy = ranks_busy(model, group), shared = 0;
    struct even even = even_demand(model, group);
    int result = 0;
    for (size_t h = 0; result >= 0 && h < model->n_hosts; h++) {
        struct contended worst = most_contended(model, group, (int)h);
        double demand = even.alike ? even.demand : demand_of(model, group, (int)h, &worst);
        if (!worst.process || is_bound(candidates, group, (int)h) ||
            (demand < number_of(model, BLOCKED_MIN) && even.demand == 0) ||
            stats_or_zero(worst.use.run_queue_s) <
                number_of(model, CONTENTION_MIN) * worst.use.cpu_s)
            continue;
        result = add_contention(model, group, (int)h, &worst, demand, all_busy, candidates);
        shared = result == 1 ? fmax(shared, worst.blocked) : shared;
    }
    result = result < 0 ? result : 0;
    if (result == 0 && group == model->main_group && shared > 0)
        rule_out_shared(shared, candidates);
    else if (result == 0 && found_none(model, group, candidates, before))
        rule_out_contention(model, group, candidates);
    return result;
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    const struct run_model *model = slowed->matrix->model;
    struct windows at = slowed->at;
    double used;
    const struct model_process *other = slowed_foreign(model, s->host, at, false, &used);
    double wall = (double)windows_length(at) / 1e9, lost = slowed->excess_s * (double)at.n;
    s->cause_kind = CAUSE_CONTENTION;
    if (!other || used < number_of(model, FOREIGN_MIN) * wall ||
        used < number_of(model, FOREIGN_PART) * lost) {
        remark_set(&s->cause, WAITS_FOR_CORE, NUMBERS(), NAMES());
        return;
    }
    slowed_blame(model, other, s);
    remark_set(&s->cause, CONTENTION_WITH, NUMBERS(true), NAMES(s->culprit));
    remarks_add(&s->evidence, FOREIGN_USED_MEANWHILE, NUMBERS(100 * used / wall),
                NAMES(s->culprit));
}

static void advise(const struct advised *advised) {
    double cores = advised->model->hosts[advised->c->host].n_cpus;
    if (advised->c->culprit.process)
        advise_culprit(advised);
    else if (!advised->c->next && model_has_ranks(advised->model))
        remarks_add(advised->next, ADVISE_FEWER_RANKS, NUMBERS(cores), NAMES(advised->host));
    else if (!advised->c->next)
        remarks_add(advised->next, ADVISE_FEWER_WORKERS, NUMBERS(cores), NAMES(advised->host));
}

const struct cause cause_contention = {
    .name = "contention",
    .resource = RESOURCE_CPU,
    .kind = CAUSE_CONTENTION,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a task that is ready to run and waits in the run queue of a core makes no progress",
    .yields_to = YIELDS_TO(&cause_binding),
    .detect = detect,
    .slows = BUDGET_RUN_QUEUE,
    .explain = explain_slow,
    .advise = advise,
};
