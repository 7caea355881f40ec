/* SPDX-License-Identifier: MIT */
/*
 * Absences are times in which a rank had no core inside calls (replay_core.c finds them). This file
 * tells what they delayed. An absence delayed what was done soon after it: it counts as far back as
 * the rank, seen from the end, was mostly without a core. Large messages and group calls take many
 * turns of both ranks, and each turn may come late. The number of turns of a message is not known,
 * so its delay is measured from the absences during the message or the last one before. An absence
 * does not delay a transfer that was under way all the time.
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

/* The number of absences that ended by t. */
static size_t ended_by(const struct replay_rank *r, int64_t t) {
    return TIMES_UNTIL(r->absences, r->n_absences, end_ns, t);
}

#define HARDLY_LATER 0.1 /* of an absence: two ends this close count as one */

static bool ends_near(const struct replay_absence *a, int64_t t) {
    return a->begin_ns < t &&
           (double)(a->end_ns - t) <= HARDLY_LATER * (double)(a->end_ns - a->begin_ns);
}

/* The number of absences that ended by t, plus one that ends hardly later. */
static size_t ended_with(const struct replay_rank *r, int64_t t) {
    size_t n = ended_by(r, t);
    return n < r->n_absences && ends_near(&r->absences[n], t) ? n + 1 : n;
}

/* The part of its first n absences that lies within [from, to). */
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

/* The part of an absence that delayed something which could go on from `ready` and was done at
 * `done`. If it was done during the absence, the rank had its core for a moment.
 */
static double kept_back_ns(const struct replay_absence *a, int64_t ready, int64_t done) {
    int64_t length = a->end_ns - a->begin_ns, from = ready > a->begin_ns ? ready : a->begin_ns;
    int64_t until = done < a->end_ns ? done : a->end_ns;
    if (done - a->end_ns > length || from >= until)
        return 0;
    return a->ns * (double)(until - from) / (double)length;
}

/* A rank that has handed over a message is not needed for its arrival. */
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
