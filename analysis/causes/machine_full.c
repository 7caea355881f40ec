/* SPDX-License-Identifier: MIT */
/*
 * Hosts that share the cores of one machine (emulated hosts, containers) and keep all of them busy:
 * their ranks take turns, and no single host is to blame. The demand is what the run spends waiting
 * for a core on all of these hosts together.
 *
 * A host that counts only its own use does not see the rest of the machine. Its evidence is the
 * wait for a core: no scheduler leaves a core idle while a task waits for it. A single host that
 * waits may have trouble of its own, so all of them must wait.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(MACHINE_TAKEN, 0.3, "of a rank's time",                                                 \
           "waiting for a core on every host that shares it: others run there, whatever the "      \
           "hosts' own counters say")
#define OWN_REMARKS                                                                                \
    REMARK(MACHINE_SHARED, "%d hosts share its cores: %.0f", SLOTS("hosts", "cores"), SLOTS())     \
    REMARK(MACHINE_BUSY, "the machine's %.0f cores were %.0f %% busy in sum",                      \
           SLOTS("cores", "busy, %"), SLOTS())                                                     \
    REMARK(MACHINE_TAKEN_BY_OTHERS,                                                                \
           "these hosts used %.0f %% of the machine's cores, and ranks of each waited %.0f %% of " \
           "their time for one at least: something else runs there",                               \
           SLOTS("used by the hosts, %", "waited on each host, %"), SLOTS())                       \
    REMARK(RUN_WAITED_FOR_CORE, "the run waited for a core %.0f %% of the time, on all hosts",     \
           SLOTS("waited, %"), SLOTS())                                                            \
    REMARK(ADVISE_OWN_CORES_EACH, "give each host cores of its own, or run on fewer hosts",        \
           SLOTS(), SLOTS())
#include "analysis/causes/own.h"

struct machine {
    int host;       /* the first of its hosts; -1: no machine is shared */
    size_t n_hosts; /* on the machine */
    double cores, busy;
    double waiting; /* share of the run, on all of its hosts */
    double least;   /* wait of the worst rank of a host, of its time; of the host with least */
    double psi;     /* PSI cpu of the worst host, %; NAN */
};

/* Without the path: share of the time of a host's worst process. */
static double waits_on(const struct run_model *model, size_t group, int host) {
    double share = model_demand(model, group, host, BUDGET_RUN_QUEUE);
    if (!isnan(share))
        return share;
    return stats_or_zero(model_worst_rank(model, group, host, BUDGET_RUN_QUEUE, NULL)) /
           (double)model_job_hosts(model);
}

/* Each host has its own use; a host that has the use of all hosts has at most all cores. */
static struct machine machine_of(const struct run_model *model, size_t group, int first) {
    struct machine m = {.host = first, .psi = NAN, .least = 1};
    for (size_t h = 0; h < model->n_hosts; h++) {
        if (!model->hosts[h].has_job ||
            ((int)h != first && !model_shares_machine(model, first, (int)h)))
            continue;
        double idle = model_mean(model, (int)h, METRIC_CPU_IDLE, group);
        m.n_hosts++;
        m.cores = fmax(m.cores, model->hosts[h].n_cpus);
        m.busy += isnan(idle) ? 0 : (1 - idle / 100) * model->hosts[h].n_cpus;
        m.waiting += waits_on(model, group, (int)h);
        m.least = fmin(
            m.least, stats_or_zero(model_worst_rank(model, group, (int)h, BUDGET_RUN_QUEUE, NULL)));
        m.psi = fmax(m.psi, model_mean(model, (int)h, METRIC_PSI_CPU, group));
    }
    m.busy = fmin(m.busy, m.cores);
    return m;
}

double machine_waiting(const struct run_model *model, size_t group, int host) {
    return model_shares_cores(model, host) ? fmin(1, machine_of(model, group, host).waiting) : 0;
}

static struct machine fullest_machine(const struct run_model *model, size_t group) {
    struct machine fullest = {.host = -1};
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct machine m = {.host = -1};
        if (model_shares_cores(model, (int)h))
            m = machine_of(model, group, (int)h);
        if (m.host >= 0 && (fullest.host < 0 || m.waiting > fullest.waiting))
            fullest = m;
    }
    return fullest;
}

static bool is_full(const struct run_model *model, const struct machine *m) {
    return m->busy >= number_of(model, MACHINE_FULL) * m->cores;
}

static bool is_taken_by_others(const struct run_model *model, const struct machine *m) {
    return m->n_hosts > 1 && m->least >= number_of(model, MACHINE_TAKEN);
}

static void put_machine_remarks(const struct run_model *model, const struct machine *m,
                                struct candidate *c) {
    remark_set(&c->cause, MACHINE_SHARED, NUMBERS(m->n_hosts, m->cores), NAMES());
    if (is_full(model, m))
        remarks_add(&c->evidence, MACHINE_BUSY, NUMBERS(m->cores, 100 * m->busy / m->cores),
                    NAMES());
    else
        remarks_add(&c->evidence, MACHINE_TAKEN_BY_OTHERS,
                    NUMBERS(100 * m->busy / m->cores, 100 * m->least), NAMES());
    remarks_add(&c->evidence, RUN_WAITED_FOR_CORE, NUMBERS(100 * fmin(1, m->waiting)), NAMES());
    if (m->psi >= 100 * number_of(model, PSI_CPU_MIN)) {
        remarks_add(&c->evidence, PSI_CPU, NUMBERS(m->psi), NAMES());
        c->signals++;
    }
}

/* Whether a program outside the job takes these cores: it is to blame, not the hosts that share
 * them. */
static bool has_culprit(const struct candidates *candidates, size_t group) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].group == group && candidates->items[i].kind == CAUSE_CONTENTION &&
            candidates->items[i].culprit.process)
            return true;
    return false;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    struct machine m = fullest_machine(model, group);
    if (has_culprit(candidates, group) || m.host < 0 ||
        !(is_full(model, &m) || is_taken_by_others(model, &m)) ||
        m.waiting < number_of(model, BLOCKED_MIN))
        return 0;
    struct candidate c = candidate_of(m.host, group, RESOURCE_CPU, CAUSE_MACHINE_FULL);
    c.subject = SUBJECT_MACHINE;
    c.blocked = fmin(1, m.waiting);
    c.saturated = true;
    c.signals = 2; /* busy cores, and tasks that wait for them */
    c.path.terms = 1u << BUDGET_RUN_QUEUE;
    c.path.all_hosts = c.everywhere = true;
    c.can_remove = true;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = -1, .rank = -1, .term = BUDGET_RUN_QUEUE};
    put_machine_remarks(model, &m, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_OWN_CORES_EACH, NUMBERS(), NAMES());
}

const struct cause cause_machine_full = {
    .name = "machine-full",
    .resource = RESOURCE_CPU,
    .kind = CAUSE_MACHINE_FULL,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "hosts that share the cores of one machine take turns on them once all are busy",
    .yields_to = YIELDS_TO(&cause_contention),
    .detect = detect,
    .advise = advise,
};
