/* SPDX-License-Identifier: MIT */
/*
 * Every MPI call of every rank. There may be hundreds of thousands a second, so this table goes
 * into the bulk stream (probe.h): its rows stay on this host while the job runs.
 *
 * Unknown values are absent. Redundant ones are absent, too: the number of calls in a row that is
 * one call, and the time inside it.
 */
#include <stdio.h>
#include <string.h>

#include "agent/probes/call_watch.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define ROWS_MAX 4096 /* rows in a frame; a sample takes as many frames as it needs */

#define HIGH_PARTS 4 /* a quarter of a large ring: the agent may have to wait for a core itself */

struct call {
    struct call_watch *watch; /* NULL: closed */
    const struct probe_env *env;
    size_t turn; /* the rank that is drained first in the next sample */
};

struct drain {
    struct rows *rows;
    int32_t rank;
};

static void fill_call_row(int64_t *values, const struct call_event *event) {
    values[CALL_SEQUENCE] = (int64_t)event->sequence;
    values[CALL_START_NS] = event->enter_ns;
    values[CALL_DURATION_NS] = event->exit_ns - event->enter_ns;
    if (event->comm != CALL_COMM_UNKNOWN)
        values[CALL_COMM_ID] = event->comm;
    if (event->peer != CALL_NO_PEER)
        values[CALL_PEER] = event->peer;
    if (event->tag != CALL_NO_TAG)
        values[CALL_TAG] = event->tag;
    values[CALL_BYTES] = event->bytes;
    if (event->flags & CALL_HAS_CPU)
        values[CALL_CPU_NS] = event->cpu_ns;
    if (event->flags & CALL_HAS_GAP_CPU)
        values[CALL_GAP_CPU_NS] = event->gap_cpu_ns;
    if (event->flags & CALL_FOLDED) {
        values[CALL_INSIDE_NS] = event->inside_ns;
        values[CALL_POLLS] = event->polls;
    }
    values[CALL_FLAG_BITS] = event->flags;
    values[CALL_THREAD] = event->thread;
    values[CALL_SITE] = (int64_t)event->site_module << 32 | event->site_offset;
}

static int take_event(void *ctx, const struct call_rank *rank, const struct call_event *event) {
    struct drain *drain = ctx;
    const char *name = call_name(event->function);
    struct row *row = rows_append(drain->rows, name, strlen(name));
    if (!row)
        return 1;
    if (drain->rank >= 0)
        row->values[CALL_RANK] = drain->rank;
    row->values[CALL_PID] = rank->pid;
    fill_call_row(row->values, event);
    return 0;
}

static int call_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct call *call = state;
    struct call_watch *watch = call->watch;
    size_t n = watch->reader.n_ranks;
    for (size_t k = 0; k < n && rows->n < rows->capacity; k++) {
        size_t i = call->turn++ % n;
        struct call_rank *rank = &watch->reader.ranks[i];
        struct drain drain = {rows, call_watch_rank(watch, i)};
        if (!rank->broken)
            call_rank_drain(rank, rows->capacity - rows->n, env->mono_ns, take_event, &drain);
    }
    return 0;
}

static void call_keeping(void *state, uint64_t seq) {
    call_watch_keep_cursors(((struct call *)state)->watch, seq);
}

/* A ring that has not grown holds some milliseconds of a burst: it cannot wait. */
static enum probe_pressure pressure_of(struct call_rank *rank) {
    uint64_t waiting = call_rank_waiting(rank);
    uint64_t high = rank->capacity / HIGH_PARTS, some = rank->capacity / CALL_FILE_PARTS;
    if (rank->capacity == CALL_FILE_CAPACITY)
        high = some;
    return waiting >= high ? PRESSURE_HIGH : waiting >= some ? PRESSURE_SOME : PRESSURE_NONE;
}

/* Looks for new ranks first: one of them may be the caller. */
static enum probe_pressure call_pressure(void *state) {
    const struct call *call = state;
    struct call_watch *watch = call->watch;
    enum probe_pressure most = PRESSURE_NONE;
    if (ring_files_changed(&watch->reader.files))
        call_watch_scan(watch, call->env);
    for (size_t i = 0; i < watch->reader.n_ranks && most < PRESSURE_HIGH; i++) {
        enum probe_pressure one = pressure_of(&watch->reader.ranks[i]);
        most = one > most ? one : most;
    }
    return most;
}

/* A scan gives up records that stay incomplete: no writer calls for them. */
static bool call_is_called(const void *state) {
    const struct call_watch *watch = ((const struct call *)state)->watch;
    for (size_t i = 0; i < watch->reader.n_ranks; i++) {
        const struct call_rank *rank = &watch->reader.ranks[i];
        if (!rank->broken && (!rank->calls_reader || rank->stalled))
            return false;
    }
    return watch->called_fd >= 0;
}

static int call_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct call *call = state;
    (void)why, (void)why_size; /* probe mpi has said why */
    if (!env->calls || !env->calls->is_open)
        return PROBE_ABSENT;
    call->watch = env->calls;
    call->env = env;
    return 0;
}

static size_t call_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return ROWS_MAX;
}

const struct probe probe_call = {
    .table = &all_tables[TABLE_CALL],
    .pace = PACE_SYSTEM,
    .bulk = true,
    .state_size = sizeof(struct call),
    .max_rows = call_max_rows,
    .open = call_open,
    .sample = call_sample,
    .pressure = call_pressure,
    .is_called = call_is_called,
    .keeping = call_keeping,
};
