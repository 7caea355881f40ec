/* SPDX-License-Identifier: MIT */
/* The busiest processes, and the pairs of hosts that exchange most. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/flow_ends.h"
#include "common/error.h"
#include "reports/live/live_private.h"

#define BIT(column) (UINT64_C(1) << (column))

/* ---- processes ---- */

/* The name of a series is "name[pid]". */
static size_t name_size(const char *name) {
    size_t size = strlen(name), digits = size;
    if (!size || name[size - 1] != ']')
        return size;
    for (digits = size - 1; digits && name[digits - 1] >= '0' && name[digits - 1] <= '9';)
        digits--;
    return digits > 1 && name[digits - 1] == '[' ? digits - 1 : size;
}

static void fill_process(struct live_picture *picture, const struct series_set *set,
                         const struct series *series, struct window now, struct live_process *to) {
    int64_t rank = series_last(set, series, PROCESS_RANK), pid, rss;
    pid = series_last(set, series, PROCESS_PID);
    rss = series_last(set, series, PROCESS_RSS);
    *to = (struct live_process){
        .host = picture->place[series->host],
        .pid = pid < 0 ? -1 : pid,
        .rank = rank < 0 || rank > INT32_MAX ? -1 : (int)rank,
        .job = series_last(set, series, PROCESS_JOB) == 1,
        .name = live_keep(picture, series->name, name_size(series->name)),
        .cpu_pct =
            live_window_growth(set, series, BIT(PROCESS_USER) | BIT(PROCESS_SYSTEM), now) / 1e7,
        .run_queue_pct = live_window_growth(set, series, BIT(PROCESS_RUN_QUEUE), now) / 1e7,
        .memory_gb = rss < 0 ? NAN : (double)rss / 1e9,
        .read_mb_s = live_window_growth(set, series, BIT(PROCESS_READ), now) / 1e6,
        .write_mb_s = live_window_growth(set, series, BIT(PROCESS_WRITE), now) / 1e6,
        .threads = series_last(set, series, PROCESS_THREADS)};
    if (to->threads < 0)
        to->threads = -1;
}

/* The most first, what is not known last. */
static int compare_numbers(double x, double y) {
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x < y) - (x > y);
}

static int compare_processes(const void *a, const void *b) {
    const struct live_process *x = a, *y = b;
    int order = compare_numbers(x->cpu_pct, y->cpu_pct);
    if (!order)
        order = compare_numbers(x->memory_gb, y->memory_gb);
    return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

int live_fill_processes(struct live_picture *picture, const struct live_window *window) {
    const struct series_set *set = &window->recording.tables[RECORDING_PROCESS];
    struct live_snapshot *snapshot = &picture->snapshot;
    struct window now;
    snapshot->processes = calloc(set->n + 1, sizeof *snapshot->processes);
    if (!snapshot->processes)
        return -ENOMEM;
    for (size_t s = 0; s < set->n; s++)
        if (live_window_now_of(window, &set->items[s], &now))
            fill_process(picture, set, &set->items[s], now,
                         &snapshot->processes[snapshot->n_processes++]);
    qsort(snapshot->processes, snapshot->n_processes, sizeof *snapshot->processes,
          compare_processes);
    if (snapshot->n_processes > LIVE_PROCESSES_MAX)
        snapshot->n_processes = LIVE_PROCESSES_MAX;
    return 0;
}

/* ---- pairs ---- */

/* One connection, as its own end counts it. If both ends are recorded, each counts its own
 * sending. */
struct end {
    int host, peer; /* of the snapshot; peer -1: none of its */
    char address[FLOW_ADDRESS_SIZE];
    double send, receive;
};

/* From the lower host to the higher; a peer without number is the second anyway. */
static void turn(struct end *end) {
    if (end->peer >= end->host || end->peer < 0)
        return;
    *end = (struct end){.host = end->peer, .peer = end->host, .receive = end->send};
}

static int compare_ends(const void *a, const void *b) {
    const struct end *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    return strcmp(x->address, y->address);
}

static size_t list_ends(const struct live_picture *picture, const struct live_window *window,
                        const int *to, struct end *ends) {
    const struct series_set *set = &window->recording.tables[RECORDING_CONNECTION];
    size_t n = 0;
    for (size_t s = 0; s < set->n; s++) {
        struct end *end = &ends[n];
        struct window now;
        if (!live_window_now_of(window, &set->items[s], &now))
            continue;
        *end = (struct end){
            .host = picture->place[set->items[s].host],
            .peer = to[s] < 0 ? -1 : picture->place[to[s]],
            .send = live_window_growth(set, &set->items[s], BIT(CONNECTION_SEND_BYTES), now)};
        if (to[s] < 0 && !flow_far_end(set->items[s].name, end->address))
            continue; /* within the host */
        if (to[s] < 0)
            end->receive =
                live_window_growth(set, &set->items[s], BIT(CONNECTION_RECEIVE_BYTES), now);
        turn(end);
        n++;
    }
    if (n)
        qsort(ends, n, sizeof *ends, compare_ends);
    return n;
}

static double known(double value) {
    return isnan(value) ? 0 : value;
}

static int compare_pairs(const void *a, const void *b) {
    const struct live_pair *x = a, *y = b;
    return compare_numbers(x->send_mb_s + x->receive_mb_s, y->send_mb_s + y->receive_mb_s);
}

static struct live_pair pair_of(struct live_picture *picture, const struct end *end) {
    const struct live_host *hosts = picture->snapshot.hosts;
    return (struct live_pair){
        .host = end->host,
        .peer = end->peer,
        .host_name = hosts[end->host].name,
        .peer_name = end->peer >= 0 ? hosts[end->peer].name
                                    : live_keep(picture, end->address, strlen(end->address))};
}

static int add_ends(struct live_picture *picture, const struct end *ends, size_t n) {
    struct live_snapshot *snapshot = &picture->snapshot;
    snapshot->pairs = calloc(n + 1, sizeof *snapshot->pairs);
    if (!snapshot->pairs)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!i || compare_ends(&ends[i - 1], &ends[i]) != 0)
            snapshot->pairs[snapshot->n_pairs++] = pair_of(picture, &ends[i]);
        struct live_pair *pair = &snapshot->pairs[snapshot->n_pairs - 1];
        pair->send_mb_s += known(ends[i].send) / 1e6;
        pair->receive_mb_s += known(ends[i].receive) / 1e6;
        pair->connections++; /* one whose both ends are recorded is seen twice */
    }
    for (size_t i = 0; i < snapshot->n_pairs; i++)
        if (snapshot->pairs[i].peer >= 0)
            snapshot->pairs[i].connections = (snapshot->pairs[i].connections + 1) / 2;
    qsort(snapshot->pairs, snapshot->n_pairs, sizeof *snapshot->pairs, compare_pairs);
    if (snapshot->n_pairs > LIVE_PAIRS_MAX)
        snapshot->n_pairs = LIVE_PAIRS_MAX;
    return 0;
}

int live_fill_pairs(struct live_picture *picture, const struct live_window *window) {
    const struct series_set *set = &window->recording.tables[RECORDING_CONNECTION];
    int *to = malloc((set->n + 1) * sizeof *to);
    struct end *ends = malloc((set->n + 1) * sizeof *ends);
    int result = to && ends ? flow_ends(set, to) : -ENOMEM;
    if (result == 0)
        result = add_ends(picture, ends, list_ends(picture, window, to, ends));
    free(to);
    free(ends);
    return result;
}
