/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/awaited_queue.h"

#include <math.h>

#include "analysis/number.h"
#include "analysis/time/process_waits.h"

#define PARTS 50 /* of the run, in which the lead is measured */

static const struct series *clocks_of(const struct run_model *model, size_t who) {
    const struct rank_budget *b = &model->budgets.items[who];
    return series_of_pid(&model->recording->tables[RECORDING_WAIT], b->host, WAIT_PID, b->pid);
}

static double waited(const struct run_model *model, size_t who, size_t whom, unsigned kinds) {
    double sum = 0;
    for (size_t i = 0; i < model->budgets.n_waits; i++) {
        const struct process_wait *w = &model->budgets.waits[i];
        if (w->who == who && w->whom == whom && kinds >> w->kind & 1)
            sum += w->seconds;
    }
    return sum;
}

/* The process of the same host that hands requests to this one, and waits for it in turn; SIZE_MAX:
 * there is none.
 */
static size_t dispatcher_of(const struct run_model *model, size_t worker) {
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t k = 0; k < model->budgets.n; k++) {
        double given = waited(model, worker, k, 1u << WAIT_KIND_PIPE);
        if (k != worker && model->budgets.items[k].host == model->budgets.items[worker].host &&
            given > most && waited(model, k, worker, ~0u) > 0) {
            most = given;
            best = k;
        }
    }
    return best;
}

static bool is_worker(const struct run_model *model, size_t who, size_t dispatcher) {
    return who != dispatcher && waited(model, who, dispatcher, 1u << WAIT_KIND_PIPE) > 0;
}

/* Requests that all workers had handled within the windows: each sleeps once in a request. */
static double handled_in(const struct run_model *model, size_t dispatcher, struct windows windows) {
    const struct series_set *set = &model->recording->tables[RECORDING_WAIT];
    double sum = 0;
    for (size_t k = 0; k < model->budgets.n; k++) {
        const struct series *clocks = is_worker(model, k, dispatcher) ? clocks_of(model, k) : NULL;
        if (clocks)
            sum += process_waits_growth(set, clocks, WAIT_TIMES_TIMER, windows);
    }
    return sum;
}

/* Whether one of the workers, or the dispatcher, reads from that connection. */
static bool is_theirs(const struct run_model *model, const struct series *socket,
                      size_t dispatcher) {
    const struct series_set *set = &model->recording->tables[RECORDING_SOCKET_WAIT];
    int64_t pid = series_last(set, socket, SOCKET_WAIT_PID);
    for (size_t k = 0; k < model->budgets.n; k++) {
        const struct rank_budget *b = &model->budgets.items[k];
        if (b->host == socket->host && b->pid == pid)
            return k == dispatcher || is_worker(model, k, dispatcher);
    }
    return false;
}

/* By how many requests reading was ahead of handling on average. Reads beyond one for each request
 * (those of a connection's first words) may all have come first: they count as no lead.
 */
static double lead_of(const struct run_model *model, const struct series *socket, size_t dispatcher,
                      double handled) {
    const struct series_set *set = &model->recording->tables[RECORDING_SOCKET_WAIT];
    struct windows all = phase_windows(&model->groups[model->main_group]);
    double reads = process_waits_growth(set, socket, SOCKET_WAIT_READS, all);
    double part = number_of(model, QUEUE_ONE_EACH), lead = 0;
    if (!(reads >= part * handled && reads * part <= handled))
        return 0;
    for (int i = 1; i <= PARTS; i++) {
        struct window until = all.items[0];
        until.end_ns = until.begin_ns + (until.end_ns - until.begin_ns) / PARTS * i;
        struct windows windows = {&until, 1};
        double read = process_waits_growth(set, socket, SOCKET_WAIT_READS, windows);
        lead += (reads < handled ? read * handled / reads : read - (reads - handled)) -
                handled_in(model, dispatcher, windows);
    }
    return lead / PARTS;
}

bool awaited_queue_find(const struct run_model *model, size_t worker,
                        struct awaited_queue *ret_queue) {
    const struct series_set *sockets = &model->recording->tables[RECORDING_SOCKET_WAIT];
    struct windows all = phase_windows(&model->groups[model->main_group]);
    double wall_s = model->budgets.items[worker].groups[model->main_group].wall_s;
    struct awaited_queue q = {.dispatcher = dispatcher_of(model, worker)};
    if (q.dispatcher == SIZE_MAX || all.n != 1 || !(wall_s > 0))
        return false;
    q.handled = handled_in(model, q.dispatcher, all);
    for (size_t k = 0; k < model->budgets.n; k++)
        q.workers += is_worker(model, k, q.dispatcher);
    for (size_t s = 0; q.handled > 0 && s < sockets->n; s++)
        if (!is_theirs(model, &sockets->items[s], q.dispatcher))
            q.waiting =
                fmax(q.waiting, lead_of(model, &sockets->items[s], q.dispatcher, q.handled));
    q.occupied = fmax(0, 1 - waited(model, worker, q.dispatcher, ~0u) / wall_s);
    *ret_queue = q;
    return q.waiting > 0;
}
