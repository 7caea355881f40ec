/* SPDX-License-Identifier: MIT */
/*
 * Traffic of the job's connections from host to host. Connections of a pair are added up on one
 * grid, since each has its own rows, and none while it is idle. So a bin without rows means no
 * traffic, not a gap.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/flow_ends.h"
#include "reports/model/model_private.h"

#define BINS_MAX 420
#define HOSTS_MAX 512 /* pairs fill a square */

struct grid {
    size_t n;
    double width_s;
};

static struct grid grid_of(const struct recording *recording) {
    double end_s = (double)recording->duration_ns / 1e9,
           period_s = (double)recording->period_ns / 1e9;
    double bins = period_s > 0 ? floor(end_s / period_s) : 1;
    size_t n = (size_t)fmax(1, fmin(bins, BINS_MAX));
    return (struct grid){n, end_s / (double)n};
}

static int route_init(struct report_route *route, const struct report *report,
                      const struct grid *grid, size_t pair, double bytes) {
    int from = (int)(pair / report->n_hosts), to = (int)(pair % report->n_hosts);
    *route = (struct report_route){.from = from, .to = to, .bytes = bytes};
    struct report_series *series = &route->series;
    series->label = text_format("%s to %s", report->hosts[from].name, report->hosts[to].name);
    series->t_s = calloc(grid->n, sizeof *series->t_s);
    series->value = calloc(grid->n, sizeof *series->value);
    for (size_t i = 0; series->t_s && i < grid->n; i++)
        series->t_s[i] = ((double)i + 1) * grid->width_s;
    series->n = grid->n;
    return series->label && series->t_s && series->value ? 0 : -ENOMEM;
}

/* Spreads the bytes of an interval evenly over the bins that it covers. */
static void spread(const struct grid *grid, double begin_s, double end_s, double bytes,
                   struct report_route *route) {
    double last_s = grid->width_s * (double)grid->n, length = end_s - begin_s;
    if (!(length > 0) || end_s <= 0 || begin_s >= last_s)
        return;
    size_t bin = begin_s > 0 ? (size_t)(begin_s / grid->width_s) : 0;
    for (; bin < grid->n && (double)bin * grid->width_s < end_s; bin++) {
        double from = fmax(begin_s, (double)bin * grid->width_s);
        double to = fmin(end_s, (double)(bin + 1) * grid->width_s);
        double part = bytes * fmax(0, to - from) / length;
        route->series.value[bin] += part / grid->width_s / 1e6;
    }
}

/* How long before a row its bytes began. The first row of a connection that was made between two
 * scans holds all bytes since then, but is dated as if they took one frame. So they are spread over
 * the distance of later scans, which at least invents no burst. */
static double row_length_s(const struct series *connection, size_t row) {
    int64_t length = connection->interval_ns[row], apart = VALUE_ABSENT;
    for (size_t i = 1; row == 0 && i < connection->n; i++)
        if (connection->interval_ns[i] > 0 &&
            (apart == VALUE_ABSENT || connection->interval_ns[i] < apart))
            apart = connection->interval_ns[i];
    return (double)(apart != VALUE_ABSENT && apart > length ? apart : length) / 1e9;
}

static void add_connection(const struct series_set *set, const struct series *connection,
                           const struct grid *grid, struct report_route *route) {
    for (size_t row = 0; row < connection->n; row++) {
        int64_t bytes = series_value(set, connection, row, CONNECTION_SEND_BYTES);
        int64_t interval = connection->interval_ns[row];
        if (bytes <= 0 || interval == VALUE_ABSENT || interval <= 0)
            continue;
        double end_s = (double)connection->t_ns[row] / 1e9;
        double begin_s = fmax(end_s - row_length_s(connection, row), fmin(0, end_s));
        spread(grid, begin_s, end_s, (double)bytes, route);
    }
}

/* Adds up the bytes of each pair of hosts, [from * hosts + to]. */
static void add_totals(const struct series_set *set, const int *to, size_t n_hosts, double *bytes) {
    for (size_t s = 0; s < set->n; s++)
        for (size_t row = 0; to[s] >= 0 && row < set->items[s].n; row++) {
            int64_t value = series_value(set, &set->items[s], row, CONNECTION_SEND_BYTES);
            if (value > 0)
                bytes[(size_t)set->items[s].host * n_hosts + (size_t)to[s]] += (double)value;
        }
}

struct pair {
    size_t at; /* from * hosts + to */
    double bytes;
};

/* Sorts by bytes, the most first; equal pairs keep their order. */
static int compare_pairs(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Lists pairs with traffic; the caller owns *ret_pairs. */
static int list_pairs(const double *bytes, size_t n, struct pair **ret_pairs, size_t *ret_n) {
    struct pair *pairs = malloc((n + 1) * sizeof *pairs);
    size_t found = 0;
    if (!pairs)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] > 0)
            pairs[found++] = (struct pair){i, bytes[i]};
    qsort(pairs, found, sizeof *pairs, compare_pairs);
    *ret_pairs = pairs;
    *ret_n = found;
    return 0;
}

/* route_of[from * hosts + to]: the pair's route, or -1. */
static int make_routes(struct report *report, const struct grid *grid, const struct pair *pairs,
                       size_t n, int *route_of) {
    size_t kept = n < REPORT_ROUTES_MAX ? n : REPORT_ROUTES_MAX;
    double all = 0;
    int result = 0;
    for (size_t i = 0; i < n; i++)
        all += pairs[i].bytes;
    report->n_routes_all = n;
    report->routes = calloc(kept + 1, sizeof *report->routes);
    if (!report->routes)
        return -ENOMEM;
    for (size_t i = 0; result == 0 && i < kept; i++) {
        struct report_route *route = &report->routes[report->n_routes];
        route_of[pairs[i].at] = (int)report->n_routes++;
        result = route_init(route, report, grid, pairs[i].at, pairs[i].bytes);
        route->share_pct = 100 * route->bytes / all;
    }
    return result;
}

static void sum_up(struct report_route *route, double duration_s) {
    route->mean_mb_s = route->bytes / duration_s / 1e6;
    for (size_t i = 0; i < route->series.n; i++)
        route->peak_mb_s = fmax(route->peak_mb_s, route->series.value[i]);
}

static int fill_routes(struct report *report, const struct series_set *set, const struct grid *grid,
                       const int *to) {
    size_t n = report->n_hosts, n_pairs = 0;
    double *bytes = calloc(n * n, sizeof *bytes);
    int *route_of = malloc(n * n * sizeof *route_of), result = bytes && route_of ? 0 : -ENOMEM;
    struct pair *pairs = NULL;
    for (size_t i = 0; result == 0 && i < n * n; i++)
        route_of[i] = -1;
    if (result == 0) {
        add_totals(set, to, n, bytes);
        result = list_pairs(bytes, n * n, &pairs, &n_pairs);
    }
    if (result == 0)
        result = make_routes(report, grid, pairs, n_pairs, route_of);
    for (size_t s = 0; result == 0 && s < set->n; s++) {
        int route = to[s] < 0 ? -1 : route_of[(size_t)set->items[s].host * n + (size_t)to[s]];
        if (route >= 0)
            add_connection(set, &set->items[s], grid, &report->routes[route]);
    }
    for (size_t i = 0; result == 0 && i < report->n_routes; i++)
        sum_up(&report->routes[i], grid->width_s * (double)grid->n);
    free(bytes);
    free(route_of);
    free(pairs);
    return result;
}

int report_fill_routes(struct report *report, const struct run_model *model) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    if (!set->n || model->recording->duration_ns <= 0 || !report->n_hosts ||
        report->n_hosts > HOSTS_MAX)
        return 0;
    struct grid grid = grid_of(model->recording);
    int *to = calloc(set->n, sizeof *to);
    int result = to ? flow_ends(set, to) : -ENOMEM;
    if (result == 0)
        result = fill_routes(report, set, &grid, to);
    free(to);
    return result;
}
