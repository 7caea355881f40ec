/* SPDX-License-Identifier: MIT */
#include "collector/store_block_times.h"

#ifdef CHOKEPOINT_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include <stdbool.h>
#include <stdlib.h>

#include "common/table.h"

/* ---- frames of a stream ---- */

static int times_grow(struct block_times *times) {
    size_t capacity = times->capacity ? 2 * times->capacity : 1024;
    int64_t *frames = realloc(times->frames, capacity * sizeof *frames);
    if (frames)
        times->frames = frames;
    int64_t *ends = realloc(times->times, capacity * sizeof *ends);
    if (ends)
        times->times = ends;
    if (!frames || !ends)
        return SQLITE_NOMEM;
    times->capacity = capacity;
    return SQLITE_OK;
}

/* A damaged tree may list frames that do not rise. */
static int times_add(struct block_times *times, int64_t frame, int64_t end_ns) {
    if (times->n && times->frames[times->n - 1] >= frame)
        return SQLITE_CORRUPT;
    int code = times->n == times->capacity ? times_grow(times) : SQLITE_OK;
    if (code != SQLITE_OK)
        return code;
    times->frames[times->n] = frame;
    times->times[times->n++] = end_ns;
    return SQLITE_OK;
}

int block_times_load(struct block_times *times, sqlite3 *db, int64_t stream) {
    int code = SQLITE_OK;
    if (times->stream == stream)
        return SQLITE_OK;
    if (!times->list)
        code = sqlite3_prepare_v2(db,
                                  "SELECT frame, mono_ns FROM main.frame WHERE stream = ?"
                                  " ORDER BY frame",
                                  -1, &times->list, NULL);
    times->n = 0;
    times->stream = 0;
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(times->list, 1, stream);
    while (code == SQLITE_OK && (code = sqlite3_step(times->list)) == SQLITE_ROW)
        code = times_add(times, sqlite3_column_int64(times->list, 0),
                         sqlite3_column_type(times->list, 1) == SQLITE_INTEGER
                             ? sqlite3_column_int64(times->list, 1)
                             : VALUE_ABSENT);
    sqlite3_reset(times->list);
    if (code != SQLITE_DONE)
        return code;
    times->stream = stream;
    return SQLITE_OK;
}

void block_times_release(struct block_times *times) {
    sqlite3_finalize(times->list);
    free(times->frames);
    free(times->times);
    *times = (struct block_times){0};
}

/* The place of a frame, or of the first one above it. */
static size_t times_find(const struct block_times *times, int64_t frame) {
    size_t low = 0, high = times->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->frames[middle] < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next frame is mostly the one after. */
void block_times_of(const struct block_times *times, const int64_t *frames, size_t n,
                    int64_t *ret_times) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (at >= times->n || times->frames[at] != frames[i])
            at = times_find(times, frames[i]);
        bool found = at < times->n && times->frames[at] == frames[i];
        ret_times[i] = found ? times->times[at++] : VALUE_ABSENT;
    }
}

/* ---- intervals ---- */

/* False: the row keeps its interval whole. */
static bool since_before(const int64_t *instances, const int64_t *times, size_t i,
                         int64_t *ret_ns) {
    return i && instances[i] == instances[i - 1] && times[i] != VALUE_ABSENT &&
           times[i - 1] != VALUE_ABSENT && !__builtin_sub_overflow(times[i], times[i - 1], ret_ns);
}

/* Differences wrap: they are undone in the same way. One that would be VALUE_ABSENT is none that a
 * row has, since no interval lasts for centuries; the packer looks whether all come back. */
void block_intervals_shorten(const int64_t *instances, const int64_t *times, size_t n,
                             int64_t *intervals) {
    int64_t since;
    for (size_t i = n; i-- > 0;)
        if (intervals[i] != VALUE_ABSENT && since_before(instances, times, i, &since))
            intervals[i] = (int64_t)((uint64_t)intervals[i] - (uint64_t)since);
}

void block_intervals_restore(const int64_t *instances, const int64_t *times, size_t n,
                             int64_t *intervals) {
    int64_t since;
    for (size_t i = 0; i < n; i++)
        if (intervals[i] != VALUE_ABSENT && since_before(instances, times, i, &since))
            intervals[i] = (int64_t)((uint64_t)intervals[i] + (uint64_t)since);
}

/* ---- order ---- */

static int compare_places(const void *a, const void *b) {
    const struct block_place *x = a, *y = b;
    return x->frame != y->frame ? (x->frame > y->frame) - (x->frame < y->frame)
                                : (x->row > y->row) - (x->row < y->row);
}

void block_order_by_frame(const int64_t *frames, size_t n, struct block_place *ret_order) {
    bool rising = true;
    for (size_t i = 0; i < n; i++) {
        ret_order[i] = (struct block_place){frames[i], (uint32_t)i};
        rising = rising && (!i || frames[i] >= frames[i - 1]);
    }
    if (!rising)
        qsort(ret_order, n, sizeof *ret_order, compare_places);
}
