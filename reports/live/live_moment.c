/* SPDX-License-Identifier: MIT */
/*
 * A moment of a run that is over: the seconds before it, read as the window of a view that was
 * there then. The tables are read whole, so it costs what the run has in rows of a second.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/live/live_private.h"
#include "tables/tables.h"

struct reading {
    struct live_window *window;
    struct series_set *set;
    const struct store_host *hosts;
    int64_t begin_ns, end_ns;
};

static int place_of_host(const struct reading *reading, int64_t id) {
    for (size_t h = 0; h < reading->window->recording.n_hosts; h++)
        if (reading->hosts[h].id == id)
            return (int)h;
    return -1;
}

static int take_row_of_moment(void *ctx, const struct store_row_read *row) {
    struct reading *reading = ctx;
    if (row->t_ns > reading->end_ns || row->t_ns <= reading->begin_ns)
        return 0;
    int host = place_of_host(reading, row->host);
    if (host < 0)
        return 0;
    int64_t *last_ns = &reading->window->last_ns[host];
    if (*last_ns == VALUE_ABSENT || *last_ns < row->t_ns)
        *last_ns = row->t_ns;
    return series_set_append(reading->set, host, row->instance, row->instance_name, row->t_ns,
                             row->interval_ns, row->values);
}

static int list_hosts(struct live_window *window, const struct store_host *hosts, size_t n) {
    struct recording *recording = &window->recording;
    recording->hosts = calloc(n + 1, sizeof *recording->hosts);
    window->last_ns = malloc((n + 1) * sizeof *window->last_ns);
    if (!recording->hosts || !window->last_ns)
        return -ENOMEM;
    for (; recording->n_hosts < n; recording->n_hosts++) {
        window->last_ns[recording->n_hosts] = VALUE_ABSENT;
        recording->hosts[recording->n_hosts] = strdup(hosts[recording->n_hosts].name);
        if (!recording->hosts[recording->n_hosts])
            return -ENOMEM;
    }
    return 0;
}

static int read_table(struct store *store, int64_t run, enum recording_table table,
                      struct reading *reading) {
    const struct recording_columns *columns = &recording_columns[table];
    bool events = all_tables[table].kind == TABLE_EVENTS;
    struct reading of = *reading;
    of.set = &reading->window->recording.tables[table];
    if (events) /* told once */
        of.begin_ns = INT64_MIN;
    int result = (events ? store_each_row : store_each_row_joined)(
        store, run, columns->table, columns->columns, columns->n, take_row_of_moment, &of);
    return result == -ENOENT ? 0 : result;
}

int live_window_read(struct live_window *window, struct store *store, int64_t run,
                     int64_t moment_ns) {
    struct store_host *hosts;
    size_t n;
    int result = store_list_hosts(store, run, &hosts, &n);
    if (result < 0)
        return result;
    struct reading reading = {.window = window,
                              .hosts = hosts,
                              .begin_ns = moment_ns - LIVE_WINDOW_NS,
                              .end_ns = moment_ns};
    result = list_hosts(window, hosts, n);
    for (size_t t = 0; result == 0 && t < LIVE_TABLES; t++)
        result = read_table(store, run, live_window_tables[t], &reading);
    store_hosts_free(hosts, n);
    return result;
}
