/* SPDX-License-Identifier: MIT */
/*
 * Hosts, streams and frames of a run in memory, by id, so that rows of tables are placed without
 * further queries.
 */
#include "collector/store_scan_private.h"

#include <errno.h>
#include <stdlib.h>

#include "common/error.h"

/* Makes room for one more item; the capacity is the next power of two. NULL: without memory; the
 * items stay as they are. */
static void *with_room(void *items, size_t n, size_t size) {
    return n & (n - 1) ? items : realloc(items, (n ? 2 * n : 1) * size);
}

/* The statements return ids first, and in order without sorting: a damaged tree may have no end. */
static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int add_host(struct store_scan *scan, sqlite3_stmt *row) {
    int64_t id = sqlite3_column_int64(row, 0);
    if (scan->n_hosts && scan->hosts[scan->n_hosts - 1].id >= id)
        return -EBADMSG;
    struct scan_host *hosts = with_room(scan->hosts, scan->n_hosts, sizeof *hosts);
    if (!hosts)
        return -ENOMEM;
    scan->hosts = hosts;
    hosts[scan->n_hosts++] = (struct scan_host){.id = id};
    return 0;
}

static int add_stream(struct store_scan *scan, sqlite3_stmt *row) {
    int64_t id = sqlite3_column_int64(row, 0), host_id = sqlite3_column_int64(row, 1);
    const struct scan_host *host =
        scan->n_hosts ? bsearch(&host_id, scan->hosts, scan->n_hosts, sizeof *host, compare_ids)
                      : NULL;
    if (!host)
        return 0;
    if (scan->n_streams && scan->streams[scan->n_streams - 1].id >= id)
        return -EBADMSG;
    struct scan_stream *streams = with_room(scan->streams, scan->n_streams, sizeof *streams);
    if (!streams)
        return -ENOMEM;
    scan->streams = streams;
    struct scan_stream *stream = &streams[scan->n_streams++];
    *stream = (struct scan_stream){.id = id, .host = (size_t)(host - scan->hosts)};
    return clock_map_load(scan->store, id, &stream->clock);
}

static int add_frame(struct store_scan *scan, sqlite3_stmt *row) {
    int64_t id = sqlite3_column_int64(row, 0), stream_id = sqlite3_column_int64(row, 1);
    const struct scan_stream *stream =
        bsearch(&stream_id, scan->streams, scan->n_streams, sizeof *stream, compare_ids);
    int64_t t_ns = stream ? clock_map_time(&stream->clock, sql_column(row, 2)) : VALUE_ABSENT;
    if (t_ns == VALUE_ABSENT)
        return 0;
    if (scan->n_frames && scan->frames[scan->n_frames - 1].id >= id)
        return -EBADMSG;
    struct scan_frame *frames = with_room(scan->frames, scan->n_frames, sizeof *frames);
    if (!frames)
        return -ENOMEM;
    scan->frames = frames;
    frames[scan->n_frames++] = (struct scan_frame){id, t_ns, (size_t)(stream - scan->streams)};
    return 0;
}

/* Calls a function for each row of a query with up to two parameters. */
static int for_rows(struct store_scan *scan, const char *sql, int64_t first, int64_t second,
                    int (*add)(struct store_scan *scan, sqlite3_stmt *row)) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE, r = sql_prepare(scan->store, sql, &row);
    if (!r)
        r = sql_bind(row, &"ii"[2 - sqlite3_bind_parameter_count(row)], first, second);
    while (!r && (code = sqlite3_step(row)) == SQLITE_ROW)
        r = add(scan, row);
    return r ? r : sql_errno(code);
}

/* The first frame of the run and the last. */
static int frames_range(const struct store_scan *scan, int64_t *ret_first, int64_t *ret_last) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    int code = SQLITE_ROW, r = sql_prepare(scan->store,
                                           "SELECT (SELECT min(frame) FROM frame WHERE stream = ?1)"
                                           ", (SELECT max(frame) FROM frame WHERE stream = ?1)",
                                           &row);
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; !r && code == SQLITE_ROW && i < scan->n_streams; i++) {
        r = sql_bind(row, "i", scan->streams[i].id);
        code = r ? SQLITE_DONE : sqlite3_step(row);
        if (code == SQLITE_ROW && sqlite3_column_type(row, 0) == SQLITE_INTEGER) {
            int64_t low = sqlite3_column_int64(row, 0), high = sqlite3_column_int64(row, 1);
            first = low < first ? low : first;
            last = high > last ? high : last;
        }
        sqlite3_reset(row);
    }
    *ret_first = first;
    *ret_last = last;
    return r ? r : sql_errno(code);
}

static int load_frames(struct store_scan *scan) {
    int64_t first, last;
    int r = frames_range(scan, &first, &last);
    if (r || first > last)
        return r;
    return for_rows(scan,
                    "SELECT frame, stream, mono_ns FROM frame WHERE frame BETWEEN ? AND ?"
                    " ORDER BY frame",
                    first, last, add_frame);
}

int store_scan_open(struct store *store, int64_t run, struct store_scan **ret_scan) {
    struct store_scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return -ENOMEM;
    scan->store = store;
    int r = for_rows(scan, "SELECT host FROM host WHERE +run = ? ORDER BY host", run, 0, add_host);
    if (!r)
        r = for_rows(scan, "SELECT stream, host FROM stream ORDER BY stream", 0, 0, add_stream);
    if (!r)
        r = load_frames(scan);
    if (r)
        store_scan_close(scan);
    else
        *ret_scan = scan;
    return r;
}

void store_scan_close(struct store_scan *scan) {
    if (!scan)
        return;
    for (size_t i = 0; i < scan->n_streams; i++)
        clock_map_release(&scan->streams[i].clock);
    free(scan->hosts);
    free(scan->streams);
    free(scan->frames);
    free(scan);
}
