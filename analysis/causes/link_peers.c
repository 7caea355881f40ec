/* SPDX-License-Identifier: MIT */
/*
 * Links by comparison: a rank's transfers take longer than its peers', though nothing at its host
 * was seen to be full. The limit may lie outside these hosts (a switch, a shaper on the way), so
 * this is never more than a suspicion.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/link_private.h"
#include "analysis/causes/straggler.h"

#define OWN_REMARKS                                                                                \
    REMARK(TRANSFERS_TAKE_LONGER, "transfers take rank %d longer than its peers", SLOTS("rank"),   \
           SLOTS())                                                                                \
    REMARK(SLOW_AT_ITS_END,                                                                        \
           "rank %d is slow at its own end of its connections: transfers take it longer than its " \
           "peers, and the path was idle meanwhile",                                               \
           SLOTS("rank"), SLOTS(), .is_clause = true)                                              \
    REMARK(BUFFERS_OF_RANK,                                                                        \
           "the %[receive|send] buffers of rank %d are too small for %[the data that arrive|the "  \
           "path]",                                                                                \
           SLOTS("1: of receiving", "rank", "1: of receiving"), SLOTS())                           \
    REMARK(OWN_TIME_LONGER,                                                                        \
           "rank %d takes %.2f times as long as its peers, without its waiting for others",        \
           SLOTS("rank", "times"), SLOTS())                                                        \
    REMARK(TRANSFERS_HOLD_UP,                                                                      \
           "transfers to and from its host hold up the run %.0f %% of the time",                   \
           SLOTS("of the time, %"), SLOTS())                                                       \
    REMARK(BUFFERS_NOT_COUNTED,                                                                    \
           "the program may have small buffers, or seldom progress its transfers: the kernel "     \
           "counted neither",                                                                      \
           SLOTS(), SLOTS())                                                                       \
    REMARK(LIMIT_BETWEEN_HOSTS,                                                                    \
           "no link of these hosts was seen to be full: the limit may lie between them, in "       \
           "either direction",                                                                     \
           SLOTS(), SLOTS())                                                                       \
    REMARK(RECEIVERS_LATE, "its transfers: the receivers of its data do not keep up", SLOTS(),     \
           SLOTS())                                                                                \
    REMARK(OWN_SEND_BUFFERS, "its transfers: its send buffers are too small for the path",         \
           SLOTS(), SLOTS())                                                                       \
    REMARK(LINK_SLOWER, "its link: transfers take it longer than its peers", SLOTS(), SLOTS())     \
    REMARK(ADVISE_SEE_TRANSFERS,                                                                   \
           "look how rank %d on %s sends and receives: buffers that its program sets (SO_SNDBUF, " \
           "SO_RCVBUF, of Open MPI btl_tcp_sndbuf), and whether it looks after its transfers "     \
           "while it computes",                                                                    \
           SLOTS("rank"), SLOTS("host"))
#include "analysis/causes/own.h"

/* Evidence from the connections of a host about its path. */
enum path { PATH_UNKNOWN, PATH_OF_ENDS, PATH_IDLE, PATH_SMALL_SEND, PATH_SMALL_RECEIVE };

/* Whether a receiver or a send buffer held the connections up, which is a separate finding; or
 * nothing: at the rate of arrival the data would have needed little of the time, and none queued on
 * the way. */
static enum path path_of(const struct run_model *model, const struct flows *flows, int host,
                         double wall_s) {
    double limited = 0, need = 0, queue_ns = 0;
    if (buffer_is_small(model, flows_room(flows, host, true)))
        return PATH_SMALL_RECEIVE;
    if (buffer_is_small(model, flows_room(flows, host, false)))
        return PATH_SMALL_SEND;
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        double ends = f->receiver_s + f->send_buffer_s;
        if (f->from != host && f->to != host)
            continue;
        if (ends >= number_of(model, BLOCKED_MIN) * wall_s &&
            ends >= number_of(model, HELD_UP_MIN) * (f->limited_s + ends))
            return PATH_OF_ENDS;
        limited += f->limited_s;
        need += f->need_s;
        queue_ns = fmax(queue_ns, f->queue_ns);
    }
    return need > 0 && need < number_of(model, FLOW_RATE_NONE) * limited &&
                   queue_ns < number_of(model, QUEUE_NS)
               ? PATH_IDLE
               : PATH_UNKNOWN;
}

/* If buffers were observed and are large enough, an idle path leaves a program that looks late,
 * just like one whose core others use. So a factor within the differences of cores is no reason for
 * blame. */
static bool is_within_cores(const struct run_model *model, const struct flows *flows,
                            const struct straggler *s, enum path path) {
    return path == PATH_IDLE && s->slowdown < number_of(model, SKEW_RATIO_UNTOLD) &&
           !isnan(flows_room(flows, s->host, false).own) &&
           !isnan(flows_room(flows, s->host, true).own);
}

/* Blames a buffer that is set too small, and not the link. */
static void blame_buffer(const struct flows *flows, enum path path, struct candidate *c) {
    bool receives = path == PATH_SMALL_RECEIVE;
    struct flow_room room = flows_room(flows, c->host, receives);
    c->resource = RESOURCE_APPLICATION;
    c->kind = receives ? CAUSE_RECEIVER : CAUSE_SNDBUF;
    c->saturated = true;
    c->signals++;
    remark_set(&c->cause, BUFFERS_OF_RANK, NUMBERS(receives, c->rank, receives), NAMES());
    remarks_add(&c->evidence, BUFFERS_HOLD, NUMBERS(receives, room.own, room.others / 1e3),
                NAMES());
}

static struct candidate suspect_of(const struct run_model *model, size_t group,
                                   const struct flows *flows, const struct straggler *s,
                                   enum flow_side side, enum path path) {
    struct candidate c = link_of(model, group, flows, s->host, side);
    c.rank = s->rank;
    c.signals = 1;
    c.remove.direction = c.twice.direction = WHATIF_BOTH;
    if (path != PATH_UNKNOWN && !throughput_counts(model, group))
        c.can_remove = c.can_double = false; /* the limit is no link */
    if (path == PATH_IDLE) {
        c.resource = RESOURCE_APPLICATION;
        c.kind = CAUSE_UNKNOWN;
    }
    if (path == PATH_IDLE)
        remark_set(&c.cause, SLOW_AT_ITS_END, NUMBERS(s->rank), NAMES());
    else
        remark_set(&c.cause, TRANSFERS_TAKE_LONGER, NUMBERS(s->rank), NAMES());
    return c;
}

static void say_suspect(const struct straggler *s, double share, enum path path,
                        const struct flows *flows, struct candidate *c) {
    remarks_add(&c->evidence, OWN_TIME_LONGER, NUMBERS(s->rank, s->slowdown), NAMES());
    remarks_add(&c->evidence, TRANSFERS_HOLD_UP, NUMBERS(100 * share), NAMES());
    if (path == PATH_SMALL_SEND || path == PATH_SMALL_RECEIVE)
        blame_buffer(flows, path, c);
    else if (path == PATH_IDLE)
        remarks_add(&c->against, BUFFERS_NOT_COUNTED, NUMBERS(), NAMES());
    else
        remarks_add(&c->against, LIMIT_BETWEEN_HOSTS, NUMBERS(), NAMES());
}

static int add_suspect(const struct run_model *model, size_t group, const struct straggler *s,
                       const struct flows *flows, struct candidates *candidates) {
    double out = link_demand(model, group, flows, s->host, FLOW_SEND);
    double in = link_demand(model, group, flows, s->host, FLOW_RECEIVE), share = fmax(out, in);
    enum flow_side side = in > out ? FLOW_RECEIVE : FLOW_SEND;
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    enum path path = path_of(model, flows, s->host, wall_s);
    /* if ranks run freely the demand is already the part beyond the peers */
    double beyond = throughput_counts(model, group) ? share : share * (1 - 1 / s->slowdown);
    if (!(beyond >= number_of(model, GAIN_MIN)) || path == PATH_OF_ENDS ||
        is_within_cores(model, flows, s, path))
        return 0;
    struct candidate c = suspect_of(model, group, flows, s, side, path);
    c.blocked = beyond;
    say_suspect(s, share, path, flows, &c);
    if (path == PATH_UNKNOWN)
        link_add_arithmetic(candidates, group, s->host, side, &c);
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int link_by_peers(const struct run_model *model, size_t group, const struct flows *flows,
                         struct candidates *candidates) {
    const struct stragglers *stragglers = candidates->stragglers;
    int result = 0;
    for (size_t i = 0; stragglers && result == 0 && i < stragglers->n; i++)
        if (stragglers->items[i].cause_kind == CAUSE_PATH_LIMITED)
            result = add_suspect(model, group, &stragglers->items[i], flows, candidates);
    return result;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    const struct flows *flows;
    int result = candidates_flows(model, group, candidates, &flows);
    return result < 0 || link_is_found(candidates, group) || group != model->main_group
               ? result
               : link_by_peers(model, group, flows, candidates);
}

static void explain_slow(const struct slowed *slowed, struct straggler *s) {
    const struct rank_matrix *matrix = slowed->matrix;
    const struct transfer_split *split =
        &matrix->budgets[slowed->rank]->splits[matrix->model->main_group];
    if (split->receiver >= 0.5) {
        s->cause_kind = CAUSE_RECEIVER;
        remark_set(&s->cause, RECEIVERS_LATE, NUMBERS(), NAMES());
    } else if (split->send_buffer >= 0.5) {
        s->cause_kind = CAUSE_SNDBUF;
        remark_set(&s->cause, OWN_SEND_BUFFERS, NUMBERS(), NAMES());
    } else {
        s->cause_kind = CAUSE_PATH_LIMITED;
        remark_set(&s->cause, LINK_SLOWER, NUMBERS(), NAMES());
    }
}

static void advise_own_end(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_SEE_TRANSFERS, NUMBERS(advised->c->rank),
                NAMES(advised->host));
}

static void advise(const struct advised *advised) {
    if (advised->c->resource != RESOURCE_APPLICATION)
        link_advise(advised);
    else if (advised->c->kind == CAUSE_RECEIVER)
        advise_receiver(advised);
    else if (advised->c->kind == CAUSE_SNDBUF)
        advise_send_buffer(advised);
    else
        advise_own_end(advised);
}

const struct cause cause_link_peers = {
    .name = "link-peers",
    .resource = RESOURCE_NET_EGRESS,
    .kind = CAUSE_PATH_LIMITED,
    .remarks = own_remarks,
    .reason = "transfers that take one rank longer than its peers go through something slower",
    .yields_to =
        YIELDS_TO(&cause_link_connections, &cause_link_queue, &cause_link_rate, &cause_link_fabric),
    .detect = detect,
    .slows = BUDGET_TRANSFER,
    .explain = explain_slow,
    .advise = advise,
};
