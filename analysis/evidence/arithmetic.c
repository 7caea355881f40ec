/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/arithmetic.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HELD_NS INT64_C(500000000)
#define PHASE_MIN 0.2    /* of all iterations: with fewer, they only reach into the phase */
#define BYTES_MIN 1000.0 /* an iteration that moves less does not depend on bandwidth */

double network_ceiling_of(const struct run_model *model, int host, enum metric direction) {
    return rate_ceiling(&model->hosts[host].metrics[direction], phase_windows(&model->groups[0]),
                        HELD_NS);
}

struct network_limit network_limit_of(const struct run_model *model, int host,
                                      enum metric direction) {
    double measured = recording_ceiling(model->recording, host, direction);
    double seen = network_ceiling_of(model, host, direction);
    if (isnan(measured))
        return (struct network_limit){seen, false, seen, NAN};
    if (seen > CEILING_SLACK * measured)
        return (struct network_limit){seen, false, seen, measured};
    return (struct network_limit){measured, true, seen, NAN};
}

double network_ceiling(const struct run_model *model) {
    static const enum metric directions[] = {METRIC_NET_SEND, METRIC_NET_RECV};
    double ceiling = NAN;
    for (size_t h = 0; h < model->n_hosts; h++)
        for (size_t d = 0; d < 2; d++)
            ceiling = fmax(ceiling, network_ceiling_of(model, (int)h, directions[d]));
    return ceiling;
}

double network_set_rate(const struct run_model *model, int host) {
    const struct series_set *queues = &model->recording->tables[RECORDING_QDISC];
    struct windows all = phase_windows(&model->groups[0]);
    double sent = rate_amount(&model->hosts[host].metrics[METRIC_NET_SEND], all);
    for (size_t s = 0; s < queues->n; s++) {
        const struct series *queue = &queues->items[s];
        int64_t rate = queue->host == host ? series_last(queues, queue, QDISC_RATE) : 0;
        if (rate <= 0 || series_growth(queues, queue, QDISC_SEND_BYTES, all, NULL) < sent / 2)
            continue;
        bool exceeded =
            network_ceiling_of(model, host, METRIC_NET_SEND) > CEILING_SLACK * (double)rate / 1e6;
        return exceeded ? NAN : (double)rate / 1e6;
    }
    return NAN;
}

double network_set_receiving(const struct run_model *model, int host) {
    double set = network_set_rate(model, host);
    struct network_limit limit = network_limit_of(model, host, METRIC_NET_RECV);
    return !limit.measured && limit.seen_mb_s <= CEILING_SLACK * set ? set : NAN;
}

/* The speed of the interface that carried more than half of the host's bytes. */
static double interface_speed(const struct run_model *model, int host, enum metric direction) {
    const struct series_set *net = &model->recording->tables[RECORDING_NET];
    size_t column = direction == METRIC_NET_SEND ? NET_SEND_BYTES : NET_RECEIVE_BYTES;
    struct windows all = phase_windows(&model->groups[0]);
    double moved = rate_amount(&model->hosts[host].metrics[direction], all);
    for (size_t s = 0; s < net->n; s++) {
        const struct series *interface = &net->items[s];
        if (interface->host != host || strcmp(interface->name, KEY_LOOPBACK) == 0)
            continue;
        int64_t speed = series_last(net, interface, NET_SPEED);
        if (speed > 0 && series_growth(net, interface, column, all, NULL) > moved / 2)
            return (double)speed / 1e6;
    }
    return NAN;
}

enum arithmetic_rate network_rate_of(const struct run_model *model, int host, enum metric direction,
                                     double seen, double *ret_mb_s) {
    struct network_limit limit = network_limit_of(model, host, direction);
    double set = direction == METRIC_NET_SEND ? network_set_rate(model, host) : NAN;
    if (!isnan(set) && !(limit.measured && limit.mb_s <= CEILING_SLACK * set)) {
        *ret_mb_s = set;
        return ARITHMETIC_SET;
    }
    *ret_mb_s = limit.measured ? limit.mb_s : seen;
    return limit.measured ? ARITHMETIC_MEASURED : ARITHMETIC_SEEN;
}

double network_known_rate(const struct run_model *model, int host, enum metric direction) {
    struct network_limit limit = network_limit_of(model, host, direction);
    double rate, speed = interface_speed(model, host, direction);
    network_rate_of(model, host, direction, NAN, &rate);
    if (!isnan(rate))
        return rate;
    return limit.seen_mb_s > CEILING_SLACK * speed ? NAN : speed;
}

/* The iterations of a phase and the length of one; in lockstep those of one rank count. */
static size_t iterations_of(const struct run_model *model, size_t group, double *ret_iteration_s) {
    const struct rank_iterations *reference = iterations_reference(&model->iterations);
    struct windows windows = phase_windows(&model->groups[group]);
    size_t count = 0;
    if (reference && (model->iterations.lockstep || model->iterations.n == 1)) {
        double *values = malloc((reference->n + 1) * sizeof *values);
        count = values ? iteration_durations(reference, windows, values) : 0;
        free(values);
        *ret_iteration_s = iteration_median(reference, windows);
    } else {
        count = model_iteration_count(model, group);
        *ret_iteration_s = (double)windows_length(windows) / 1e9 / (double)count;
    }
    return count;
}

/* Entries with a known rate come first: the shares of the others are upper bounds. */
static int compare_arithmetic(const void *a, const void *b) {
    const struct arithmetic *x = a, *y = b;
    bool x_seen = x->known == ARITHMETIC_SEEN, y_seen = y->known == ARITHMETIC_SEEN;
    if (x_seen != y_seen)
        return x_seen - y_seen;
    return (x->share < y->share) - (x->share > y->share);
}

int arithmetic_make(const struct run_model *model, struct arithmetic **ret_items, size_t *ret_n) {
    static const enum metric directions[] = {METRIC_NET_SEND, METRIC_NET_RECV};
    struct arithmetic *items = calloc(2 * model->n_hosts * model->n_groups + 1, sizeof *items);
    if (!items)
        return -ENOMEM;
    double ceiling = network_ceiling(model);
    size_t n = 0;
    for (size_t g = model->n_groups > 1 ? 1 : 0; ceiling > 0 && g < model->n_groups; g++) {
        double iteration_s;
        size_t count = iterations_of(model, g, &iteration_s);
        if ((double)model_iteration_count(model, g) <
            PHASE_MIN * (double)model_iteration_count(model, 0))
            continue;
        for (size_t i = 0; count && i < 2 * model->n_hosts; i++) {
            struct arithmetic a = {(int)(i / 2), directions[i % 2], g, .iteration_s = iteration_s};
            a.known = network_rate_of(model, a.host, a.direction, ceiling, &a.bandwidth_mb_s);
            a.bytes_per_iteration = rate_amount(&model->hosts[a.host].metrics[a.direction],
                                                phase_windows(&model->groups[g])) /
                                    (double)count;
            a.bound_s = a.bytes_per_iteration / (a.bandwidth_mb_s * 1e6);
            a.share = a.bound_s / iteration_s;
            if (a.bytes_per_iteration >= BYTES_MIN)
                items[n++] = a;
        }
    }
    qsort(items, n, sizeof *items, compare_arithmetic);
    *ret_items = items;
    *ret_n = n;
    return 0;
}

const struct arithmetic *arithmetic_find(const struct arithmetic *items, size_t n, int host,
                                         enum metric direction, size_t group) {
    for (size_t i = 0; i < n; i++)
        if (items[i].host == host && items[i].direction == direction && items[i].group == group)
            return &items[i];
    return NULL;
}
