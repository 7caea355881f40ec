/* SPDX-License-Identifier: MIT */
/*
 * Network, by connections: which direction of which host explains the set of connections that their
 * path held up (evidence/flows.c). Both ends explain a single connection between two hosts equally
 * well. A sender's full link shows a queue before its interface; without a queue the receiver's
 * side limits, or something between the two.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/link_private.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(QUEUE_HERE, 0.5, "of that", "spent before the sender's own interface: they queue there")
#define OWN_REMARKS                                                                                \
    REMARK(PATH_LIMITED,                                                                           \
           "the network limited %d of %d routes between hosts, %d of them %[from|to] this host; "  \
           "data were in flight %.0f %% of the time (%.0f %% by their rate)",                      \
           SLOTS("limited routes", "routes", "of this host", "1: from it", "under way, %",         \
                 "by their rate, %"),                                                              \
           SLOTS())                                                                                \
    REMARK(QUEUE_BEFORE_INTERFACE,                                                                 \
           "%.0f kB waited before its interface on average%[, held back to a set rate|]",          \
           SLOTS("kB", "1: a rate is set"), SLOTS())                                               \
    REMARK(ROUND_TRIPS_LONGER,                                                                     \
           "round trips took %.1f ms longer than the shortest: data queued on the way",            \
           SLOTS("ms"), SLOTS())                                                                   \
    REMARK(NOTHING_QUEUED,                                                                         \
           "nothing queued at the sender, so the limit lies behind it: at this host's link, or "   \
           "on the way to it",                                                                     \
           SLOTS(), SLOTS())                                                                       \
    REMARK(MOVED_AT_FULL_RATE,                                                                     \
           "data moved at the full %.4g MB/s (%.3g Gbit/s) %[its interface is set to|this link "   \
           "was measured to carry]",                                                               \
           SLOTS("MB/s", "Gbit/s", "1: set, else measured"), SLOTS())                              \
    REMARK(MOVED_BELOW_RATE,                                                                       \
           "data moved at %.4g MB/s; %[its interface is set to|this link was measured to carry] "  \
           "%.4g MB/s (%.3g Gbit/s)",                                                              \
           SLOTS("moved, MB/s", "1: set, else measured", "ceiling, MB/s", "Gbit/s"), SLOTS())      \
    REMARK(MEASURED_FAR_MORE,                                                                      \
           "its link was measured to carry %.4g MB/s, far more than the %.4g MB/s that moved: "    \
           "the limit may lie elsewhere on the way, or be new",                                    \
           SLOTS("measured, MB/s", "moved, MB/s"), SLOTS())                                        \
    REMARK(TWIN_EXPLAINS, "%s's link explains the same and shows as much: the limit may be there", \
           SLOTS(), SLOTS("host"))                                                                 \
    REMARK(                                                                                        \
        LINK_OR_CORE,                                                                              \
        "network: data was in flight at %s for %.0f %% of the time, but these hosts share their "  \
        "cores and waited for one %.0f %% of the time: it may have waited for the same cores",     \
        SLOTS("data under way, %", "waited for a core, %"), SLOTS("host"))
#include "analysis/causes/own.h"

struct culprit_side {
    int host;
    enum flow_side side;
    double f1, demand;
    struct queues queues;
    struct network_limit limit;
    bool at_limit;    /* near its measured ceiling while data moved */
    bool full;        /* its host sends at the set rate and holds the rest back */
    bool queues_here; /* the data that lengthen round trips wait before its interface */
};

static double rate_of(const struct flows *flows, int host, enum flow_side side, bool limited_only) {
    double need = 0, bytes = 0;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if ((limited_only && !f->limited) || (side == FLOW_SEND ? f->from : f->to) != host)
            continue;
        need = fmax(need, f->need_s); /* several connections share it */
        bytes += f->bytes;
    }
    return need > 0 ? bytes / need / 1e6 : NAN;
}

static double side_rate(const struct flows *flows, int host, enum flow_side side) {
    return rate_of(flows, host, side, true);
}

/* Data that queue on their way make round trips longer, and a host sees its own queue: comparing
 * the two shows whether it is this queue. Its mean is over all samples, and it is absent while
 * nothing is under way. */
static bool has_the_queue(const struct run_model *model, const struct flows *flows,
                          const struct culprit_side *s, double wall_s) {
    double queued_ns = s->queues.backlog / s->queues.rate_mb_s * 1e3;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (f->from == s->host && f->limited &&
            queued_ns * wall_s / f->limited_s >= number_of(model, QUEUE_HERE) * f->queue_ns)
            return true;
    }
    return false;
}

static struct culprit_side look_at_side(const struct run_model *model, size_t group,
                                        const struct flows *flows, int host, enum flow_side side) {
    struct culprit_side s = {.host = host,
                             .side = side,
                             .f1 = flows_f1(flows, host, side),
                             .limit = network_limit_of(model, host, link_metric(side))};
    s.queues = link_queues(model, group, host);
    s.full = side == FLOW_SEND && link_is_full(model, &s.queues);
    s.queues_here =
        side == FLOW_SEND && link_is_held_back(model, &s.queues) &&
        has_the_queue(model, flows, &s,
                      (double)windows_length(phase_windows(&model->groups[group])) / 1e9);
    s.at_limit = s.limit.measured &&
                 (side_rate(flows, host, side) >= number_of(model, NETWORK_FULL) * s.limit.mb_s ||
                  s.limit.seen_mb_s >= number_of(model, NETWORK_FULL) * s.limit.mb_s);
    return s;
}

/* Own evidence decides between sides that explain the set equally well: a queue before the sender's
 * interface, or a measured ceiling. Without evidence the receiving side is taken, since a sender's
 * full link would have shown a queue. */
static int standing(const struct run_model *model, const struct culprit_side *s) {
    if (s->side == FLOW_SEND)
        return link_is_backed_up(model, &s->queues) ? 4 : s->at_limit ? 3 : s->queues.known ? 0 : 1;
    return s->at_limit ? 3 : 2;
}

/* Sets show what is likely: of two routes through a full link one may stay just below the limit for
 * being held up, and its other end then explains the rest better. A host that visibly sends at its
 * limit, or has the queue, needs no such argument. If two sides are
 * alike, the one counts that the run waits for more. */
static bool is_better(const struct run_model *model, const struct culprit_side *a,
                      const struct culprit_side *b) {
    bool a_seen = a->full || a->queues_here, b_seen = b->full || b->queues_here;
    if (a_seen != b_seen)
        return a_seen;
    if (fabs(a->f1 - b->f1) > number_of(model, FLOW_F1_ALIKE))
        return a->f1 > b->f1;
    int a_stands = standing(model, a), b_stands = standing(model, b);
    return a_stands != b_stands ? a_stands > b_stands : a->demand > b->demand;
}

/* The largest share of its time that a rank of the host is inside MPI, where their calls are not
 * known but the time is: it waits for no link for longer. 1 otherwise.
 */
static double inside_mpi(const struct run_model *model, size_t group, int host) {
    const unsigned inside = 1u << BUDGET_UNSPLIT | 1u << BUDGET_OVERHEAD;
    double most = 0;
    if (model_has_path(model) || !model->budgets.totals)
        return 1;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *rank = &model->budgets.items[r];
        const struct budget *b = &rank->groups[group];
        if (rank->rank >= 0 && rank->host == host && b->wall_s > 0)
            most = fmax(most, budget_sum(b, inside) / b->wall_s);
    }
    return fmin(1, most);
}

/* Share of the path; without a path, how long the longest limited route was limited, but no longer
 * than both its ends were inside MPI. */
static double side_demand(const struct run_model *model, size_t group, const struct flows *flows,
                          const struct culprit_side *s) {
    double demand = link_demand(model, group, flows, s->host, s->side), longest = 0;
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        double inside = fmin(inside_mpi(model, group, f->from), inside_mpi(model, group, f->to));
        if (f->limited)
            longest = fmax(longest, fmin(f->limited_s / wall_s, inside));
    }
    return isnan(demand) ? longest : demand;
}

/* The side that explains best what was held up, of those that the run waited for. */
static struct culprit_side best_side(const struct run_model *model, size_t group,
                                     const struct flows *flows) {
    struct culprit_side best = {.host = -1};
    for (size_t i = 0; i < 2 * model->n_hosts; i++) {
        struct culprit_side s =
            look_at_side(model, group, flows, (int)(i / 2), i % 2 ? FLOW_RECEIVE : FLOW_SEND);
        s.demand = side_demand(model, group, flows, &s);
        if ((s.queues_here || s.f1 >= number_of(model, FLOW_F1_MIN)) &&
            s.demand >= number_of(model, BLOCKED_MIN) &&
            (best.host < 0 || is_better(model, &s, &best)))
            best = s;
    }
    return best;
}

static double queue_ms(const struct flows *flows, const struct culprit_side *s) {
    double longest = 0;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (f->limited && (s->side == FLOW_SEND ? f->from : f->to) == s->host)
            longest = fmax(longest, f->queue_ns / 1e6);
    }
    return longest;
}

static void say_limited(const struct flows *flows, const struct culprit_side *s, double wall_s,
                        struct candidate *c) {
    double longest = 0, need = 0;
    size_t mine = 0;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (!f->limited || (s->side == FLOW_SEND ? f->from : f->to) != s->host)
            continue;
        mine++;
        longest = fmax(longest, f->limited_s);
        need = fmax(need, f->need_s);
    }
    remarks_add(&c->evidence, PATH_LIMITED,
                NUMBERS(flows->n_limited, flows->n, mine, s->side == FLOW_SEND,
                        100 * fmin(1, longest / wall_s), 100 * fmin(1, need / wall_s)),
                NAMES());
    c->signals++;
}

static void say_queues(const struct run_model *model, const struct flows *flows,
                       const struct culprit_side *s, struct candidate *c) {
    double queue = queue_ms(flows, s);
    if (s->side == FLOW_SEND && link_is_backed_up(model, &s->queues)) {
        remarks_add(&c->evidence, QUEUE_BEFORE_INTERFACE,
                    NUMBERS(s->queues.backlog / 1e3,
                            s->queues.overlimits_s >= number_of(model, OVERLIMITS_MIN)),
                    NAMES());
        c->signals++;
    }
    if (queue >= number_of(model, QUEUE_NS) / 1e6) {
        remarks_add(&c->evidence, ROUND_TRIPS_LONGER, NUMBERS(queue), NAMES());
        c->signals++;
    }
    if (s->side == FLOW_RECEIVE && flows->n_limited == 1)
        remarks_add(&c->against, NOTHING_QUEUED, NUMBERS(), NAMES());
}

static void say_ceiling(const struct run_model *model, const struct flows *flows,
                        const struct culprit_side *s, struct candidate *c) {
    double carried = side_rate(flows, s->host, s->side);
    bool set = !s->at_limit && s->side == FLOW_SEND && link_is_backed_up(model, &s->queues) &&
               s->queues.rate_mb_s > 0 && s->queues.rate_mb_s < 4 * carried;
    if (set) /* a queue holds data of all connections through it, held up or not */
        carried = fmax(carried, rate_of(flows, s->host, s->side, false));
    c->ceiling = set ? s->queues.rate_mb_s : s->at_limit ? s->limit.mb_s : carried;
    c->ceiling_from = set ? CEILING_SET : s->at_limit ? CEILING_MEASURED : CEILING_ARRIVED;
    c->reached = set || s->at_limit ? fmin(1, carried / c->ceiling) : 0;
    if (set || s->at_limit) {
        if (c->reached >= 1) /* bursts of packets may arrive faster than the mean */
            remarks_add(&c->evidence, MOVED_AT_FULL_RATE,
                        NUMBERS(c->ceiling, c->ceiling * 8e-3, set), NAMES());
        else
            remarks_add(&c->evidence, MOVED_BELOW_RATE,
                        NUMBERS(carried, set, c->ceiling, c->ceiling * 8e-3), NAMES());
        c->signals++;
    } else if (s->limit.measured) {
        remarks_add(&c->against, MEASURED_FAR_MORE, NUMBERS(s->limit.mb_s, carried), NAMES());
    }
}

/* The capacity of the link is known, and it carried far less: it did not run out, whatever the
 * connections show. (A receiver without a core answers late, which looks the same.) */
static bool is_known_not_full(const struct run_model *model, const struct culprit_side *s) {
    return s->limit.measured && !s->at_limit && !s->full && !link_is_backed_up(model, &s->queues);
}

/* Whether both ends of all explained connections are on one machine. */
static bool stays_on_machine(const struct run_model *model, const struct flows *flows,
                             const struct culprit_side *s) {
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (f->limited && (s->side == FLOW_SEND ? f->from : f->to) == s->host &&
            !model_shares_machine(model, f->from, f->to))
            return false;
    }
    return true;
}

/* Between hosts that share cores, the same cores pass on a packet and its answer. If the run waits
 * for these cores for at least as long as data are under way, connections cannot tell a link
 * without a set or measured rate from them: only a replay can. */
static double waited_for_cores(const struct run_model *model, size_t group,
                               const struct flows *flows, const struct culprit_side *s,
                               double demand) {
    double waited = machine_waiting(model, group, s->host);
    bool unclear = !s->full && !s->at_limit && !link_holds_back(model, group, s->host) &&
                   stays_on_machine(model, flows, s) && waited >= demand;
    return unclear ? waited : 0;
}

/* twin: another host that explains the same; -1: none. */
static int add_side(const struct run_model *model, size_t group, const struct flows *flows,
                    const struct culprit_side *s, double demand, int twin,
                    struct candidates *candidates) {
    struct candidate c = link_of(model, group, flows, s->host, s->side);
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    double mean = model_mean(model, s->host, link_metric(s->side), group);
    c.blocked = fmin(1, demand);
    c.metric.factor = mean > 0 ? c.blocked / mean : 0;
    c.saturated = !is_known_not_full(model, s);
    c.ambiguous = twin >= 0;
    c.inferred = !s->full && !s->at_limit && !s->queues_here &&
                 !(s->side == FLOW_SEND && link_is_backed_up(model, &s->queues));
    c.link.core_waited = waited_for_cores(model, group, flows, s, demand);
    if (c.ambiguous)
        remarks_add(&c.against, TWIN_EXPLAINS, NUMBERS(), NAMES(model->hosts[twin].name));
    say_limited(flows, s, wall_s, &c);
    say_ceiling(model, flows, s, &c);
    say_queues(model, flows, s, &c);
    link_name_others(model, flows, &c);
    link_name_interface(model, &c);
    link_add_arithmetic(candidates, group, s->host, s->side, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* Another host whose link explains the same set with as much evidence of its own; -1: none. */
static int as_good(const struct run_model *model, size_t group, const struct flows *flows,
                   const struct culprit_side *best) {
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct culprit_side s = look_at_side(model, group, flows, (int)h, best->side);
        if (s.host != best->host && fabs(s.f1 - best->f1) <= number_of(model, FLOW_F1_ALIKE) &&
            standing(model, &s) == standing(model, best) && s.at_limit == best->at_limit)
            return s.host;
    }
    return -1;
}

/* For a link that is slow in both directions: the other direction is a candidate, too, but never
 * ranks before the one with better evidence. */
static int add_other_side(const struct run_model *model, size_t group, const struct flows *flows,
                          const struct culprit_side *best, double most, int twin,
                          struct candidates *candidates) {
    enum flow_side side = best->side == FLOW_SEND ? FLOW_RECEIVE : FLOW_SEND;
    struct culprit_side other = look_at_side(model, group, flows, best->host, side);
    double demand = side_demand(model, group, flows, &other);
    if (isnan(side_rate(flows, best->host, side)) || demand < number_of(model, BLOCKED_MIN))
        return 0;
    int result = add_side(model, group, flows, &other, fmin(demand, most), twin, candidates);
    if (result == 0)
        candidates->items[candidates->n - 1].link.other_way = true;
    return result;
}

static int link_by_connections(const struct run_model *model, size_t group,
                               const struct flows *flows, struct candidates *candidates) {
    struct culprit_side best = {.host = -1};
    if (flows->n_limited)
        best = best_side(model, group, flows);
    if (best.host < 0)
        return 0;
    int twin = as_good(model, group, flows, &best);
    int result = add_side(model, group, flows, &best, best.demand, twin, candidates);
    return result ? result
                  : add_other_side(model, group, flows, &best, best.demand, twin, candidates);
}

static void drop_unclear(const struct run_model *model, struct candidates *candidates) {
    for (size_t i = candidates->n; i-- > 0;) {
        struct candidate *c = &candidates->items[i];
        if (!(c->link.core_waited > 0) || c->gain.replayed)
            continue;
        if (c->group == model->main_group && !c->link.other_way)
            remarks_add(&candidates->ruled_out, LINK_OR_CORE,
                        NUMBERS(100 * c->blocked, 100 * c->link.core_waited),
                        NAMES(model->hosts[c->host].name));
        candidates_remove(candidates, i);
    }
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    const struct flows *flows;
    int result = candidates_flows(model, group, candidates, &flows);
    return result < 0 ? result : link_by_connections(model, group, flows, candidates);
}

const struct cause cause_link_connections = {
    .name = "link-connections",
    .resource = RESOURCE_NET_EGRESS,
    .kind = CAUSE_PATH_LIMITED,
    .needs = 1u << SOURCE_CONNECTIONS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "connections through a full link have data under way that neither end holds up",
    .detect = detect,
    .settle = drop_unclear,
    .advise = link_advise,
};
