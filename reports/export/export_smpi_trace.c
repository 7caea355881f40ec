/* SPDX-License-Identifier: MIT */
/*
 * A rank's calls as a time-independent trace: what it computes between calls, and what it asks of
 * MPI, without times. Datatypes are bytes.
 *
 * Time between two calls without a core is slept: its reason is not the simulator's to find. A call
 * that traces have no action for is slept through, too, and counted, so that the caller can refuse.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/error.h"
#include "reports/export/export_smpi.h"

#define BYTE 6        /* the datatype's number in traces */
#define SLACK_NS 1000 /* a request ends at most so long after the wait that completed it */
#define BESIDE_MAX 64 /* events of one call lie beside each other */

struct pending {
    const struct mpi_event *start, *request; /* request NULL: its end was not recorded */
    bool sends;
};

struct trace {
    const struct mpi_log *log;
    const struct mpi_rank *rank;
    FILE *out;
    struct pending *pending; /* owned */
    size_t n_pending, capacity;
    double *untold_s; /* owned, by function */
};

/* Collectives: the bytes of a member, once more where it gives and gets parts, a cost of summing
 * up (none), the root, and a datatype for each number of bytes.
 */
static const struct collective {
    const char *name, *action;
    bool moves, in_parts, sums, is_rooted;
} collectives[] = {
    {"MPI_Barrier", "barrier", .moves = false},
    {"MPI_Cart_create", "barrier", .moves = false},
    {"MPI_Allreduce", "allreduce", .moves = true, .sums = true},
    {"MPI_Reduce", "reduce", .moves = true, .sums = true, .is_rooted = true},
    {"MPI_Bcast", "bcast", .moves = true, .is_rooted = true},
    {"MPI_Alltoall", "alltoall", .moves = true, .in_parts = true},
    {"MPI_Allgather", "allgather", .moves = true, .in_parts = true},
    {"MPI_Gather", "gather", .moves = true, .in_parts = true, .is_rooted = true},
    {"MPI_Scatter", "scatter", .moves = true, .in_parts = true, .is_rooted = true},
};

static bool is_named(const struct trace *t, const struct mpi_event *event, const char *name) {
    return strcmp(t->log->names[event->function], name) == 0;
}

/* The event of these flags that belongs to the call: the life of its request, or its other message.
 * NULL: none was recorded.
 */
static const struct mpi_event *beside(const struct mpi_rank *rank, size_t call,
                                      enum mpi_flag flag) {
    const struct mpi_event *events = rank->events, *own = &events[call];
    size_t from = call, nth = 0, to = call + BESIDE_MAX < rank->n ? call + BESIDE_MAX : rank->n;
    while (from > 0 && call - from < BESIDE_MAX && events[from - 1].enter_ns == own->enter_ns)
        from--;
    for (size_t i = from; i < call; i++)
        nth += mpi_event_is_call(&events[i]) && events[i].function == own->function;
    for (size_t i = from; i < to && events[i].enter_ns == own->enter_ns; i++)
        if (events[i].flags & flag && events[i].function == own->function && nth-- == 0)
            return &events[i];
    return NULL;
}

static void put_words(const struct trace *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put_words(const struct trace *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(t->out, "%d ", t->rank->rank);
    vfprintf(t->out, format, arguments);
    fputc('\n', t->out);
    va_end(arguments);
}

static int tag_of(const struct mpi_event *event) {
    return event->tag > 0 ? event->tag : 0;
}

/* ---- requests ---- */

static int keep_pending(struct trace *t, struct pending one) {
    if (t->n_pending == t->capacity) {
        size_t more = t->capacity ? 2 * t->capacity : 16;
        struct pending *pending = reallocarray(t->pending, more, sizeof *pending);
        if (!pending)
            return -ENOMEM;
        t->pending = pending;
        t->capacity = more;
    }
    t->pending[t->n_pending++] = one;
    return 0;
}

static const struct mpi_event *told_by(const struct pending *one) {
    return one->request ? one->request : one->start;
}

/* The request that a wait completed: one that ended within it, else one of its peer and tag, else
 * the oldest. n_pending: none is pending.
 */
static size_t find_completed(const struct trace *t, const struct mpi_event *wait) {
    for (size_t i = 0; i < t->n_pending; i++) {
        const struct mpi_event *request = t->pending[i].request;
        if (request && request->exit_ns >= wait->enter_ns &&
            request->exit_ns <= wait->exit_ns + SLACK_NS)
            return i;
    }
    for (size_t i = 0; i < t->n_pending; i++) {
        const struct mpi_event *at = told_by(&t->pending[i]);
        if (at->peer == wait->peer && tag_of(at) == tag_of(wait))
            return i;
    }
    return 0;
}

static void put_wait(struct trace *t, const struct mpi_event *wait) {
    if (!t->n_pending)
        return;
    size_t at = find_completed(t, wait);
    struct pending done = t->pending[at];
    const struct mpi_event *of = told_by(&done);
    int own = t->rank->rank;
    memmove(&t->pending[at], &t->pending[at + 1], (--t->n_pending - at) * sizeof *t->pending);
    put_words(t, "wait %d %d %d", done.sends ? own : of->peer, done.sends ? of->peer : own,
              tag_of(of));
}

static int put_start(struct trace *t, const struct mpi_event *start,
                     const struct mpi_event *request, bool sends) {
    struct pending one = {start, request, sends};
    const struct mpi_event *of = told_by(&one);
    put_words(t, "%s %d %d %" PRId64 " %d", sends ? "isend" : "irecv", of->peer, tag_of(of),
              (int64_t)of->bytes, BYTE);
    return keep_pending(t, one);
}

/* ---- calls ---- */

static bool put_collective(const struct trace *t, const struct mpi_event *call) {
    const struct collective *c = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(collectives) && !c; i++)
        c = is_named(t, call, collectives[i].name) ? &collectives[i] : NULL;
    if (!c)
        return false;
    fprintf(t->out, "%d %s", t->rank->rank, c->action);
    if (c->moves)
        fprintf(t->out, " %" PRId64, (int64_t)call->bytes);
    if (c->in_parts)
        fprintf(t->out, " %" PRId64, (int64_t)call->bytes);
    if (c->sums)
        fputs(" 0", t->out);
    if (c->is_rooted)
        fprintf(t->out, " %d", call->peer > 0 ? call->peer : 0);
    for (int i = 0; i < c->moves + c->in_parts; i++)
        fprintf(t->out, " %d", BYTE);
    fputc('\n', t->out);
    return true;
}

/* A call with one peer. False: a trace has no action for it. */
static bool put_message(const struct trace *t, size_t i) {
    const struct mpi_event *call = &t->rank->events[i], *part;
    if (call->peer < 0)
        return false;
    if (is_named(t, call, "MPI_Send") || is_named(t, call, "MPI_Ssend"))
        put_words(t, "send %d %d %" PRId64 " %d", call->peer, tag_of(call), (int64_t)call->bytes,
                  BYTE);
    else if (is_named(t, call, "MPI_Recv"))
        put_words(t, "recv %d %d %" PRId64 " %d", call->peer, tag_of(call), (int64_t)call->bytes,
                  BYTE);
    else if (is_named(t, call, "MPI_Sendrecv") && (part = beside(t->rank, i, MPI_FLAG_PART)))
        put_words(t, "sendRecv %" PRId64 " %d %" PRId64 " %d %d %d", (int64_t)call->bytes,
                  call->peer, (int64_t)part->bytes, part->peer, BYTE, BYTE);
    else
        return false;
    return true;
}

/* 1: a trace has no action for the call; -ENOMEM. */
static int put_action(struct trace *t, size_t i) {
    const struct mpi_event *call = &t->rank->events[i];
    bool sends = is_named(t, call, "MPI_Isend"), receives = is_named(t, call, "MPI_Irecv");
    if (sends || receives) {
        const struct mpi_event *request = beside(t->rank, i, MPI_FLAG_REQUEST);
        if ((request ? request : call)->peer < 0)
            return 1;
        return put_start(t, call, request, sends);
    }
    if (is_named(t, call, "MPI_Wait"))
        return put_wait(t, call), 0;
    if (is_named(t, call, "MPI_Waitall")) {
        if (t->n_pending)
            put_words(t, "waitall %zu", t->n_pending);
        t->n_pending = 0;
        return 0;
    }
    return put_message(t, i) || put_collective(t, call) ? 0 : 1;
}

static double seconds(int64_t ns) {
    return (double)ns / (double)NS_PER_S;
}

static void put_gap(const struct trace *t, const struct mpi_event *call, int64_t gap_ns,
                    double flop_s) {
    bool is_told = call->flags & MPI_FLAG_HAS_GAP_CPU && call->gap_cpu_ns < gap_ns;
    int64_t cpu_ns = is_told ? call->gap_cpu_ns : gap_ns;
    if (gap_ns <= 0)
        return;
    put_words(t, "compute %.0f", seconds(cpu_ns) * flop_s);
    if (gap_ns > cpu_ns)
        put_words(t, "sleep %.9f", seconds(gap_ns - cpu_ns));
}

static bool begins_or_ends(const struct trace *t, const struct mpi_event *call) {
    return is_named(t, call, "MPI_Init") || is_named(t, call, "MPI_Init_thread") ||
           is_named(t, call, "MPI_Finalize");
}

/* Moves *now_ns to the end of the call. */
static int put_next(struct trace *t, size_t i, double flop_s, int64_t *now_ns) {
    const struct mpi_event *call = &t->rank->events[i];
    put_gap(t, call, call->enter_ns - *now_ns, flop_s);
    *now_ns = call->exit_ns > *now_ns ? call->exit_ns : *now_ns;
    int result = begins_or_ends(t, call) ? 0 : put_action(t, i);
    if (result <= 0)
        return result;
    double slept_s = seconds(call->exit_ns - call->enter_ns);
    t->untold_s[call->function] += slept_s;
    put_words(t, "sleep %.9f", slept_s);
    return 0;
}

static struct smpi_told told_of(const struct trace *t, int64_t lived_ns) {
    struct smpi_told told = {.lived_s = seconds(lived_ns)};
    double most_s = 0;
    for (size_t f = 0; f < t->log->n_functions; f++) {
        told.untold_s += t->untold_s[f];
        if (t->untold_s[f] > most_s) {
            most_s = t->untold_s[f];
            told.function = t->log->names[f];
        }
    }
    return told;
}

int smpi_write_trace(const struct mpi_log *log, const struct mpi_rank *rank, double flop_s,
                     FILE *out, struct smpi_told *ret_told) {
    struct trace t = {.log = log, .rank = rank, .out = out};
    int64_t begin_ns = rank->n ? rank->events[0].enter_ns : 0, now_ns = begin_ns;
    int result = 0;
    t.untold_s = calloc(log->n_functions + 1, sizeof *t.untold_s);
    if (!t.untold_s)
        return -ENOMEM;
    put_words(&t, "init");
    for (size_t i = 0; i < rank->n && result == 0; i++)
        if (mpi_event_is_call(&rank->events[i]))
            result = put_next(&t, i, flop_s, &now_ns);
    put_words(&t, "finalize");
    *ret_told = told_of(&t, now_ns - begin_ns);
    free(t.pending);
    free(t.untold_s);
    return result ? result : ferror(out) ? -EIO : 0;
}
