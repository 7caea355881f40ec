/* SPDX-License-Identifier: MIT */
/* Ranks that poll for messages: which of their polls and back-offs were a wait, and for whom. */
#include <math.h>

#include "analysis/number.h"
#include "analysis/time/budget_timeline.h"

/* Puts `amount` of a row of polls (the rest was CPU time outside): wait until the peer was there,
 * then transfer. In the last back-off, the time after the peer came is the delay of polling.
 */
void timeline_put_poll(struct timeline *t, size_t event, int64_t begin, int64_t end, double amount,
                       const enum raw into[3], bool last_backoff) {
    const struct call_need *need = polling_for(&t->polling, event, begin);
    if (end <= begin || amount <= 0)
        return;
    double per_ns = amount / (double)(end - begin);
    if (!need || need->ready_ns == VALUE_ABSENT) {
        bool nothing_to_know = need && !need->asked;
        enum raw raw = nothing_to_know ? into[1] : into[2];
        bool file = raw == RAW_TRANSFER && need->of_file;
        timeline_put(t->cells, begin, end, file ? RAW_IO : raw, amount);
        return;
    }
    int64_t since = t->poll_begin_ns == VALUE_ABSENT ? begin : t->poll_begin_ns;
    int64_t waited = timeline_wait_end(t, need, since, begin, end);
    timeline_put(t->cells, begin, waited, into[0], per_ns * (double)(waited - begin));
    timeline_put_awaited(t, need->who, begin, waited, per_ns);
    enum raw rest = last_backoff && waited > begin ? RAW_OVERHEAD : into[1];
    timeline_put(t->cells, waited, end, rest, per_ns * (double)(end - waited));
    if (rest != RAW_OVERHEAD)
        timeline_put_moved(t, need, waited, end, per_ns);
}

/* When the awaited message could begin to arrive, in [begin, end); `end` if that is not known, or
 * later.
 */
static int64_t ready_in(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct call_need *need = polling_for(&t->polling, event, begin);
    int64_t since = t->poll_begin_ns == VALUE_ABSENT ? begin : t->poll_begin_ns;
    return need && need->ready_ns != VALUE_ABSENT ? timeline_wait_end(t, need, since, begin, end)
                                                  : end;
}

/* Whether a message moves only while its receiver polls, so that late polls delay it: long messages
 * do. Short ones arrive by themselves.
 */
static bool comes_by_turns(const struct timeline *t, size_t event, int64_t begin) {
    const struct call_need *need = polling_for(&t->polling, event, begin);
    return need && t->rank->events[need - t->needs].bytes >= CALL_LONG_BYTES;
}

/* Puts back-offs, and the excess of one that took too long, as time off the core. It costs only
 * time after the peer came and, for a short message, after the last empty poll: before that,
 * nothing had come. The counters tell how much was want of a core, beginning with the excess. If
 * every back-off is late, none stands out, and only the counters tell.
 */
void timeline_put_backoff(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    int64_t late = timeline_clip(end - (int64_t)polling_late_ns(&t->polling, event), begin, end);
    int64_t waited = ready_in(t, event, begin, end), from = waited > late ? waited : late;
    timeline_put(t->cells, begin, late, RAW_BACKOFF, (double)(late - begin));
    timeline_put(t->cells, late, end, RAW_INSIDE_OFF, (double)(end - late));
    bool last = t->needs[event].since_ns != VALUE_ABSENT;
    if (!last && !comes_by_turns(t, event, begin))
        return;
    bool delay = last && waited > begin; /* the delay of polling itself */
    timeline_put(t->cells, waited, late, delay ? RAW_BACKOFF_OVERHEAD : RAW_BACKOFF_TRANSFER,
                 (double)(late - waited));
    timeline_put(t->cells, from, end, delay ? RAW_LATE_OVERHEAD : RAW_LATE_TRANSFER,
                 (double)(end - from));
}

bool timeline_has(const struct timeline *t, const struct mpi_event *e) {
    return e->thread == t->thread && mpi_event_is_call(e);
}

/* Whether the next call completes something, so that this poll is the last empty one. */
static bool finds_next(const struct timeline *t, size_t event) {
    size_t next = event + 1;
    while (next < t->rank->n && !timeline_has(t, &t->rank->events[next]))
        next++;
    return next < t->rank->n && t->needs[next].since_ns != VALUE_ABSENT;
}

/* The time inside polls of a row. If less time passes between two polls than a poll costs the
 * program and the shim, the loop only waits.
 */
static double time_of_polls(const struct judge *judge, const struct mpi_event *e, double length) {
    if (!(e->flags & MPI_FLAG_FOLDED))
        return length;
    double inside = fmin((double)e->inside_ns, length);
    return length - inside <= number_by(judge, POLL_GAP_NS) * (double)e->calls ? length : inside;
}

const enum raw timeline_plainly[3] = {RAW_WAIT, RAW_TRANSFER, RAW_UNSPLIT};
static const enum raw folded[3] = {RAW_FOLD_WAIT, RAW_FOLD_TRANSFER, RAW_FOLD_UNSPLIT};

void timeline_put_tests(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    double length = (double)(end - begin);
    double inside = time_of_polls(t->subject->judge, e, length);
    timeline_put_poll(t, event, begin, end, inside, timeline_plainly, false);
    timeline_put_poll(t, event, begin, end, length - inside, folded, false);
    bool tells = finds_next(t, event) || comes_by_turns(t, event, begin);
    int64_t waited = tells ? ready_in(t, event, begin, end) : end;
    double after = length > 0 ? (double)(end - waited) / length : 0;
    if (e->flags & MPI_FLAG_FOLDED) {
        timeline_put(t->cells, begin, end, RAW_FOLD_INSIDE, inside);
        timeline_put(t->cells, waited, end, RAW_FOLDED_TRANSFER, inside * after);
        return;
    }
    double cpu = e->flags & MPI_FLAG_HAS_CPU ? fmin((double)e->cpu_ns, inside) : inside;
    timeline_put(t->cells, begin, end, RAW_INSIDE_CPU, cpu);
    timeline_put(t->cells, begin, end, RAW_INSIDE_OFF, inside - cpu);
    timeline_put(t->cells, waited, end, RAW_LATE_TRANSFER, (inside - cpu) * after);
}

/* Puts polls of a rank that computes: no wait, even if the message was there. Their time beyond
 * their CPU time is want of a core, up to the time for which the rank was ready to run.
 */
void timeline_put_passing(struct timeline *t, size_t event, int64_t begin, int64_t end) {
    const struct mpi_event *e = &t->rank->events[event];
    double length = (double)(end - begin);
    double inside = e->flags & MPI_FLAG_FOLDED ? fmin((double)e->inside_ns, length) : length;
    double cpu = e->flags & MPI_FLAG_HAS_CPU ? fmin((double)e->cpu_ns, inside) : inside;
    timeline_put(t->cells, begin, end, RAW_OVERHEAD, inside);
    timeline_put(t->cells, begin, end, RAW_GAP_DARK, length - inside);
    if (e->flags & MPI_FLAG_FOLDED) {
        timeline_put(t->cells, begin, end, RAW_FOLD_INSIDE, inside);
        timeline_put(t->cells, begin, end, RAW_FOLDED_OVERHEAD, inside);
        return;
    }
    timeline_put(t->cells, begin, end, RAW_INSIDE_CPU, cpu);
    timeline_put(t->cells, begin, end, RAW_INSIDE_OFF, inside - cpu);
    timeline_put(t->cells, begin, end, RAW_LATE_OVERHEAD, inside - cpu);
}
