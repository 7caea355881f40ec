/* SPDX-License-Identifier: MIT */
/*
 * Times for which a rank had no core inside calls (replay_core.c finds them), and what they held
 * up. They have kept back what was done soon after them: of the time before it as much as, seen
 * from its end, was for the most part without a core. A large message, or a call of a group, goes
 * on by many turns of those it is between, and each may come late: of a message it is not known how
 * many, so it was kept back by the time it was done in, or the last one before. Transfers that were
 * under way all the time came no later because of them.
 */
#include <errno.h>
#include <math.h>

#include "analysis/facts/series/times.h"
#include "analysis/simulate/replay_build.h"

void replay_add_absence(struct rank_builder *rb, struct replay_absence absence) {
    struct replay_rank *to = rb->to;
    if (absence.ns < MPI_LONG_NS || absence.end_ns <= absence.begin_ns)
        return;
    if (replay_room(&to->absences, to->n_absences, &to->absences_capacity, sizeof absence))
        to->absences[to->n_absences++] = absence;
    else
        rb->error = -ENOMEM;
}

/* How many had ended by t. */
static size_t ended_by(const struct replay_rank *r, int64_t t) {
    return TIMES_UNTIL(r->absences, r->n_absences, end_ns, t);
}

#define HARDLY_LATER 0.1 /* of a time without a core: it ends together with something */

static bool ends_with(const struct replay_absence *a, int64_t t) {
    return a->begin_ns < t &&
           (double)(a->end_ns - t) <= HARDLY_LATER * (double)(a->end_ns - a->begin_ns);
}

/* The same, and one more that ends hardly later. */
static size_t ended_with(const struct replay_rank *r, int64_t t) {
    size_t n = ended_by(r, t);
    return n < r->n_absences && ends_with(&r->absences[n], t) ? n + 1 : n;
}

/* Time away by the first n of its absences. */
static struct replay_away away_in(const struct replay_rank *rank, size_t n, int64_t from,
                                  int64_t to, double soon) {
    struct replay_away sum = {.shares = REPLAY_NONE}, away = sum;
    for (size_t i = n; i-- > 0 && rank->absences[i].end_ns > from;) {
        const struct replay_absence *a = &rank->absences[i];
        int64_t begin = a->begin_ns > from ? a->begin_ns : from;
        int64_t end = a->end_ns < to ? a->end_ns : to;
        double length = (double)(a->end_ns - a->begin_ns);
        double ns = fmin(a->ns * fmax((double)(end - begin), 0) / length,
                         replay_turn_ns(&rank->shares[a->shares]));
        sum.ns += ns;
        sum.untold_ns += a->told ? 0 : ns;
        sum.shares = sum.shares == REPLAY_NONE ? a->shares : sum.shares;
        if ((double)(to - begin) - sum.ns <= soon * sum.ns)
            away = sum;
    }
    return away;
}

struct replay_away replay_away(const struct replay_rank *rank, int64_t from, int64_t to,
                               double soon) {
    return away_in(rank, ended_with(rank, to), from, to, soon);
}

struct replay_away replay_away_amid(const struct replay_rank *rank, int64_t from, int64_t to,
                                    double soon) {
    size_t n = ended_by(rank, to);
    bool amid = n < rank->n_absences && rank->absences[n].begin_ns < to;
    return away_in(rank, n + amid, from, to, soon);
}

/* ---- what others waited for ---- */

/* The part of a time without a core that delayed something which could go on from `ready` on, and
 * was done at `done`. If it was done in the midst of that time, the rank had its core for a moment.
 */
static double kept_back_ns(const struct replay_absence *a, int64_t ready, int64_t done) {
    int64_t length = a->end_ns - a->begin_ns, from = ready > a->begin_ns ? ready : a->begin_ns;
    int64_t until = done < a->end_ns ? done : a->end_ns;
    if (done - a->end_ns > length || from >= until)
        return 0;
    return a->ns * (double)(until - from) / (double)length;
}

/* A rank that has handed a message over is not needed any more for it to come. */
static bool had_left(const struct replay_message *m, const struct replay_absence *a) {
    return m->buffered && m->left_ns != VALUE_ABSENT && m->left_ns <= a->begin_ns;
}

static void keep_back(struct replay *p, struct replay_message *m, const struct replay_absence *a) {
    int64_t bound =
        call_clock_bound(&p->model->clock, p->ranks[m->from].host, p->ranks[m->to].host);
    int64_t late = (int64_t)kept_back_ns(a, replay_begin_ns(m), m->done_ns);
    if (bound > a->end_ns - a->begin_ns || had_left(m, a) || late <= m->late_ns)
        return;
    m->late_ns = late;
    m->late_shares = a->shares;
}

void replay_find_kept_back(struct replay *p) {
    for (size_t i = 0; i < p->n_messages; i++) {
        struct replay_message *m = &p->messages[i];
        const struct replay_rank *from = &p->ranks[m->from];
        size_t n = ended_by(from, m->done_ns);
        if (n)
            keep_back(p, m, &from->absences[n - 1]);
        if (n < from->n_absences)
            keep_back(p, m, &from->absences[n]);
        m->done_ns -= m->late_ns;
    }
}
