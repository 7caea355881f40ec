/* SPDX-License-Identifier: MIT */
/*
 * One-sided accesses. Without network hardware for them they are messages that the target's MPI
 * answers, only while the target is inside MPI. So a rank that completes accesses waits until a
 * target that computes or sleeps is back, and then for the transfer. A call that ended before its
 * target came back did not need it.
 *
 * A target that goes from one small call to the next counts as inside all the time. A target
 * without a core (quota, other programs) counts as outside: its call continues but answers nobody,
 * and both calls end together. A call that completes accesses to all targets completes those to its
 * window since the last such call or, if there were none, since the one before. If the window of
 * some accesses is not known, as when small accesses to several windows were recorded as one, all
 * windows of a rank count as one.
 */
#include <errno.h>

#include "analysis/facts/calls/call_match_private.h"
#include "analysis/facts/series/times.h"

#define TARGETS_MAX 64 /* of one rank's accesses at a time; ranks with more are not examined */
#define OFF_NS 2000000 /* off its core inside a call; shorter times are ignored */
#define OFF_PART 0.75  /* of a wait that the target was off its core, or outside MPI */
#define SOON_PART 4    /* of that time: a waiting rank goes on at most this part before its end */
#define WINDOWS_MAX 16 /* of a rank; more count as one */

struct stay {
    int64_t begin_ns, end_ns;
    uint32_t event; /* the first event in it */
};

struct presence {
    struct stay *stays; /* times inside MPI, in order */
    size_t n;
    size_t *off; /* events during a part of which the rank was off its core, in order */
    size_t n_off;
};

struct target {
    uint32_t rank;
    double out, back; /* bytes */
};

struct targets {
    struct target items[TARGETS_MAX];
    size_t n;
    bool unknown;         /* some targets are missing here */
    struct target others; /* bytes of those, and of accesses to the rank itself */
};

struct window_accesses {
    uint32_t comm;
    struct targets open, done; /* since the last call that completed all; those before it */
};

struct accesses {
    struct matcher *m;
    uint32_t rank;
    const struct presence *presence; /* by rank of the log */
    struct window_accesses *windows;
    size_t n_windows;
    bool one; /* windows cannot be told apart */
};

/* ---- where the ranks were ---- */

static int64_t off_core_ns(const struct mpi_event *e) {
    bool told = mpi_event_is_call(e) && e->flags & MPI_FLAG_HAS_CPU;
    return told && !(e->flags & MPI_FLAG_FOLDED) ? e->exit_ns - e->enter_ns - e->cpu_ns : 0;
}

static int find_off(const struct mpi_rank *r, struct presence *p) {
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += off_core_ns(&r->events[i]) >= OFF_NS;
    p->off = malloc((n + 1) * sizeof *p->off);
    for (size_t i = 0; p->off && i < r->n; i++)
        if (off_core_ns(&r->events[i]) >= OFF_NS)
            p->off[p->n_off++] = i;
    return p->off ? 0 : -ENOMEM;
}

static int find_presence(const struct mpi_rank *r, struct presence *ret_presence) {
    struct presence p = {.stays = malloc((r->n + 1) * sizeof *p.stays)};
    if (!p.stays)
        return -ENOMEM;
    for (size_t i = 0; i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!mpi_event_is_call(e))
            continue;
        struct stay *last = p.n ? &p.stays[p.n - 1] : NULL;
        if (!last || e->enter_ns - last->end_ns >= MPI_LONG_NS)
            p.stays[p.n++] = (struct stay){e->enter_ns, e->exit_ns, (uint32_t)i};
        else if (e->exit_ns > last->end_ns)
            last->end_ns = e->exit_ns;
    }
    *ret_presence = p;
    return find_off(r, ret_presence);
}

/* When a rank was inside MPI, at t or next after it; NULL if not known. */
static const struct stay *stay_from(const struct mpi_rank *r, const struct presence *p, int64_t t) {
    size_t low = TIMES_UNTIL(p->stays, p->n, end_ns, t);
    bool lost = t < r->found_ns && (low == p->n || p->stays[low].end_ns >= r->lost_ns);
    return low == p->n || lost ? NULL : &p->stays[low];
}

/* The stay that answered a call. A target that leaves MPI soon after the call began may go without
 * an answer: then it is away for nearly all of the time until it comes again, and the call ends
 * after that. A target that stays for longer moves data meanwhile.
 */
static const struct stay *answered_in(const struct presence *p, const struct stay *stay,
                                      const struct mpi_event *e) {
    const struct stay *answered = stay, *end = p->stays + p->n;
    double present = 0;
    for (; stay + 1 < end && stay[1].begin_ns < e->exit_ns; stay++) {
        int64_t from = stay->begin_ns > e->enter_ns ? stay->begin_ns : e->enter_ns;
        present += (double)(stay->end_ns - from);
        if (present <= (1 - OFF_PART) * (double)(stay[1].begin_ns - e->enter_ns))
            answered = stay + 1;
    }
    return answered;
}

/* When a target was there to answer, or VALUE_ABSENT. A rank that completes accesses during a
 * target's call waits for that call.
 */
static int64_t inside_from(struct accesses *a, const struct mpi_event *e, uint32_t q) {
    const struct stay *stay = stay_from(&a->m->log->ranks[q], &a->presence[q], e->enter_ns);
    if (stay)
        stay = answered_in(&a->presence[q], stay, e);
    if (!stay || stay->begin_ns <= e->enter_ns)
        return stay ? e->enter_ns : VALUE_ABSENT;
    uint32_t index = (uint32_t)(e - a->m->log->ranks[a->rank].events);
    if (stay->begin_ns < e->exit_ns)
        call_match_signal(a->m, (struct event_at){q, stay->event},
                          (struct event_at){a->rank, index}, 0);
    return stay->begin_ns;
}

/* The rank's last call that began before t and in which it had no core for a while. */
static size_t last_off(const struct mpi_rank *r, const struct presence *p, int64_t t) {
    size_t low = 0, high = p->n_off;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->events[p->off[middle]].enter_ns < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? p->off[low - 1] : SIZE_MAX;
}

/* Until when a call waited for a rank that was inside MPI without a core; the begin of the call if
 * it did not.
 */
static int64_t core_from(const struct accesses *a, const struct mpi_event *e, uint32_t q) {
    const struct mpi_rank *r = &a->m->log->ranks[q];
    size_t at = last_off(r, &a->presence[q], e->exit_ns);
    if (at == SIZE_MAX)
        return e->enter_ns;
    const struct mpi_event *held = &r->events[at];
    const struct call_need *needs = &a->m->matches.needs[q][at];
    int64_t from = held->enter_ns > e->enter_ns ? held->enter_ns : e->enter_ns;
    int64_t until = held->exit_ns < e->exit_ns ? held->exit_ns : e->exit_ns - 1;
    bool waits_for_it = needs->who == (int32_t)a->rank && needs->ready_ns > from;
    bool held_up = until - from >= OFF_NS &&
                   (double)off_core_ns(held) >= OFF_PART * (double)(until - from) &&
                   held->exit_ns - e->exit_ns <= (until - from) / SOON_PART;
    return held_up && !waits_for_it ? until : e->enter_ns;
}

/* ---- whom a call needs ---- */

static struct window_accesses *window_of(struct accesses *a, const struct mpi_event *e) {
    for (size_t i = 0; i < a->n_windows; i++)
        if (a->one || a->windows[i].comm == e->comm)
            return &a->windows[i];
    if (a->n_windows == WINDOWS_MAX)
        return &a->windows[WINDOWS_MAX - 1];
    a->windows[a->n_windows] = (struct window_accesses){.comm = e->comm};
    return &a->windows[a->n_windows++];
}

/* Finds or adds the entry that counts the bytes for a rank. */
static struct target *add_target(struct accesses *a, struct targets *to, int32_t peer) {
    uint32_t rank = (uint32_t)call_match_peer(a->m, a->rank, peer);
    if (rank == a->rank)
        return &to->others;
    for (size_t i = 0; i < to->n; i++)
        if (to->items[i].rank == rank)
            return &to->items[i];
    if (rank == UINT32_MAX || to->n == TARGETS_MAX) {
        to->unknown = true;
        return &to->others;
    }
    to->items[to->n] = (struct target){.rank = rank};
    return &to->items[to->n++];
}

/* An access to MPI_PROC_NULL moves nothing and needs nobody. */
static void note_access(struct accesses *a, const struct mpi_event *e) {
    if (e->peer < 0 && !e->bytes)
        return;
    struct target *to = add_target(a, &window_of(a, e)->open, e->peer);
    bool fetches = mpi_event_function(a->m->log, e)->fetches;
    *(fetches ? &to->back : &to->out) += (double)e->bytes;
}

/* Whether more bytes go to the targets than come back. */
static bool is_outgoing(const struct targets *to) {
    double out = to->others.out, back = to->others.back;
    for (size_t i = 0; i < to->n; i++) {
        out += to->items[i].out;
        back += to->items[i].back;
    }
    return out >= back;
}

/* Needs the last of the targets to be there; small calls in a row each found theirs there. */
static void need_targets(struct accesses *a, const struct mpi_event *e, const struct targets *to,
                         struct call_need *need) {
    need->asked = true;
    need->may_leave = true;
    need->outgoing = is_outgoing(to);
    if (to->unknown)
        return;
    need->ready_ns = e->enter_ns;
    for (size_t i = 0; i < to->n; i++) {
        uint32_t q = to->items[i].rank;
        int64_t from = e->flags & MPI_FLAG_FOLDED ? e->enter_ns : inside_from(a, e, q);
        if (from == e->enter_ns && !(e->flags & MPI_FLAG_FOLDED))
            from = core_from(a, e, q);
        if (from == VALUE_ABSENT) {
            need->ready_ns = VALUE_ABSENT;
            need->who = -1;
            return;
        }
        if (need->who < 0 || from > need->ready_ns) {
            need->who = (int32_t)q;
            need->ready_ns = from;
        }
    }
}

/* An access that returns data counts for this completion. A completion of all accesses may still
 * need it, since it may be complete only at its origin.
 */
static void complete_one(struct accesses *a, const struct mpi_event *e, struct call_need *need) {
    struct targets one = {.n = 0}, *open = &window_of(a, e)->open;
    add_target(a, &one, e->peer);
    for (size_t i = 0; one.n && i < open->n; i++)
        if (open->items[i].rank == one.items[0].rank) {
            one.items[0] = open->items[i];
            open->items[i].out = open->items[i].back = 0;
        }
    need_targets(a, e, &one, need);
}

static void complete(struct accesses *a, const struct mpi_event *e, struct call_need *need) {
    if (e->peer >= 0) {
        complete_one(a, e, need);
        return;
    }
    struct window_accesses *window = window_of(a, e);
    if (window->open.n || window->open.unknown) {
        window->done = window->open;
        window->open = (struct targets){0};
    }
    need_targets(a, e, &window->done, need);
}

static bool is_about_windows(const struct accesses *a, const struct mpi_event *e) {
    const struct mpi_function *f = mpi_event_function(a->m->log, e);
    bool good = mpi_event_is_call(e) && !(e->flags & MPI_FLAG_FAILED);
    return good && (f->kind == MPI_KIND_RMA || f->completes);
}

static bool tells_windows(const struct accesses *a) {
    const struct mpi_rank *r = &a->m->log->ranks[a->rank];
    for (size_t i = 0; i < r->n; i++)
        if (r->events[i].comm == MPI_COMM_NONE && is_about_windows(a, &r->events[i]))
            return false;
    return true;
}

static void match_accesses(struct accesses *a) {
    const struct mpi_rank *r = &a->m->log->ranks[a->rank];
    a->one = !tells_windows(a);
    for (size_t i = 0; i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!is_about_windows(a, e))
            continue;
        if (mpi_event_function(a->m->log, e)->kind == MPI_KIND_RMA)
            note_access(a, e);
        else
            complete(a, e, &a->m->matches.needs[a->rank][i]);
    }
}

/* ---- all of it ---- */

static bool has_accesses(const struct mpi_log *log) {
    for (size_t f = 0; f < log->n_functions; f++)
        if (log->functions[f].completes)
            return true;
    return false;
}

int call_match_windows(struct matcher *m) {
    if (!has_accesses(m->log))
        return 0;
    struct presence *presence = calloc(m->log->n + 1, sizeof *presence);
    struct window_accesses *windows = calloc(WINDOWS_MAX, sizeof *windows);
    int result = presence && windows ? 0 : -ENOMEM;
    for (size_t r = 0; result == 0 && r < m->log->n; r++)
        result = find_presence(&m->log->ranks[r], &presence[r]);
    for (uint32_t r = 0; result == 0 && r < m->log->n; r++) {
        struct accesses a = {.m = m, .rank = r, .presence = presence, .windows = windows};
        match_accesses(&a);
    }
    for (size_t r = 0; presence && r < m->log->n; r++) {
        free(presence[r].stays);
        free(presence[r].off);
    }
    free(presence);
    free(windows);
    return result < 0 ? result : m->error;
}
