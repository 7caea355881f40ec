/* SPDX-License-Identifier: MIT */
/*
 * Work that one rank does alone. If all ranks mark operators, it is the computing in operators that
 * no other rank runs (the critical path must tell how much of it others wait for). Else it is
 * stretches of computing at whose begin hardly any other rank computed. These miss serial work that
 * follows the rank's share of common work without a call in between.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/computed.h"
#include "analysis/facts/series/key_table.h"
#include "analysis/number.h"

#define OPERATORS_MAX 32 /* operator names of one rank */

/* ---- stretches of computing ---- */

struct cursor {
    size_t next;
    const struct mpi_event *last; /* the call that ended last */
    int64_t last_exit_ns;
};

/* The next call of a rank's main thread, or NULL. */
static const struct mpi_event *next_call(const struct mpi_rank *rank, struct cursor *cursor) {
    while (cursor->next < rank->n && (rank->events[cursor->next].thread != 0 ||
                                      !mpi_event_is_call(&rank->events[cursor->next])))
        cursor->next++;
    return cursor->next < rank->n ? &rank->events[cursor->next] : NULL;
}

static void step(const struct mpi_event *call, struct cursor *cursor) {
    if (call->exit_ns > cursor->last_exit_ns) {
        cursor->last_exit_ns = call->exit_ns;
        cursor->last = call;
    }
    cursor->next++;
}

/* Whether it computed for at least a part of the time between two calls. */
static bool is_busy_gap(const struct run_model *model, int64_t begin_ns,
                        const struct mpi_event *call) {
    if (begin_ns == INT64_MIN || !(call->flags & MPI_FLAG_HAS_GAP_CPU))
        return false;
    int64_t length = call->enter_ns - begin_ns;
    return length >= number_of(model, BUSY_GAP_NS) &&
           (double)call->gap_cpu_ns >= number_of(model, BUSY_GAP_CPU) * (double)length;
}

/* A call that only polls for a message. */
static bool is_poll(const struct run_model *model, const struct mpi_log *log,
                    const struct mpi_event *call) {
    const struct mpi_function *function = mpi_event_function(log, call);
    return (function->kind == MPI_KIND_TEST || function->kind == MPI_KIND_PROBE) &&
           call->exit_ns - call->enter_ns < number_of(model, BUSY_GAP_NS);
}

/* A rank in one-sided accesses waits until the target is inside MPI, not for a result of its work
 * outside, which may be its share of common work.
 */
static bool waits_for_no_work(const struct mpi_log *log, const struct mpi_event *call) {
    const struct mpi_function *function = mpi_event_function(log, call);
    return function->kind == MPI_KIND_RMA || function->completes;
}

/* A short gap has no measured CPU time: the rank ran, and computed unless the gap was between two
 * polls.
 */
static bool is_busy_at(const struct run_model *model, const struct mpi_log *log,
                       const struct mpi_rank *rank, struct cursor *cursor, int64_t t_ns) {
    const struct mpi_event *call;
    while ((call = next_call(rank, cursor)) && call->enter_ns <= t_ns)
        step(call, cursor);
    if (!call || cursor->last_exit_ns == INT64_MIN)
        return false;
    if (cursor->last_exit_ns > t_ns)
        return waits_for_no_work(log, cursor->last);
    if (call->enter_ns - cursor->last_exit_ns < MPI_LONG_NS)
        return !is_poll(model, log, call);
    return is_busy_gap(model, cursor->last_exit_ns, call);
}

/* ---- one-sided accesses ---- */

double absence_share(const struct run_model *model, size_t group, size_t who) {
    const struct mpi_log *log = &model->recording->calls;
    struct windows windows = phase_windows(&model->groups[group]);
    size_t mine = mpi_log_find(log, model->budgets.items[who].host, model->budgets.items[who].pid);
    double sum = 0;
    for (size_t r = 0; r < log->n && mine != SIZE_MAX; r++)
        for (size_t i = 0; r != mine && i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            const struct call_need *need = &model->matches.needs[r][i];
            if (need->who == (int32_t)mine && need->ready_ns > e->enter_ns &&
                need->ready_ns < e->exit_ns && waits_for_no_work(log, e))
                sum += windows_common_ns(windows, e->enter_ns, need->ready_ns);
        }
    return log->n > 1 ? sum / (double)(log->n - 1) / (double)windows_length(windows) : 0;
}

/* A stretch of computing; calls that only poll for a message do not interrupt it. */
struct stretch {
    int64_t begin_ns, end_ns;
    double cpu_ns;
};

/* Whether hardly any other rank computes at t. Each call asks for a later t. */
static bool is_alone_at(const struct run_model *model, const struct mpi_log *log, size_t mine,
                        int64_t t_ns, struct windows windows, struct cursor *cursors) {
    size_t busy = 0;
    for (size_t r = 0; r < log->n; r++)
        busy += r != mine && is_busy_at(model, log, &log->ranks[r], &cursors[r], t_ns);
    return windows_hold(windows, t_ns) &&
           (double)busy <= number_of(model, SERIAL_PEERS) * (double)(log->n - 1);
}

/* Asks soon after the stretch began. */
static bool is_alone(const struct run_model *model, const struct mpi_log *log, size_t mine,
                     const struct stretch *stretch, struct windows windows,
                     struct cursor *cursors) {
    return is_alone_at(model, log, mine,
                       stretch->begin_ns + (stretch->end_ns - stretch->begin_ns) / 10, windows,
                       cursors);
}

static struct cursor *new_cursors(const struct mpi_log *log) {
    struct cursor *cursors = calloc(log->n + 1, sizeof *cursors);
    for (size_t r = 0; cursors && r < log->n; r++)
        cursors[r].last_exit_ns = INT64_MIN;
    return cursors;
}

/* The share of the windows for which a rank computed in stretches at whose begin hardly any other
 * rank computed: the others waited from the start, so it is not a longer share of common work.
 */
static double stretches_share(const struct run_model *model, size_t group, size_t who) {
    const struct mpi_log *log = &model->recording->calls;
    struct windows windows = phase_windows(&model->groups[group]);
    size_t mine = mpi_log_find(log, model->budgets.items[who].host, model->budgets.items[who].pid);
    struct cursor *cursors = new_cursors(log);
    struct cursor at = {.last_exit_ns = INT64_MIN};
    const struct mpi_event *call;
    struct stretch stretch = {0};
    double alone = 0;
    if (!cursors || mine == SIZE_MAX || log->n < 2) {
        free(cursors);
        return 0;
    }
    do {
        call = next_call(&log->ranks[mine], &at);
        if (call && is_busy_gap(model, at.last_exit_ns, call)) {
            stretch.begin_ns = stretch.cpu_ns > 0 ? stretch.begin_ns : at.last_exit_ns;
            stretch.end_ns = call->enter_ns;
            stretch.cpu_ns += (double)call->gap_cpu_ns;
            if (is_poll(model, log, call)) /* it polls for messages while it computes */
                continue;
        }
        if (stretch.cpu_ns > 0 && is_alone(model, log, mine, &stretch, windows, cursors))
            alone += stretch.cpu_ns;
        stretch.cpu_ns = 0;
    } while (call && (step(call, &at), true));
    free(cursors);
    return alone / (double)windows_length(windows);
}

/* ---- operators ---- */

struct exclusive {
    const char *names[OPERATORS_MAX];
    size_t n_names;
    struct window *items; /* in time order */
    size_t n;
};

static size_t find_name(const struct exclusive *e, const char *name) {
    size_t i = 0;
    while (i < e->n_names && strcmp(e->names[i], name) != 0)
        i++;
    return i;
}

static bool is_operator_of(const struct mark *mark, const struct rank_budget *b,
                           struct window *ret_window) {
    return mark->host == b->host && mark->pid == b->pid && operator_window(mark, ret_window);
}

/* Collects names of operators that only this rank runs. */
static void collect_names(const struct recording *recording, const struct rank_budget *b,
                          struct exclusive *e) {
    for (size_t m = 0; m < recording->n_marks; m++) {
        const struct mark *mark = &recording->marks[m];
        struct window window;
        if (is_operator_of(mark, b, &window) && find_name(e, mark->name) == e->n_names &&
            e->n_names < OPERATORS_MAX)
            e->names[e->n_names++] = mark->name;
    }
    for (size_t m = 0; m < recording->n_marks; m++) {
        const struct mark *mark = &recording->marks[m];
        size_t at = find_name(e, mark->name);
        if (mark->kind == MARK_OPERATOR && !(mark->host == b->host && mark->pid == b->pid) &&
            at < e->n_names)
            e->names[at] = e->names[--e->n_names];
    }
}

/* Cuts overlaps, so that nested operators count once. */
static bool collect_windows(const struct recording *recording, const struct rank_budget *b,
                            struct exclusive *e) {
    size_t kept = 0;
    for (size_t m = 0; m < recording->n_marks; m++) {
        const struct mark *mark = &recording->marks[m];
        struct window window;
        if (is_operator_of(mark, b, &window) && find_name(e, mark->name) < e->n_names)
            e->items[e->n++] = window;
    }
    if (e->n)
        qsort(e->items, e->n, sizeof *e->items, compare_windows);
    for (size_t i = 0; i < e->n; i++) {
        struct window w = e->items[i];
        if (kept && w.begin_ns < e->items[kept - 1].end_ns)
            w.begin_ns = e->items[kept - 1].end_ns;
        if (w.end_ns > w.begin_ns)
            e->items[kept++] = w;
    }
    e->n = kept;
    return kept > 0;
}

/* CPU time of the rank between calls, within the operators and the group. */
static double computed_in(const struct run_model *model, const struct mpi_rank *rank,
                          const struct exclusive *e, struct windows group) {
    struct cursor at = {.last_exit_ns = INT64_MIN};
    const struct mpi_event *call;
    double sum = 0;
    size_t next = 0;
    for (; (call = next_call(rank, &at)); step(call, &at)) {
        if (!is_busy_gap(model, at.last_exit_ns, call) || !windows_hold(group, at.last_exit_ns))
            continue;
        while (next < e->n && e->items[next].end_ns <= at.last_exit_ns)
            next++;
        for (size_t i = next; i < e->n && e->items[i].begin_ns < call->enter_ns; i++) {
            double begin = fmax((double)e->items[i].begin_ns, (double)at.last_exit_ns);
            double end = fmin((double)e->items[i].end_ns, (double)call->enter_ns);
            sum += fmax(0, end - begin) / (double)(call->enter_ns - at.last_exit_ns) *
                   (double)call->gap_cpu_ns;
        }
    }
    return sum;
}

static double operators_share(const struct run_model *model, size_t group, size_t who) {
    const struct recording *recording = model->recording;
    const struct rank_budget *b = &model->budgets.items[who];
    struct windows windows = phase_windows(&model->groups[group]);
    size_t mine = mpi_log_find(&recording->calls, b->host, b->pid);
    struct exclusive e = {.items = malloc((recording->n_marks + 1) * sizeof *e.items)};
    double sum = 0;
    /* if two ranks each run what the other does not, the root counts, by convention */
    bool root = recording->calls.n > 2 || b->rank == 0;
    if (e.items && mine != SIZE_MAX && root) {
        collect_names(recording, b, &e);
        if (e.n_names && collect_windows(recording, b, &e))
            sum = computed_in(model, &recording->calls.ranks[mine], &e, windows);
    }
    free(e.items);
    double share = sum / (double)windows_length(windows);
    return mine != SIZE_MAX && root ? fmax(share, served_share(model, group, mine)) : share;
}

/* A rank without marked operators runs unknown work, so no operator is known to be another rank's
 * alone.
 */
static bool all_mark_operators(const struct recording *recording) {
    struct key_table processes = {0};
    bool all = recording->calls.n > 0;
    for (size_t m = 0; m < recording->n_marks; m++)
        if (recording->marks[m].kind == MARK_OPERATOR)
            key_add(&processes, key_of_process(recording->marks[m].host, recording->marks[m].pid));
    for (size_t r = 0; all && r < recording->calls.n; r++) {
        const struct mpi_rank *rank = &recording->calls.ranks[r];
        all = key_find(&processes, key_of_process(rank->host, rank->pid)) != KEY_NONE;
    }
    key_table_release(&processes);
    return all;
}

/* A rank without recorded calls may compute at any time. */
static bool knows_all_ranks(const struct run_model *model) {
    for (size_t i = 0; i < model->budgets.n; i++) {
        const struct rank_budget *b = &model->budgets.items[i];
        if (b->rank >= 0 && mpi_log_find(&model->recording->calls, b->host, b->pid) == SIZE_MAX)
            return false;
    }
    return true;
}

double alone_share(const struct run_model *model, size_t group, size_t who) {
    if (!knows_all_ranks(model))
        return 0;
    return all_mark_operators(model->recording) ? operators_share(model, group, who)
                                                : stretches_share(model, group, who);
}
