/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/interfaces.h"

#include <math.h>

static const struct series_set *net_of(const struct run_model *model) {
    return &model->recording->tables[RECORDING_NET];
}

static int64_t network_of(const struct run_model *model, const struct series *interface) {
    return series_last(net_of(model), interface, NET_NETWORK);
}

/* The lowest rate that a queue of the interface is set to, MB/s; NAN if none. */
static double set_rate(const struct run_model *model, const struct series *interface) {
    const struct series_set *queues = &model->recording->tables[RECORDING_QDISC];
    double lowest = NAN;
    for (size_t s = 0; s < queues->n; s++) {
        const struct series *queue = &queues->items[s];
        bool own = queue->host == interface->host && queue->key.form == KEY_QUEUE &&
                   span_equal(queue->key.interface, interface->name);
        int64_t rate = own ? series_last(queues, queue, QDISC_RATE) : 0;
        if (rate > 0)
            lowest = fmin(lowest, (double)rate / 1e6);
    }
    return lowest;
}

static struct interface look_at(const struct run_model *model, size_t group,
                                const struct series *interface, enum flow_side side) {
    struct windows windows = phase_windows(&model->groups[group]);
    size_t column = side == FLOW_SEND ? NET_SEND_BYTES : NET_RECEIVE_BYTES;
    int64_t speed = series_last(net_of(model), interface, NET_SPEED);
    double seconds = (double)windows_length(windows) / 1e9,
           bytes = series_growth(net_of(model), interface, column, windows, NULL);
    double rate = speed > 0 ? (double)speed / 1e6 : NAN;
    if (side == FLOW_SEND)
        rate = fmin(rate, set_rate(model, interface));
    return (struct interface){interface, seconds > 0 ? bytes / seconds / 1e6 : 0, rate};
}

static bool has_network(const struct run_model *model, int host, int64_t network) {
    for (size_t s = 0; s < net_of(model)->n; s++) {
        const struct series *interface = &net_of(model)->items[s];
        if (interface->host == host && network_of(model, interface) == network)
            return true;
    }
    return false;
}

/* Another host with an interface in either network; -1 if there is none. */
static int peer_in(const struct run_model *model, int host, int64_t one, int64_t other) {
    for (size_t h = 0; one != VALUE_ABSENT && other != VALUE_ABSENT && h < model->n_hosts; h++)
        if ((int)h != host && has_network(model, (int)h, one) && has_network(model, (int)h, other))
            return (int)h;
    return -1;
}

bool interfaces_find(const struct run_model *model, size_t group, int host, enum flow_side side,
                     double ceiling_mb_s, struct interface_pair *ret_pair) {
    struct interface_pair pair = {.peer = -1};
    for (size_t s = 0; s < net_of(model)->n; s++) {
        struct interface one = look_at(model, group, &net_of(model)->items[s], side);
        if (one.series->host == host && network_of(model, one.series) != VALUE_ABSENT &&
            (!pair.used.series || one.mb_s > pair.used.mb_s))
            pair.used = one;
    }
    for (size_t s = 0; pair.used.series && s < net_of(model)->n; s++) {
        struct interface one = look_at(model, group, &net_of(model)->items[s], side);
        if (one.series->host != host || one.series == pair.used.series)
            continue;
        int peer = peer_in(model, host, network_of(model, pair.used.series),
                           network_of(model, one.series));
        if (peer < 0 || isnan(one.rate_mb_s) ||
            (pair.peer >= 0 && one.rate_mb_s <= pair.other.rate_mb_s))
            continue;
        pair.other = one;
        pair.peer = peer;
    }
    if (ceiling_mb_s > 0) /* false for NAN */
        pair.used.rate_mb_s = fmin(pair.used.rate_mb_s, ceiling_mb_s);
    *ret_pair = pair;
    return pair.peer >= 0;
}
