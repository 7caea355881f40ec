/* SPDX-License-Identifier: MIT */
/*
 * The program is to blame, and no resource: one rank has more to compute than its peers
 * (imbalance), or computes alone while all others wait for it (serial). The evidence is calls of
 * MPI. Without them a wait for a peer looks like computing, and process_imbalance.c finds what can
 * still be found.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes_private.h"
#include "analysis/facts/series/stats.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(SERIAL_PART, 0.7, "of the excess",                                                      \
           "what a rank computes more than its peers is serial above it, else skew")               \
    NUMBER(ALONE_ALL_WAIT, 0.5, "of the time",                                                     \
           "each of the others waits for a rank that computes alone")                              \
    NUMBER(ALONE_HARDLY_WAITS, 0.1, "of its time", "waited by a rank that computes alone")         \
    NUMBER(SLOW_MORE_WORK, 0.5, "of the excess of CPU time",                                       \
           "a slow rank's messages have it, too: it has more work")
#define OWN_REMARKS                                                                                \
    REMARK(RANK_COMPUTES_ALONE, "serial: rank %d computes alone, all others wait for it",          \
           SLOTS("rank"), SLOTS(), .label = "serial: ", .is_clause = true)                         \
    REMARK(COMPUTED_ALONE,                                                                         \
           "rank %d computed alone %.0f %% of the time: no other rank does that work, or all "     \
           "others were waiting already; it computed %.0f %% in all",                              \
           SLOTS("rank", "alone, %", "in all, %"), SLOTS())                                        \
    REMARK(WAITED_FOR_CORE_TOO,                                                                    \
           "a faster core, or sharing this work out, would help; more cores would save no more "   \
           "than its waiting for one",                                                             \
           SLOTS(), SLOTS())                                                                       \
    REMARK(RANK_USED_CPU,                                                                          \
           "rank %d used the CPU outside MPI %.0f %% of the time, its peer%[|s] %.0f %%%[| in "    \
           "the median]",                                                                          \
           SLOTS("rank", "used, %", "peers", "they used, %", "peers"), SLOTS())                    \
    REMARK(RANK_USED_CPU_FOR_MORE,                                                                 \
           "rank %d used the CPU outside MPI %.0f %% of the time, its peer%[|s] %.0f %%; for as "  \
           "much work as its peer%[ did|s did each] it would have used %.0f %%",                   \
           SLOTS("rank", "used, %", "peers", "peers used, %", "peers", "for their work, %"),       \
           SLOTS())                                                                                \
    REMARK(WAITED_FOR_OTHERS, "it waited for others %.0f %% of the time itself",                   \
           SLOTS("waited, %"), SLOTS())                                                            \
    REMARK(HAS_MORE_WORK, "more CPU time with more work: data skew", SLOTS(), SLOTS())             \
    REMARK(CORE_IS_SLOWER, "more CPU time: its core is slower", SLOTS(), SLOTS())                  \
    REMARK(MORE_INSTRUCTIONS, "more CPU time: more instructions, unconfirmed", SLOTS(), SLOTS())   \
    REMARK(MORE_WORK_UNCONFIRMED,                                                                  \
           "more CPU time on a core that is no slower: more work, unconfirmed", SLOTS(), SLOTS())  \
    REMARK(OPERATORS_GAVE,                                                                         \
           "its operators gave up to %.2f times as much an iteration as those of its peers",       \
           SLOTS("times"), SLOTS())                                                                \
    REMARK(MOVES_MORE_BYTES, "it also moves %.2f times its peers' bytes an iteration",             \
           SLOTS("times"), SLOTS())
#include "analysis/causes/own.h"

/* ---- computing alone ---- */

static bool is_only_rank(const struct run_model *model, size_t who) {
    for (size_t r = 0; r < model->budgets.n; r++)
        if (r != who && model->budgets.items[r].host == model->budgets.items[who].host)
            return false;
    return true;
}

/* The scenario in which the rank computes this many times as fast. A rank alone on its host can be
 * asked for; a rank that shares its host can only be made like its peers. */
static struct whatif_scenario faster_rank(const struct run_model *model, size_t who,
                                          double factor) {
    const struct rank_budget *b = &model->budgets.items[who];
    bool only = is_only_rank(model, who);
    return (struct whatif_scenario){.kind = only ? WHATIF_CPU : WHATIF_LIKE_PEERS,
                                    .host = b->host,
                                    .rank = only ? -1 : b->rank,
                                    .factor = factor};
}

static int add_serial_rank(const struct run_model *model, size_t group, size_t who, double alone,
                           struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[who];
    struct candidate c = candidate_of(b->host, group, RESOURCE_CPU, CAUSE_SERIAL);
    double cpu = rank_share(model, group, who, BUDGET_CPU);
    double demand = model_demand(model, group, b->host, BUDGET_CPU);
    c.rank = b->rank;
    c.path.own = alone;
    c.blocked = fmin(alone, demand);
    c.saturated = true;
    c.signals = 2;
    c.path.terms = 1u << BUDGET_CPU;
    c.path.part = demand > 0 ? c.blocked / demand : 0;
    c.can_remove = is_only_rank(model, who);
    c.remove = faster_rank(model, who, cpu > 1.001 * alone ? cpu / (cpu - alone) : 1000);
    remark_set(&c.cause, RANK_COMPUTES_ALONE, NUMBERS(b->rank), NAMES());
    remarks_add(&c.evidence, COMPUTED_ALONE, NUMBERS(b->rank, 100 * alone, 100 * cpu), NAMES());
    double queue = rank_share(model, group, who, BUDGET_RUN_QUEUE);
    if (queue >= number_of(model, BLOCKED_MIN))
        remarks_add(&c.against, WAITED_FOR_CORE_TOO, NUMBERS(), NAMES());
    else
        remarks_add(&c.against, FASTER_CORE_OR_SHARING, NUMBERS(), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* ---- more to compute than the others ---- */

/* Computing beyond the peers, and the part of it while it computes alone. */
struct excess {
    double median; /* of its peers; with operators, their work on this rank's core */
    double peers;  /* of its peers, as measured; NAN: as `median` */
    size_t n_peers;
    double alone, more; /* shares of the time */
};

static int add_skew(const struct run_model *model, size_t group, size_t who, const struct excess *e,
                    struct core_speed core, struct candidates *candidates) {
    const struct rank_budget *b = &model->budgets.items[who];
    double own = rank_share(model, group, who, BUDGET_CPU),
           ratio = (e->median + e->more) / e->median;
    double demand = model_demand(model, group, b->host, BUDGET_CPU);
    double waiting = rank_share(model, group, who, BUDGET_PEER_WAIT);
    struct candidate c = candidate_of(b->host, group, RESOURCE_IMBALANCE, CAUSE_SKEW);
    c.rank = b->rank;
    c.path.own = e->more;
    c.blocked = fmin(e->more, demand);
    c.saturated = true;
    c.signals = 1 + (waiting < 0.1) + (e->n_peers >= 3);
    c.path.terms = 1u << BUDGET_CPU;
    c.path.part = demand > 0 ? c.blocked / demand : 0;
    c.can_remove = true;
    c.remove = faster_rank(model, who, ratio);
    c.sharing.can = true;
    c.sharing.scenario = (struct whatif_scenario){
        .kind = WHATIF_LIKE_PEERS, .host = b->host, .rank = b->rank, .factor = 1};
    remark_set(&c.cause, HAS_MORE, NUMBERS(b->rank, ratio, e->n_peers), NAMES(b->process));
    if (isnan(e->peers))
        remarks_add(&c.evidence, RANK_USED_CPU,
                    NUMBERS(b->rank, 100 * own, e->n_peers, 100 * e->median, e->n_peers), NAMES());
    else
        remarks_add(
            &c.evidence, RANK_USED_CPU_FOR_MORE,
            NUMBERS(b->rank, 100 * own, e->n_peers, 100 * e->peers, e->n_peers, 100 * e->median),
            NAMES());
    remarks_add(&c.evidence, WAITED_FOR_OTHERS, NUMBERS(100 * waiting), NAMES());
    core_speed_tell(model, core, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* A rank that computes as much as its peers, only later (since its data came late), does common
 * work. A rank that hardly computes with the others, or computes more, does work of its own. */
static double beyond_common(const struct run_model *model, double alone, double own,
                            double median) {
    if (isnan(median) || own - alone < number_of(model, SKEW_PEER) * median)
        return alone;
    return fmin(alone, fmax(0, own - median));
}

/* Peers that wait for answers from this rank's MPI do not wait for its work beyond that, however
 * much of the common work it takes. */
static double beyond_absence(const struct run_model *model, size_t group, size_t who, double more) {
    double absence = absence_share(model, group, who);
    size_t n;
    if (!(absence > 0))
        return more;
    double waiting = rank_peers_median(model, group, who, BUDGET_PEER_WAIT, 0, &n);
    return n ? fmin(more, fmax(waiting - absence, 0)) : more;
}

/* Share of the time in which only this rank computes while all others wait for others: they can
 * wait for no other rank. */
static double awaited_alone(const struct run_model *model, size_t group, size_t who, double own) {
    double least = INFINITY;
    for (size_t r = 0; r < model->budgets.n; r++) {
        double waits = rank_share(model, group, r, BUDGET_PEER_WAIT);
        if (isnan(waits) || (r == who && waits >= number_of(model, ALONE_HARDLY_WAITS)))
            return 0;
        least = r == who ? least : fmin(least, waits);
    }
    return isfinite(least) && least >= number_of(model, ALONE_ALL_WAIT) ? fmin(own, least) : 0;
}

/* Whether a resource ran out, or holds up a host: faults of the program come second. */
static bool any_saturated(const struct run_model *model, const struct candidates *candidates,
                          size_t group) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].group == group && candidates->items[i].saturated &&
            candidates->items[i].blocked >= number_of(model, BLOCKED_MIN))
            return true;
    return false;
}

static struct excess excess_of(const struct run_model *model, size_t group, size_t who,
                               double own) {
    struct excess e = {.peers = NAN};
    e.median = rank_peers_median(model, group, who, BUDGET_CPU, number_of(model, SKEW_PEER) * own,
                                 &e.n_peers);
    e.alone = own >= number_of(model, SERIAL_MIN) ? alone_share(model, group, who) : 0;
    e.alone = beyond_common(model, e.alone, own, e.median);
    e.more = beyond_absence(model, group, who, own - e.median);
    if (e.alone >= number_of(model, SERIAL_PART) * e.more || isnan(e.median))
        e.more -= e.alone;
    else
        e.alone = 0; /* it only does more of the common work than the others */
    return e;
}

static double skew_ratio(const struct run_model *model, int host, const struct core_speed *cores) {
    if (model_shares_cores(model, host))
        return number_of(model, SKEW_RATIO_SHARED);
    return isnan(cores[host].operators) ? number_of(model, SKEW_RATIO_UNTOLD)
                                        : number_of(model, SKEW_RATIO);
}

/* A rank that waits for others as long as it computes beyond them is not on the critical path. */
static bool is_skew(const struct run_model *model, size_t group, size_t who,
                    const struct core_speed *cores, const struct excess *e) {
    double ratio = skew_ratio(model, model->budgets.items[who].host, cores);
    return e->n_peers && e->more >= (ratio - 1) * e->median &&
           e->more >= number_of(model, BLOCKED_MIN) &&
           rank_share(model, group, who, BUDGET_PEER_WAIT) < e->more &&
           model_rank_demand(model, group, who, BUDGET_CPU) >= number_of(model, BLOCKED_MIN);
}

/* For the rank that took the most CPU time without having the most to do. */
static void rule_out_slow_core(const struct run_model *model, size_t group, size_t who,
                               const struct core_speed *cores, struct candidates *candidates) {
    double taken = rank_share(model, group, who, BUDGET_CPU);
    struct excess e = excess_of(model, group, who, taken);
    const struct rank_budget *b = &model->budgets.items[who];
    core_speed_rule_out(model, group, b, taken / e.median, cores[b->host], candidates);
}

/* ---- more to compute, by the amounts that operators tell ---- */

/* The excess of a rank whose operators produce more than elsewhere: the time of that output on its
 * own core, or its computing beyond its peers, since the program need not mark all of it. A rank
 * that takes no longer than its peers has none: they wait for nothing. */
static struct excess excess_by_amount(const struct run_model *model, size_t group, size_t who,
                                      const struct core_speed *cores) {
    const struct core_speed *core = &cores[model->budgets.items[who].host];
    double own = rank_share(model, group, who, BUDGET_CPU);
    struct excess e = {.peers = NAN};
    double peers = rank_peers_median(model, group, who, BUDGET_CPU,
                                     number_of(model, SKEW_PEER) * own, &e.n_peers);
    if (!core_has_more_to_do(model, core) || !(own > peers))
        return e;
    struct excess by_time = excess_of(model, group, who, own / core->slower);
    e.more = own * core->more;
    e.median = own - e.more;
    e.peers = peers;
    return by_time.more > e.more ? by_time : e;
}

/* The operator whose additional output takes longest; SIZE_MAX: there is none. */
static size_t rank_with_more_to_do(const struct run_model *model, size_t group,
                                   const struct core_speed *cores) {
    size_t most = SIZE_MAX;
    double most_share = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        struct excess e = excess_by_amount(model, group, r, cores);
        if (!(e.more > most_share) || !is_skew(model, group, r, cores, &e))
            continue;
        most = r;
        most_share = e.more;
    }
    return most;
}

static int add_told_skew(const struct run_model *model, size_t group, size_t who,
                         const struct core_speed *cores, struct candidates *candidates) {
    struct excess e = excess_by_amount(model, group, who, cores);
    int host = model->budgets.items[who].host;
    if (candidates_short_of(candidates, host, group, SHORT_OF_MEMORY))
        return 0;
    return add_skew(model, group, who, &e, cores[host], candidates);
}

/* Each rank's time is converted to a core like its peers', theirs is not converted: knowledge of
 * cores can only clear a rank, not blame it. */
static int look_at_ranks(const struct run_model *model, size_t group,
                         const struct core_speed *cores, struct candidates *candidates) {
    size_t who = rank_with_most(model, group, BUDGET_CPU, cores);
    size_t longest = rank_with_most(model, group, BUDGET_CPU, NULL);
    size_t told = rank_with_more_to_do(model, group, cores);
    if (who == SIZE_MAX)
        return 0;
    const struct rank_budget *b = &model->budgets.items[who];
    double taken = rank_share(model, group, who, BUDGET_CPU);
    double own = taken / cores[b->host].slower;
    struct excess e = excess_of(model, group, who, own);
    if (isnan(e.median) && !any_saturated(model, candidates, group))
        e.alone = fmax(e.alone, awaited_alone(model, group, who, own));
    bool serial = e.alone >= number_of(model, SERIAL_MIN);
    /* the kernel's search for memory for a rank counts as its computing */
    bool short_of_memory = candidates_short_of(candidates, b->host, group, SHORT_OF_MEMORY);
    if (longest != who)
        rule_out_slow_core(model, group, longest, cores, candidates);
    int result = serial ? add_serial_rank(model, group, who, e.alone, candidates) : 0;
    if (result == 0 && told != SIZE_MAX)
        return add_told_skew(model, group, told, cores, candidates);
    if (result == 0 && !short_of_memory && is_skew(model, group, who, cores, &e))
        result = add_skew(model, group, who, &e, cores[b->host], candidates);
    else if (!serial && own < skew_ratio(model, b->host, cores) * e.median)
        core_speed_rule_out(model, group, b, taken / e.median, cores[b->host], candidates);
    return result;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    if (model->budgets.n < 2 || throughput_counts(model, group))
        return 0;
    struct core_speed *cores = core_speeds_of(model, group);
    int result = cores ? look_at_ranks(model, group, cores, candidates) : -ENOMEM;
    free(cores);
    return result;
}

/* ---- a rank slower than its peers ---- */

/* Bytes of all its messages. (Polls have none: in old recordings the field is their number.) */
static double bytes_of(const struct rank_matrix *matrix, size_t rank) {
    const struct rank_iterations *its = &matrix->model->iterations.ranks[rank];
    const struct mpi_log *log = &matrix->model->recording->calls;
    double sum = 0;
    for (size_t r = 0; r < log->n; r++) {
        if (log->ranks[r].host != its->host || log->ranks[r].pid != its->pid)
            continue;
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            if (!(e->flags & MPI_FLAG_FOLDED) || mpi_event_is_row(e, mpi_event_function(log, e)))
                sum += (double)e->bytes;
        }
    }
    return its->n ? sum / (double)its->n : 0;
}

static void more_work_or_slower_core(const struct run_model *model, struct core_speed core,
                                     double ratio, struct straggler *s) {
    if (core_has_more_to_do(model, &core)) {
        remark_set(&s->cause, HAS_MORE_WORK, NUMBERS(), NAMES());
        remarks_add(&s->evidence, OPERATORS_GAVE, NUMBERS(core.amount), NAMES());
        return;
    }
    bool most = core.slower - 1 >= number_of(model, SLOW_EXPLAINS) * (ratio - 1);
    s->cause_kind = most ? CAUSE_SLOW_CORE : CAUSE_SKEW;
    if (most)
        remark_set(&s->cause, CORE_IS_SLOWER, NUMBERS(), NAMES());
    else if (core.slower > 1 || isnan(core.calibration))
        remark_set(&s->cause, MORE_INSTRUCTIONS, NUMBERS(), NAMES());
    else
        remark_set(&s->cause, MORE_WORK_UNCONFIRMED, NUMBERS(), NAMES());
    core_speed_explain(core, ratio, &s->evidence);
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    const struct rank_matrix *matrix = slowed->matrix;
    double ratio = slowed->own_s / fmax(slowed->own_s - slowed->excess_s, 1e-9);
    size_t k = 0;
    for (size_t p = 0; p < matrix->ranks; p++)
        if (rank_matrix_are_peers(matrix, slowed->rank, p))
            slowed->room[k++] = bytes_of(matrix, p);
    double more = bytes_of(matrix, slowed->rank) / stats_median(slowed->room, k);
    s->cause_kind = CAUSE_SKEW;
    if (more - 1 >= number_of(matrix->model, SLOW_MORE_WORK) * (ratio - 1)) {
        remark_set(&s->cause, HAS_MORE_WORK, NUMBERS(), NAMES());
        remarks_add(&s->evidence, MOVES_MORE_BYTES, NUMBERS(more), NAMES());
        return;
    }
    struct core_speed *cores = core_speeds_of(matrix->model, matrix->model->main_group);
    if (cores)
        more_work_or_slower_core(matrix->model, cores[s->host], ratio, s);
    else
        s->evidence.error = -ENOMEM;
    free(cores);
}

static void advise(const struct advised *advised) {
    if (advised->c->kind == CAUSE_SERIAL)
        advise_divide(advised);
    else
        advise_less_work(advised);
}

const struct cause cause_imbalance = {
    .name = "imbalance",
    .resource = RESOURCE_IMBALANCE,
    .kind = CAUSE_SKEW,
    .needs = 1u << SOURCE_CALLS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "ranks in step wait for the one that computes longest",
    .yields_to = YIELDS_TO(&cause_contention, &cause_quota, &cause_steal, &cause_disk,
                           &cause_memory, &cause_machine_full, &cause_link_connections,
                           &cause_link_queue, &cause_link_rate, &cause_link_peers),
    .detect = detect,
    .slows = BUDGET_CPU,
    .explain = explain_slow,
    .advise = advise,
};
