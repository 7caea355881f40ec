/* SPDX-License-Identifier: MIT */
/*
 * A full link whose host has another one to the same hosts that is faster and hardly used: the
 * traffic takes the wrong way, and no faster link needs to be bought. It is the cause of a full
 * link that other rules found, never a finding of its own.
 */
#include <math.h>

#include "analysis/causes/link_private.h"
#include "analysis/evidence/interfaces.h"

void link_name_interface(const struct run_model *model, struct candidate *c) {
    enum flow_side side = c->resource == RESOURCE_NET_EGRESS ? FLOW_SEND : FLOW_RECEIVE;
    struct interface_pair pair;
    double known = c->reached > 0 ? c->ceiling : NAN;
    if (c->kind != CAUSE_PATH_LIMITED ||
        !interfaces_find(model, c->group, c->host, side, known, &pair) ||
        isnan(pair.used.rate_mb_s) ||
        pair.other.rate_mb_s < number_of(model, INTERFACE_FASTER) * pair.used.rate_mb_s ||
        pair.other.mb_s > number_of(model, INTERFACE_IDLE) * pair.other.rate_mb_s ||
        pair.other.mb_s > number_of(model, INTERFACE_UNUSED) * pair.used.mb_s)
        return;
    c->kind = CAUSE_WRONG_INTERFACE;
    remark_set(&c->cause, FASTER_INTERFACE_IDLE,
               NUMBERS(side == FLOW_SEND, 8 * pair.used.mb_s, 8 * pair.used.rate_mb_s,
                       8 * pair.other.rate_mb_s),
               NAMES(pair.used.series->name, pair.other.series->name));
    remarks_add(
        &c->evidence, INTERFACES_REACH_SAME, NUMBERS(),
        NAMES(pair.used.series->name, pair.other.series->name, model->hosts[pair.peer].name));
    remarks_add(&c->against, REACHED_BY_ADDRESS, NUMBERS(), NAMES(pair.other.series->name));
}
