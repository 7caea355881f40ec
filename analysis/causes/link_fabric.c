/* SPDX-License-Identifier: MIT */
/*
 * Network: a port of InfiniBand, RoCE or Omni-Path that carries what it can. Transfers without
 * sockets (RDMA) are no connections, and no interface counts them. The port's rate is known, and so
 * is what passed it, but not whose it was. So the calls of MPI must show that transfers hold up the
 * run, and that the port has no more to give: it was full all the time, or the bytes that the ranks
 * gave it take at its rate about as long as these transfers do. Without calls nothing is judged.
 */
#include <errno.h>
#include <math.h>

#include "analysis/causes/link_private.h"
#include "analysis/evidence/fabric_ports.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(FABRIC_FULL, 0.80, "of a port's rate", "on average: it had no more to give")            \
    NUMBER(FABRIC_AT_RATE, 0.80, "of the time of transfers",                                       \
           "that the bytes of ranks take at the port's rate: nothing else can take much of it")
#define OWN_REMARKS                                                                                \
    REMARK(PORT_CARRIED,                                                                           \
           "its port %s %[sent|received] %.4g MB/s on average, %.0f %% of the %.4g MB/s (%.3g "    \
           "Gbit/s) of its rate",                                                                  \
           SLOTS("1: sent", "MB/s", "of its rate, %", "rate, MB/s", "Gbit/s"), SLOTS("port"))      \
    REMARK(PORT_ARITHMETIC,                                                                        \
           "at that rate the bytes that its ranks %[send|receive] take %.0f %% of the time; "      \
           "transfers hold up the run for %.0f %%",                                                \
           SLOTS("1: send", "at the rate, %", "transfers, %"), SLOTS())                            \
    REMARK(PORT_WAITED, "data waited to be sent for %.3g ticks of its adapter a second",           \
           SLOTS("ticks a second"), SLOTS())                                                       \
    REMARK(PORT_OWN_BYTES, "of what its port carried at most %.0f %% was the ranks'",              \
           SLOTS("the ranks', %"), SLOTS())                                                        \
    REMARK(PORT_HAS_NO_OWNER,                                                                      \
           "whose bytes a port carries is not counted: storage and other jobs may use it, too",    \
           SLOTS(), SLOTS())                                                                       \
    REMARK(PORT_TOLD_TO_SLOW,                                                                      \
           "receivers told it %.3g times a second to send slower: the limit may lie on the way",   \
           SLOTS("times a second"), SLOTS())                                                       \
    REMARK(PORT_LEAVES_ROOM,                                                                       \
           "network: no port of InfiniBand, RoCE or Omni-Path was full; the fullest, %s of %s "    \
           "%[sending|receiving], carried %.0f %% of its %.4g MB/s",                               \
           SLOTS("1: sending", "carried, %", "MB/s"), SLOTS("port", "host"))                       \
    REMARK(ADVISE_FASTER_PORT,                                                                     \
           "give %s a faster port than %s (%.3g Gbit/s) or a second one, or move fewer bytes an "  \
           "iteration through it",                                                                 \
           SLOTS("Gbit/s"), SLOTS("host", "port"))                                                 \
    REMARK(                                                                                        \
        ADVISE_SEE_WHO_SENDS,                                                                      \
        "see on %s what else uses %s: storage, and other jobs on the host (`rdma resource show "   \
        "qp`); let them use another port, or another time",                                        \
        SLOTS(), SLOTS("host", "port"))
#include "analysis/causes/own.h"

/* One direction of a host's fullest port. */
struct side_of_port {
    struct fabric_port port;
    enum flow_side side;
    int host;
    double demand; /* share of the path that is transfers which pass this side */
    struct message_rate own;
};

static double mb_s_of(const struct side_of_port *s) {
    return s->port.mb_s[s->side];
}

static bool has_no_room(const struct run_model *model, const struct side_of_port *s) {
    return mb_s_of(s) >= number_of(model, FABRIC_FULL) * s->port.rate_mb_s;
}

/* Only what passed the port counts: messages may have gone another way. */
static bool is_at_rate(const struct run_model *model, const struct side_of_port *s) {
    return fmin(s->own.least, mb_s_of(s)) >=
           number_of(model, FABRIC_AT_RATE) * s->demand * s->port.rate_mb_s;
}

static void say_port(const struct side_of_port *s, double seconds, struct candidate *c) {
    bool sends = s->side == FLOW_SEND;
    double rate = s->port.rate_mb_s;
    remarks_add(&c->evidence, PORT_CARRIED,
                NUMBERS(sends, mb_s_of(s), 100 * mb_s_of(s) / rate, rate, rate * 8e-3),
                NAMES(s->port.series->name));
    remarks_add(&c->evidence, PORT_ARITHMETIC,
                NUMBERS(sends, 100 * s->own.least / rate, 100 * s->demand), NAMES());
    if (sends && s->port.waits_s > 0) { /* false for NAN */
        remarks_add(&c->evidence, PORT_WAITED, NUMBERS(s->port.waits_s), NAMES());
        c->signals++;
    }
    if (sends && s->port.congested > 0)
        remarks_add(&c->against, PORT_TOLD_TO_SLOW, NUMBERS(s->port.congested / seconds), NAMES());
    remarks_add(&c->against, PORT_HAS_NO_OWNER, NUMBERS(), NAMES());
}

static void name_others(const struct run_model *model, const struct side_of_port *s,
                        struct candidate *c) {
    double own = s->own.most / mb_s_of(s);
    if (!(own < number_of(model, OWN_BYTES_MIN)))
        return;
    c->kind = CAUSE_LINK_CONTENTION;
    remark_set(&c->cause, LINK_SHARED, NUMBERS(), NAMES());
    remarks_add(&c->evidence, PORT_OWN_BYTES, NUMBERS(100 * own), NAMES());
}

static int add_port(const struct run_model *model, size_t group, const struct flows *flows,
                    const struct side_of_port *s, struct candidates *candidates) {
    double seconds = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    struct candidate c = link_of(model, group, flows, s->host, s->side);
    c.metric.signal = NULL; /* that of interfaces, which do not count it */
    c.blocked = fmin(1, s->demand);
    c.signals = 2; /* what it carried, and that transfers take as long */
    c.saturated = true;
    c.inferred = !is_at_rate(model, s); /* others may have had it when the ranks did not send */
    c.ceiling = s->port.rate_mb_s;
    c.reached = fmin(1, mb_s_of(s) / c.ceiling);
    c.ceiling_from = CEILING_SET;
    say_port(s, seconds, &c);
    name_others(model, s, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static void rule_out_port(const struct run_model *model, const struct side_of_port *s,
                          struct remarks *ruled_out) {
    if (s->host >= 0 && !has_no_room(model, s))
        remarks_add(
            ruled_out, PORT_LEAVES_ROOM,
            NUMBERS(s->side == FLOW_SEND, 100 * mb_s_of(s) / s->port.rate_mb_s, s->port.rate_mb_s),
            NAMES(s->port.series->name, model->hosts[s->host].name));
}

static int look_at_ports(const struct run_model *model, size_t group, const struct flows *flows,
                         struct candidates *candidates) {
    struct windows windows = phase_windows(&model->groups[group]);
    struct side_of_port fullest = {.host = -1};
    size_t before = candidates->n;
    for (size_t i = 0; i < 2 * model->n_hosts; i++) {
        struct side_of_port s = {.host = (int)(i / 2), .side = i % 2 ? FLOW_RECEIVE : FLOW_SEND};
        if (!fabric_fullest(model, s.host, windows, s.side, &s.port))
            continue;
        if (fullest.host < 0 ||
            mb_s_of(&s) / s.port.rate_mb_s > mb_s_of(&fullest) / fullest.port.rate_mb_s)
            fullest = s;
        s.demand = link_demand(model, group, flows, s.host, s.side);
        if (!(s.demand >= number_of(model, BLOCKED_MIN))) /* true for NAN: no calls tell */
            continue;
        s.own = message_rate_of(model, s.host, windows, s.side);
        if ((has_no_room(model, &s) || is_at_rate(model, &s)) &&
            add_port(model, group, flows, &s, candidates) < 0)
            return -ENOMEM;
    }
    if (candidates->n == before && group == model->main_group)
        rule_out_port(model, &fullest, &candidates->ruled_out);
    return 0;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    const struct flows *flows;
    int result = candidates_flows(model, group, candidates, &flows);
    return result < 0 || link_is_found(candidates, group)
               ? result
               : look_at_ports(model, group, flows, candidates);
}

static void advise(const struct advised *advised) {
    const struct candidate *c = advised->c;
    enum flow_side side = c->resource == RESOURCE_NET_EGRESS ? FLOW_SEND : FLOW_RECEIVE;
    struct fabric_port port;
    if (!fabric_fullest(advised->model, c->host, phase_windows(&advised->model->groups[c->group]),
                        side, &port))
        return;
    if (c->kind == CAUSE_LINK_CONTENTION)
        remarks_add(advised->next, ADVISE_SEE_WHO_SENDS, NUMBERS(),
                    NAMES(advised->host, port.series->name));
    else
        remarks_add(advised->next, ADVISE_FASTER_PORT, NUMBERS(port.rate_mb_s * 8e-3),
                    NAMES(advised->host, port.series->name));
}

const struct cause cause_link_fabric = {
    .name = "link-fabric",
    .resource = RESOURCE_NET_EGRESS,
    .kind = CAUSE_PATH_LIMITED,
    .needs = 1u << SOURCE_CALLS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "a port that carries what its rate allows can carry no more",
    .yields_to = YIELDS_TO(&cause_link_connections, &cause_link_queue, &cause_link_rate),
    .detect = detect,
    .advise = advise,
};
