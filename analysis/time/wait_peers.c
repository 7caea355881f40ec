/* SPDX-License-Identifier: MIT */
#include "analysis/time/wait_peers.h"

#include <errno.h>
#include <stdlib.h>

struct end {
    const struct series *series;
    bool clocked; /* from table socket_wait rather than table connection */
};

struct wait_ends {
    const struct recording *recording;
    struct end *items; /* sorted by key */
    size_t n;
};

static int compare_ends(const void *a, const void *b) {
    const struct end *x = a, *y = b;
    return key_compare_ends(&x->series->key, &y->series->key);
}

static void add_connection_ends(const struct series_set *set, bool clocked,
                                struct wait_ends *ends) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].n && set->items[s].key.form == KEY_CONNECTION)
            ends->items[ends->n++] = (struct end){&set->items[s], clocked};
}

int wait_ends_make(const struct recording *recording, struct wait_ends **ret_ends) {
    const struct series_set *sockets = &recording->tables[RECORDING_SOCKET_WAIT];
    const struct series_set *connections = &recording->tables[RECORDING_CONNECTION];
    struct wait_ends *ends = calloc(1, sizeof *ends);
    if (ends)
        ends->items = calloc(sockets->n + connections->n + 1, sizeof *ends->items);
    if (!ends || !ends->items) {
        wait_ends_free(ends);
        return -ENOMEM;
    }
    ends->recording = recording;
    add_connection_ends(sockets, true, ends);
    add_connection_ends(connections, false, ends);
    if (ends->n)
        qsort(ends->items, ends->n, sizeof *ends->items, compare_ends);
    *ret_ends = ends;
    return 0;
}

void wait_ends_free(struct wait_ends *ends) {
    if (ends)
        free(ends->items);
    free(ends);
}

/* Ranks the candidates for a connection's other end. A loopback address stays on its host, and two
 * hosts may use the same ports there. Any other address belongs to one host; but if two hosts share
 * a kernel, both may have clocked a process that moved from one to the other: it counts where it
 * moved to.
 */
static int worth_of(const struct end *end, int host) {
    bool here = end->series->host == host;
    return key_address_is_loopback(&end->series->key.ends[1].address) ? here : 2 - here;
}

static const struct series *far_end(const struct wait_ends *ends, const struct series *near,
                                    bool clocked) {
    if (near->key.form != KEY_CONNECTION)
        return NULL;
    struct table_key far = key_mirror(&near->key);
    const struct end *best = NULL;
    size_t low = 0, high = ends->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (key_compare_ends(&ends->items[middle].series->key, &far) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < ends->n && key_compare_ends(&ends->items[low].series->key, &far) == 0; low++) {
        const struct end *end = &ends->items[low];
        int worth = worth_of(end, near->host);
        if (end->clocked == clocked && worth && (!best || worth > worth_of(best, near->host)))
            best = end;
    }
    return best ? best->series : NULL;
}

static size_t member_of(const struct wait_member *members, size_t n, int host, int64_t pid) {
    for (size_t i = 0; i < n && pid != VALUE_ABSENT; i++)
        if (members[i].host == host && members[i].pid == pid)
            return i;
    return SIZE_MAX;
}

static void find_far(const struct wait_ends *ends, const struct wait_member *members, size_t n,
                     size_t who, struct wait_peers *peers) {
    const struct process_waits *waits = &members[who].waits;
    const struct series_set *tables = ends->recording->tables;
    for (size_t s = 0; s < waits->n_sockets; s++) {
        const struct series *far = far_end(ends, waits->sockets[s], true);
        const struct series *sent = far_end(ends, waits->sockets[s], false);
        const struct series *known = far ? far : sent;
        peers->far[s] = far;
        peers->sent[s] = sent;
        peers->sockets[s] = SIZE_MAX;
        if (!known)
            continue;
        int64_t pid = far ? series_last(&tables[RECORDING_SOCKET_WAIT], far, SOCKET_WAIT_PID)
                          : series_last(&tables[RECORDING_CONNECTION], sent, CONNECTION_PID);
        peers->sockets[s] = member_of(members, n, known->host, pid);
    }
}

int wait_peers_find(const struct wait_ends *ends, const struct wait_member *members, size_t n,
                    size_t who, struct wait_peers *ret_peers) {
    const struct process_waits *waits = &members[who].waits;
    const struct series_set *wakeups = &ends->recording->tables[RECORDING_WAKEUP];
    struct wait_peers peers = {.sockets = calloc(waits->n_sockets + 1, sizeof *peers.sockets),
                               .wakeups = calloc(waits->n_wakeups + 1, sizeof *peers.wakeups),
                               .far = calloc(waits->n_sockets + 1, sizeof *peers.far),
                               .sent = calloc(waits->n_sockets + 1, sizeof *peers.sent)};
    if (!peers.sockets || !peers.wakeups || !peers.far || !peers.sent) {
        wait_peers_release(&peers);
        return -ENOMEM;
    }
    find_far(ends, members, n, who, &peers);
    for (size_t w = 0; w < waits->n_wakeups; w++)
        peers.wakeups[w] = member_of(members, n, members[who].host,
                                     series_last(wakeups, waits->wakeups[w], WAKEUP_WAKER));
    *ret_peers = peers;
    return 0;
}

void wait_peers_release(struct wait_peers *peers) {
    free(peers->sockets);
    free(peers->wakeups);
    free(peers->far);
    free(peers->sent);
    *peers = (struct wait_peers){0};
}
