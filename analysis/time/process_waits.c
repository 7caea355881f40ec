/* SPDX-License-Identifier: MIT */
/*
 * A process that polls, or waits for a lock, waits until another process acts, or until a time that
 * it chose. Only the first is waiting for a peer, up to the time for which connections and pairs
 * show which peer it was. A process blocked in a receive call, on a pipe or for a child always
 * waits for another process.
 */
#include "analysis/time/process_waits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int find_series(const struct series_set *set, int host, int64_t pid,
                       const struct series ***ret_found, size_t *ret_n) {
    struct series_range range = series_set_of_host(set, host);
    const struct series **found = calloc(range.end - range.begin + 1, sizeof *found);
    size_t n = 0;
    *ret_found = found;
    *ret_n = 0;
    if (!found)
        return -ENOMEM;
    for (size_t s = range.begin; s < range.end; s++)
        if (set->items[s].host == host && series_last(set, &set->items[s], 0) == pid)
            found[n++] = &set->items[s];
    *ret_n = n;
    return 0;
}

_Static_assert(WAIT_PID == 0 && SOCKET_WAIT_PID == 0 && WAKEUP_PID == 0, "find_series");

static double sum_of(const struct series_set *set, const struct series *series, size_t column) {
    double sum = 0;
    for (size_t row = 0; row < series->n; row++) {
        int64_t value = series_value(set, series, row, column);
        sum += value == VALUE_ABSENT ? 0 : (double)value;
    }
    return sum;
}

static double *parts_of(const struct series_set *set, const struct series *const *items, size_t n,
                        size_t threads, size_t process) {
    double *parts = calloc(n + 1, sizeof *parts);
    for (size_t i = 0; parts && i < n; i++) {
        double all = sum_of(set, items[i], threads);
        parts[i] = all > 0 ? fmin(1, sum_of(set, items[i], process) / all) : 0;
    }
    return parts;
}

static int find_parts(struct process_waits *w) {
    const struct series_set *sockets = &w->recording->tables[RECORDING_SOCKET_WAIT];
    const struct series_set *wakeups = &w->recording->tables[RECORDING_WAKEUP];
    w->starved_parts = parts_of(sockets, w->sockets, w->n_sockets, SOCKET_WAIT_STARVED,
                                SOCKET_WAIT_PROCESS_STARVED);
    w->blocked_parts = parts_of(sockets, w->sockets, w->n_sockets, SOCKET_WAIT_SEND_BLOCKED,
                                SOCKET_WAIT_PROCESS_SEND_BLOCKED);
    w->wakeup_parts = parts_of(wakeups, w->wakeups, w->n_wakeups, WAKEUP_WAIT, WAKEUP_PROCESS);
    return w->starved_parts && w->blocked_parts && w->wakeup_parts ? 0 : -ENOMEM;
}

int process_waits_find(const struct recording *recording, int host, int64_t pid,
                       struct process_waits *ret_waits) {
    struct process_waits waits = {.recording = recording};
    const struct series_set *tables = recording->tables;
    int result = find_series(&tables[RECORDING_WAIT], host, pid, &waits.clocks, &waits.n_clocks);
    if (result == 0)
        result = find_series(&tables[RECORDING_SOCKET_WAIT], host, pid, &waits.sockets,
                             &waits.n_sockets);
    if (result == 0)
        result =
            find_series(&tables[RECORDING_WAKEUP], host, pid, &waits.wakeups, &waits.n_wakeups);
    if (result == 0)
        result = find_parts(&waits);
    if (result < 0)
        process_waits_release(&waits);
    *ret_waits = waits;
    return result;
}

void process_waits_release(struct process_waits *waits) {
    free(waits->clocks);
    free(waits->sockets);
    free(waits->wakeups);
    free(waits->starved_parts);
    free(waits->blocked_parts);
    free(waits->wakeup_parts);
    *waits = (struct process_waits){0};
}

double process_waits_growth(const struct series_set *set, const struct series *series,
                            size_t column, struct windows windows) {
    return fmax(series_growth(set, series, column, windows, NULL), 0);
}

double process_waits_starved(const struct process_waits *waits, size_t socket,
                             struct windows windows) {
    return waits->starved_parts[socket] *
           process_waits_growth(&waits->recording->tables[RECORDING_SOCKET_WAIT],
                                waits->sockets[socket], SOCKET_WAIT_STARVED, windows);
}

double process_waits_blocked(const struct process_waits *waits, size_t socket,
                             struct windows windows) {
    return waits->blocked_parts[socket] *
           process_waits_growth(&waits->recording->tables[RECORDING_SOCKET_WAIT],
                                waits->sockets[socket], SOCKET_WAIT_SEND_BLOCKED, windows);
}

double process_waits_woken(const struct process_waits *waits, size_t wakeup,
                           struct windows windows) {
    return waits->wakeup_parts[wakeup] *
           process_waits_growth(&waits->recording->tables[RECORDING_WAKEUP], waits->wakeups[wakeup],
                                WAKEUP_WAIT, windows);
}

bool process_waits_is_name(const struct series_set *wakeups, const struct series *pair) {
    return series_last(wakeups, pair, WAKEUP_REASON) == WAIT_REASON_NAME ||
           key_is_name_server(&pair->key);
}

int process_waits_kind(const struct series_set *wakeups, const struct series *pair) {
    if (process_waits_is_name(wakeups, pair))
        return -1;
    switch (series_last(wakeups, pair, WAKEUP_REASON)) {
    case WAIT_REASON_POLL:
        return WAIT_KIND_MESSAGE;
    case WAIT_REASON_FUTEX:
        return WAIT_KIND_LOCK;
    case WAIT_REASON_PIPE:
    case WAIT_REASON_UNIX:
        return WAIT_KIND_PIPE;
    case WAIT_REASON_CHILD:
        return WAIT_KIND_CHILD;
    default:
        return -1;
    }
}

static double clock_in(const struct process_waits *waits, size_t column, struct windows windows) {
    const struct series_set *set = &waits->recording->tables[RECORDING_WAIT];
    double sum = 0;
    for (size_t i = 0; i < waits->n_clocks; i++)
        sum += process_waits_growth(set, waits->clocks[i], column, windows);
    return sum;
}

/* Adds the waits of a kind whose end connections and pairs explain. */
static void add_told(const struct process_waits *waits, struct windows windows,
                     double told[WAIT_KIND_COUNT_]) {
    const struct series_set *wakeups = &waits->recording->tables[RECORDING_WAKEUP];
    for (size_t i = 0; i < waits->n_sockets; i++)
        told[WAIT_KIND_MESSAGE] += process_waits_starved(waits, i, windows);
    for (size_t i = 0; i < waits->n_wakeups; i++) {
        int kind = process_waits_kind(wakeups, waits->wakeups[i]);
        if (kind >= 0)
            told[kind] += process_waits_woken(waits, i, windows);
    }
}

struct process_time process_waits_in(const struct process_waits *waits, struct windows windows) {
    double told[WAIT_KIND_COUNT_] = {0};
    add_told(waits, windows, told);
    double receive = clock_in(waits, WAIT_PROCESS_SOCKET_RECEIVE, windows);
    double poll = clock_in(waits, WAIT_PROCESS_POLL, windows);
    double lock = clock_in(waits, WAIT_PROCESS_FUTEX, windows);
    double pipe =
        clock_in(waits, WAIT_PROCESS_PIPE, windows) + clock_in(waits, WAIT_PROCESS_UNIX, windows);
    double child = clock_in(waits, WAIT_PROCESS_CHILD, windows);
    double strangers = clock_in(waits, WAIT_PROCESS_CONNECT, windows) +
                       clock_in(waits, WAIT_PROCESS_ACCEPT, windows);
    double message = fmax(receive, fmin(receive + poll, told[WAIT_KIND_MESSAGE]));
    double locked = fmin(lock, told[WAIT_KIND_LOCK]);
    return (struct process_time){.run = clock_in(waits, WAIT_PROCESS_RUN, windows),
                                 .runnable = clock_in(waits, WAIT_PROCESS_RUNNABLE, windows),
                                 .disk = clock_in(waits, WAIT_PROCESS_DISK, windows),
                                 .fault = clock_in(waits, WAIT_PROCESS_FAULT, windows),
                                 .stopped = clock_in(waits, WAIT_PROCESS_STOPPED, windows),
                                 .send = clock_in(waits, WAIT_PROCESS_SOCKET_SEND, windows),
                                 .asleep = clock_in(waits, WAIT_PROCESS_TIMER, windows) +
                                           clock_in(waits, WAIT_PROCESS_KERNEL, windows) +
                                           clock_in(waits, WAIT_PROCESS_OTHER, windows) + receive +
                                           poll - message + lock - locked,
                                 .peer = message + locked + pipe + child + strangers,
                                 .pool = {[WAIT_KIND_MESSAGE] = receive + poll,
                                          [WAIT_KIND_LOCK] = lock,
                                          [WAIT_KIND_PIPE] = pipe,
                                          [WAIT_KIND_CHILD] = child}};
}
