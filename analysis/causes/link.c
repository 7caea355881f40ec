/* SPDX-License-Identifier: MIT */
/*
 * Network: which direction of which host's link holds up the run. If connections were recorded,
 * those held up by their path show it. Otherwise, or if they name no host, packets that a host
 * itself holds back show it; then rates, compared with what the links were measured to carry; then,
 * as a suspicion, transfers that take longer than those of peers.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/causes/link_private.h"

static const enum resource resources[] = {
    [FLOW_SEND] = RESOURCE_NET_EGRESS, [FLOW_RECEIVE] = RESOURCE_NET_INGRESS};

void link_add_arithmetic(const struct candidates *candidates, size_t group, int host,
                         enum flow_side side, struct candidate *c) {
    const struct arithmetic *a = arithmetic_find(candidates->arithmetic, candidates->n_arithmetic,
                                                 host, link_metric(side), group);
    if (!a)
        return;
    remarks_add(&c->evidence, ARITHMETIC,
                NUMBERS(a->bytes_per_iteration / 1e6, a->bandwidth_mb_s, a->bound_s, a->iteration_s,
                        100 * a->share),
                NAMES());
    c->signals += a->share >= 0.4;
}

static struct whatif_scenario faster(int host, enum flow_side side, double factor) {
    return (struct whatif_scenario){.kind = WHATIF_LINK,
                                    .host = host,
                                    .rank = -1,
                                    .direction = side == FLOW_SEND ? WHATIF_SEND : WHATIF_RECEIVE,
                                    .factor = factor};
}

#define UNLIMITED 1000.0 /* times as fast: the same as no limit */

struct candidate link_of(const struct run_model *model, size_t group, const struct flows *flows,
                         int host, enum flow_side side) {
    struct candidate c = candidate_of(host, group, resources[side], CAUSE_PATH_LIMITED);
    c.metric.signal = &model->hosts[host].metrics[link_metric(side)];
    remark_set(&c.cause, LINK, NUMBERS(), NAMES());
    c.can_remove = c.can_double = true;
    c.remove = faster(host, side, UNLIMITED);
    c.twice = faster(host, side, 2);
    if (model_has_path(model)) {
        c.path.terms = 1u << BUDGET_TRANSFER;
        c.path.all_hosts = true;
        c.path.part = flows_critical_part(model, group, flows, host, side);
    }
    return c;
}

double link_own_bytes(const struct run_model *model, size_t group, const struct flows *flows,
                      int host, enum flow_side side) {
    const struct rate *interface = &model->hosts[host].metrics[link_metric(side)];
    double bytes = 0, all = rate_amount(interface, phase_windows(&model->groups[group]));
    for (size_t i = 0; i < flows->n; i++)
        if ((side == FLOW_SEND ? flows->items[i].from : flows->items[i].to) == host)
            bytes += flows->items[i].wire_bytes;
    return flows->n && all > 0 ? bytes / all : NAN;
}

void link_name_others(const struct run_model *model, const struct flows *flows,
                      struct candidate *c) {
    enum flow_side side = c->resource == RESOURCE_NET_EGRESS ? FLOW_SEND : FLOW_RECEIVE;
    double cores, own = link_own_bytes(model, c->group, flows, c->host, side);
    if (!(own < number_of(model, OWN_BYTES_MIN)))
        return;
    const struct model_process *other = busiest_foreign(model, c->group, c->host, &cores);
    c->kind = CAUSE_LINK_CONTENTION;
    if (other && cores >= number_of(model, FOREIGN_SENDER_MIN))
        c->culprit = culprit_of(model, other); /* the sender is not counted: the likeliest */
    if (c->culprit.process)
        remark_set(&c->cause, LINK_SHARED_WITH, NUMBERS(), NAMES(c->culprit.process));
    else
        remark_set(&c->cause, LINK_SHARED, NUMBERS(), NAMES());
    remarks_add(&c->evidence, OWN_BYTES, NUMBERS(100 * own), NAMES());
}

double link_demand(const struct run_model *model, size_t group, const struct flows *flows, int host,
                   enum flow_side side) {
    double all = 0;
    if (throughput_counts(model, group)) {
        struct loss loss = {.host = host,
                            .rank = -1,
                            .group = group,
                            .terms = 1u << BUDGET_TRANSFER,
                            .part = 1,
                            .all_hosts = true,
                            .link = true,
                            .change = faster(host, side, UNLIMITED)};
        return throughput_cost(model, &loss);
    }
    for (size_t h = 0; h < model->n_hosts; h++)
        all += model_demand(model, group, (int)h, BUDGET_TRANSFER);
    double part = isnan(all) ? NAN : flows_critical_part(model, group, flows, host, side);
    return isnan(part) ? (isnan(all) ? NAN : 0) : all * part;
}

/* Links that an earlier rule found are not examined again. */
bool link_is_found(const struct candidates *candidates, size_t group) {
    return candidates_any(candidates, group, SHORT_OF_NETWORK);
}

static void about_shaped(const struct advised *advised, const struct series *queue) {
    double rate = advised_level(advised, RECORDING_QDISC, queue, QDISC_RATE);
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)queue->key.interface.size, queue->key.interface.data);
    remarks_add(advised->next, ADVISE_RAISE_RATE, NUMBERS(rate * 8e-6),
                NAMES(advised->host, name, name));
}

static void about_full_link(const struct advised *advised, const struct series *interface) {
    double mbit_s = advised->c->ceiling * 8;
    if (interface)
        remarks_add(advised->next, ADVISE_FASTER_LINK, NUMBERS(mbit_s),
                    NAMES(advised->host, interface->name));
    else
        remarks_add(advised->next, ADVISE_FASTER_SOME_LINK, NUMBERS(mbit_s), NAMES(advised->host));
}

static void about_unmeasured_link(const struct advised *advised, const struct series *interface) {
    if (interface)
        remarks_add(advised->next, ADVISE_MEASURE_LINK, NUMBERS(),
                    NAMES(advised->host, interface->name, interface->name));
    else
        remarks_add(advised->next, ADVISE_MEASURE_SOME_LINK, NUMBERS(), NAMES(advised->host));
}

static void about_interface(const struct advised *advised) {
    const char *other = advised->c->cause.names[1];
    if (advised->c->cause.code != REMARK_FASTER_INTERFACE_IDLE)
        return;
    if (model_has_ranks(advised->model))
        remarks_add(advised->next, ADVISE_OTHER_INTERFACE, NUMBERS(),
                    NAMES(advised->host, other, other, other));
    else
        remarks_add(advised->next, ADVISE_OTHER_ROUTE, NUMBERS(), NAMES(advised->host, other));
}

static void advise_link(const struct advised *advised) {
    bool send = advised->c->resource == RESOURCE_NET_EGRESS;
    struct queues queues = link_queues(advised->model, advised->c->group, advised->c->host);
    bool shaped = send && queues.fullest && queues.rate_mb_s > 0 &&
                  (advised->c->saturated || link_is_backed_up(advised->model, &queues));
    const struct series *interface = advised_most(
        advised, RECORDING_NET, send ? NET_SEND_BYTES : NET_RECEIVE_BYTES, KEY_LOOPBACK);
    if (advised->c->culprit.process)
        advise_culprit(advised);
    if (shaped)
        about_shaped(advised, queues.fullest);
    else if (advised->c->reached > 0)
        about_full_link(advised, interface);
    else
        about_unmeasured_link(advised, interface);
}

void link_advise(const struct advised *advised) {
    if (advised->c->kind == CAUSE_WRONG_INTERFACE)
        about_interface(advised);
    else
        advise_link(advised);
}
