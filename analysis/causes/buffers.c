/* SPDX-License-Identifier: MIT */
/* A send buffer, or a receiver that does not read, holds up data: the program itself is to
 * blame. */
#include <errno.h>
#include <math.h>

#include "analysis/causes/causes_private.h"

#define OWN_REMARKS                                                                                \
    REMARK(READS_TOO_SLOWLY, "its program reads more slowly than data arrive", SLOTS(), SLOTS())   \
    REMARK(RECEIVE_BUFFERS_SMALL, "its receive buffers are too small for the data that arrive",    \
           SLOTS(), SLOTS())                                                                       \
    REMARK(SEND_BUFFERS_SMALL, "its send buffers are too small for the path", SLOTS(), SLOTS())    \
    REMARK(DATA_HELD_UP,                                                                           \
           "data from %s to %s were held up by %[the receiver|the send buffer] %.0f %% of the "    \
           "time, by the path %.0f %%",                                                            \
           SLOTS("1: the receiver, else the send buffer", "held up, %", "by the path, %"),         \
           SLOTS("from", "to"))
#include "analysis/causes/own.h"

static int add_held_up(const struct run_model *model, size_t group, const struct flows *flows,
                       const struct flow *f, bool receiver, double share, double demand,
                       struct candidates *candidates) {
    int host = receiver ? f->to : f->from;
    struct candidate c =
        candidate_of(host, group, RESOURCE_APPLICATION, receiver ? CAUSE_RECEIVER : CAUSE_SNDBUF);
    c.blocked = demand;
    c.saturated = true;
    c.signals = 2;
    c.path.terms = 1u << BUDGET_TRANSFER;
    c.path.all_hosts = true;
    c.path.part =
        flows_critical_part(model, group, flows, host, receiver ? FLOW_RECEIVE : FLOW_SEND);
    if (receiver)
        remark_set(&c.cause, READS_TOO_SLOWLY, NUMBERS(), NAMES());
    else
        remark_set(&c.cause, SEND_BUFFERS_SMALL, NUMBERS(), NAMES());
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    remarks_add(&c.evidence, DATA_HELD_UP,
                NUMBERS(receiver, 100 * share, 100 * f->limited_s / wall_s),
                NAMES(model->hosts[f->from].name, model->hosts[f->to].name));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

bool buffer_is_small(const struct run_model *model, struct flow_room room) {
    return room.own < number_of(model, ROOM_MIN) &&
           room.own <= number_of(model, ROOM_PART) * room.others;
}

static double all_transfers(const struct run_model *model, size_t group, const struct flows *flows,
                            int host, enum flow_side side) {
    double all = 0, part = flows_critical_part(model, group, flows, host, side);
    for (size_t h = 0; h < model->n_hosts; h++)
        all += model_demand(model, group, (int)h, BUDGET_TRANSFER);
    return isnan(part) ? 0 : all * part;
}

static int look_at_flow(const struct run_model *model, size_t group, const struct flows *flows,
                        const struct flow *f, double wall_s, struct candidates *candidates) {
    double busy = f->limited_s + f->receiver_s + f->send_buffer_s;
    bool receiver = f->receiver_s >= f->send_buffer_s;
    double held = receiver ? f->receiver_s : f->send_buffer_s;
    double demand = all_transfers(model, group, flows, receiver ? f->to : f->from,
                                  receiver ? FLOW_RECEIVE : FLOW_SEND);
    if (held < number_of(model, HELD_UP_MIN) * busy ||
        held < number_of(model, BLOCKED_MIN) * wall_s || demand < number_of(model, BLOCKED_MIN) ||
        candidates_short_of(candidates, f->to, group, SHORT_OF_CPU))
        return 0;
    return add_held_up(model, group, flows, f, receiver, held / wall_s, fmin(demand, held / wall_s),
                       candidates);
}

/* Each round trip moves no more than the receiver has room for. The sender's clock of waiting for
 * room hardly sees it: a reader that waits makes room at once.
 */
static int look_at_room(const struct run_model *model, size_t group, const struct flows *flows,
                        int host, struct candidates *candidates) {
    struct flow_room room = flows_room(flows, host, true);
    double demand = all_transfers(model, group, flows, host, FLOW_RECEIVE);
    if (!buffer_is_small(model, room) || demand < number_of(model, BLOCKED_MIN))
        return 0;
    struct candidate c = candidate_of(host, group, RESOURCE_APPLICATION, CAUSE_RECEIVER);
    c.blocked = fmin(1, demand);
    c.saturated = true;
    c.signals = 2;
    c.path.terms = 1u << BUDGET_TRANSFER;
    c.path.all_hosts = true;
    c.path.part = flows_critical_part(model, group, flows, host, FLOW_RECEIVE);
    remark_set(&c.cause, RECEIVE_BUFFERS_SMALL, NUMBERS(), NAMES());
    remarks_add(&c.evidence, BUFFERS_HOLD, NUMBERS(true, room.own, room.others / 1e3), NAMES());
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int look_at_rooms(const struct run_model *model, size_t group, const struct flows *flows,
                         struct candidates *candidates) {
    int result = 0;
    for (size_t h = 0; result == 0 && h < model->n_hosts; h++)
        result = look_at_room(model, group, flows, (int)h, candidates);
    return result;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    size_t before = candidates->n;
    double wall_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    const struct flow *worst = NULL;
    const struct flows *flows;
    int result = candidates_flows(model, group, candidates, &flows);
    for (size_t i = 0; result == 0 && i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        if (!worst ||
            fmax(f->receiver_s, f->send_buffer_s) > fmax(worst->receiver_s, worst->send_buffer_s))
            worst = f;
    }
    if (result == 0 && worst)
        result = look_at_flow(model, group, flows, worst, wall_s, candidates);
    return result < 0 || candidates->n > before ? result
                                                : look_at_rooms(model, group, flows, candidates);
}

static void advise(const struct advised *advised) {
    if (advised->c->kind == CAUSE_RECEIVER)
        advise_receiver(advised);
    else
        advise_send_buffer(advised);
}

const struct cause cause_buffers = {
    .name = "buffers",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_RECEIVER,
    .needs = 1u << SOURCE_CALLS | 1u << SOURCE_CONNECTIONS,
    .remarks = own_remarks,
    .reason = "a sender stops when its buffer is full or its receiver does not read",
    .yields_to = YIELDS_TO(&cause_contention, &cause_quota, &cause_machine_full),
    .detect = detect,
    .advise = advise,
};
