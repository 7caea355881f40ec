/* SPDX-License-Identifier: MIT */
/*
 * A process that polls, or waits for a lock, waits until another process acts, or until a time that
 * it chose. Only the first is waiting for a peer, up to the time for which connections and pairs
 * show which peer it was. A process blocked in a receive call, on a pipe or for a child always
 * waits for another process.
 *
 * A thread that another thread of its process wakes was waiting for what that one did: a runtime
 * with a scheduler of its own (Go, tokio, a JVM) has one thread that polls or reads, which hands
 * the rest over. So that time of the process belongs to what its other threads were blocked in:
 * storage, memory, full connections, and peers that connections and pairs show.
 */
#include "analysis/time/process_waits.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/times.h"

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

_Static_assert(WAIT_PID == 0 && SOCKET_WAIT_PID == 0 && WAKEUP_PID == 0 && CONNECTION_PID == 0,
               "find_series");

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
        result = find_series(&tables[RECORDING_CONNECTION], host, pid, &waits.connections,
                             &waits.n_connections);
    if (result == 0)
        result = find_parts(&waits);
    if (result < 0)
        process_waits_release(&waits);
    else
        clock_fit_find(host, pid, &waits);
    *ret_waits = waits;
    return result;
}

void process_waits_release(struct process_waits *waits) {
    free(waits->clocks);
    free(waits->sockets);
    free(waits->wakeups);
    free(waits->connections);
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

double process_waits_queued(const struct process_waits *waits, size_t connection,
                            struct windows windows) {
    const struct series_set *set = &waits->recording->tables[RECORDING_CONNECTION];
    const struct series *series = waits->connections[connection];
    double sum = 0;
    for (size_t w = 0; w < windows.n; w++) {
        struct window part = windows.items[w];
        size_t row = times_until(series->t_ns, sizeof *series->t_ns, series->n, part.begin_ns);
        for (; row < series->n && part.begin_ns < windows.items[w].end_ns; row++) {
            part.end_ns = series->t_ns[row] < windows.items[w].end_ns ? series->t_ns[row]
                                                                      : windows.items[w].end_ns;
            if (series_value(set, series, row, CONNECTION_UNSENT_BYTES) > 0)
                sum +=
                    process_waits_growth(set, series, CONNECTION_BUSY, (struct windows){&part, 1});
            part.begin_ns = part.end_ns;
        }
    }
    return sum;
}

bool process_waits_is_name(const struct series_set *wakeups, const struct series *pair) {
    return series_last(wakeups, pair, WAKEUP_REASON) == WAIT_REASON_NAME ||
           key_is_name_server(&pair->key);
}

bool process_waits_is_own(const struct series_set *wakeups, const struct series *pair) {
    return series_last(wakeups, pair, WAKEUP_WAKER) == series_last(wakeups, pair, WAKEUP_PID) &&
           !process_waits_is_name(wakeups, pair);
}

int process_waits_kind(const struct series_set *wakeups, const struct series *pair) {
    if (process_waits_is_name(wakeups, pair) || process_waits_is_own(wakeups, pair))
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

double process_waits_clock(const struct process_waits *waits, size_t column,
                           struct windows windows) {
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

/* ---- hand-overs between threads of the process ---- */

/* Clocks of the process as one for waits that others may end. */
struct waits {
    double receive, poll, lock, pipe, child, strangers, timer;
};

/* Time that its own threads ended, by what the process waited for. */
struct behind {
    double disk, fault, send, message, pipe;
};

static struct waits read_waits(const struct process_waits *waits, struct windows w) {
    return (struct waits){.receive = process_waits_clock(waits, WAIT_PROCESS_SOCKET_RECEIVE, w),
                          .poll = process_waits_clock(waits, WAIT_PROCESS_POLL, w),
                          .lock = process_waits_clock(waits, WAIT_PROCESS_FUTEX, w),
                          .pipe = process_waits_clock(waits, WAIT_PROCESS_PIPE, w) +
                                  process_waits_clock(waits, WAIT_PROCESS_UNIX, w),
                          .child = process_waits_clock(waits, WAIT_PROCESS_CHILD, w),
                          .strangers = process_waits_clock(waits, WAIT_PROCESS_CONNECT, w) +
                                       process_waits_clock(waits, WAIT_PROCESS_ACCEPT, w),
                          .timer = process_waits_clock(waits, WAIT_PROCESS_TIMER, w)};
}

static double own_in(const struct process_waits *waits, int64_t reason, size_t column,
                     struct windows windows) {
    const struct series_set *set = &waits->recording->tables[RECORDING_WAKEUP];
    double sum = 0;
    for (size_t i = 0; i < waits->n_wakeups; i++)
        if (series_last(set, waits->wakeups[i], WAKEUP_REASON) == reason &&
            process_waits_is_own(set, waits->wakeups[i]))
            sum += column == WAKEUP_PROCESS
                       ? process_waits_woken(waits, i, windows)
                       : process_waits_growth(set, waits->wakeups[i], column, windows);
    return sum;
}

/* The agent guesses what a wait in progress is for. If no other process released the lock, the part
 * is taken that its waits for locks usually have.
 */
static double handed_lock(const struct process_waits *waits, double lock, double by_others,
                          struct windows windows) {
    double ends = process_waits_clock(waits, WAIT_TIMES_FUTEX, windows);
    double own = own_in(waits, WAIT_REASON_FUTEX, WAKEUP_TIMES, windows);
    double part = ends > 0 ? fmin(1, own / ends) : 0, rest = fmax(lock - by_others, 0);
    double known = own_in(waits, WAIT_REASON_FUTEX, WAKEUP_PROCESS, windows);
    return fmin(rest, fmax(known, part * rest));
}

/* Takes handed-over time out of the waits. Returns its sum. A thread that ends its sleep late in a
 * wait of the process has slept for a part of it alone.
 */
static double take_handed(const struct process_waits *waits, const double *told,
                          struct windows windows, struct waits *of) {
    double lock = handed_lock(waits, of->lock, told[WAIT_KIND_LOCK], windows);
    double poll = fmin(of->poll, own_in(waits, WAIT_REASON_POLL, WAKEUP_PROCESS, windows));
    double pipe = fmin(of->pipe, own_in(waits, WAIT_REASON_PIPE, WAKEUP_PROCESS, windows) +
                                     own_in(waits, WAIT_REASON_UNIX, WAKEUP_PROCESS, windows));
    double timer = fmax(of->timer - process_waits_clock(waits, WAIT_NS_TIMER, windows), 0);
    of->lock -= lock;
    of->poll -= poll;
    of->pipe -= pipe;
    of->timer -= timer;
    return lock + poll + pipe + timer;
}

static double clocked_in(const struct process_waits *waits, struct windows windows) {
    double sum = 0;
    for (size_t column = WAIT_PROCESS_RUN; column < WAIT_PROCESS_UNCLOCKED; column++)
        sum += process_waits_clock(waits, column, windows);
    return sum;
}

/* How much longer its threads were in a state than it was as one, within its clocked time. */
static double more_of_threads(const struct process_waits *waits, size_t threads, size_t process,
                              double clocked, struct windows windows) {
    double sum = process_waits_clock(waits, threads, windows),
           as_one = process_waits_clock(waits, process, windows);
    return fmax(fmin(sum, clocked) - as_one, 0);
}

static double sum_of_behind(const struct behind *b) {
    return b->disk + b->fault + b->send + b->message + b->pipe;
}

/* Divides handed-over time by what its threads waited for beyond the waits of the process as one.
 */
static struct behind find_behind(const struct process_waits *waits, double handed,
                                 const double *told, const struct waits *of,
                                 struct windows windows) {
    double clocked = handed > 0 ? clocked_in(waits, windows) : 0;
    struct behind b = {
        .disk = more_of_threads(waits, WAIT_NS_DISK, WAIT_PROCESS_DISK, clocked, windows),
        .fault = more_of_threads(waits, WAIT_NS_FAULT, WAIT_PROCESS_FAULT, clocked, windows),
        .send =
            more_of_threads(waits, WAIT_NS_SOCKET_SEND, WAIT_PROCESS_SOCKET_SEND, clocked, windows),
        .message = fmax(told[WAIT_KIND_MESSAGE] - of->receive - of->poll, 0),
        .pipe = fmax(told[WAIT_KIND_PIPE] - of->pipe, 0)};
    double all = sum_of_behind(&b), part = all > handed ? handed / all : 1;
    return (struct behind){b.disk * part, b.fault * part, b.send * part, b.message * part,
                           b.pipe * part};
}

/* ---- as terms ---- */

/* How long the process polled for room in a connection: it sent next, or data lay there that could
 * not be sent yet. most: polled, and for no peer that is known.
 */
static double polled_room(const struct process_waits *waits, double most, struct windows windows) {
    double told = -process_waits_clock(waits, WAIT_PROCESS_SOCKET_SEND, windows), queued = 0;
    if (!(most > 0))
        return 0;
    for (size_t i = 0; i < waits->n_sockets; i++)
        told += process_waits_blocked(waits, i, windows);
    for (size_t i = 0; i < waits->n_connections; i++)
        queued = fmax(queued, process_waits_queued(waits, i, windows));
    return fmin(most, fmax(told, queued));
}

static struct process_time terms_of(const struct process_waits *waits, const struct waits *of,
                                    const struct behind *behind, double locked, double message,
                                    double room, double asleep, struct windows w) {
    return (struct process_time){
        .run = process_waits_clock(waits, WAIT_PROCESS_RUN, w),
        .runnable = process_waits_clock(waits, WAIT_PROCESS_RUNNABLE, w),
        .disk = process_waits_clock(waits, WAIT_PROCESS_DISK, w) + behind->disk,
        .fault = process_waits_clock(waits, WAIT_PROCESS_FAULT, w) + behind->fault,
        .stopped = process_waits_clock(waits, WAIT_PROCESS_STOPPED, w),
        .gpu = process_waits_clock(waits, WAIT_PROCESS_GPU, w),
        .gpu_copy = process_waits_clock(waits, WAIT_PROCESS_COPY_TO_GPU, w) +
                    process_waits_clock(waits, WAIT_PROCESS_COPY_FROM_GPU, w),
        .send = process_waits_clock(waits, WAIT_PROCESS_SOCKET_SEND, w) + behind->send + room,
        .polled_room = room,
        .asleep = of->timer + process_waits_clock(waits, WAIT_PROCESS_KERNEL, w) +
                  process_waits_clock(waits, WAIT_PROCESS_OTHER, w) + asleep,
        .peer = message + locked + of->pipe + behind->pipe + of->child + of->strangers,
        .pool = {[WAIT_KIND_MESSAGE] = of->receive + of->poll - room + behind->message,
                 [WAIT_KIND_LOCK] = of->lock,
                 [WAIT_KIND_PIPE] = of->pipe + behind->pipe,
                 [WAIT_KIND_CHILD] = of->child}};
}

struct process_time process_waits_told(const struct process_waits *waits, struct windows windows) {
    double told[WAIT_KIND_COUNT_] = {0};
    struct waits of = read_waits(waits, windows);
    add_told(waits, windows, told);
    double handed = take_handed(waits, told, windows, &of);
    struct behind behind = find_behind(waits, handed, told, &of, windows);
    double message = fmax(of.receive, fmin(of.receive + of.poll, told[WAIT_KIND_MESSAGE]));
    double locked = fmin(of.lock, told[WAIT_KIND_LOCK]);
    double untold = of.receive + of.poll - message, room = polled_room(waits, untold, windows);
    double asleep = untold - room + of.lock - locked + handed - sum_of_behind(&behind);
    return terms_of(waits, &of, &behind, locked, message + behind.message, room, fmax(asleep, 0),
                    windows);
}

struct process_time process_waits_in(const struct process_waits *waits, struct windows windows) {
    struct process_time told = process_waits_told(waits, windows);
    told.told_run = told.run;
    return waits->counted ? clock_fit(waits, windows, told) : told;
}
