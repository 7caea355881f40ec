/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/queues.h"

#include <math.h>

#include "analysis/number.h"

static double mean_level(const struct series_set *set, const struct series *series, size_t column,
                         struct windows windows) {
    double sum = 0, n = 0;
    for (size_t row = 0; row < series->n; row++)
        if (series_row_ends_in(series, row, windows) &&
            series_value(set, series, row, column) != VALUE_ABSENT) {
            sum += (double)series_value(set, series, row, column);
            n++;
        }
    return n > 0 ? sum / n : 0;
}

/* The share of the windows in samples in which it sent at nearly its set rate. */
static double part_at_rate(const struct run_model *model, const struct series_set *set,
                           const struct series *series, double rate, struct windows windows) {
    double at = 0, all = (double)windows_length(windows);
    for (size_t row = 0; row < series->n; row++) {
        int64_t sent = series_value(set, series, row, QDISC_SEND_BYTES);
        int64_t length = series->interval_ns[row];
        if (sent != VALUE_ABSENT && length > 0 && series_row_ends_in(series, row, windows) &&
            (double)sent >= number_of(model, NETWORK_FULL) * rate * (double)length / 1e9)
            at += (double)length;
    }
    return all > 0 ? fmin(1, at / all) : 0;
}

struct queues link_queues(const struct run_model *model, size_t group, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_QDISC];
    struct windows windows = phase_windows(&model->groups[group]);
    double seconds = (double)windows_length(windows) / 1e9;
    struct queues most = {.rate_mb_s = NAN};
    for (size_t s = 0; s < set->n; s++) {
        const struct series *queue = &set->items[s];
        if (queue->host != host || queue->key.form != KEY_QUEUE ||
            span_equal(queue->key.interface, KEY_LOOPBACK))
            continue;
        double backlog = mean_level(set, queue, QDISC_BACKLOG, windows);
        double over = series_growth(set, queue, QDISC_OVERLIMITS, windows, NULL) / seconds;
        most.known = true;
        if (backlog < most.backlog || (backlog == most.backlog && over <= most.overlimits_s))
            continue;
        int64_t rate = series_last(set, queue, QDISC_RATE);
        most.backlog = backlog;
        most.overlimits_s = over;
        most.rate_mb_s = rate > 0 ? (double)rate / 1e6 : NAN;
        double sent = series_growth(set, queue, QDISC_SEND_BYTES, windows, NULL);
        double packets = series_growth(set, queue, QDISC_SEND_PACKETS, windows, NULL);
        most.sent_mb_s = sent / seconds / 1e6;
        most.at_rate = rate > 0 ? part_at_rate(model, set, queue, (double)rate, windows) : 0;
        most.packet_bytes = packets > 0 ? fmax(sent / packets, number_of(model, PACKET_BYTES))
                                        : number_of(model, PACKET_BYTES);
        most.fullest = queue;
    }
    return most;
}

double link_held_mb_s(const struct queues *queues) {
    return queues->overlimits_s * queues->packet_bytes / 1e6;
}

bool link_is_backed_up(const struct run_model *model, const struct queues *queues) {
    return queues->backlog >= number_of(model, BACKLOG_MIN);
}

/* Judges by what went through that queue, since a host may have other interfaces. A sample sees the
 * queue of one instant, and the queue of short messages is empty at most instants. But a host that
 * sends at nearly its set rate on average hardly has a moment without waiting data. Nor has one
 * that does so repeatedly for tenths of a second, which is longer than a burst; the start and end
 * of a run do not count.
 */
bool link_is_full(const struct run_model *model, const struct queues *queues) {
    return queues->overlimits_s >= number_of(model, OVERLIMITS_MIN) &&
           (queues->sent_mb_s >= number_of(model, NETWORK_FULL) * queues->rate_mb_s ||
            queues->at_rate >= number_of(model, NETWORK_AT_RATE));
}

/* Samples hardly found a queue, but the sent bytes would take much of the time at that rate, and so
 * would the packets that were throttled, if each waited about as long as one packet takes. Small
 * packets pass where large ones wait, so throttled packets count as full-sized, or with the mean
 * size if the host hands over several as one.
 */
static bool is_held_back_unseen(const struct run_model *model, const struct queues *queues) {
    return fmin(queues->sent_mb_s, link_held_mb_s(queues)) >=
           number_of(model, NETWORK_HELD_UNSEEN) * queues->rate_mb_s;
}

bool link_is_held_back(const struct run_model *model, const struct queues *queues) {
    return link_is_full(model, queues) || is_held_back_unseen(model, queues) ||
           (link_is_backed_up(model, queues) &&
            queues->overlimits_s >= number_of(model, OVERLIMITS_MIN) &&
            queues->sent_mb_s >= number_of(model, NETWORK_HELD_MIN) * queues->rate_mb_s);
}

bool link_holds_back(const struct run_model *model, size_t group, int host) {
    struct queues queues = link_queues(model, group, host);
    return link_is_held_back(model, &queues);
}
