/* SPDX-License-Identifier: MIT */
/* Events become raw amounts: one pass over the calls of the main thread. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/budget/budget_private.h"
#include "analysis/calls/polling.h"

struct timeline {
    const struct budget_subject *subject;
    const struct mpi_rank *rank;
    const struct call_need *needs;
    struct cells *cells;
    struct windows awaited_in;
    double *awaited;
    struct polling polling;
    uint16_t thread;
    int64_t until_ns;
    int64_t poll_begin_ns;     /* when the present polling began; VALUE_ABSENT: it is none */
    struct budget_wait *waits; /* grows; only with keep_waits */
    size_t n_waits, waits_capacity;
    bool keep_waits;
    int error;
    size_t interval; /* the first of the counters that may matter yet */
};

/* into[] is beside the cells: they, or their parts. */
static void spread(const struct cells *cells, struct cell *into, int64_t begin, int64_t end,
                   enum raw raw, double per_ns) {
    size_t i = cells->cursor;
    while (i < cells->n && cells->items[i].end_ns <= begin)
        i++;
    while (i > 0 && i < cells->n && cells->items[i].begin_ns > begin)
        i--;
    for (; i < cells->n && cells->items[i].begin_ns < end; i++) {
        const struct cell *c = &cells->items[i];
        int64_t from = begin > c->begin_ns ? begin : c->begin_ns;
        int64_t to = end < c->end_ns ? end : c->end_ns;
        if (to > from)
            into[i].raw[raw] += per_ns * (double)(to - from);
    }
}

/* Spreads an amount evenly over [begin, end). */
static void put(struct cells *cells, int64_t begin, int64_t end, enum raw raw, double amount) {
    if (end <= begin || amount <= 0)
        return;
    double per_ns = amount / (double)(end - begin);
    spread(cells, cells->items, begin, end, raw, per_ns);
    if (!cells->within)
        return;
    struct windows only = cells->parts->only;
    for (size_t i = budget_first_window(only, begin); i < only.n && only.items[i].begin_ns < end;
         i++)
        spread(cells, cells->within,
               begin > only.items[i].begin_ns ? begin : only.items[i].begin_ns,
               end < only.items[i].end_ns ? end : only.items[i].end_ns, raw, per_ns);
}

static double common_ns(struct windows windows, int64_t begin, int64_t end) {
    double sum = 0;
    for (size_t i = budget_first_window(windows, begin);
         i < windows.n && windows.items[i].begin_ns < end; i++) {
        int64_t from = begin > windows.items[i].begin_ns ? begin : windows.items[i].begin_ns;
        int64_t to = end < windows.items[i].end_ns ? end : windows.items[i].end_ns;
        sum += (double)(to - from);
    }
    return sum;
}

/* From which host to which: as the element of moved_s. */
static size_t way_of(const struct timeline *t, const struct call_need *need, size_t n_hosts) {
    size_t own = (size_t)t->rank->host, other = n_hosts;
    if (need->who >= 0 && (size_t)need->who != t->subject->log_rank)
        other = (size_t)t->subject->log->ranks[need->who].host;
    bool outgoing = need->outgoing || (size_t)need->who == t->subject->log_rank;
    return outgoing ? own * (n_hosts + 1) + other : other * (n_hosts + 1) + own;
}

/* Transfer: also, between whom. */
static void put_moved(struct timeline *t, const struct call_need *need, int64_t begin, int64_t end,
                      double per_ns) {
    const struct budget_parts *parts = t->cells->parts;
    if (!t->cells->within || !parts->moved_s || end <= begin)
        return;
    size_t way = way_of(t, need, parts->n_hosts);
    for (size_t i = budget_first_window(parts->only, begin);
         i < parts->only.n && parts->only.items[i].begin_ns < end; i++) {
        struct window o = parts->only.items[i];
        int64_t from = begin > o.begin_ns ? begin : o.begin_ns,
                to = end < o.end_ns ? end : o.end_ns;
        for (size_t w = 0; w < t->cells->n_windows; w++)
            if (parts->moved_s[w])
                parts->moved_s[w][way] += per_ns * common_ns(t->cells->windows[w], from, to) / 1e9;
    }
}

/* Waits come in order; the two halves of a stretch of polling come one after the other. */
static void keep_wait(struct timeline *t, int32_t who, int64_t begin, int64_t end) {
    struct budget_wait *last = t->n_waits ? &t->waits[t->n_waits - 1] : NULL;
    if (!t->keep_waits || end <= begin || who < 0 || t->error)
        return;
    if (last && last->end_ns > begin)
        begin = last->who == who && last->begin_ns <= begin ? begin : last->end_ns;
    if (last && last->who == who && last->end_ns >= begin) {
        last->end_ns = end > last->end_ns ? end : last->end_ns;
        return;
    }
    if (t->n_waits == t->waits_capacity) {
        size_t more = t->waits_capacity ? 2 * t->waits_capacity : 64;
        struct budget_wait *waits = reallocarray(t->waits, more, sizeof *waits);
        t->error = waits ? 0 : -ENOMEM;
        if (!waits)
            return;
        t->waits = waits;
        t->waits_capacity = more;
    }
    if (end > begin)
        t->waits[t->n_waits++] = (struct budget_wait){begin, end, who};
}

static void put_awaited(struct timeline *t, int32_t who, int64_t begin, int64_t end,
                        double per_ns) {
    keep_wait(t, who, begin, end);
    for (size_t i = 0; t->awaited && who >= 0 && i < t->awaited_in.n; i++) {
        int64_t from = begin, to = end;
        if (t->awaited_in.items[i].begin_ns > from)
            from = t->awaited_in.items[i].begin_ns;
        if (t->awaited_in.items[i].end_ns < to)
            to = t->awaited_in.items[i].end_ns;
        if (to > from)
            t->awaited[who] += per_ns * (double)(to - from);
    }
}

static int64_t clip(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Until when a stay of [begin, end), part of a wait since since_ns, waited for whom it needed. */
static int64_t wait_end(const struct timeline *t, const struct call_need *need, int64_t since_ns,
                        int64_t begin, int64_t end) {
    if (need->ready_ns == VALUE_ABSENT || (need->may_leave && need->ready_ns >= end))
        return begin;
    int64_t bound = need->who < 0 ? 0
                                  : call_clock_bound(t->subject->clock, t->rank->host,
                                                     t->subject->log->ranks[need->who].host);
    return need->ready_ns - since_ns < bound ? begin : clip(need->ready_ns, begin, end);
}

/* ---- calls ---- */

static bool moves_data(const struct mpi_function *f) {
    switch (f->kind) {
    case MPI_KIND_SEND:
    case MPI_KIND_SEND_START:
    case MPI_KIND_RECV:
    case MPI_KIND_SENDRECV:
    case MPI_KIND_WAIT:
    case MPI_KIND_TEST:
    case MPI_KIND_PROBE:
    case MPI_KIND_COLLECTIVE:
    case MPI_KIND_COLLECTIVE_START:
    case MPI_KIND_RMA:
        return true;
    default:
        return false;
    }
}

/* Whether not knowing the other side leaves this call unexplained. */
static bool may_wait(const struct mpi_function *f, const struct call_need *need) {
    return need->asked || f->kind == MPI_KIND_RMA_SYNC || f->kind == MPI_KIND_COMM;
}

static enum raw rest_of(const struct mpi_function *f, const struct call_need *need,
                        int64_t length) {
    if (f->kind == MPI_KIND_IO)
        return RAW_IO;
    if (length < CALL_SHORT_NS)
        return RAW_OVERHEAD;
    if (may_wait(f, need) && need->ready_ns == VALUE_ABSENT)
        return RAW_UNSPLIT;
    return moves_data(f) || (f->completes && need->who >= 0) ? RAW_TRANSFER : RAW_OVERHEAD;
}

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
    int64_t waited = passing ? begin : wait_end(t, need, begin, begin, end);
    enum raw rest = rest_of(f, need, end - begin);
    put(t->cells, begin, waited, RAW_WAIT, (double)(waited - begin));
    put_awaited(t, need->who, begin, waited, 1);
    put(t->cells, waited, end, rest, (double)(end - waited));
    if (rest == RAW_TRANSFER)
        put_moved(t, need, waited, end, 1);
    put(t->cells, begin, end, RAW_INSIDE_CPU, cpu);
    put(t->cells, begin, end, RAW_INSIDE_OFF, length - cpu);
    put(t->cells, waited, end, late_of(rest), length - cpu - (double)(waited - begin));
}

/* Small calls in a row: what one of them took on the mean says what they were; between them it
 * computed. */
static void put_row(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    const struct call_need *need = &t->needs[event];
    double length = (double)(end - begin), inside = fmin((double)e->inside_ns, length);
    enum raw rest = rest_of(mpi_event_function(t->subject->log, e), need,
                            e->inside_ns / (e->calls ? e->calls : 1));
    put(t->cells, begin, end, rest, inside);
    put(t->cells, begin, end, RAW_INSIDE_CPU, inside);
    if (rest == RAW_TRANSFER && length > 0)
        put_moved(t, need, begin, end, inside / length);
    put(t->cells, begin, end, RAW_GAP_CPU, length - inside);
}

/* ---- polling ---- */

/* A stretch of polling, `amount` of it (the rest was CPU outside): wait until the peer was there,
 * then transfer; in the last nap before the end what follows is the delay of polling itself. */
static void put_poll(struct timeline *t, size_t event, int64_t begin, int64_t end, double amount,
                     const enum raw into[3], bool last_nap) {
    const struct call_need *need = polling_for(&t->polling, event, begin);
    if (end <= begin || amount <= 0)
        return;
    double per_ns = amount / (double)(end - begin);
    if (!need || need->ready_ns == VALUE_ABSENT) {
        bool nothing_to_know = need && !need->asked;
        put(t->cells, begin, end, nothing_to_know ? into[1] : into[2], amount);
        return;
    }
    int64_t since = t->poll_begin_ns == VALUE_ABSENT ? begin : t->poll_begin_ns;
    int64_t waited = wait_end(t, need, since, begin, end);
    put(t->cells, begin, waited, into[0], per_ns * (double)(waited - begin));
    put_awaited(t, need->who, begin, waited, per_ns);
    enum raw rest = last_nap && waited > begin ? RAW_OVERHEAD : into[1];
    put(t->cells, waited, end, rest, per_ns * (double)(end - waited));
    if (rest != RAW_OVERHEAD)
        put_moved(t, need, waited, end, per_ns);
}

/* When what is polled for could begin to come, in [begin, end); end: not known, or later. */
static int64_t ready_in(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct call_need *need = polling_for(&t->polling, event, begin);
    int64_t since = t->poll_begin_ns == VALUE_ABSENT ? begin : t->poll_begin_ns;
    return need && need->ready_ns != VALUE_ABSENT ? wait_end(t, need, since, begin, end) : end;
}

/* Whether a message comes by turns of who looks for it, each of which may come late: it is long.
 * Others come by themselves. */
static bool comes_by_turns(const struct timeline *t, size_t event, int64_t begin) {
    const struct call_need *need = polling_for(&t->polling, event, begin);
    return need && t->rank->events[need - t->needs].bytes >= CALL_LONG_BYTES;
}

/* Naps, and the end of one that took too long: off the core. Lost by it is only what follows the
 * peer, and of a short message only after the last look that found nothing: until then nothing had
 * come anyway. The counters say how much of that was want of a core: of the end first. Where every
 * nap is late none stands out, and nothing but the counters tells. */
static void put_nap(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    int64_t late = clip(end - (int64_t)polling_late_ns(&t->polling, event), begin, end);
    int64_t waited = ready_in(t, event, begin, end), from = waited > late ? waited : late;
    put(t->cells, begin, late, RAW_NAP, (double)(late - begin));
    put(t->cells, late, end, RAW_INSIDE_OFF, (double)(end - late));
    bool last = t->needs[event].since_ns != VALUE_ABSENT;
    if (!last && !comes_by_turns(t, event, begin))
        return;
    bool delay = last && waited > begin; /* of polling itself */
    put(t->cells, waited, late, delay ? RAW_NAP_OVERHEAD : RAW_NAP_TRANSFER,
        (double)(late - waited));
    put(t->cells, from, end, delay ? RAW_LATE_OVERHEAD : RAW_LATE_TRANSFER, (double)(end - from));
}

static bool is_ours(const struct timeline *t, const struct mpi_event *e) {
    return e->thread == t->thread && mpi_event_is_call(e);
}

/* Whether the next call completes something: this look is the last that found nothing. */
static bool finds_next(const struct timeline *t, size_t event) {
    size_t next = event + 1;
    while (next < t->rank->n && !is_ours(t, &t->rank->events[next]))
        next++;
    return next < t->rank->n && t->needs[next].since_ns != VALUE_ABSENT;
}

static const enum raw plainly[3] = {RAW_WAIT, RAW_TRANSFER, RAW_UNSPLIT};
static const enum raw folded[3] = {RAW_FOLD_WAIT, RAW_FOLD_TRANSFER, RAW_FOLD_UNSPLIT};

static void put_tests(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    double length = (double)(end - begin);
    double inside = e->flags & MPI_FLAG_FOLDED ? fmin((double)e->inside_ns, length) : length;
    put_poll(t, event, begin, end, inside, plainly, false);
    put_poll(t, event, begin, end, length - inside, folded, false);
    bool tells = finds_next(t, event) || comes_by_turns(t, event, begin);
    int64_t waited = tells ? ready_in(t, event, begin, end) : end;
    double after = length > 0 ? (double)(end - waited) / length : 0;
    if (e->flags & MPI_FLAG_FOLDED) {
        put(t->cells, begin, end, RAW_FOLD_INSIDE, inside);
        put(t->cells, waited, end, RAW_FOLDED_TRANSFER, inside * after);
        return;
    }
    double cpu = e->flags & MPI_FLAG_HAS_CPU ? fmin((double)e->cpu_ns, inside) : inside;
    put(t->cells, begin, end, RAW_INSIDE_CPU, cpu);
    put(t->cells, begin, end, RAW_INSIDE_OFF, inside - cpu);
    put(t->cells, waited, end, RAW_LATE_TRANSFER, (inside - cpu) * after);
}

/* Looks of a rank that computes: no wait, whatever had come. It has no core for what they take
 * beyond their CPU time, as far as it was ready to run. */
static void put_passing(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    double length = (double)(end - begin);
    double inside = e->flags & MPI_FLAG_FOLDED ? fmin((double)e->inside_ns, length) : length;
    double cpu = e->flags & MPI_FLAG_HAS_CPU ? fmin((double)e->cpu_ns, inside) : inside;
    put(t->cells, begin, end, RAW_OVERHEAD, inside);
    put(t->cells, begin, end, RAW_GAP_DARK, length - inside);
    if (e->flags & MPI_FLAG_FOLDED) {
        put(t->cells, begin, end, RAW_FOLD_INSIDE, inside);
        put(t->cells, begin, end, RAW_FOLDED_OVERHEAD, inside);
        return;
    }
    put(t->cells, begin, end, RAW_INSIDE_CPU, cpu);
    put(t->cells, begin, end, RAW_INSIDE_OFF, inside - cpu);
    put(t->cells, begin, end, RAW_LATE_OVERHEAD, inside - cpu);
}

/* ---- outside ---- */

static void put_own(struct timeline *t, int64_t begin, int64_t end, double cpu) {
    put(t->cells, begin, end, RAW_GAP_CPU, cpu);
    put(t->cells, begin, end, RAW_GAP_OFF, (double)(end - begin) - cpu);
}

/* What of [begin, end) lies in an interval whose CPU time is known, and that at most. */
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

/* Time outside MPI of which only the sum of CPU time was measured: when that was, the counters know
 * better, so that a wait for a disk is not held against a time full of computing. */
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
    if (previous == SIZE_MAX || (!(e->flags & MPI_FLAG_HAS_GAP_CPU) && length >= MPI_LONG_NS)) {
        put(t->cells, begin, end, RAW_GAP_DARK, length);
        return;
    }
    double cpu = e->flags & MPI_FLAG_HAS_GAP_CPU ? fmin((double)e->gap_cpu_ns, length) : length;
    if (polling_napped(&t->polling, event)) {
        put(t->cells, begin, end, RAW_GAP_CPU, cpu);
        put_poll(t, event, begin, end, length - cpu, plainly,
                 t->needs[event].since_ns != VALUE_ABSENT);
        put_nap(t, event, begin, end);
    } else {
        put_own_time(t, begin, end, cpu);
        t->poll_begin_ns = VALUE_ABSENT;
    }
}

/* ---- the pass ---- */

int budget_main_thread(const struct mpi_rank *rank, uint16_t *ret_thread) {
    uint32_t *calls = calloc(UINT16_MAX + 1, sizeof *calls);
    uint16_t most = 0;
    if (!calls)
        return -ENOMEM;
    for (size_t i = 0; i < rank->n; i++)
        if (mpi_event_is_call(&rank->events[i]))
            calls[rank->events[i].thread]++;
    for (uint32_t thread = 1; thread <= UINT16_MAX; thread++)
        if (calls[thread] > calls[most])
            most = (uint16_t)thread;
    free(calls);
    *ret_thread = most;
    return 0;
}

static void walk(struct timeline *t) {
    int64_t at = t->subject->begin_ns;
    size_t previous = SIZE_MAX;
    for (size_t i = 0; i < t->rank->n; i++) {
        const struct mpi_event *e = &t->rank->events[i];
        if (!is_ours(t, e) || e->enter_ns > t->until_ns)
            continue;
        int64_t begin = e->enter_ns > at ? e->enter_ns : at;
        int64_t end = e->exit_ns > begin ? e->exit_ns : begin;
        struct cells *cells = t->cells;
        while (cells->cursor < cells->n && cells->items[cells->cursor].end_ns <= at)
            cells->cursor++;
        put_gap(t, previous, i, at, begin);
        bool nothing = polling_found_nothing(&t->polling, i);
        if (nothing && polling_in_passing(&t->polling, i)) {
            put_passing(t, i, begin, end);
            t->poll_begin_ns = VALUE_ABSENT;
        } else if (nothing) {
            if (t->poll_begin_ns == VALUE_ABSENT)
                t->poll_begin_ns = begin;
            put_tests(t, i, begin, end);
        } else {
            bool row = mpi_event_is_row(e, mpi_event_function(t->subject->log, e));
            (row ? put_row : put_call)(t, i, begin, end);
            t->poll_begin_ns = VALUE_ABSENT;
        }
        at = end;
        previous = i;
    }
    if (t->until_ns > at) /* calls may be missing from the start */
        put(t->cells, at, t->until_ns, RAW_GAP_DARK, (double)(t->until_ns - at));
}

static int run(struct timeline *t) {
    int result = budget_main_thread(t->rank, &t->thread);
    if (result == 0)
        result =
            polling_init(t->subject->log, t->subject->log_rank, t->needs, t->thread, &t->polling);
    if (result == 0)
        walk(t);
    polling_release(&t->polling);
    return result ? result : t->error;
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
