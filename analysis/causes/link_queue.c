/* SPDX-License-Identifier: MIT */
/*
 * Network, by packets that a host itself holds back: they wait before its own interface, which is
 * set to a rate. This needs no connection that looks held up. For short messages TCP does not learn
 * the rate at which they arrive (each is acknowledged in one piece), and its round trips are too
 * short to show it. A queue without a set rate shows nothing but bursts.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/link_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(HELD_TO_SET_RATE,                                                                       \
           "its interface is set to %.4g MB/s (%.3g Gbit/s) and was held back to that %.0f times " \
           "a second",                                                                             \
           SLOTS("set, MB/s", "Gbit/s", "times a second"), SLOTS())                                \
    REMARK(QUEUED_TO_SET_RATE,                                                                     \
           "%.0f kB waited before its interface on average, which is set to %.4g MB/s (%.3g "      \
           "Gbit/s) and was held back to that %.0f times a second",                                \
           SLOTS("kB", "set, MB/s", "Gbit/s", "times a second"), SLOTS())                          \
    REMARK(SENT_AT, "it sent at %.0f %% of that rate on average", SLOTS("of the set rate, %"),     \
           SLOTS())
#include "analysis/causes/own.h"

static void say_held_back(const struct run_model *model, const struct queues *queues,
                          struct candidate *c) {
    double mb_s = c->ceiling, gbit_s = c->ceiling * 8e-3, times_s = queues->overlimits_s;
    if (link_is_backed_up(model, queues))
        remarks_add(&c->evidence, QUEUED_TO_SET_RATE,
                    NUMBERS(queues->backlog / 1e3, mb_s, gbit_s, times_s), NAMES());
    else
        remarks_add(&c->evidence, HELD_TO_SET_RATE, NUMBERS(mb_s, gbit_s, times_s), NAMES());
}

static int add_held_back(const struct run_model *model, size_t group, const struct flows *flows,
                         int host, double demand, const struct queues *queues,
                         struct candidates *candidates) {
    struct candidate c = link_of(model, group, flows, host, FLOW_SEND);
    double mean = queues->sent_mb_s;
    c.blocked = demand;
    c.metric.factor = mean > 0 ? c.blocked / mean : 0;
    c.saturated = true;
    c.signals =
        1 + link_is_backed_up(model, queues); /* how often it was held back, and what waited */
    c.ceiling = queues->rate_mb_s;
    c.ceiling_from = CEILING_SET;
    c.reached = fmin(1, mean / c.ceiling);
    say_held_back(model, queues, &c);
    remarks_add(&c.evidence, SENT_AT, NUMBERS(100 * c.reached), NAMES());
    link_name_others(model, flows, &c);
    link_name_interface(model, &c);
    link_add_arithmetic(candidates, group, host, FLOW_SEND, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

/* If it is not known which process waits for the data: the time that the data take at that rate. */
static int link_by_queues(const struct run_model *model, size_t group, const struct flows *flows,
                          struct candidates *candidates) {
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct queues queues = link_queues(model, group, (int)h);
        double demand = link_demand(model, group, flows, (int)h, FLOW_SEND);
        if (!link_is_held_back(model, &queues) ||
            !flows_leave(model, (int)h, phase_windows(&model->groups[group])))
            continue;
        demand = isnan(demand) ? fmin(1, queues.sent_mb_s / queues.rate_mb_s) : demand;
        if (demand >= number_of(model, BLOCKED_MIN) &&
            add_held_back(model, group, flows, (int)h, demand, &queues, candidates) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* As link_by_queues, for queues that a lack of cores cannot explain. */
static bool is_sure(const struct candidates *candidates, size_t group) {
    for (size_t i = 0; i < candidates->n; i++)
        if (candidates->items[i].group == group &&
            SHORT_OF_NETWORK >> candidates->items[i].resource & 1 &&
            !(candidates->items[i].link.core_waited > 0))
            return true;
    return false;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    const struct flows *flows;
    int result = candidates_flows(model, group, candidates, &flows);
    return result < 0 || is_sure(candidates, group)
               ? result
               : link_by_queues(model, group, flows, candidates);
}

const struct cause cause_link_queue = {
    .name = "link-queue",
    .resource = RESOURCE_NET_EGRESS,
    .kind = CAUSE_PATH_LIMITED,
    .needs = 1u << SOURCE_QDISC,
    .remarks = own_remarks,
    .reason = "packets wait before an interface that is set to a rate",
    .yields_to = YIELDS_TO(&cause_link_connections),
    .detect = detect,
    .advise = link_advise,
};
