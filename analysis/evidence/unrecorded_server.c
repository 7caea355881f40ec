/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/unrecorded_server.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"

/* Time of one process for one port of its host. */
struct wait {
    int host;
    int64_t pid;
    uint16_t port;
    bool serves;
    double ns;
};

/* ---- the far ends of the job's connections ---- */

static int compare_job_ends(const void *a, const void *b) {
    return key_compare_ends(*(const struct table_key *const *)a,
                            *(const struct table_key *const *)b);
}

struct job_ends { /* own ends of the job, of all hosts; sorted, borrowed */
    const struct table_key **items;
    size_t n;
};

static void add_ends(const struct series_set *set, struct job_ends *ends) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].n && set->items[s].key.form == KEY_CONNECTION)
            ends->items[ends->n++] = &set->items[s].key;
}

static int find_ends(const struct recording *recording, struct job_ends *ret_ends) {
    const struct series_set *sockets = &recording->tables[RECORDING_SOCKET_WAIT];
    const struct series_set *connections = &recording->tables[RECORDING_CONNECTION];
    struct job_ends ends = {calloc(sockets->n + connections->n + 1, sizeof *ends.items), 0};
    if (!ends.items)
        return -ENOMEM;
    add_ends(sockets, &ends);
    add_ends(connections, &ends);
    if (ends.n)
        qsort(ends.items, ends.n, sizeof *ends.items, compare_job_ends);
    *ret_ends = ends;
    return 0;
}

/* The other end lies on the same host, at an address of its own or on the loopback. */
static bool stays_on_host(const struct table_key *key) {
    const struct key_address *own = &key->ends[0].address, *far = &key->ends[1].address;
    return key_address_is_loopback(far) || memcmp(own, far, sizeof *own) == 0;
}

static bool is_of_job(const struct job_ends *ends, const struct table_key *key) {
    struct table_key mirror = key_mirror(key), *far = &mirror;
    return bsearch(&far, ends->items, ends->n, sizeof *ends->items, compare_job_ends);
}

enum serving { SERVES_NOT, MAY_SERVE, SERVES };

#define FIRST_CLIENT_PORT 32768 /* the kernel gives clients ports from here on, by default */

/* A server's port is shared by more connections than a client's. The port below
 * those of clients is the server's if there is a single connection.
 */
static enum serving far_end_serves(const struct job_ends *ends, const struct table_key *key) {
    size_t same_own = 0, same_far = 0;
    bool own_low = key->ends[0].port < FIRST_CLIENT_PORT;
    bool far_low = key->ends[1].port < FIRST_CLIENT_PORT;
    for (size_t i = 0; i < ends->n; i++) {
        same_own += ends->items[i]->ends[0].port == key->ends[0].port;
        same_far += ends->items[i]->ends[1].port == key->ends[1].port;
    }
    if (same_far != same_own)
        return same_far > same_own ? SERVES : SERVES_NOT;
    return own_low == far_low ? MAY_SERVE : far_low ? SERVES : SERVES_NOT;
}

/* ---- waits ---- */

/* While all threads of the process were blocked, until data came: a connection on which nothing
 * ever comes, such as that of a session's bus, is no wait for a server. */
static double waited_ns(const struct recording *recording, const struct series *series) {
    const struct series_set *set = &recording->tables[RECORDING_SOCKET_WAIT];
    const struct window all = {0, recording->duration_ns};
    const struct windows windows = {&all, 1};
    return stats_or_zero(series_growth(set, series, SOCKET_WAIT_PROCESS_STARVED, windows, NULL)) +
           stats_or_zero(
               series_growth(set, series, SOCKET_WAIT_PROCESS_SEND_BLOCKED, windows, NULL));
}

/* Adds up what a process waited for one port: it may have had many connections to it. */
static void add_wait(struct wait *waits, size_t *n, struct wait wait) {
    size_t i = 0;
    while (i < *n &&
           (waits[i].host != wait.host || waits[i].pid != wait.pid || waits[i].port != wait.port))
        i++;
    if (i == *n)
        waits[(*n)++] = wait;
    else
        waits[i].ns += wait.ns, waits[i].serves |= wait.serves;
}

static size_t list_waits(const struct recording *recording, const struct job_ends *ends,
                         struct wait *waits) {
    const struct series_set *set = &recording->tables[RECORDING_SOCKET_WAIT];
    size_t n = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *series = &set->items[s];
        const struct table_key *key = &series->key;
        if (!series->n || key->form != KEY_CONNECTION || !stays_on_host(key) ||
            is_of_job(ends, key))
            continue;
        enum serving serving = far_end_serves(ends, key);
        if (serving != SERVES_NOT)
            add_wait(waits, &n,
                     (struct wait){series->host, series_last(set, series, SOCKET_WAIT_PID),
                                   key->ends[1].port, serving == SERVES,
                                   waited_ns(recording, series)});
    }
    return n;
}

int unrecorded_server_find(const struct run_model *model, struct unrecorded_server *ret_server) {
    const struct recording *recording = model->recording;
    const struct wait *longest = NULL;
    struct job_ends ends = {0};
    struct wait *waits = calloc(recording->tables[RECORDING_SOCKET_WAIT].n + 1, sizeof *waits);
    int result = waits ? find_ends(recording, &ends) : -ENOMEM;
    size_t n = result == 0 ? list_waits(recording, &ends, waits) : 0;
    for (size_t i = 0; i < n; i++)
        if (waits[i].ns > 0 && (!longest || waits[i].ns > longest->ns))
            longest = &waits[i];
    if (longest && recording->duration_ns > 0) {
        *ret_server = (struct unrecorded_server){
            .host = longest->host,
            .port = longest->port,
            .serves = longest->serves,
            .pid = longest->pid,
            .share = fmin(1, longest->ns / (double)recording->duration_ns)};
        result = 1;
    }
    free(ends.items);
    free(waits);
    return result;
}
