/* SPDX-License-Identifier: MIT */
/*
 * Finds the times in which ranks had no core inside calls, from the kernel's count of such waits. A
 * rank that spins in a call loses time only if it has no core after the awaited message has come. A
 * rank that polls and sleeps in between polls late: a poll or the back-off before it takes long.
 * Messages that it was to send meanwhile reach their receivers late, too, since MPI moves a message
 * only while the rank runs it.
 */
#include <errno.h>
#include <math.h>

#include "analysis/facts/series/stats.h"
#include "analysis/simulate/replay_build.h"

/* The interval of counters that contains t, or REPLAY_NONE. Calls come in order of t. */
static uint32_t interval_at(struct rank_builder *rb, int64_t t) {
    const struct builder *b = rb->b;
    while (rb->interval < b->n_intervals && b->intervals[rb->interval].end_ns <= t)
        rb->interval++;
    bool inside = rb->interval < b->n_intervals && b->intervals[rb->interval].begin_ns <= t;
    return inside ? (uint32_t)rb->interval : REPLAY_NONE;
}

static void add_hidden(struct rank_builder *rb, const struct budget_shares *shares, double ns) {
    rb->to->hidden_quota_ns += ns * shares->quota_of_queue;
    rb->to->hidden_queue_ns += ns * (1 - shares->quota_of_queue);
}

/* ---- polls in a row ---- */

/* The time of folded polls, and the part of it beyond their usual time. */
struct replay_polls {
    double inside, beyond;
};

static bool is_folded_poll(const struct rank_builder *rb, const struct mpi_event *e) {
    return e->flags & MPI_FLAG_FOLDED && e->calls &&
           replay_function_of(rb, e)->kind == MPI_KIND_TEST &&
           e->thread == rb->b->threads[rb->index];
}

static double beyond_usual(const struct rank_builder *rb, const struct mpi_event *e) {
    return fmax((double)e->inside_ns - rb->usual_poll_ns * (double)e->calls, 0);
}

static double usual_poll(const struct rank_builder *rb, double *room) {
    size_t n = 0;
    for (size_t i = 0; i < rb->rank->n; i++) {
        const struct mpi_event *e = &rb->rank->events[i];
        if (is_folded_poll(rb, e))
            room[n++] = (double)e->inside_ns / (double)e->calls;
    }
    return n ? stats_quantile(room, n, 0.25) : 0;
}

int replay_measure_polls(struct rank_builder *rb) {
    double *room = malloc((rb->rank->n + 1) * sizeof *room);
    rb->polls = calloc(rb->b->n_intervals + 1, sizeof *rb->polls);
    if (!room || !rb->polls) {
        free(room);
        return -ENOMEM;
    }
    rb->usual_poll_ns = usual_poll(rb, room);
    free(room);
    for (size_t i = 0; i < rb->rank->n; i++) {
        const struct mpi_event *e = &rb->rank->events[i];
        uint32_t at = is_folded_poll(rb, e) ? interval_at(rb, e->exit_ns - 1) : REPLAY_NONE;
        if (at == REPLAY_NONE)
            continue;
        rb->polls[at].inside += (double)e->inside_ns;
        rb->polls[at].beyond += beyond_usual(rb, e);
    }
    rb->interval = 0;
    return 0;
}

/* The excess time of a poll was one absence, not a part of each poll, at most as long as counters
 * say that the rank had no core.
 */
static double folded_off_ns(const struct rank_builder *rb, const struct mpi_event *e, uint32_t at,
                            double inside) {
    const struct replay_polls *all = &rb->polls[at];
    double off = rb->to->shares[at].off_of_folded * all->inside;
    double rest = fmax(off - all->beyond, 0), own = fmin(beyond_usual(rb, e), inside);
    own *= all->beyond > 0 ? fmin(off / all->beyond, 1) : 0;
    return fmin(own + (all->inside > 0 ? rest / all->inside * inside : 0), inside);
}

static double poll_off_ns(const struct rank_builder *rb, const struct mpi_event *e, uint32_t at,
                          double length) {
    if (e->flags & MPI_FLAG_FOLDED)
        return folded_off_ns(rb, e, at, fmin((double)e->inside_ns, length));
    return e->flags & MPI_FLAG_HAS_CPU ? fmax(length - (double)e->cpu_ns, 0) : 0;
}

/* CPU time between polls: the rank may compute or back off there. */
static double poll_cpu_ns(const struct mpi_event *e, const struct budget_shares *shares,
                          double length, double off) {
    double inside = e->flags & MPI_FLAG_FOLDED ? fmin((double)e->inside_ns, length) : length;
    return inside - off + (length - inside) * shares->cpu_of_dark;
}

/* ---- polling ---- */

void replay_note_poll(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    if (at == REPLAY_NONE)
        return;
    const struct budget_shares *shares = &rb->to->shares[at];
    double length = (double)(end - begin), off = poll_off_ns(rb, e, at, length);
    rb->poll_cpu_ns += poll_cpu_ns(e, shares, length, off);
    replay_add_absence(
        rb, (struct replay_absence){begin, end, off * shares->queue_of_inside_off, at, false});
}

void replay_put_own_polls(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    int64_t inside = e->inside_ns < end - begin ? e->inside_ns : end - begin;
    size_t cursor = rb->interval;
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    double off = at == REPLAY_NONE ? 0 : folded_off_ns(rb, e, at, (double)inside);
    double late = at == REPLAY_NONE ? 0 : off * rb->to->shares[at].queue_of_inside_off;
    struct replay_op *op =
        replay_add_op(rb, REPLAY_FIXED, 0, inside - (int64_t)late, begin + inside);
    op->late_ns = (int64_t)late;
    op->shares = at;
    op->spins = inside > late ? (float)(((double)inside - off) / ((double)inside - late)) : 0;
    rb->interval = cursor; /* the gap after it begins earlier */
    replay_add_gap(rb, begin + inside, end, NAN);
}

/* Budgets count it themselves if the next poll found something. */
void replay_note_backoff(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    double late = fmin(polling_late_ns(&rb->polling, i), (double)(end - begin));
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    if (at == REPLAY_NONE)
        return;
    bool told = rb->needs[i].since_ns != VALUE_ABSENT;
    replay_add_absence(rb, (struct replay_absence){end - (int64_t)late, end,
                                                   late * rb->to->shares[at].queue_of_inside_off,
                                                   at, told});
}

/* Notes a pause too long for a back-off that the budget counts as waiting for a core. */
void replay_note_pause(struct rank_builder *rb, int64_t begin, int64_t end, double cpu) {
    double late = replay_pause_late_ns(rb, begin, end, cpu);
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    if (at != REPLAY_NONE)
        replay_add_absence(rb, (struct replay_absence){end - (int64_t)late, end, late, at, true});
}

double replay_pause_late_ns(struct rank_builder *rb, int64_t begin, int64_t end, double cpu) {
    size_t cursor = rb->interval;
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    rb->interval = cursor; /* the pause may turn out to be a gap, which begins earlier */
    double off = fmax((double)(end - begin) - cpu, 0);
    return at == REPLAY_NONE ? 0 : off * rb->to->shares[at].queue_of_off;
}

/* Polls for buffered sends wait for nobody. */
int64_t replay_poll_late_ns(struct rank_builder *rb, int64_t ready_ns, int64_t end,
                            uint32_t *ret_shares) {
    struct replay_away away =
        replay_away(rb->to, replay_later(rb->poll_begin_ns, ready_ns), end, REPLAY_SOON);
    if (away.untold_ns > 0)
        add_hidden(rb, &rb->to->shares[away.shares], away.untold_ns);
    *ret_shares = away.shares;
    return (int64_t)away.ns;
}

/* ---- calls ---- */

/* The time off the CPU after what the call waited for was there. In a group call it is all time off
 * the CPU that fits, since others may have waited for this rank then. While a message was under way
 * the rank had a core as often as before it was sent; the rest of the stay is the link's time. If
 * the end of the wait is not known, the absence ends with the rank's last turn.
 */
int64_t replay_call_late_ns(struct rank_builder *rb, size_t i, enum waits_for what, int64_t begin,
                            int64_t end, uint32_t *ret_shares) {
    const struct mpi_event *e = &rb->rank->events[i];
    const struct call_need *need = &rb->needs[i];
    uint32_t at = interval_at(rb, begin);
    *ret_shares = REPLAY_NONE;
    if (!(e->flags & MPI_FLAG_HAS_CPU) || at == REPLAY_NONE || replay_is_polling(rb))
        return 0;
    bool may_go = need->may_leave && need->ready_ns >= end;
    int64_t ready = need->ready_ns == VALUE_ABSENT || may_go || need->ready_ns < begin ? begin
                    : need->ready_ns < end ? need->ready_ns
                                           : end;
    const struct budget_shares *shares = &rb->to->shares[at];
    double off = (double)(end - begin - e->cpu_ns), after = (double)(end - ready);
    double lost = what != FOR_MESSAGES ? fmin(off, after)
                  : end > begin        ? off * after / (double)(end - begin)
                                       : 0;
    double late = fmax(fmin(lost * shares->queue_of_inside_off,
                            what == FOR_NOBODY ? INFINITY : replay_turn_ns(shares)),
                       0);
    double known = fmax(off - (double)(ready - begin), 0) * shares->queue_of_inside_off;
    add_hidden(rb, shares, fmax(late - known, 0));
    replay_add_absence(rb, (struct replay_absence){end - (int64_t)late, end, late, at, false});
    *ret_shares = at;
    return (int64_t)late;
}

float replay_spins(const struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    if (replay_is_polling(rb))
        return end > rb->poll_begin_ns
                   ? (float)fmin(rb->poll_cpu_ns / (double)(end - rb->poll_begin_ns), 1)
                   : 0;
    if (end <= begin)
        return 0;
    double cpu = e->flags & MPI_FLAG_HAS_CPU ? (double)e->cpu_ns / (double)(end - begin) : 1;
    return (float)fmin(fmax(cpu, 0), 1);
}
