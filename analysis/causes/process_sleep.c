/* SPDX-License-Identifier: MIT */
/*
 * A process sleeps in its own code, without calls of MPI that show which process waits for which.
 * Totals cannot tell whether a process sleeps or waits for a peer; data that wait for it can
 * (process_late.c). This is never more than a suspicion.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(LATE_IDLE_MIN, 0.10, "of the time",                                                     \
           "off its core for no reason that the kernel counts; as much again may be waiting for "  \
           "others")                                                                               \
    NUMBER(SLEEP_BESIDE, 0.125, "of what it is off its core",                                      \
           "it computes more than its peers by less: little beside its sleep")
#define OWN_REMARKS                                                                                \
    REMARK(PROCESS_OFF_CORE,                                                                       \
           "%s was off its core %.0f %% of the time, and waited for no core, disk or memory",      \
           SLOTS("of the time, %"), SLOTS("process"))                                              \
    REMARK(PEERS_WAITED_TOO,                                                                       \
           "its peer%[|s] waited %.0f %% of the time as well: only the connections tell which of " \
           "them is waited for",                                                                   \
           SLOTS("peers", "waited, %"), SLOTS())                                                   \
    REMARK(ADVISE_MARK,                                                                            \
           "mark what the processes do in an iteration (chokepoint.h): a sleep then has a place",  \
           SLOTS(), SLOTS())
#include "analysis/causes/own.h"

static int add_sleep(const struct run_model *model, size_t group, const struct peers *peers,
                     const struct peer *p, struct candidates *candidates) {
    struct candidate c = candidate_of(p->who->host, group, RESOURCE_APPLICATION, CAUSE_SLEEP);
    c.rank = p->who->rank;
    c.blocked = p->idle;
    c.can_remove = p->who->rank < 0;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = c.host, .rank = -1, .term = BUDGET_IDLE};
    c.signals = 1;
    c.path.terms = 1u << BUDGET_IDLE;
    remark_set(&c.cause, PROCESS_SLEEPS, NUMBERS(), NAMES(p->who->process));
    remarks_add(&c.evidence, PROCESS_OFF_CORE, NUMBERS(100 * p->idle), NAMES(p->who->process));
    peer_tell_late(model, peers, p, &c);
    remarks_add(&c.against, PEERS_WAITED_TOO,
                NUMBERS(peers->n - 1, 100 * fmax(0, 1 - peers_median_but(peers, p, peer_busy))),
                NAMES());
    c.next = &remark_ADVISE_MARK;
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Whether the host's waits for I/O may have kept the process off its core. */
static bool process_slept_for_disk(const struct run_model *model, size_t group,
                                   const struct peer *p) {
    return model_mean(model, p->who->host, METRIC_PSI_IO, group) / 100 >= p->idle / 2;
}

static int look_for_sleep(const struct run_model *model, size_t group, const struct peers *peers,
                          struct candidates *candidates) {
    const struct peer *p = peers_with_most(peers, peer_late);
    double cpu = peers_median_but(peers, p, peer_cpu);
    /* the others also wait for its additional computing, which must be little beside its time off
     * the core */
    bool alike = p->cpu < number_of(model, SKEW_RATIO) * cpu ||
                 p->cpu - cpu < number_of(model, SLEEP_BESIDE) * p->idle;
    /* all others wait for a sleeper; if one of them hardly waits, the others may wait for that
     * one */
    bool awaited = peers_least_idle_but(peers, p) >= p->idle;
    /* MPI reads data only when it is called: data also wait for a rank that computes */
    if (p->who->rank >= 0 || p->idle < number_of(model, LATE_IDLE_MIN) || !alike || !awaited ||
        !peer_is_late(model, peers, p) || process_slept_for_disk(model, group, p))
        return 0;
    for (size_t h = 0; h < model->n_hosts; h++) /* a full link holds up data, too */
        if (candidates_short_of(candidates, (int)h, group, SHORT_OF_NETWORK))
            return 0;
    if (candidates_short_of(candidates, p->who->host, group, SHORT_OF_ANYTHING))
        return 0;
    return add_sleep(model, group, peers, p, candidates);
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    return peers_compare(model, group, look_for_sleep, candidates);
}

const struct cause cause_process_sleep = {
    .name = "process-sleep",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_SLEEP,
    .needs = 1u << SOURCE_CONNECTIONS,
    .instead = 1u << SOURCE_CALLS | 1u << SOURCE_WAITS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "data stay under way to a process that does not read them",
    .yields_to =
        YIELDS_TO(&cause_contention, &cause_quota, &cause_steal, &cause_disk, &cause_memory,
                  &cause_machine_full, &cause_link_connections, &cause_link_queue, &cause_link_rate,
                  &cause_link_peers, &cause_process_imbalance),
    .detect = detect,
    .advise = advise_trace,
};
