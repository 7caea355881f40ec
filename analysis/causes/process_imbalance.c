/* SPDX-License-Identifier: MIT */
/*
 * Compares processes of one role without calls of MPI that show which process waits for which: one
 * computes more than its peers. Their times add up to one time, so a process that never waits is
 * waited for. Computing at the same time must be certain, since a server and its client take turns
 * and look uneven by design.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(SKEW_RATIO_PROCESS, 1.25, "over the peers' median",                                     \
           "without calls waiting and moving data are in the CPU time as well")                    \
    NUMBER(PEER_TOGETHER, 0.5, "of what a peer computes",                                          \
           "certainly at the same time as the busiest")
#define OWN_REMARKS                                                                                \
    REMARK(PROCESS_USED_CPU,                                                                       \
           "%s used the CPU %.0f %% of the time, its peer%[|s] %.0f %%%[| in the median]",         \
           SLOTS("used, %", "peers", "they used, %", "peers"), SLOTS("process"))                   \
    REMARK(WAITED_FOR_NOBODY, "it waited for nobody: %.0f %% of the time it ran, or could have",   \
           SLOTS("ran or could, %"), SLOTS())                                                      \
    REMARK(KERNEL_DID_MORE,                                                                        \
           "imbalance: %s on %s took %.2f times as much CPU time as its peer%[|s], but in its "    \
           "own code %.2f times: the kernel did more for it (pages touched, data copied), and it " \
           "had no more work itself",                                                              \
           SLOTS("times", "peers", "times in its own code"), SLOTS("process", "host"))
#include "analysis/causes/own.h"

static int add_more(const struct run_model *model, size_t group, const struct peers *peers,
                    const struct peer *p, double median, struct core_speed core,
                    struct candidates *candidates) {
    struct candidate c = candidate_of(p->who->host, group, RESOURCE_IMBALANCE, CAUSE_SKEW);
    c.rank = p->who->rank;
    c.blocked = c.path.own = p->cpu / core.slower - median;
    c.can_remove = p->who->rank < 0; /* for ranks the calls would have to be known */
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_LIKE_PEERS, .host = c.host, .rank = -1, .factor = 1};
    c.signals = 1 + (peers->n > 3);
    c.path.terms = 1u << BUDGET_CPU;
    remark_set(&c.cause, HAS_MORE, NUMBERS(-1, p->cpu / core.slower / median, peers->n - 1),
               NAMES(p->who->process));
    remarks_add(&c.evidence, PROCESS_USED_CPU,
                NUMBERS(100 * p->cpu, peers->n - 1, 100 * median, peers->n - 1),
                NAMES(p->who->process));
    remarks_add(&c.evidence, WAITED_FOR_NOBODY, NUMBERS(100 * fmin(1, p->busy)), NAMES());
    if (peer_is_late(model, peers, p))
        peer_tell_late(model, peers, p, &c);
    core_speed_tell(model, core, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static bool is_more(const struct run_model *model, const struct peer *p, double cpu,
                    double median) {
    double ratio = model_shares_cores(model, p->who->host) ? number_of(model, SKEW_RATIO_SHARED)
                                                           : number_of(model, SKEW_RATIO_PROCESS);
    return cpu - median >= (ratio - 1) * median && cpu - median >= number_of(model, BLOCKED_MIN);
}

/* More work means more time in its own code. Time in the kernel for it (memory released and taken
 * again, its pages touched anew) does not grow with work. Unknown time counts as its own. */
static bool is_own_code(const struct run_model *model, const struct peers *peers,
                        const struct peer *p) {
    double user = peers_median_but(peers, p, peer_user);
    return !(p->user < number_of(model, SKEW_WORTH_SAYING) * user);
}

static void rule_out_kernel(const struct run_model *model, const struct peers *peers,
                            const struct peer *p, struct candidates *candidates) {
    remarks_add(&candidates->ruled_out, KERNEL_DID_MORE,
                NUMBERS(p->cpu / peers_median_but(peers, p, peer_cpu), peers->n - 1,
                        p->user / peers_median_but(peers, p, peer_user)),
                NAMES(p->who->process, model->hosts[p->who->host].name));
}

static const struct peer *most_to_do(const struct peers *peers, const struct core_speed *cores) {
    const struct peer *most = &peers->items[0];
    for (size_t i = 1; i < peers->n; i++) {
        const struct peer *p = &peers->items[i];
        if (p->cpu / cores[p->who->host].slower > most->cpu / cores[most->who->host].slower)
            most = p;
    }
    return most;
}

static bool can_have_more(const struct run_model *model, size_t group, const struct peers *peers,
                          const struct peer *p, const struct candidates *candidates) {
    double median = peers_median_but(peers, p, peer_cpu);
    bool together = p->cpu + median - 1 >= number_of(model, PEER_TOGETHER) * median;
    return together && (p->busy >= number_of(model, BUSY_RANK) || peer_is_late(model, peers, p)) &&
           !candidates_short_of(candidates, p->who->host, group, SHORT_OF_ANYTHING);
}

static int look_at_more(const struct run_model *model, size_t group, const struct peers *peers,
                        const struct core_speed *cores, struct candidates *candidates) {
    const struct peer *p = most_to_do(peers, cores), *longest = peers_with_most(peers, peer_cpu);
    struct core_speed core = cores[p->who->host];
    double median = peers_median_but(peers, p, peer_cpu);
    bool can = can_have_more(model, group, peers, p, candidates);
    if (longest != p && can_have_more(model, group, peers, longest, candidates))
        core_speed_rule_out(model, group, longest->who,
                            longest->cpu / peers_median_but(peers, longest, peer_cpu),
                            cores[longest->who->host], candidates);
    bool more = can && is_more(model, p, p->cpu / core.slower, median);
    if (more && is_own_code(model, peers, p))
        return add_more(model, group, peers, p, median, core, candidates);
    if (more)
        rule_out_kernel(model, peers, p, candidates);
    else if (can)
        core_speed_rule_out(model, group, p->who, p->cpu / median, core, candidates);
    return 0;
}

static int look_for_more(const struct run_model *model, size_t group, const struct peers *peers,
                         struct candidates *candidates) {
    struct core_speed *cores = core_speeds_of(model, group);
    int result = cores ? look_at_more(model, group, peers, cores, candidates) : -ENOMEM;
    free(cores);
    return result;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    return peers_compare(model, group, look_for_more, candidates);
}

const struct cause cause_process_imbalance = {
    .name = "process-imbalance",
    .resource = RESOURCE_IMBALANCE,
    .kind = CAUSE_SKEW,
    .needs = 1u << SOURCE_CONNECTIONS,
    .instead = 1u << SOURCE_CALLS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "of processes of one role, the one that computes more and never waits is waited for",
    .yields_to = YIELDS_TO(&cause_contention, &cause_quota, &cause_steal, &cause_disk,
                           &cause_memory, &cause_machine_full, &cause_link_connections,
                           &cause_link_queue, &cause_link_rate, &cause_link_peers),
    .detect = detect,
    .advise = advise_less_work,
};
