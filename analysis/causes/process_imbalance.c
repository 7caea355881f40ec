/* SPDX-License-Identifier: MIT */
/*
 * Processes of one role compared, where no call of MPI tells who waits for whom: one that computes
 * more than its peers (imbalance), or sleeps in its own code. Their times add up to one time, so a
 * process that never waits is waited for. Computing at the same time must be certain, since a
 * server and its client take turns and look uneven by design. Totals cannot tell whether a process
 * sleeps or waits for a peer. The kernel's clocks of connections can: data for a process that reads
 * at once is acknowledged at once, so data that stays in flight towards one process, and not back,
 * waits for it. If a process has a thread for its connections, the queue of its core tells as well:
 * data that comes while it computes is taken in behind its own computing, data that comes while it
 * waits finds the core free. Where both say the same, neither has to say it so loudly. That is a
 * suspicion and never more.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/peers.h"

#define LITTLE 0.125 /* an eighth */

/* Data wait for it, and hardly for the others: by its connections, or by these and its core in the
 * (geometric) mean. */
static bool is_late(const struct peers *peers, const struct peer *p) {
    double by_data = p->late / peers_median_but(peers, p, peer_late);
    double by_core = p->crowded / peers_median_but(peers, p, peer_crowded);
    double most = LATE_RATIO * LATE_RATIO; /* data are not to say the contrary */
    double both = p->crowded >= LATE_MIN ? sqrt(by_data * fmin(by_core, most)) : 0;
    return p->late_share >= LATE_MIN && fmax(by_data, both) >= LATE_RATIO;
}

static void tell_late(const struct run_model *model, const struct peers *peers,
                      const struct peer *p, struct candidate *c) {
    double others = peers_median_but(peers, p, peer_late);
    c->awaited = true;
    if (others > 0)
        remarks_add(&c->evidence, DATA_WAITED, NUMBERS(p->late / others, peers->n - 1),
                    NAMES(model->hosts[c->host].name));
    double crowded = peers_median_but(peers, p, peer_crowded);
    if (p->crowded >= LATE_MIN && p->crowded >= LATE_RATIO * crowded)
        remarks_add(&c->evidence, THREADS_QUEUED,
                    NUMBERS(100 * p->crowded, peers->n - 1, 100 * crowded), NAMES(p->who->process));
    c->signals++;
}

/* ---- more to compute ---- */

static int add_more(const struct run_model *model, size_t group, const struct peers *peers,
                    const struct peer *p, double median, struct core_speed core,
                    struct candidates *candidates) {
    struct candidate c = candidate_of(p->who->host, group, RESOURCE_IMBALANCE, CAUSE_SKEW);
    c.rank = p->who->rank;
    c.blocked = c.own = p->cpu / core.slower - median;
    c.can_remove = p->who->rank < 0; /* of ranks the calls would have to be known */
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_LIKE_PEERS, .host = c.host, .rank = -1, .factor = 1};
    c.signals = 1 + (peers->n > 3);
    c.terms = 1u << BUDGET_CPU;
    remark_set(&c.cause, HAS_MORE, NUMBERS(-1, p->cpu / core.slower / median, peers->n - 1),
               NAMES(p->who->process));
    remarks_add(&c.evidence, PROCESS_USED_CPU,
                NUMBERS(100 * p->cpu, peers->n - 1, 100 * median, peers->n - 1),
                NAMES(p->who->process));
    remarks_add(&c.evidence, WAITED_FOR_NOBODY, NUMBERS(100 * fmin(1, p->busy)), NAMES());
    if (is_late(peers, p))
        tell_late(model, peers, p, &c);
    core_speed_tell(core, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static bool is_more(const struct run_model *model, const struct peer *p, double cpu,
                    double median) {
    double ratio = model_shares_cores(model, p->who->host) ? SKEW_RATIO_SHARED : SKEW_RATIO_PROCESS;
    return cpu - median >= (ratio - 1) * median && cpu - median >= BLOCKED_MIN;
}

/* More to compute is more of its own code; what the kernel does for it alone (memory given back
 * and taken again, its pages touched anew) grows with no work. Not known: so it is. */
static bool is_own_code(const struct peers *peers, const struct peer *p) {
    double user = peers_median_but(peers, p, peer_user);
    return !(p->user < SKEW_WORTH_SAYING * user);
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

static bool can_have_more(size_t group, const struct peers *peers, const struct peer *p,
                          const struct candidates *candidates) {
    double median = peers_median_but(peers, p, peer_cpu);
    bool together = p->cpu + median - 1 >= PEER_TOGETHER * median;
    return together && (p->busy >= BUSY_RANK || is_late(peers, p)) &&
           !candidates_short_of(candidates, p->who->host, group, SHORT_OF_ANYTHING);
}

static int look_at_more(const struct run_model *model, size_t group, const struct peers *peers,
                        const struct core_speed *cores, struct candidates *candidates) {
    const struct peer *p = most_to_do(peers, cores), *longest = peers_with_most(peers, peer_cpu);
    struct core_speed core = cores[p->who->host];
    double median = peers_median_but(peers, p, peer_cpu);
    bool can = can_have_more(group, peers, p, candidates);
    if (longest != p && can_have_more(group, peers, longest, candidates))
        core_speed_rule_out(model, group, longest->who,
                            longest->cpu / peers_median_but(peers, longest, peer_cpu),
                            cores[longest->who->host], candidates);
    bool more = can && is_more(model, p, p->cpu / core.slower, median);
    if (more && is_own_code(peers, p))
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

/* ---- asleep ---- */

static int add_sleep(const struct run_model *model, size_t group, const struct peers *peers,
                     const struct peer *p, struct candidates *candidates) {
    struct candidate c = candidate_of(p->who->host, group, RESOURCE_APPLICATION, CAUSE_SLEEP);
    c.rank = p->who->rank;
    c.blocked = p->idle;
    c.can_remove = p->who->rank < 0;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = c.host, .rank = -1, .term = BUDGET_IDLE};
    c.signals = 1;
    c.terms = 1u << BUDGET_IDLE;
    remark_set(&c.cause, PROCESS_SLEEPS, NUMBERS(), NAMES(p->who->process));
    remarks_add(&c.evidence, PROCESS_OFF_CORE, NUMBERS(100 * p->idle), NAMES(p->who->process));
    tell_late(model, peers, p, &c);
    remarks_add(&c.against, PEERS_WAITED_TOO,
                NUMBERS(peers->n - 1, 100 * fmax(0, 1 - peers_median_but(peers, p, peer_busy))),
                NAMES());
    c.next = REMARK_ADVISE_MARK;
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* The process may have been off its core because of the host's waits for I/O. */
static bool is_for_disk(const struct run_model *model, size_t group, const struct peer *p) {
    return model_mean(model, p->who->host, METRIC_PSI_IO, group) / 100 >= p->idle / 2;
}

static int look_for_sleep(const struct run_model *model, size_t group, const struct peers *peers,
                          struct candidates *candidates) {
    const struct peer *p = peers_with_most(peers, peer_late);
    double cpu = peers_median_but(peers, p, peer_cpu);
    /* what it computes more lets the others wait as well; little beside what it is off its core */
    bool alike = p->cpu < SKEW_RATIO * cpu || p->cpu - cpu < LITTLE * p->idle;
    /* all others wait for a sleeper; one of them that hardly does is waited for itself */
    bool awaited = peers_least_idle_but(peers, p) >= p->idle;
    /* MPI reads what came only when it is called: data wait for a rank that computes as well */
    if (p->who->rank >= 0 || p->idle < LATE_IDLE_MIN || !alike || !awaited || !is_late(peers, p) ||
        is_for_disk(model, group, p))
        return 0;
    for (size_t h = 0; h < model->n_hosts; h++) /* a full link holds up data as well */
        if (candidates_short_of(candidates, (int)h, group, SHORT_OF_NETWORK))
            return 0;
    if (candidates_short_of(candidates, p->who->host, group, SHORT_OF_ANYTHING))
        return 0;
    return add_sleep(model, group, peers, p, candidates);
}

typedef int look(const struct run_model *model, size_t group, const struct peers *peers,
                 struct candidates *candidates);

static int compare_peers(const struct run_model *model, size_t group, look *look_at,
                         struct candidates *candidates) {
    struct peers peers = {0};
    int result = peers_make(model, group, &peers);
    if (result == 0 && peers.n > 1)
        result = look_at(model, group, &peers, candidates);
    free(peers.items);
    return result;
}

int process_imbalance_detect(const struct run_model *model, size_t group,
                             struct candidates *candidates) {
    return compare_peers(model, group, look_for_more, candidates);
}

int process_sleep_detect(const struct run_model *model, size_t group,
                         struct candidates *candidates) {
    return compare_peers(model, group, look_for_sleep, candidates);
}
