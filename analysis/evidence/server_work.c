/* SPDX-License-Identifier: MIT */
/*
 * A server's work for others when it moves in step with them, as a share of its own CPU time. Its
 * peers compute with received data, too, so only work that none of them does counts: after a
 * message, and outside of all operators that the program marks. If one of its own iterations ends
 * before its next call, it had gone on with that iteration: it had only stopped looking for
 * messages once it had all of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/evidence/computed.h"
#include "analysis/number.h"
#include "analysis/time/free_running.h"
#include "analysis/time/serving.h"

struct operator_time {
    int host;
    int64_t pid;
    struct window window;
};

struct operator_times { /* of all processes, sorted by host, pid and begin */
    struct operator_time *items;
    size_t n;
};

static int compare_processes(const struct operator_time *a, int host, int64_t pid) {
    return a->host != host ? (a->host > host) - (a->host < host) : (a->pid > pid) - (a->pid < pid);
}

static int compare_times(const void *a, const void *b) {
    const struct operator_time *x = a, *y = b;
    int process = compare_processes(x, y->host, y->pid);
    return process ? process : compare_windows(&x->window, &y->window);
}

bool operator_window(const struct mark *mark, struct window *ret_window) {
    if (mark->kind != MARK_OPERATOR || mark->duration_ns <= 0 ||
        mark->start_ns > INT64_MAX - mark->duration_ns)
        return false;
    *ret_window = (struct window){mark->start_ns, mark->start_ns + mark->duration_ns};
    return true;
}

static int operator_times_make(const struct recording *recording, struct operator_times *ret) {
    *ret = (struct operator_times){malloc((recording->n_marks + 1) * sizeof *ret->items), 0};
    if (!ret->items)
        return -ENOMEM;
    for (size_t m = 0; m < recording->n_marks; m++) {
        const struct mark *mark = &recording->marks[m];
        struct operator_time time = {.host = mark->host, .pid = mark->pid};
        if (operator_window(mark, &time.window))
            ret->items[ret->n++] = time;
    }
    qsort(ret->items, ret->n, sizeof *ret->items, compare_times);
    return 0;
}

static size_t first_of(const struct operator_times *times, int host, int64_t pid) {
    size_t low = 0, high = times->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_processes(&times->items[middle], host, pid) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Fills in the times in which a rank ran no operator of its own; there is room for one more than it
 * has operators.
 */
static size_t between_operators(const struct operator_time *times, size_t n, struct window *items) {
    size_t kept = 0;
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        struct window within = times[i].window;
        if (within.begin_ns > end)
            items[kept++] = (struct window){end, within.begin_ns};
        end = within.end_ns > end ? within.end_ns : end;
    }
    items[kept++] = (struct window){end, INT64_MAX};
    return kept;
}

static void leave_out_own(const struct rank_iterations *its, struct serving *serving) {
    size_t kept = 0, i = 0;
    for (size_t s = 0; s < serving->n; s++) {
        while (its && i < its->n && its->items[i].end_ns <= serving->items[s].begin_ns)
            i++;
        if (!its || i == its->n || its->items[i].end_ns >= serving->items[s].end_ns)
            serving->items[kept++] = serving->items[s];
    }
    serving->n = kept;
}

/* CPU seconds of a rank after messages, outside of operators. */
static double unmarked_s(const struct run_model *model, const struct operator_times *times,
                         struct windows group, size_t log_rank) {
    const struct recording *recording = model->recording;
    const struct mpi_rank *rank = &recording->calls.ranks[log_rank];
    size_t first = first_of(times, rank->host, rank->pid), n = 0;
    while (first + n < times->n &&
           compare_processes(&times->items[first + n], rank->host, rank->pid) == 0)
        n++;
    struct serving serving = {.server_rank = SIZE_MAX};
    struct window *items = malloc((n + 1) * sizeof *items);
    double s = 0;
    if (items && serving_by(&recording->calls, &model->matches, log_rank, &serving) == 0) {
        struct windows outside = {items, between_operators(&times->items[first], n, items)};
        leave_out_own(free_running_iterations(model, log_rank), &serving);
        s = serving_within(&serving, group, outside);
    }
    serving_release(&serving);
    free(items);
    return s;
}

/* The server applies its own results, too: the number of its own iterations for one of the others'.
 */
static double own_for_one(const struct run_model *model, size_t log_rank) {
    double own = 0, others = 0;
    for (size_t r = 0; r < model->recording->calls.n; r++) {
        const struct rank_iterations *its = free_running_iterations(model, r);
        *(r == log_rank ? &own : &others) += its ? (double)its->n : 0;
    }
    return others > 0 ? own / others : 0;
}

static bool is_server_rank(const struct run_model *model, size_t log_rank) {
    struct serving serving;
    if (serving_find(&model->recording->calls, &model->matches, &serving) < 0)
        return false;
    bool server_rank = serving.server_rank == log_rank;
    serving_release(&serving);
    return server_rank;
}

double served_share(const struct run_model *model, size_t group, size_t log_rank) {
    const struct recording *recording = model->recording;
    struct windows windows = phase_windows(&model->groups[group]);
    struct operator_times times;
    if (!is_server_rank(model, log_rank) || operator_times_make(recording, &times) < 0)
        return 0;
    double own = unmarked_s(model, &times, windows, log_rank), peers = 0;
    for (size_t r = 0; own > 0 && r < recording->calls.n; r++) {
        double s = r == log_rank ? 0 : unmarked_s(model, &times, windows, r);
        peers = s > peers ? s : peers;
    }
    free(times.items);
    double wall = (double)windows_length(windows) / 1e9;
    return own > peers ? (own - peers) / wall * (1 + own_for_one(model, log_rank)) : 0;
}
