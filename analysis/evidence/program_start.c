/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/program_start.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/evidence/flow_ends.h"
#include "analysis/number.h"

/* The first row in which a connection to another host sent bytes. */
static bool first_sent(const struct series_set *set, const struct series *series,
                       struct window *ret_window) {
    for (size_t row = 0; row < series->n; row++)
        if (series_value(set, series, row, CONNECTION_SEND_BYTES) > 0) {
            int64_t interval = series->interval_ns[row];
            *ret_window = (struct window){
                series->t_ns[row] - (interval == VALUE_ABSENT ? 0 : interval), series->t_ns[row]};
            return true;
        }
    return false;
}

/* Connections are sampled once a second, interfaces more often: the time in that second until which
 * the host had sent next to nothing.
 */
static int64_t within(const struct run_model *model, const struct rate *sent, struct window w) {
    double all = rate_amount(sent, (struct windows){&w, 1}), so_far = 0;
    for (size_t i = rate_find(sent, w.begin_ns); i < sent->n && sent->t_ns[i] <= w.end_ns; i++) {
        so_far += sent->amount[i];
        if (so_far > number_of(model, FLOW_BYTES_MIN) * all) {
            int64_t begin = sent->t_ns[i] - sent->dt_ns[i];
            return begin > w.begin_ns ? begin : w.begin_ns;
        }
    }
    return w.begin_ns;
}

/* Fills first[] by host: when it first sent something, or an empty window. */
static int find_first(const struct run_model *model, struct window *first) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    int *to = calloc(set->n + 1, sizeof *to), result = to ? flow_ends(set, to) : -ENOMEM;
    for (size_t s = 0; result == 0 && s < set->n; s++) {
        struct window sent, *known = &first[set->items[s].host];
        if (to[s] >= 0 && first_sent(set, &set->items[s], &sent) &&
            (known->end_ns == 0 || sent.end_ns < known->end_ns))
            *known = sent;
    }
    free(to);
    return result;
}

/* *ret_start_ns is 0 if there is no start, or if it is none (a host that joins after half of the
 * run joins something that already goes on).
 */
static int find_start(const struct run_model *model, int64_t *ret_start_ns) {
    struct window *first = calloc(model->n_hosts + 1, sizeof *first);
    int result = first ? find_first(model, first) : -ENOMEM;
    int64_t start = 0;
    for (size_t h = 0; result == 0 && h < model->n_hosts; h++) {
        if (first[h].end_ns <= 0)
            continue;
        int64_t begin = within(model, &model->hosts[h].metrics[METRIC_NET_SEND], first[h]);
        start = begin > start ? begin : start;
    }
    free(first);
    *ret_start_ns = start <= model->recording->duration_ns / 2 ? start : 0;
    return result;
}

int program_started(const struct run_model *model, int64_t *ret_start_ns) {
    *ret_start_ns = 0;
    int result = model_has_path(model) ? 0 : find_start(model, ret_start_ns);
    if (*ret_start_ns >= number_of(model, GROUP_MIN_NS))
        *ret_start_ns = 0;
    return result;
}
