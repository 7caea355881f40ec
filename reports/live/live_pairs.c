/* SPDX-License-Identifier: MIT */
/*
 * The pairs of hosts that exchange most, by the job's TCP connections and, with --flows, by all
 * packets. If a pair's packets were counted they give its rates, since they are all of its traffic;
 * the number of connections stays that of the job.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/flow_ends.h"
#include "common/error.h"
#include "reports/live/live_private.h"

#define BIT(column) (UINT64_C(1) << (column))

/* One host's count of its traffic with another: by a connection, or by packets on an interface. */
struct end {
    int host, peer; /* indexes of the snapshot's hosts; peer -1: none of them */
    struct key_address address;
    bool packets;
    int teller; /* the host that counted packets; 0 for connections */
    struct span interface;
    double send, receive; /* bytes per second */
};

/* Orients it from the lower to the higher host; a peer without an index is always second. */
static void turn(struct end *end) {
    double send = end->send;
    int host = end->host;
    if (end->peer >= end->host || end->peer < 0)
        return;
    end->host = end->peer;
    end->peer = host;
    end->send = end->receive;
    end->receive = send;
}

static int compare_ends_pairs(const struct end *x, const struct end *y) {
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    return x->peer < 0 ? memcmp(&x->address, &y->address, sizeof x->address) : 0;
}

static int compare_tellers(const struct end *x, const struct end *y) {
    if (x->packets != y->packets)
        return x->packets ? 1 : -1;
    if (x->teller != y->teller)
        return x->teller < y->teller ? -1 : 1;
    if (x->interface.size != y->interface.size)
        return x->interface.size < y->interface.size ? -1 : 1;
    return x->packets ? memcmp(x->interface.data, y->interface.data, x->interface.size) : 0;
}

static int compare_ends(const void *a, const void *b) {
    int order = compare_ends_pairs(a, b);
    return order ? order : compare_tellers(a, b);
}

/* Returns false if it stays within the host. */
static bool read_address(const struct series *series, struct end *end) {
    const struct key_address *far = flow_far_end(&series->key);
    if (far)
        end->address = *far;
    return far;
}

/* Each end of a connection counts its own sending, if both are recorded. */
static bool read_connection(const struct live_window *window, const struct series *series,
                            struct window now, struct end *end) {
    const struct series_set *set = &window->recording.tables[RECORDING_CONNECTION];
    if (end->peer < 0 && !read_address(series, end))
        return false;
    end->send = live_window_growth(set, series, BIT(CONNECTION_SEND_BYTES), now);
    end->receive =
        end->peer >= 0 ? 0 : live_window_growth(set, series, BIT(CONNECTION_RECEIVE_BYTES), now);
    return true;
}

static bool read_packets(const struct live_window *window, const struct series *series,
                         struct window now, struct end *end) {
    const struct series_set *flows = &window->recording.tables[RECORDING_FLOW];
    if (!read_address(series, end))
        return false;
    end->interface = series->key.interface;
    end->packets = true;
    end->teller = series->host;
    end->send = live_window_growth(flows, series, BIT(FLOW_SEND_BYTES), now);
    end->receive = live_window_growth(flows, series, BIT(FLOW_RECEIVE_BYTES), now);
    return true;
}

typedef bool end_reader(const struct live_window *window, const struct series *series,
                        struct window now, struct end *end);

static size_t list_ends(const struct live_picture *picture, const struct live_window *window,
                        const struct series_set *set, const int *to, end_reader *read,
                        struct end *ends) {
    size_t n = 0;
    for (size_t s = 0; s < set->n; s++) {
        struct end *end = &ends[n];
        struct window now;
        if (!live_window_now_of(window, &set->items[s], &now))
            continue;
        *end = (struct end){.host = picture->place[set->items[s].host],
                            .peer = to[s] < 0 ? -1 : picture->place[to[s]]};
        if (!read(window, &set->items[s], now, end))
            continue;
        end->send = isnan(end->send) ? 0 : end->send / 1e6;
        end->receive = isnan(end->receive) ? 0 : end->receive / 1e6;
        turn(end);
        n++;
    }
    return n;
}

static int compare_pairs(const void *a, const void *b) {
    const struct live_pair *x = a, *y = b;
    double of_x = x->send_mb_s + x->receive_mb_s, of_y = y->send_mb_s + y->receive_mb_s;
    return (of_x < of_y) - (of_x > of_y);
}

static struct live_pair pair_of(struct live_picture *picture, const struct end *end) {
    const struct live_host *hosts = picture->snapshot.hosts;
    char address[KEY_ADDRESS_SIZE];
    key_address_write(&end->address, address);
    return (struct live_pair){.host = end->host,
                              .peer = end->peer,
                              .host_name = hosts[end->host].name,
                              .peer_name = end->peer >= 0
                                               ? hosts[end->peer].name
                                               : live_keep(picture, address, strlen(address))};
}

/* Adds the sorted ends of one pair. The same packets may pass several interfaces of a host, such as
 * a bridge, and both hosts count them: the largest count of one host counts.
 */
static void add_up(struct live_pair *pair, const struct end *ends, size_t n) {
    size_t i = 0;
    for (; i < n && !ends[i].packets; i++) {
        pair->send_mb_s += ends[i].send;
        pair->receive_mb_s += ends[i].receive;
        pair->connections++; /* a connection with two recorded ends appears twice */
    }
    if (pair->peer >= 0)
        pair->connections = (pair->connections + 1) / 2;
    if (i < n)
        pair->send_mb_s = pair->receive_mb_s = 0;
    while (i < n) {
        size_t first = i;
        double send = 0, receive = 0;
        for (; i < n && compare_tellers(&ends[first], &ends[i]) == 0; i++) {
            send += ends[i].send;
            receive += ends[i].receive;
        }
        pair->send_mb_s = fmax(pair->send_mb_s, send);
        pair->receive_mb_s = fmax(pair->receive_mb_s, receive);
    }
}

static int add_pairs(struct live_picture *picture, struct end *ends, size_t n) {
    struct live_snapshot *snapshot = &picture->snapshot;
    snapshot->pairs = calloc(n + 1, sizeof *snapshot->pairs);
    if (!snapshot->pairs)
        return -ENOMEM;
    if (n)
        qsort(ends, n, sizeof *ends, compare_ends);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_ends_pairs(&ends[i], &ends[end]) == 0;)
            end++;
        struct live_pair *pair = &snapshot->pairs[snapshot->n_pairs++];
        *pair = pair_of(picture, &ends[i]);
        add_up(pair, &ends[i], end - i);
    }
    qsort(snapshot->pairs, snapshot->n_pairs, sizeof *snapshot->pairs, compare_pairs);
    if (snapshot->n_pairs > LIVE_PAIRS_MAX)
        snapshot->n_pairs = LIVE_PAIRS_MAX;
    return 0;
}

int live_fill_pairs(struct live_picture *picture, const struct live_window *window) {
    const struct series_set *connections = &window->recording.tables[RECORDING_CONNECTION];
    const struct series_set *flows = &window->recording.tables[RECORDING_FLOW];
    int *to = malloc((connections->n + flows->n + 1) * sizeof *to);
    struct end *ends = malloc((connections->n + flows->n + 1) * sizeof *ends);
    int result = to && ends ? flow_ends(connections, to) : -ENOMEM;
    if (result == 0)
        result = flow_ends(flows, to + connections->n);
    if (result == 0) {
        size_t n = list_ends(picture, window, connections, to, read_connection, ends);
        n += list_ends(picture, window, flows, to + connections->n, read_packets, ends + n);
        result = add_pairs(picture, ends, n);
    }
    free(to);
    free(ends);
    return result;
}
