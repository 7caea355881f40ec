/* SPDX-License-Identifier: MIT */
/*
 * Tells why other threads of a rank are inside MPI while the counted thread is blocked: then the
 * process waits for their peers, and is not asleep. If several of them are inside MPI at the same
 * time, the one that entered first counts.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/time/budget_timeline.h"

static bool is_other(const struct timeline *t, const struct mpi_event *e) {
    return e->thread != t->thread && mpi_event_is_call(e) && e->enter_ns <= t->until_ns;
}

int timeline_find_others(struct timeline *t) {
    size_t n = 0;
    int64_t at = t->subject->begin_ns;
    for (size_t i = 0; i < t->rank->n; i++)
        n += is_other(t, &t->rank->events[i]);
    t->others = n ? malloc(n * sizeof *t->others) : NULL;
    if (n && !t->others)
        return -ENOMEM;
    for (size_t i = 0; n && i < t->rank->n; i++) {
        const struct mpi_event *e = &t->rank->events[i];
        int64_t begin = e->enter_ns > at ? e->enter_ns : at;
        if (!is_other(t, e) || e->exit_ns <= begin)
            continue;
        t->others[t->n_others++] = (struct other_call){begin, e->exit_ns, i};
        at = e->exit_ns;
    }
    return 0;
}

static enum raw raw_of(enum raw rest) {
    return rest == RAW_TRANSFER  ? RAW_OTHER_TRANSFER
           : rest == RAW_IO      ? RAW_OTHER_FILE
           : rest == RAW_UNSPLIT ? RAW_OTHER_UNSPLIT
                                 : RAW_OTHER_OVERHEAD;
}

static void put_other(struct timeline *t, const struct other_call *call, int64_t begin,
                      int64_t end) {
    const struct mpi_event *e = &t->rank->events[call->event];
    const struct call_need *need = &t->needs[call->event];
    const struct mpi_function *f = mpi_event_function(t->subject->log, e);
    int64_t waited = timeline_wait_end(t, need, e->enter_ns, begin, end);
    enum raw rest = raw_of(timeline_rest_of(f, need, e->exit_ns - e->enter_ns));
    timeline_put(t->cells, begin, waited, RAW_OTHER_WAIT, (double)(waited - begin));
    timeline_put(t->cells, waited, end, rest, (double)(end - waited));
}

void timeline_put_others(struct timeline *t, int64_t begin, int64_t end) {
    while (t->other < t->n_others && t->others[t->other].end_ns <= begin)
        t->other++;
    for (size_t i = t->other; i < t->n_others && t->others[i].begin_ns < end; i++) {
        int64_t from = t->others[i].begin_ns > begin ? t->others[i].begin_ns : begin;
        int64_t to = t->others[i].end_ns < end ? t->others[i].end_ns : end;
        if (to > from)
            put_other(t, &t->others[i], from, to);
    }
}
