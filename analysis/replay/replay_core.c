/* SPDX-License-Identifier: MIT */
/*
 * Ranks without a core inside calls, as far as the kernel saw them wait for one. Who spins in a
 * call loses time by that only at the end, after what it waits for has come. Who looks now and
 * then, and sleeps between the looks, is seen to have looked late: one look took long, or the nap
 * before it did. What a rank was to send meanwhile came late to its receiver, too: MPI moves a
 * message on only while somebody runs it.
 *
 * Such times have kept back what was done soon after them: of the time before it as much as, seen
 * from its end, was for the most part without a core. A large message, or a call of a group, goes
 * on by many turns of those it is between, and each may come late. What was under way all the time
 * came no later because of them.
 */
#include <errno.h>
#include <math.h>

#include "analysis/replay/replay_build.h"
#include "analysis/series/stats.h"

/* A rank that spins while a message is on its way loses no time by having no core, but at the end:
 * until its turn comes again. */
#define TURN_NS 50e6 /* of a quota twice as long: it is given out every 100 ms */

/* The interval of counters that t lies in; REPLAY_NONE. Times come in order. */
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

static double turn_ns(const struct budget_shares *shares) {
    return TURN_NS * (1 + shares->quota_of_queue);
}

/* ---- times without a core ---- */

/* Shorter is no matter. */
static void add_absence(struct rank_builder *rb, struct replay_absence absence) {
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
    size_t low = 0, high = r->n_absences;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->absences[middle].end_ns <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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

/* Of the first n of its absences. */
static struct replay_away away_in(const struct replay_rank *rank, size_t n, int64_t from,
                                  int64_t to, double soon) {
    struct replay_away sum = {.shares = REPLAY_NONE}, away = sum;
    for (size_t i = n; i-- > 0 && rank->absences[i].end_ns > from;) {
        const struct replay_absence *a = &rank->absences[i];
        int64_t begin = a->begin_ns > from ? a->begin_ns : from;
        int64_t end = a->end_ns < to ? a->end_ns : to;
        double length = (double)(a->end_ns - a->begin_ns);
        double ns = fmin(a->ns * fmax((double)(end - begin), 0) / length,
                         turn_ns(&rank->shares[a->shares]));
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

/* ---- looks in a row ---- */

/* What folded looks took, and how much of it beyond as many usual ones. */
struct replay_looks {
    double inside, beyond;
};

static bool is_folded_look(const struct rank_builder *rb, const struct mpi_event *e) {
    return e->flags & MPI_FLAG_FOLDED && e->calls &&
           replay_function_of(rb, e)->kind == MPI_KIND_TEST &&
           e->thread == rb->b->threads[rb->index];
}

static double beyond_usual(const struct rank_builder *rb, const struct mpi_event *e) {
    return fmax((double)e->inside_ns - rb->usual_look_ns * (double)e->calls, 0);
}

static double usual_look(const struct rank_builder *rb, double *room) {
    size_t n = 0;
    for (size_t i = 0; i < rb->rank->n; i++) {
        const struct mpi_event *e = &rb->rank->events[i];
        if (is_folded_look(rb, e))
            room[n++] = (double)e->inside_ns / (double)e->calls;
    }
    return n ? stats_quantile(room, n, 0.25) : 0;
}

int replay_measure_looks(struct rank_builder *rb) {
    double *room = malloc((rb->rank->n + 1) * sizeof *room);
    rb->looks = calloc(rb->b->n_intervals + 1, sizeof *rb->looks);
    if (!room || !rb->looks) {
        free(room);
        return -ENOMEM;
    }
    rb->usual_look_ns = usual_look(rb, room);
    free(room);
    for (size_t i = 0; i < rb->rank->n; i++) {
        const struct mpi_event *e = &rb->rank->events[i];
        uint32_t at = is_folded_look(rb, e) ? interval_at(rb, e->exit_ns - 1) : REPLAY_NONE;
        if (at == REPLAY_NONE)
            continue;
        rb->looks[at].inside += (double)e->inside_ns;
        rb->looks[at].beyond += beyond_usual(rb, e);
    }
    rb->interval = 0;
    return 0;
}

/* A look that took long had no core for a while, not all looks for a part of theirs: as far as
 * counters say that there was none. */
static double folded_off_ns(const struct rank_builder *rb, const struct mpi_event *e, uint32_t at,
                            double inside) {
    const struct replay_looks *all = &rb->looks[at];
    double off = rb->to->shares[at].off_of_folded * all->inside;
    double rest = fmax(off - all->beyond, 0), own = fmin(beyond_usual(rb, e), inside);
    own *= all->beyond > 0 ? fmin(off / all->beyond, 1) : 0;
    return fmin(own + (all->inside > 0 ? rest / all->inside * inside : 0), inside);
}

static double look_off_ns(const struct rank_builder *rb, const struct mpi_event *e, uint32_t at,
                          double length) {
    if (e->flags & MPI_FLAG_FOLDED)
        return folded_off_ns(rb, e, at, fmin((double)e->inside_ns, length));
    return e->flags & MPI_FLAG_HAS_CPU ? fmax(length - (double)e->cpu_ns, 0) : 0;
}

/* Between looks in a row it may compute, or nap. */
static double look_cpu_ns(const struct mpi_event *e, const struct budget_shares *shares,
                          double length, double off) {
    double inside = e->flags & MPI_FLAG_FOLDED ? fmin((double)e->inside_ns, length) : length;
    return inside - off + (length - inside) * shares->cpu_of_dark;
}

/* ---- polling ---- */

void replay_note_look(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    const struct mpi_event *e = &rb->rank->events[i];
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    if (at == REPLAY_NONE)
        return;
    const struct budget_shares *shares = &rb->to->shares[at];
    double length = (double)(end - begin), off = look_off_ns(rb, e, at, length);
    rb->poll_cpu_ns += look_cpu_ns(e, shares, length, off);
    add_absence(rb,
                (struct replay_absence){begin, end, off * shares->queue_of_inside_off, at, false});
}

void replay_put_own_looks(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
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
    rb->interval = cursor; /* the gap begins earlier */
    replay_add_gap(rb, begin + inside, end, NAN);
}

/* Budgets tell of it where the next look found something. */
void replay_note_nap(struct rank_builder *rb, size_t i, int64_t begin, int64_t end) {
    double late = fmin(polling_late_ns(&rb->polling, i), (double)(end - begin));
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    if (at == REPLAY_NONE)
        return;
    bool told = rb->needs[i].since_ns != VALUE_ABSENT;
    add_absence(rb,
                (struct replay_absence){end - (int64_t)late, end,
                                        late * rb->to->shares[at].queue_of_inside_off, at, told});
}

/* Of a pause that was too long for a nap, and that budgets show as waiting for a core. */
void replay_note_pause(struct rank_builder *rb, int64_t begin, int64_t end, double cpu) {
    double late = replay_pause_late_ns(rb, begin, end, cpu);
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    if (at != REPLAY_NONE)
        add_absence(rb, (struct replay_absence){end - (int64_t)late, end, late, at, true});
}

double replay_pause_late_ns(struct rank_builder *rb, int64_t begin, int64_t end, double cpu) {
    size_t cursor = rb->interval;
    uint32_t at = interval_at(rb, end > begin ? end - 1 : end);
    rb->interval = cursor; /* the pause may yet be a gap, which begins earlier */
    double off = fmax((double)(end - begin) - cpu, 0);
    return at == REPLAY_NONE ? 0 : off * rb->to->shares[at].queue_of_off;
}

/* Sends that are buffered wait for nobody. */
int64_t replay_look_late_ns(struct rank_builder *rb, int64_t ready_ns, int64_t end,
                            uint32_t *ret_shares) {
    struct replay_away away =
        replay_away(rb->to, replay_later(rb->poll_begin_ns, ready_ns), end, REPLAY_SOON);
    if (away.untold_ns > 0)
        add_hidden(rb, &rb->to->shares[away.shares], away.untold_ns);
    *ret_shares = away.shares;
    return (int64_t)away.ns;
}

/* ---- calls ---- */

/* Time off the CPU after what it waited for was there. In a group call all that fits in there:
 * others may have waited for it then. A message was on its way in that time, too, and had no core
 * as often as before it was sent: what is left of the stay is what its link took. A wait whose end
 * is not known goes on without a core up to the last turn. */
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
    double late = fmax(
        fmin(lost * shares->queue_of_inside_off, what == FOR_NOBODY ? INFINITY : turn_ns(shares)),
        0);
    double known = fmax(off - (double)(ready - begin), 0) * shares->queue_of_inside_off;
    add_hidden(rb, shares, fmax(late - known, 0));
    add_absence(rb, (struct replay_absence){end - (int64_t)late, end, late, at, false});
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

/* ---- what others waited for ---- */

/* What of a time without a core kept back something that could go on from `ready` on, and was done
 * at `done`. What was done in the midst of it was so when the rank had its core for a moment. */
static double kept_back_ns(const struct replay_absence *a, int64_t ready, int64_t done) {
    int64_t length = a->end_ns - a->begin_ns, from = ready > a->begin_ns ? ready : a->begin_ns;
    int64_t until = done < a->end_ns ? done : a->end_ns;
    if (done - a->end_ns > length || from >= until)
        return 0;
    return a->ns * (double)(until - from) / (double)length;
}

/* Who has handed a message over is not needed any more for it to come. */
static bool had_left(const struct replay_message *m, const struct replay_absence *a) {
    return m->buffered && m->left_ns != VALUE_ABSENT && m->left_ns <= a->begin_ns;
}

static void keep_back(struct replay *p, struct replay_message *m, const struct replay_absence *a) {
    int64_t bound =
        call_clock_bound(&p->scene->clock, p->ranks[m->from].host, p->ranks[m->to].host);
    int64_t late = (int64_t)kept_back_ns(a, replay_begin_ns(m), m->done_ns);
    if (bound > a->end_ns - a->begin_ns || had_left(m, a) || late <= m->late_ns)
        return;
    m->late_ns = late;
    m->late_shares = a->shares;
}

/* By the one it was done in, or the last one before: of a message it is not known how many turns of
 * its sender it took. */
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
