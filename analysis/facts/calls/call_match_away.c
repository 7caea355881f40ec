/* SPDX-License-Identifier: MIT */
/*
 * Messages delayed by a sender outside MPI. MPI moves a message only while the rank is inside MPI,
 * so a sender that sleeps or computes between two polls delays its messages. Then the receiver
 * waits for the sender to return, not for the transfer. A sender without a core is as far away,
 * also inside a call that waits for nobody: its group is throttled, or others have the core.
 *
 * This counts only if all of the following hold: the sender left after a poll that found nothing,
 * or after it had begun a long message; its side of the message was not complete when it returned;
 * and the receiver, which waited by then, had the message soon afterwards. A long message on a slow
 * link continues from the kernel's buffers, and may complete at any time. If the sender had not
 * polled, the message may have left at once, unless the sender's calls after its return took as
 * long as copying it.
 */
#include <errno.h>

#include "analysis/facts/calls/call_match_private.h"
#include "analysis/facts/series/times.h"

#define AWAY_NS 2000000  /* shorter absences are ignored */
#define SOON_PART 4      /* of the absence: the rest of the message may take at most this part */
#define POLLS_MAX 256    /* of a receiver within an absence: more are folded, or invalid */
#define COPY_BYTES_NS 20 /* the most that a core copies */

struct away {
    int64_t begin_ns, end_ns;
    bool polled; /* polled before it left MPI */
};

static bool found_nothing(const struct mpi_event *e, const struct mpi_function *f) {
    return f->kind == MPI_KIND_TEST && (e->flags & MPI_FLAG_FOLDED || e->peer < 0);
}

/* Whether the rank had no core for most of a call that waits for nobody. */
static bool lacked_core(const struct mpi_event *e, const struct mpi_function *f) {
    int64_t off = e->exit_ns - e->enter_ns - e->cpu_ns;
    return f->kind == MPI_KIND_SEND_START && e->flags & MPI_FLAG_HAS_CPU &&
           !(e->flags & MPI_FLAG_FOLDED) && off >= AWAY_NS && off >= e->cpu_ns;
}

/* Finds times in which no thread of the rank moved messages: all were outside MPI, or it had no
 * core. */
static size_t find_away(const struct matcher *m, uint32_t rank, struct away *away) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    const struct mpi_event *last = NULL;
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!mpi_event_is_call(e))
            continue;
        if (last && e->enter_ns - last->exit_ns >= AWAY_NS)
            away[n++] = (struct away){last->exit_ns, e->enter_ns,
                                      found_nothing(last, mpi_event_function(m->log, last))};
        bool latest = !last || e->exit_ns >= last->exit_ns;
        if (latest && lacked_core(e, mpi_event_function(m->log, e)))
            away[n++] = (struct away){e->enter_ns, e->exit_ns, false};
        if (latest)
            last = e;
    }
    return n;
}

/* The last absence that ended by t, or NULL. */
static const struct away *last_away(const struct away *away, size_t n, int64_t t) {
    size_t ended = TIMES_UNTIL(away, n, end_ns, t);
    return ended ? &away[ended - 1] : NULL;
}

static size_t calls_until(const struct mpi_rank *r, int64_t t) {
    return TIMES_UNTIL(r->events, r->n, enter_ns, t);
}

/* Whether a rank waited at t for what it received later: in the call that completed the request, or
 * polling for it without a pause until then.
 */
static bool waits_at(const struct matcher *m, const struct mpi_rank *r,
                     const struct mpi_event *receive, int64_t t) {
    if (!(receive->flags & MPI_FLAG_REQUEST))
        return receive->enter_ns < t;
    int64_t since = INT64_MAX;
    size_t i = calls_until(r, receive->exit_ns);
    for (int steps = 0; i-- > 0 && steps < POLLS_MAX; steps++) {
        const struct mpi_event *e = &r->events[i];
        bool polls = since != INT64_MAX && since - e->exit_ns < AWAY_NS &&
                     mpi_event_function(m->log, e)->kind == MPI_KIND_TEST;
        if (!mpi_event_is_call(e) || e->thread != receive->thread)
            continue;
        if (since == INT64_MAX ? e->exit_ns < receive->exit_ns : !polls)
            return false;
        since = e->enter_ns;
        if (since < t)
            return true;
    }
    return false;
}

/* Whether the returned sender spent enough CPU time inside MPI, before its side was complete, to
 * copy the message. A sender that only waits there for a slow link does not.
 */
static bool was_copied_then(const struct mpi_rank *r, const struct mpi_event *done,
                            const struct away *a) {
    int64_t copying = 0;
    size_t i = calls_until(r, a->end_ns - 1);
    for (int steps = 0; i < r->n && steps < POLLS_MAX; i++, steps++) {
        const struct mpi_event *e = &r->events[i];
        if (e->enter_ns > done->exit_ns)
            break;
        if (mpi_event_is_call(e) && e->exit_ns <= done->exit_ns)
            copying += e->flags & MPI_FLAG_HAS_CPU ? e->cpu_ns : e->exit_ns - e->enter_ns;
    }
    return copying >= done->bytes / COPY_BYTES_NS;
}

/* done: the event that completed the sender's request. */
static void hold_up(struct matcher *m, uint32_t rank, const struct mpi_event *done,
                    const struct call_need *sent, const struct away *away, size_t n) {
    const struct mpi_event *receive = &m->log->ranks[sent->who].events[sent->partner];
    struct call_need *received = &m->matches.needs[sent->who][sent->partner];
    int64_t bound =
        call_clock_bound(m->clock, m->log->ranks[rank].host, m->log->ranks[sent->who].host);
    int64_t by = done->exit_ns < receive->exit_ns ? done->exit_ns : receive->exit_ns;
    const struct away *a = last_away(away, n, by);
    int64_t soon = a ? (a->end_ns - a->begin_ns) / SOON_PART : 0;
    bool held = a && (a->polled || (done->bytes >= CALL_LONG_BYTES &&
                                    was_copied_then(&m->log->ranks[rank], done, a)));
    if (held && a->begin_ns >= done->enter_ns && receive->exit_ns - a->end_ns <= soon &&
        bound <= soon && waits_at(m, &m->log->ranks[sent->who], receive, a->end_ns))
        received->ready_ns = a->end_ns;
}

int call_match_away(struct matcher *m, uint32_t rank) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    struct away *away = malloc((2 * r->n + 1) * sizeof *away);
    if (!away)
        return -ENOMEM;
    size_t n = find_away(m, rank, away);
    for (size_t i = 0; n && i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!(e->flags & MPI_FLAG_REQUEST) || mpi_event_function(m->log, e)->receives)
            continue;
        size_t start = call_match_start(r, e);
        const struct call_need *sent = start == SIZE_MAX ? NULL : &m->matches.needs[rank][start];
        if (sent && sent->who >= 0 && sent->outgoing && sent->partner != CALL_NO_PARTNER)
            hold_up(m, rank, e, sent, away, n);
    }
    free(away);
    return 0;
}
