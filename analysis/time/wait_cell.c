/* SPDX-License-Identifier: MIT */
/* Finds how long processes waited for each other in a cell. */
#include <math.h>

#include "analysis/time/wait_chain_private.h"

struct told { /* who ended the waits of a kind, ns */
    double by[MEMBERS_MAX], all;
};

static void tell(struct told *told, size_t whom, double ns) {
    told->all += ns;
    if (whom != SIZE_MAX)
        told->by[whom] += ns;
}

/* A sender waits for its reader while unread data lie there; otherwise for the link. */
static void add_blocked(const struct wait_chain *chain, size_t who, size_t socket, double blocked,
                        struct windows cell, double length, struct cell_waits *waits) {
    const struct series_set *set = &chain->model->recording->tables[RECORDING_SOCKET_WAIT];
    const struct wait_peers *peers = &chain->times[who].peers;
    size_t whom = peers->sockets[socket];
    if (whom == SIZE_MAX || blocked <= 0)
        return;
    double unread = peers->far[socket]
                        ? process_waits_growth(set, peers->far[socket], SOCKET_WAIT_UNREAD, cell)
                        : 0;
    double for_reader = fmin(blocked, unread) / length;
    waits->peer[who][whom] += for_reader;
    waits->kinds[WAIT_KIND_MESSAGE][who][whom] += for_reader;
    waits->readers[who] += for_reader;
    waits->blocked[who][whom] += blocked / length - for_reader;
}

/* While a receiver holds up its sender, data are under way, too, but wait for no one else. */
static void add_sent(const struct wait_chain *chain, size_t who, size_t socket, struct windows cell,
                     double length, struct cell_waits *waits) {
    const struct series_set *set = &chain->model->recording->tables[RECORDING_CONNECTION];
    const struct series *sent = chain->times[who].peers.sent[socket];
    size_t whom = chain->times[who].peers.sockets[socket];
    if (whom == SIZE_MAX || !sent)
        return;
    double busy = process_waits_growth(set, sent, CONNECTION_BUSY, cell) -
                  process_waits_growth(set, sent, CONNECTION_RWND_LIMITED, cell);
    waits->bytes[who][whom] += process_waits_growth(set, sent, CONNECTION_SEND_BYTES, cell);
    waits->sent[who][whom] = fmax(waits->sent[who][whom], fmin(busy / length, 1));
}

static void collect_waits(const struct wait_chain *chain, size_t who, struct windows cell,
                          double length, struct told told[WAIT_KIND_COUNT_], struct told *ret_polls,
                          struct cell_waits *waits) {
    const struct series_set *wakeups = &chain->model->recording->tables[RECORDING_WAKEUP];
    const struct process_waits *of = &chain->members[who].waits;
    const struct wait_peers *peers = &chain->times[who].peers;
    for (size_t s = 0; s < of->n_sockets; s++) {
        tell(&told[WAIT_KIND_MESSAGE], peers->sockets[s], process_waits_starved(of, s, cell));
        add_blocked(chain, who, s, process_waits_blocked(of, s, cell), cell, length, waits);
        add_sent(chain, who, s, cell, length, waits);
    }
    for (size_t w = 0; w < of->n_wakeups; w++) {
        int kind = process_waits_kind(wakeups, of->wakeups[w]);
        if (kind >= 0)
            tell(kind == WAIT_KIND_MESSAGE ? ret_polls : &told[kind], peers->wakeups[w],
                 process_waits_woken(of, w, cell));
    }
}

static size_t socket_of(const struct process_waits *of, const struct series *connection) {
    for (size_t s = 0; s < of->n_sockets; s++)
        if (of->sockets[s]->key.form == KEY_CONNECTION &&
            key_compare_ends(&of->sockets[s]->key, &connection->key) == 0)
            return s;
    return SIZE_MAX;
}

/* Divides the time in which a process polled for room among the connections with data to send. */
static void add_polled(const struct wait_chain *chain, size_t who, double room, struct windows cell,
                       double length, struct cell_waits *waits) {
    const struct process_waits *of = &chain->members[who].waits;
    double all = 0;
    for (size_t c = 0; room > 0 && c < of->n_connections; c++)
        all += process_waits_queued(of, c, cell);
    for (size_t c = 0; all > 0 && c < of->n_connections; c++) {
        size_t socket = socket_of(of, of->connections[c]);
        if (socket != SIZE_MAX)
            add_blocked(chain, who, socket, room * process_waits_queued(of, c, cell) / all, cell,
                        length, waits);
    }
}

/* Distributes a process's waits of a kind, most_ns in all, to the processes that ended them.
 * Returns the rest.
 */
static double give(const struct wait_chain *chain, size_t who, int kind, const struct told *told,
                   double most_ns, double length, struct cell_waits *waits) {
    double part = told->all > most_ns ? most_ns / told->all : 1;
    for (size_t whom = 0; whom < chain->n; whom++) {
        double share = whom == who ? 0 : told->by[whom] * part / length;
        waits->peer[who][whom] += share;
        waits->kinds[kind][who][whom] += share;
    }
    return fmax(most_ns - told->all, 0);
}

void wait_cell_find(const struct wait_chain *chain, size_t who, size_t cell,
                    struct cell_waits *waits) {
    struct windows window = {&chain->cells[cell], 1};
    double length = (double)windows_length(window);
    struct told told[WAIT_KIND_COUNT_] = {{.all = 0}}, polls = {.all = 0};
    const struct budget *budget = &chain->times[who].cells[cell];
    waits->life[who] = budget_sum(budget, (1u << BUDGET_TERMS) - 1) * 1e9 / length;
    if (!(waits->life[who] > 0) || !chain->members[who].waits.n_clocks)
        return;
    struct process_time time = process_waits_in(&chain->members[who].waits, window);
    collect_waits(chain, who, window, length, told, &polls, waits);
    add_polled(chain, who, time.polled_room, window, length, waits);
    /* the agent keeps no pair if the waker wrote to a connection, so pairs are exact */
    time.pool[WAIT_KIND_MESSAGE] =
        give(chain, who, WAIT_KIND_MESSAGE, &polls, time.pool[WAIT_KIND_MESSAGE], length, waits);
    for (int kind = 0; kind < WAIT_KIND_COUNT_; kind++)
        give(chain, who, kind, &told[kind], time.pool[kind], length, waits);
}
