/* SPDX-License-Identifier: MIT */
/*
 * Connections between hosts, and which side of which host explains those that were throttled by
 * their path. "Data under way, while neither receiver nor send buffer limits" is not yet the
 * network: a receiver without a core answers late, and looks the same. So a connection counts only
 * if its bytes, at the rate at which the kernel saw them arrive (tcp_info's delivery rate, over the
 * few milliseconds in which they moved), need at least FLOW_RATE_PART of that time. On a full path
 * they need nearly all of it, and round trips take longer, since data queue.
 *
 * A program that sends less than its window at a time never lets the kernel see that rate: it keeps
 * the best one of the start-up, from before the path was full. Such a rate states nothing about a
 * path on which data queue. Then the bytes over the time under way are the rate, if calls tell who
 * waits for data; without them, a receiver that answers late would look the same.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/flow_ends.h"
#include "analysis/evidence/flows.h"
#include "analysis/facts/series/stats.h"
#include "analysis/number.h"
#include "analysis/time/critical_path.h"

#define FLOW_HOSTS_MAX 512 /* hosts: the pairs are a square array */
#define HEADER_BYTES 66    /* headers of a segment: Ethernet 14, IPv4 20, TCP 20, timestamps 12 */

/* ---- one connection ---- */

struct medians {
    double rate, queue_ns;
    bool is_of_path; /* the kernel told that some of the rates are the path's */
};

/* Medians over the samples in which data moved, weighted by bytes; of rates, where the kernel saw
 * the path's and not the program's. */
static struct medians medians_of(const struct series_set *set, const struct series *series,
                                 struct windows windows) {
    struct weighted *rates = malloc((series->n + 1) * sizeof *rates);
    struct weighted *queues = malloc((series->n + 1) * sizeof *queues);
    size_t n_rates = 0, n = 0;
    bool is_of_path = false;
    for (size_t row = 0; rates && queues && row < series->n; row++) {
        int64_t moved = series_value(set, series, row, CONNECTION_SEND_BYTES);
        int64_t rate = series_value(set, series, row, CONNECTION_DELIVERY_RATE);
        int64_t rtt = series_value(set, series, row, CONNECTION_RTT);
        int64_t least = series_value(set, series, row, CONNECTION_MIN_RTT);
        if (moved <= 0 || rate <= 0 || !series_row_ends_in(series, row, windows))
            continue;
        int64_t app_limited = series_value(set, series, row, CONNECTION_APP_LIMITED);
        is_of_path |= app_limited == 0;
        if (app_limited <= 0) /* or not recorded */
            rates[n_rates++] = (struct weighted){(double)rate, (double)moved};
        queues[n++] = (struct weighted){
            rtt > 0 && least > 0 ? fmax(0, (double)rtt - (double)least) : 0, (double)moved};
    }
    struct medians medians = {stats_weighted_quantile(rates, n_rates, 0.5),
                              stats_weighted_quantile(queues, n, 0.5), is_of_path};
    free(rates);
    free(queues);
    return medians;
}

/* Size of a buffer on the recording host; NAN if not known. */
static double room_of(const struct series_set *set, const struct series *series, size_t column) {
    int64_t room = series_last(set, series, column);
    return room != VALUE_ABSENT && room > 0 ? (double)room : NAN;
}

/* The job hardly waits for a core there. */
static bool has_its_cores(const struct run_model *model, int host) {
    const unsigned lacking = 1u << BUDGET_RUN_QUEUE | 1u << BUDGET_QUOTA | 1u << BUDGET_STEAL;
    double least = number_of(model, BLOCKED_MIN);
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct rank_budget *rank = &model->budgets.items[r];
        const struct budget *b = &rank->groups[0];
        if (rank->host == host && b->wall_s > 0 && budget_sum(b, lacking) >= least * b->wall_s)
            return false;
    }
    return !(model_mean(model, host, METRIC_JOB_RUN_QUEUE, 0) >= 100 * least);
}

/* Whether late answers are those of a path: ranks say so by their calls. As long as a run goes on
 * only their time inside MPI is known; then an end without a core answers late, too.
 */
static bool is_of_path(const struct run_model *model, const struct flow *f) {
    if (model->critical.source != CRITICAL_PER_PROCESS || !model->budgets.totals)
        return model->critical.source == CRITICAL_FROM_EVENTS;
    return has_its_cores(model, f->from) && has_its_cores(model, f->to);
}

/* The time that bytes take on their path. Where the kernel did not tell, a rate far above the bytes
 * over the time under way cannot be that of a path on which data queue: it is of the start-up. */
static double need_of(const struct run_model *model, const struct flow *f, double bytes,
                      double limited, struct medians medians) {
    double need = medians.rate > 0 ? bytes / medians.rate : 0;
    bool untold = !medians.is_of_path && medians.queue_ns >= number_of(model, QUEUE_NS);
    return untold && need < number_of(model, FLOW_RATE_NONE) * limited && is_of_path(model, f)
               ? limited
               : need;
}

static void add_connection(const struct run_model *model, const struct series *series,
                           struct windows windows, struct flow *to) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    double busy = series_growth(set, series, CONNECTION_BUSY, windows, NULL) / 1e9;
    double receiver = series_growth(set, series, CONNECTION_RWND_LIMITED, windows, NULL) / 1e9;
    double buffer = series_growth(set, series, CONNECTION_SNDBUF_LIMITED, windows, NULL) / 1e9;
    double bytes = series_growth(set, series, CONNECTION_SEND_BYTES, windows, NULL);
    double limited = fmax(0, busy - receiver - buffer);
    struct medians medians = medians_of(set, series, windows);
    if (bytes > to->bytes / 2 || isnan(to->rate_bytes_s)) { /* the connection with most bytes gives
                                                               the rates */
        to->rate_bytes_s = medians.rate;
        to->queue_ns = medians.queue_ns;
        to->send_room = room_of(set, series, CONNECTION_SEND_ROOM);
        to->back_room = room_of(set, series, CONNECTION_RECEIVE_ROOM);
    }
    to->bytes += bytes;
    to->wire_bytes +=
        bytes + HEADER_BYTES * series_growth(set, series, CONNECTION_SEND_SEGMENTS, windows, NULL);
    to->limited_s = fmax(to->limited_s, limited); /* connections are busy at the same time */
    to->receiver_s = fmax(to->receiver_s, receiver);
    to->send_buffer_s = fmax(to->send_buffer_s, buffer);
    to->need_s = fmax(to->need_s, need_of(model, to, bytes, limited, medians));
}

/* ---- all of them ---- */

/* Two routes through a full link seldom look alike: the one served second waits for the first, and
 * the kernel's rate for it is that of its turn. So each counts by how much its path throttled it.
 */
static double held_by_path(const struct run_model *model, const struct flow *f, double wall_s) {
    double part = f->limited_s > 0 ? f->need_s / f->limited_s : 0;
    double needed = (part - number_of(model, FLOW_RATE_NONE)) /
                    (number_of(model, FLOW_RATE_PART) - number_of(model, FLOW_RATE_NONE));
    double queued = f->queue_ns / number_of(model, QUEUE_NS);
    if (!(f->limited_s >= number_of(model, FLOW_LIMITED_MIN) * wall_s) || isnan(queued))
        return 0;
    return fmin(1, fmax(0, needed)) * fmin(1, queued);
}

static const struct flow *flow_find(const struct flows *flows, size_t from, size_t to) {
    for (size_t i = 0; i < flows->n; i++)
        if (flows->items[i].from == (int)from && flows->items[i].to == (int)to)
            return &flows->items[i];
    return NULL;
}

/* Answers to data that go one way, acknowledgements and those of a rendezvous, queue behind the
 * data that go the other way. So a full way makes round trips of both long; it is itself under way
 * for longer, and moves less in that time. */
static bool is_behind(const struct run_model *model, const struct flow *f,
                      const struct flow *back) {
    double part = number_of(model, FLOW_BEHIND);
    return f->held > 0 && back && back->held > 0 && f->limited_s <= part * back->limited_s &&
           back->bytes / back->limited_s <= part * f->bytes / f->limited_s;
}

static void take_out_behind(const struct run_model *model, struct flows *flows) {
    for (size_t i = 0; i < flows->n; i++) {
        struct flow *f = &flows->items[i];
        f->behind = is_behind(model, f, flow_find(flows, (size_t)f->to, (size_t)f->from));
    }
    for (size_t i = 0; i < flows->n; i++)
        if (flows->items[i].behind) {
            flows->items[i].limited = false;
            flows->items[i].held = 0;
        }
}

static void judge_flows(const struct run_model *model, struct flows *flows, double wall_s) {
    double most = 0;
    size_t kept = 0;
    for (size_t i = 0; i < flows->n; i++)
        most = fmax(most, flows->items[i].bytes);
    for (size_t i = 0; i < flows->n; i++) {
        struct flow *f = &flows->items[i];
        if (f->bytes <= 0 || f->bytes < number_of(model, FLOW_BYTES_MIN) * most)
            continue;
        f->held = held_by_path(model, f, wall_s);
        f->limited = f->held >= 1;
        flows->items[kept++] = *f;
    }
    flows->n = kept;
    take_out_behind(model, flows);
    for (size_t i = 0; i < kept; i++) {
        flows->n_limited += flows->items[i].limited;
        flows->held += flows->items[i].held;
    }
}

static int fill_square(const struct run_model *model, struct windows windows, struct flow *square) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    int *to = calloc(set->n + 1, sizeof *to), result = to ? flow_ends(set, to) : -ENOMEM;
    for (size_t s = 0; result == 0 && s < set->n; s++)
        if (to[s] >= 0)
            add_connection(model, &set->items[s], windows,
                           &square[(size_t)set->items[s].host * model->n_hosts + (size_t)to[s]]);
    free(to);
    return result;
}

int flows_make(const struct run_model *model, struct windows windows, struct flows *ret_flows) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    size_t n = model->n_hosts;
    *ret_flows = (struct flows){0};
    if (!set->n || n > FLOW_HOSTS_MAX)
        return 0;
    struct flow *square = calloc(n * n + 1, sizeof *square);
    if (!square)
        return -ENOMEM;
    for (size_t i = 0; i < n * n; i++)
        square[i] = (struct flow){.from = (int)(i / n),
                                  .to = (int)(i % n),
                                  .rate_bytes_s = NAN,
                                  .queue_ns = NAN,
                                  .send_room = NAN,
                                  .back_room = NAN};
    int result = fill_square(model, windows, square);
    if (result < 0) {
        free(square);
        return result;
    }
    *ret_flows = (struct flows){.items = square, .n = n * n};
    judge_flows(model, ret_flows, (double)windows_length(windows) / 1e9);
    return 0;
}

void flows_release(struct flows *flows) {
    free(flows->items);
    *flows = (struct flows){0};
}

bool flows_leave(const struct run_model *model, int host, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && flow_far_end(&set->items[s].key) &&
            series_growth(set, &set->items[s], CONNECTION_SEND_BYTES, windows, NULL) +
                    series_growth(set, &set->items[s], CONNECTION_RECEIVE_BYTES, windows, NULL) >
                0)
            return true;
    return !series_named(&model->recording->tables[RECORDING_SELF], host, "connection");
}

struct flow_room flows_room(const struct flows *flows, int host, bool receive) {
    struct flow_room room = {NAN, NAN};
    double *others = malloc((flows->n + 1) * sizeof *others);
    size_t n = 0;
    for (size_t i = 0; others && i < flows->n; i++) {
        double bytes = receive ? flows->items[i].back_room : flows->items[i].send_room;
        if (flows->items[i].from == host)
            room.own = fmin(room.own, bytes);
        else if (!isnan(bytes))
            others[n++] = bytes;
    }
    room.others = stats_median(others, n);
    free(others);
    return room;
}

static double f1(double both, double of_side, double held) {
    return both > 0 ? 2 * both / (of_side + held) : 0;
}

double flows_f1(const struct flows *flows, int host, enum flow_side side) {
    double of[2] = {0, 0}, both[2] = {0, 0};
    for (size_t i = 0; i < flows->n; i++) {
        const struct flow *f = &flows->items[i];
        of[FLOW_SEND] += f->from == host;
        of[FLOW_RECEIVE] += f->to == host;
        both[FLOW_SEND] += f->from == host ? f->held : 0;
        both[FLOW_RECEIVE] += f->to == host ? f->held : 0;
    }
    double one = f1(both[side], of[side], flows->held);
    if (!flows->n_limited)
        return 0;
    if (both[FLOW_SEND] <= 0 || both[FLOW_RECEIVE] <= 0)
        return one;
    return fmax(one, f1(both[0] + both[1], of[0] + of[1], flows->held));
}

static bool is_of_side(const struct run_model *model, const struct flows *flows, size_t from,
                       size_t to, int host, enum flow_side side) {
    size_t several = model->n_hosts, end = side == FLOW_SEND ? from : to,
           other = side == FLOW_SEND ? to : from;
    const struct flow *f = flow_find(flows, from, to);
    if (f && f->behind)
        return other == (size_t)host;
    return (end == (size_t)host || end == several) && (from != to || from == several);
}

/* Group calls move data from several hosts to several. The slowest link on the way delays them all,
 * so they count for every side.
 */
double flows_critical_part(const struct run_model *model, size_t group, const struct flows *flows,
                           int host, enum flow_side side) {
    const struct critical_part *part = &model->critical.groups[group];
    size_t n = model->n_hosts + 1;
    double mine = 0, all = 0;
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            double seconds = part->transfers[from * n + to];
            all += seconds;
            if (is_of_side(model, flows, from, to, host, side))
                mine += seconds;
        }
    return all > 0 ? mine / all : NAN;
}

enum metric link_metric(enum flow_side side) {
    return side == FLOW_SEND ? METRIC_NET_SEND : METRIC_NET_RECV;
}
