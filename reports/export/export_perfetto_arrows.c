/* SPDX-License-Identifier: MIT */
/*
 * Messages as arrows from the sending to the receiving call. The pairs come from the matching in
 * analysis/facts/calls, which leaves out all uncertain ones.
 *
 * An arrow ends within slices, by their times on their track; if a thread's calls cross, so that
 * they are on several tracks, it has no arrows. A trace holds as many as a viewer can show: those
 * whose receiver waited longest, which tell most.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/calls/call_match.h"
#include "common/error.h"
#include "reports/export/export_perfetto.h"

#define ARROWS_A_MINUTE 5000

struct arrow {
    const struct mpi_rank *from, *to;
    const struct mpi_event *sent, *received;
};

struct arrows {
    struct arrow *items; /* owned */
    size_t n;
};

static bool receives(enum mpi_kind kind) {
    return kind == MPI_KIND_RECV || kind == MPI_KIND_RECV_START || kind == MPI_KIND_SENDRECV ||
           kind == MPI_KIND_WAIT || kind == MPI_KIND_TEST;
}

static bool sends(const struct mpi_function *function) {
    return function->sends || function->kind == MPI_KIND_SENDRECV;
}

/* The send that an event received, or NULL if it is not known. */
static const struct mpi_event *send_of(const struct mpi_log *log, const struct call_need *need,
                                       const struct mpi_event *event) {
    if (need->partner == CALL_NO_PARTNER || need->who < 0 || (size_t)need->who >= log->n ||
        need->mutual || need->outgoing || !receives(mpi_event_function(log, event)->kind))
        return NULL;
    const struct mpi_rank *rank = &log->ranks[need->who];
    const struct mpi_event *send = need->partner < rank->n ? &rank->events[need->partner] : NULL;
    return send && sends(mpi_event_function(log, send)) && send->enter_ns < event->exit_ns ? send
                                                                                           : NULL;
}

/* One arrow for each message: a wait and the request that it completed both know it. */
static int collect(const struct mpi_log *log, const struct call_matches *matches,
                   struct arrows *ret) {
    size_t n_events = 0, capacity = 0;
    bool **taken = calloc(log->n + 1, sizeof *taken);
    int result = taken ? 0 : -ENOMEM;
    for (size_t r = 0; r < log->n && result == 0; r++) {
        n_events += log->ranks[r].n;
        taken[r] = calloc(log->ranks[r].n + 1, sizeof **taken);
        result = taken[r] ? 0 : -ENOMEM;
    }
    for (size_t r = 0; r < log->n && result == 0; r++)
        for (size_t e = 0; e < log->ranks[r].n && result == 0; e++) {
            const struct call_need *need = &matches->needs[r][e];
            const struct mpi_event *event = &log->ranks[r].events[e],
                                   *send = send_of(log, need, event);
            if (!send || taken[need->who][need->partner])
                continue;
            if (ret->n == capacity) {
                capacity = capacity ? 2 * capacity : 1024;
                struct arrow *items = realloc(ret->items, capacity * sizeof *items);
                if (!items) {
                    result = -ENOMEM;
                    break;
                }
                ret->items = items;
            }
            taken[need->who][need->partner] = true;
            ret->items[ret->n++] =
                (struct arrow){&log->ranks[need->who], &log->ranks[r], send, event};
        }
    for (size_t r = 0; taken && r < log->n; r++)
        free(taken[r]);
    free(taken);
    return result;
}

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* The longest first; ties keep their order, so that a trace is always the same. */
static int compare_arrows(const void *a, const void *b) {
    const struct arrow *x = a, *y = b;
    int order = ORDER(y->received->exit_ns - y->received->enter_ns,
                      x->received->exit_ns - x->received->enter_ns);
    order = order ? order : ORDER(x->sent->enter_ns, y->sent->enter_ns);
    return order ? order : ORDER(x->received->exit_ns, y->received->exit_ns);
}

/* The track of a rank's calls; 0 if they are on none, or on several. */
static unsigned track_of(struct perfetto *p, const struct mpi_rank *rank,
                         const struct mpi_event *event) {
    for (size_t i = 0; i < p->strands.n; i++) {
        const struct strand *strand = &p->strands.items[i];
        if (strand->host == rank->host && strand->pid == rank->pid &&
            strand->thread == event->thread)
            return strand->n_tracks == 1 ? strand->tracks[0].tid : 0;
    }
    return 0;
}

/* Its last moment, within the slice. */
static int64_t end_within(const struct mpi_event *event) {
    return event->exit_ns > event->enter_ns ? event->exit_ns - 1 : event->exit_ns;
}

static bool put_arrow(struct perfetto *p, uint64_t number, const struct arrow *arrow) {
    const struct trace_end from = {perfetto_pid(arrow->from->host),
                                   track_of(p, arrow->from, arrow->sent), arrow->sent->enter_ns},
                           to = {perfetto_pid(arrow->to->host),
                                 track_of(p, arrow->to, arrow->received),
                                 end_within(arrow->received)};
    if (!from.tid || !to.tid || from.t_ns < 0 || to.t_ns < from.t_ns)
        return false;
    trace_put_arrow(&p->trace, number, "message", &from, &to);
    return true;
}

int perfetto_put_arrows(struct perfetto *p) {
    const struct mpi_log *log = &p->input->recording.calls;
    const struct call_clock clock = {p->input->recording.clock_bound_ns, p->input->n_hosts};
    struct call_matches matches = {0};
    struct arrows arrows = {0};
    size_t most = perfetto_share(p, ARROWS_A_MINUTE), put = 0;
    int result = call_match(log, &clock, &matches);
    if (result < 0)
        return result == -E2BIG ? 0 : result;
    result = collect(log, &matches, &arrows);
    if (arrows.n)
        qsort(arrows.items, arrows.n, sizeof *arrows.items, compare_arrows);
    for (size_t i = 0; result == 0 && i < arrows.n && put < most; i++)
        put += put_arrow(p, i + 1, &arrows.items[i]);
    p->arrows_left_out = arrows.n - put;
    free(arrows.items);
    call_matches_release(&matches);
    return result;
}
