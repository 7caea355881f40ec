/* SPDX-License-Identifier: MIT */
/* Tells kinds of calls, and spreads amounts of a rank's time over cells, and over what is kept
 * beside the cells.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/budget_timeline.h"

/* Makes cells up to `cell`, empty. Where the room ends, those in use move to its begin. */
static bool make_cells(struct cells *cells, size_t cell) {
    while (cells->made <= cell) {
        size_t used = cells->made - cells->settled;
        if (cells->start + used == cells->room && 2 * used < cells->room) {
            memmove(cells->items, cells->items + cells->start, used * sizeof *cells->items);
            if (cells->within)
                memmove(cells->within, cells->within + cells->start, used * sizeof *cells->within);
            cells->start = 0;
        } else if (cells->start + used == cells->room) {
            size_t more = cells->room ? 2 * cells->room : 256;
            struct cell *items = reallocarray(cells->items, more, sizeof *items);
            cells->items = items ? items : cells->items;
            struct cell *within =
                items && cells->parts ? reallocarray(cells->within, more, sizeof *within) : NULL;
            cells->within = within ? within : cells->within;
            if (!items || (cells->parts && !within)) {
                cells->error = -ENOMEM;
                return false;
            }
            cells->room = more;
        }
        cells->items[cells->start + used] = (struct cell){.dark = 0};
        if (cells->within)
            cells->within[cells->start + used] = (struct cell){.dark = 0};
        cells->made++;
    }
    return true;
}

static bool is_there(struct cells *cells, size_t cell) {
    return cell >= cells->settled && (cell < cells->made || make_cells(cells, cell));
}

struct cell *cells_at(struct cells *cells, size_t cell) {
    return is_there(cells, cell) ? &cells->items[cells->start + cell - cells->settled] : NULL;
}

struct cell *cells_within(struct cells *cells, size_t cell) {
    return is_there(cells, cell) ? &cells->within[cells->start + cell - cells->settled] : NULL;
}

void cells_release(struct cells *cells) {
    free(cells->times);
    free(cells->items);
    free(cells->within);
    *cells = (struct cells){0};
}

static void spread(struct cells *cells, bool within, int64_t begin, int64_t end, enum raw raw,
                   double per_ns) {
    const int64_t *times = cells->times;
    size_t i = cells->cursor;
    while (i < cells->n && times[i + 1] <= begin)
        i++;
    while (i > 0 && i < cells->n && times[i] > begin)
        i--;
    for (; i < cells->n && times[i] < end; i++) {
        int64_t from = begin > times[i] ? begin : times[i];
        int64_t to = end < times[i + 1] ? end : times[i + 1];
        struct cell *c = to > from ? (within ? cells_within : cells_at)(cells, i) : NULL;
        if (c)
            c->raw[raw] += per_ns * (double)(to - from);
    }
}

void timeline_put(struct cells *cells, int64_t begin, int64_t end, enum raw raw, double amount) {
    if (end <= begin || amount <= 0)
        return;
    double per_ns = amount / (double)(end - begin);
    spread(cells, false, begin, end, raw, per_ns);
    if (!cells->parts)
        return;
    struct windows only = cells->parts->only;
    for (size_t i = windows_first(only, begin); i < only.n && only.items[i].begin_ns < end; i++)
        spread(cells, true, begin > only.items[i].begin_ns ? begin : only.items[i].begin_ns,
               end < only.items[i].end_ns ? end : only.items[i].end_ns, raw, per_ns);
}

/* The two hosts of a transfer, as an index of moved_s. The last rank in a call in which all send to
 * all may then wait for its own data to leave, or for others' data: several.
 */
static size_t way_of(const struct timeline *t, const struct call_need *need, size_t n_hosts) {
    bool is_last = (size_t)need->who == t->subject->log_rank;
    size_t own = is_last && need->mutual ? n_hosts : (size_t)t->rank->host, other = n_hosts;
    if (need->who >= 0 && !is_last)
        other = (size_t)t->subject->log->ranks[need->who].host;
    bool outgoing = need->outgoing || is_last;
    return outgoing ? own * (n_hosts + 1) + other : other * (n_hosts + 1) + own;
}

void timeline_put_moved(struct timeline *t, const struct call_need *need, int64_t begin,
                        int64_t end, double per_ns) {
    const struct budget_parts *parts = t->cells->parts;
    if (!parts || !parts->moved_s || end <= begin)
        return;
    size_t way = way_of(t, need, parts->n_hosts);
    for (size_t i = windows_first(parts->only, begin);
         i < parts->only.n && parts->only.items[i].begin_ns < end; i++) {
        struct window o = parts->only.items[i];
        int64_t from = begin > o.begin_ns ? begin : o.begin_ns,
                to = end < o.end_ns ? end : o.end_ns;
        for (size_t w = 0; w < t->cells->n_windows; w++)
            if (parts->moved_s[w])
                parts->moved_s[w][way] +=
                    per_ns * windows_common_ns(t->cells->windows[w], from, to) / 1e9;
    }
}

/* Waits come in order. The two halves of a row of polls come one after the other, and become one.
 */
static void keep_wait(struct timeline *t, int32_t who, int64_t begin, int64_t end) {
    struct budget_wait *last = t->n_waits ? &t->waits[t->n_waits - 1] : NULL;
    if (!t->keep_waits || end <= begin || who < 0 || t->error)
        return;
    if (last && last->end_ns > begin)
        begin = last->who == who && last->begin_ns <= begin ? begin : last->end_ns;
    if (last && last->who == who && last->end_ns >= begin) {
        last->end_ns = end > last->end_ns ? end : last->end_ns;
        return;
    }
    if (t->n_waits == t->waits_capacity) {
        size_t more = t->waits_capacity ? 2 * t->waits_capacity : 64;
        struct budget_wait *waits = reallocarray(t->waits, more, sizeof *waits);
        t->error = waits ? 0 : -ENOMEM;
        if (!waits)
            return;
        t->waits = waits;
        t->waits_capacity = more;
    }
    if (end > begin)
        t->waits[t->n_waits++] = (struct budget_wait){begin, end, who};
}

void timeline_put_awaited(struct timeline *t, int32_t who, int64_t begin, int64_t end,
                          double per_ns) {
    keep_wait(t, who, begin, end);
    for (size_t i = 0; t->awaited && who >= 0 && i < t->awaited_in.n; i++) {
        int64_t from = begin, to = end;
        if (t->awaited_in.items[i].begin_ns > from)
            from = t->awaited_in.items[i].begin_ns;
        if (t->awaited_in.items[i].end_ns < to)
            to = t->awaited_in.items[i].end_ns;
        if (to > from)
            t->awaited[who] += per_ns * (double)(to - from);
    }
}

int64_t timeline_clip(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

int64_t timeline_wait_end(const struct timeline *t, const struct call_need *need, int64_t since_ns,
                          int64_t begin, int64_t end) {
    if (need->ready_ns == VALUE_ABSENT || (need->may_leave && need->ready_ns >= end))
        return begin;
    int64_t bound = need->who < 0 ? 0
                                  : call_clock_bound(t->subject->clock, t->rank->host,
                                                     t->subject->log->ranks[need->who].host);
    return need->ready_ns - since_ns < bound ? begin : timeline_clip(need->ready_ns, begin, end);
}

/* ---- kinds of calls ---- */

static bool moves_data(const struct mpi_function *f) {
    switch (f->kind) {
    case MPI_KIND_SEND:
    case MPI_KIND_SEND_START:
    case MPI_KIND_RECV:
    case MPI_KIND_SENDRECV:
    case MPI_KIND_WAIT:
    case MPI_KIND_TEST:
    case MPI_KIND_PROBE:
    case MPI_KIND_COLLECTIVE:
    case MPI_KIND_COLLECTIVE_START:
    case MPI_KIND_RMA:
        return true;
    default:
        return false;
    }
}

/* Whether this call may wait for a rank that is not known. */
static bool may_wait(const struct mpi_function *f, const struct call_need *need) {
    return need->asked || f->kind == MPI_KIND_RMA_SYNC || f->kind == MPI_KIND_COMM;
}

enum raw timeline_rest_of(const struct mpi_function *f, const struct call_need *need,
                          int64_t length) {
    if (f->kind == MPI_KIND_IO || f->kind == MPI_KIND_IO_START || need->of_file)
        return RAW_IO;
    if (length < CALL_SHORT_NS)
        return RAW_OVERHEAD;
    if (may_wait(f, need) && need->ready_ns == VALUE_ABSENT)
        return RAW_UNSPLIT;
    return moves_data(f) || (f->completes && need->who >= 0) ? RAW_TRANSFER : RAW_OVERHEAD;
}
