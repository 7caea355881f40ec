/* SPDX-License-Identifier: MIT */
/* Waits and tests need what their completed requests need; calls of several parts need what all
 * parts need.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/calls/call_match_private.h"
#include "analysis/facts/series/times.h"

/* The event at which a request was started has the same time, function and message. */
size_t call_match_start(const struct mpi_rank *r, const struct mpi_event *request) {
    size_t low = TIMES_BEFORE(r->events, r->n, enter_ns, request->enter_ns);
    for (; low < r->n && r->events[low].enter_ns == request->enter_ns; low++) {
        const struct mpi_event *e = &r->events[low];
        if (!(e->flags & MPI_FLAG_REQUEST) && e->function == request->function &&
            e->comm == request->comm && e->peer == request->peer)
            return low;
    }
    return SIZE_MAX;
}

static struct key completion_key(const struct mpi_event *e) {
    uint64_t exit = (uint64_t)e->exit_ns;
    return (struct key){{(uint32_t)exit, (uint32_t)(exit >> 32), e->thread, 0, KEY_COMPLETION}};
}

static bool completes(const struct mpi_event *e, const struct mpi_function *f) {
    return mpi_event_is_call(e) && (f->kind == MPI_KIND_WAIT || f->kind == MPI_KIND_TEST);
}

static void copy_from_start(struct matcher *m, uint32_t rank, size_t at) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    size_t start = call_match_start(r, &r->events[at]);
    if (start != SIZE_MAX)
        m->matches.needs[rank][at] = m->matches.needs[rank][start];
}

/* A wait needs the latest of what its requests needed; if one of these is not known, nothing is
 * known.
 */
static void add_need(struct call_need *to, const struct call_need *need, bool first,
                     int64_t exit_ns) {
    if (!need->asked ||
        (need->may_leave && need->ready_ns != VALUE_ABSENT && need->ready_ns >= exit_ns))
        return;
    bool known = need->ready_ns != VALUE_ABSENT;
    if (!to->asked || first) {
        to->asked = true;
        to->ready_ns = need->ready_ns;
        to->who = need->who;
        to->outgoing = need->outgoing;
    } else if (!known || to->ready_ns == VALUE_ABSENT) {
        to->ready_ns = VALUE_ABSENT;
        to->who = -1;
    } else if (need->ready_ns > to->ready_ns) {
        to->ready_ns = need->ready_ns;
        to->who = need->who;
        to->outgoing = need->outgoing;
    }
}

int call_match_requests(struct matcher *m, uint32_t rank) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    struct call_need *needs = m->matches.needs[rank];
    struct key_table calls = {0};
    uint32_t *at = malloc((r->n + 1) * sizeof *at);
    int result = at ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < r->n; i++) {
        if (!completes(&r->events[i], mpi_event_function(m->log, &r->events[i])))
            continue;
        uint32_t key = key_add(&calls, completion_key(&r->events[i]));
        result = key == KEY_NONE ? -ENOMEM : 0;
        if (result == 0)
            at[key] = (uint32_t)i;
    }
    for (size_t i = 0; result == 0 && i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!(e->flags & MPI_FLAG_REQUEST))
            continue;
        if (!mpi_event_function(m->log, e)->receives)
            copy_from_start(m, rank, i);
        uint32_t key = key_find(&calls, completion_key(e));
        if (key == KEY_NONE)
            continue;
        struct call_need *wait = &needs[at[key]];
        add_need(wait, &needs[i], false, e->exit_ns);
        bool file = mpi_event_function(m->log, e)->kind == MPI_KIND_IO_START;
        wait->of_file = file && (wait->of_file || wait->since_ns == VALUE_ABSENT);
        if (wait->since_ns == VALUE_ABSENT || e->enter_ns < wait->since_ns)
            wait->since_ns = e->enter_ns;
    }
    key_table_release(&calls);
    free(at);
    return result;
}

/* A call that sends and receives ends when both are complete. */
void call_match_parts(struct matcher *m, uint32_t rank) {
    const struct mpi_rank *r = &m->log->ranks[rank];
    struct call_need *needs = m->matches.needs[rank];
    for (size_t i = 0; i < r->n; i++) {
        const struct mpi_event *e = &r->events[i];
        if (!(e->flags & MPI_FLAG_PART) || mpi_event_function(m->log, e)->kind != MPI_KIND_SENDRECV)
            continue;
        for (size_t k = i > 8 ? i - 8 : 0; k < r->n && k < i + 8; k++) {
            const struct mpi_event *call = &r->events[k];
            if (!mpi_event_is_call(call) || call->function != e->function ||
                call->thread != e->thread || call->enter_ns != e->enter_ns ||
                call->exit_ns != e->exit_ns)
                continue;
            struct call_need both = {.ready_ns = VALUE_ABSENT,
                                     .since_ns = VALUE_ABSENT,
                                     .who = -1,
                                     .partner = needs[k].partner};
            add_need(&both, &needs[k], true, e->exit_ns);
            add_need(&both, &needs[i], false, e->exit_ns);
            needs[k] = both;
            break;
        }
    }
}
