/* SPDX-License-Identifier: MIT */
/* Turns events into raw amounts, in one pass over the calls of the main thread. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/budget_timeline.h"

/* ---- calls ---- */

static enum raw late_of(enum raw rest) {
    return rest == RAW_TRANSFER  ? RAW_LATE_TRANSFER
           : rest == RAW_UNSPLIT ? RAW_LATE_UNSPLIT
           : rest == RAW_IO      ? RAW_IO_OFF
                                 : RAW_LATE_OVERHEAD;
}

static void put_call(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    const struct call_need *need = &t->needs[event];
    const struct mpi_function *f = mpi_event_function(t->subject->log, e);
    double length = (double)(end - begin);
    double cpu = e->flags & MPI_FLAG_HAS_CPU ? fmin((double)e->cpu_ns, length) : length;
    bool passing = polling_in_passing(&t->polling, event);
    int64_t waited = passing ? begin : timeline_wait_end(t, need, begin, begin, end);
    enum raw rest = timeline_rest_of(f, need, end - begin);
    timeline_put(t->cells, begin, waited, RAW_WAIT, (double)(waited - begin));
    timeline_put_awaited(t, need->who, begin, waited, 1);
    timeline_put(t->cells, waited, end, rest, (double)(end - waited));
    if (rest == RAW_TRANSFER)
        timeline_put_moved(t, need, waited, end, 1);
    timeline_put(t->cells, begin, end, RAW_INSIDE_CPU, cpu);
    timeline_put(t->cells, begin, end, RAW_INSIDE_OFF, length - cpu);
    if (f->of_gpu)
        timeline_put(t->cells, begin, end, RAW_OF_GPU, length);
    timeline_put(t->cells, waited, end, late_of(rest), length - cpu - (double)(waited - begin));
}

/* Puts a row of small calls: their mean time tells their kind; between them the rank computed. */
static void put_row(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    const struct call_need *need = &t->needs[event];
    double length = (double)(end - begin), inside = fmin((double)e->inside_ns, length);
    enum raw rest = timeline_rest_of(mpi_event_function(t->subject->log, e), need,
                                     e->inside_ns / (e->calls ? e->calls : 1));
    timeline_put(t->cells, begin, end, rest, inside);
    timeline_put(t->cells, begin, end, RAW_INSIDE_CPU, inside);
    if (rest == RAW_TRANSFER && length > 0)
        timeline_put_moved(t, need, begin, end, inside / length);
    timeline_put(t->cells, begin, end, RAW_GAP_CPU, length - inside);
}

/* ---- outside ---- */

static void put_own(struct timeline *t, int64_t begin, int64_t end, double cpu) {
    timeline_put(t->cells, begin, end, RAW_GAP_CPU, cpu);
    timeline_put(t->cells, begin, end, RAW_GAP_OFF, (double)(end - begin) - cpu);
}

/* The CPU time counted in the part of [begin, end) within an interval, at most that part. */
static double counted_cpu(const struct budget_interval *i, int64_t begin, int64_t end,
                          struct window *ret_part) {
    *ret_part = (struct window){begin > i->begin_ns ? begin : i->begin_ns,
                                end < i->end_ns ? end : i->end_ns};
    double length = (double)(ret_part->end_ns - ret_part->begin_ns);
    if (isnan(i->cpu) || length <= 0) {
        ret_part->end_ns = ret_part->begin_ns;
        return 0;
    }
    return fmin(fmax(i->cpu, 0) * (length / (double)(i->end_ns - i->begin_ns)), length);
}

/* Puts time outside MPI whose CPU time is only known as a sum. The counters tell when it was used,
 * so that a wait for a disk is not charged to a time full of computing.
 */
static void put_own_time(struct timeline *t, int64_t begin, int64_t end, double cpu) {
    const struct budget_subject *s = t->subject;
    struct window part;
    double counted = 0, covered = 0, even = end > begin ? cpu / (double)(end - begin) : 0;
    while (t->interval < s->n_intervals && s->intervals[t->interval].end_ns <= begin)
        t->interval++;
    for (size_t i = t->interval; i < s->n_intervals && s->intervals[i].begin_ns < end; i++) {
        counted += counted_cpu(&s->intervals[i], begin, end, &part);
        covered += (double)(part.end_ns - part.begin_ns);
    }
    double own = even * covered;
    int64_t at = begin;
    for (size_t i = t->interval;
         counted > 0 && i < s->n_intervals && s->intervals[i].begin_ns < end; i++) {
        double here = counted_cpu(&s->intervals[i], begin, end, &part);
        double length = (double)(part.end_ns - part.begin_ns);
        if (length <= 0)
            continue;
        put_own(t, at, part.begin_ns, even * (double)(part.begin_ns - at));
        put_own(t, part.begin_ns, part.end_ns,
                own <= counted ? here * (own / counted)
                               : here + (own - counted) * ((length - here) / (covered - counted)));
        at = part.end_ns;
    }
    put_own(t, at, end, even * (double)(end - at));
}

static void put_gap(struct timeline *t, size_t previous, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    double length = (double)(end - begin);
    timeline_put_others(t, begin, end);
    if (previous == SIZE_MAX || (!(e->flags & MPI_FLAG_HAS_GAP_CPU) && length >= MPI_LONG_NS)) {
        timeline_put(t->cells, begin, end, RAW_GAP_DARK, length);
        return;
    }
    double cpu = e->flags & MPI_FLAG_HAS_GAP_CPU ? fmin((double)e->gap_cpu_ns, length) : length;
    if (polling_backed_off(&t->polling, event)) {
        timeline_put(t->cells, begin, end, RAW_GAP_CPU, cpu);
        timeline_put_poll(t, event, begin, end, length - cpu, timeline_plainly,
                          t->needs[event].since_ns != VALUE_ABSENT);
        timeline_put_backoff(t, event, begin, end);
    } else {
        put_own_time(t, begin, end, cpu);
        t->poll_begin_ns = VALUE_ABSENT;
    }
}

/* ---- the pass ---- */

int budget_main_thread(const struct mpi_rank *rank, uint16_t *ret_thread) {
    uint32_t *calls = NULL;
    size_t room = 0, most = 0;
    for (size_t i = 0; i < rank->n; i++) {
        size_t thread = rank->events[i].thread;
        if (!mpi_event_is_call(&rank->events[i]))
            continue;
        if (thread >= room) {
            uint32_t *more = reallocarray(calls, 2 * thread + 16, sizeof *calls);
            if (!more) {
                free(calls);
                return -ENOMEM;
            }
            calls = more;
            memset(calls + room, 0, (2 * thread + 16 - room) * sizeof *calls);
            room = 2 * thread + 16;
        }
        calls[thread]++;
    }
    for (size_t thread = 1; thread < room; thread++)
        if (calls[thread] > calls[most])
            most = thread;
    free(calls);
    *ret_thread = (uint16_t)most;
    return 0;
}

static void fill_timeline(struct timeline *t) {
    int64_t at = t->subject->begin_ns;
    size_t previous = SIZE_MAX;
    for (size_t i = 0; i < t->rank->n; i++) {
        const struct mpi_event *e = &t->rank->events[i];
        if (!timeline_has(t, e) || e->enter_ns > t->until_ns)
            continue;
        int64_t begin = e->enter_ns > at ? e->enter_ns : at;
        int64_t end = e->exit_ns > begin ? e->exit_ns : begin;
        struct cells *cells = t->cells;
        while (cells->cursor < cells->n && cells->times[cells->cursor + 1] <= at)
            cells->cursor++;
        budget_settle(cells, cells->cursor);
        put_gap(t, previous, i, at, begin);
        bool nothing = polling_found_nothing(&t->polling, i);
        if (nothing && polling_in_passing(&t->polling, i)) {
            timeline_put_passing(t, i, begin, end);
            t->poll_begin_ns = VALUE_ABSENT;
        } else if (nothing) {
            if (t->poll_begin_ns == VALUE_ABSENT)
                t->poll_begin_ns = begin;
            timeline_put_tests(t, i, begin, end);
        } else {
            bool row = mpi_event_is_row(e, mpi_event_function(t->subject->log, e));
            (row ? put_row : put_call)(t, i, begin, end);
            t->poll_begin_ns = VALUE_ABSENT;
        }
        at = end;
        previous = i;
    }
    timeline_put_others(t, at, t->until_ns);
    if (t->until_ns > at) /* calls may be missing from the start */
        timeline_put(t->cells, at, t->until_ns, RAW_GAP_DARK, (double)(t->until_ns - at));
}

static int run(struct timeline *t) {
    int result = budget_main_thread(t->rank, &t->thread);
    if (result == 0)
        result = polling_init(t->subject->log, t->subject->log_rank, t->needs, t->thread,
                              t->subject->judge, &t->polling);
    if (result == 0 && t->cells->n)
        result = timeline_find_others(t);
    if (result == 0)
        fill_timeline(t);
    free(t->others);
    polling_release(&t->polling);
    return result ? result : t->error ? t->error : t->cells->error;
}

static struct timeline timeline_of(const struct budget_subject *subject, int64_t until_ns,
                                   struct cells *cells) {
    return (struct timeline){.subject = subject,
                             .rank = &subject->log->ranks[subject->log_rank],
                             .needs = subject->matches->needs[subject->log_rank],
                             .cells = cells,
                             .until_ns = until_ns,
                             .poll_begin_ns = VALUE_ABSENT};
}

int budget_fill_events(const struct budget_subject *subject, int64_t until_ns, struct cells *cells,
                       struct windows awaited_in, double *awaited) {
    struct timeline t = timeline_of(subject, until_ns, cells);
    t.awaited_in = awaited_in;
    t.awaited = awaited;
    return run(&t);
}

int budget_waits(const struct budget_subject *subject, struct budget_wait **ret_waits,
                 size_t *ret_n) {
    const struct mpi_rank *rank = &subject->log->ranks[subject->log_rank];
    struct cells none = {0};
    struct timeline t = timeline_of(subject, mpi_rank_until(rank, subject->end_ns), &none);
    t.keep_waits = true;
    int result = run(&t);
    if (result < 0) {
        free(t.waits);
        return result;
    }
    *ret_waits = t.waits;
    *ret_n = t.n_waits;
    return 0;
}
