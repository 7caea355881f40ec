/* SPDX-License-Identifier: MIT */
/* The connections with the most traffic, one by one, with their processes and ports. */
#include "reports/facts/connections.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/flow_ends.h"
#include "analysis/facts/series/stats.h"

/* -1: none. */
static int port_of(const struct table_key *key, size_t end) {
    return key->form == KEY_CONNECTION ? key->ends[end].port : -1;
}

/* The name of the process with that id on that host; NULL: it was not seen. */
static const char *process_name(const struct recording *recording, int host, int64_t pid) {
    const struct series_set *set = &recording->tables[RECORDING_PROCESS];
    const struct series *process = pid > 0 ? series_of_pid(set, host, PROCESS_PID, pid) : NULL;
    return process ? process->name : NULL;
}

static double sum_of(const struct series_set *set, const struct series *series) {
    double sum = 0;
    for (size_t row = 0; row < series->n; row++) {
        int64_t value = series_value(set, series, row, CONNECTION_SEND_BYTES);
        sum += value > 0 ? (double)value : 0;
    }
    return sum;
}

/* Median in ms over the rows that have it; NAN: none has. */
static double median_rtt(const struct series_set *set, const struct series *series) {
    double *values = malloc((series->n + 1) * sizeof *values), median = NAN;
    size_t n = 0;
    for (size_t row = 0; values && row < series->n; row++) {
        int64_t value = series_value(set, series, row, CONNECTION_RTT);
        if (value > 0)
            values[n++] = (double)value / 1e6;
    }
    if (n)
        median = stats_median(values, n);
    free(values);
    return median;
}

static int compare_connections(const void *a, const void *b) {
    const struct report_connection *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->series > y->series) - (x->series < y->series);
}

static struct report_connection connection_of(const struct run_model *model, size_t at, int to,
                                              double bytes) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    const struct series *series = &set->items[at];
    double duration_s = (double)model->recording->duration_ns / 1e9;
    return (struct report_connection){.series = at,
                                      .from = series->host,
                                      .to = to,
                                      .from_port = port_of(&series->key, 0),
                                      .to_port = port_of(&series->key, 1),
                                      .bytes = bytes,
                                      .mean_mb_s = duration_s > 0 ? bytes / duration_s / 1e6 : NAN};
}

/* Looks up process and round trip, for shown connections only. */
static void complete(struct report_connection *c, const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    const struct series *series = &set->items[c->series];
    c->process =
        process_name(model->recording, series->host, series_last(set, series, CONNECTION_PID));
    c->rtt_ms = median_rtt(set, series);
}

int connections_find(const struct run_model *model, struct connections *ret_connections) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    struct connections found = {.items = calloc(set->n + 1, sizeof *found.items)};
    int *to = calloc(set->n + 1, sizeof *to);
    int result = to && found.items ? flow_ends(set, to) : -ENOMEM;
    for (size_t s = 0; result == 0 && s < set->n; s++) {
        double bytes = sum_of(set, &set->items[s]);
        if (bytes > 0)
            found.items[found.n_all++] = connection_of(model, s, to[s], bytes);
    }
    free(to);
    if (result < 0) {
        free(found.items);
        return result;
    }
    if (found.n_all)
        qsort(found.items, found.n_all, sizeof *found.items, compare_connections);
    found.n = found.n_all < CONNECTIONS_MAX ? found.n_all : CONNECTIONS_MAX;
    for (size_t i = 0; i < found.n; i++)
        complete(&found.items[i], model);
    *ret_connections = found;
    return 0;
}
