/* SPDX-License-Identifier: MIT */
/*
 * Rows are keyed by frame and instance, and frames of all hosts follow each other as they came:
 * with the frames in memory, a table is read from its first row of the run to its last without
 * looking for any. Rows of another run that was recorded meanwhile are passed over. Rows are given
 * in batches, by instance within each: one by one each would go to another place in memory, which
 * costs more than to read it.
 */
#include "collector/store_scan.h"

#include <errno.h>
#include <stdlib.h>

#include "collector/store_rows.h"
#include "common/error.h"

struct scan_host {
    int64_t id;
    size_t begin, end; /* its instances of the table that is read */
};

struct scan_stream {
    int64_t id;
    size_t host;
    struct store_clock_map clock; /* owned */
};

struct scan_frame {
    int64_t id, t_ns;
    size_t stream;
};

struct store_scan {
    struct store *store;
    struct scan_host *hosts;     /* owned, by id */
    struct scan_stream *streams; /* owned, by id */
    struct scan_frame *frames;   /* owned, by id */
    size_t n_hosts, n_streams, n_frames;
};

/* ---- what there is of the run ---- */

/* The items with room for one more: those of n have it up to the next power of two. NULL: they stay
 * as they are. */
static void *with_room(void *items, size_t n, size_t size) {
    return n & (n - 1) ? items : realloc(items, (n ? 2 * n : 1) * size);
}

/* Hosts, streams, and frames begin with their ids, and come ordered by them without being sorted:
 * of a damaged tree there may be no end. */
static int compare_id(const void *a, const void *b) {
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
        scan->n_hosts ? bsearch(&host_id, scan->hosts, scan->n_hosts, sizeof *host, compare_id)
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
        bsearch(&stream_id, scan->streams, scan->n_streams, sizeof *stream, compare_id);
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

/* Each row of a query of up to two numbers. */
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

/* From which frame to which those of the run are. */
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

/* ---- a table ---- */

#define BATCH_ROWS (1u << 16) /* some megabytes */

/* A row of the batch: instance slot, t, interval, which stream, values. */
#define AT_T 1
#define AT_INTERVAL 2
#define AT_STREAM 3
#define AT_VALUES 4

struct scanning {
    struct store_scan *scan;
    struct rows_table table;         /* owned */
    struct instances_read instances; /* owned: those of each host together */
    int64_t frame;                   /* that of the row read last */
    size_t at;                       /* where it is, or would be, among the run's */
    size_t guess;                    /* the instance that follows the one found last */
    int64_t *cells;                  /* owned: of the batch, `width` numbers a row */
    size_t *order;                   /* owned: its rows, by instance */
    size_t width, n;
    int (*each)(void *ctx, size_t slot, const struct store_row_read *row);
    void *ctx;
};

static int load_instances(struct scanning *s) {
    int r = 0;
    for (size_t h = 0; !r && h < s->scan->n_hosts; h++) {
        struct scan_host *host = &s->scan->hosts[h];
        host->begin = s->instances.n;
        r = instances_load(&s->table, host->id, &s->instances);
        host->end = s->instances.n;
    }
    return r;
}

static int go_to_frame(struct scanning *s, int64_t frame) {
    const struct store_scan *scan = s->scan;
    if (frame < s->frame)
        return STORE_SCAN_MIXED;
    s->frame = frame;
    while (s->at < scan->n_frames && scan->frames[s->at].id < frame)
        s->at++;
    if (s->at < scan->n_frames)
        s->guess = scan->hosts[scan->streams[scan->frames[s->at].stream].host].begin;
    return 0;
}

static int give(const struct scanning *s, const int64_t *cells) {
    const struct store_scan *scan = s->scan;
    const struct scan_stream *stream = &scan->streams[cells[AT_STREAM]];
    const struct instance_read *item = &s->instances.items[cells[0]];
    struct store_row_read row = {.host = scan->hosts[stream->host].id,
                                 .instance = item->id,
                                 .instance_name = item->name,
                                 .t_ns = cells[AT_T],
                                 .interval_ns = cells[AT_INTERVAL],
                                 .clock = &stream->clock,
                                 .values = cells + AT_VALUES};
    int r = s->each(s->ctx, (size_t)cells[0], &row);
    return r < 0 ? r : 0;
}

static int give_batch(struct scanning *s) {
    struct instance_read *items = s->instances.items;
    size_t start = 0;
    int r = 0;
    for (size_t i = 0; i < s->instances.n; i++) {
        items[i].next = start;
        start += items[i].n;
        items[i].n = 0;
    }
    for (size_t i = 0; i < s->n; i++)
        s->order[items[s->cells[i * s->width]].next++] = i;
    for (size_t i = 0; !r && i < s->n; i++)
        r = give(s, s->cells + s->order[i] * s->width);
    s->n = 0;
    return r;
}

static int keep(struct scanning *s, struct instance_read *item, const struct scan_frame *frame) {
    int64_t *cells = s->cells + s->n++ * s->width;
    cells[0] = item - s->instances.items;
    cells[AT_T] = frame->t_ns;
    cells[AT_STREAM] = (int64_t)frame->stream;
    rows_table_fill(&s->table, &cells[AT_INTERVAL], cells + AT_VALUES);
    item->last_t_ns = frame->t_ns;
    item->n++;
    return s->n == BATCH_ROWS ? give_batch(s) : 0;
}

/* A row whose time does not follow the one before is left out. Streams of a host count one after
 * the other, however their frames came. */
static int take_row(struct scanning *s) {
    const struct store_scan *scan = s->scan;
    int64_t id = sql_column(s->table.rows, 1);
    int r = id == s->frame ? 0 : go_to_frame(s, id);
    if (r || s->at == scan->n_frames || scan->frames[s->at].id != id)
        return r;
    const struct scan_frame *frame = &scan->frames[s->at];
    const struct scan_host *host = &scan->hosts[scan->streams[frame->stream].host];
    struct instance_read *item = instances_find(&s->instances, host->begin, host->end,
                                                sqlite3_column_int64(s->table.rows, 0), s->guess);
    if (!item)
        return 0;
    if (item->stream > frame->stream)
        return STORE_SCAN_MIXED;
    s->guess = (size_t)(item - s->instances.items) + 1;
    item->stream = frame->stream;
    if (frame->t_ns < item->last_t_ns || (frame->t_ns == item->last_t_ns && !s->table.events))
        return 0;
    return keep(s, item, frame);
}

static int prepare(struct scanning *s) {
    sqlite3_str *sql = rows_table_select(&s->table, "d.frame");
    sqlite3_str_appendf(sql, " FROM \"%w\" d WHERE d.frame BETWEEN ? AND ?", s->table.name);
    s->cells = malloc(BATCH_ROWS * s->width * sizeof *s->cells);
    s->order = malloc(BATCH_ROWS * sizeof *s->order);
    int r = rows_table_prepare(&s->table, sql);
    return s->cells && s->order ? r : -ENOMEM;
}

static int read_rows(struct scanning *s) {
    const struct store_scan *scan = s->scan;
    sqlite3_stmt *rows = s->table.rows;
    if (!scan->n_frames)
        return 0;
    int code = SQLITE_DONE,
        r = sql_bind(rows, "ii", scan->frames[0].id, scan->frames[scan->n_frames - 1].id);
    while (!r && (code = sqlite3_step(rows)) == SQLITE_ROW)
        r = take_row(s);
    r = r ? r : sql_errno(code);
    return r ? r : give_batch(s);
}

int store_scan_table(struct store_scan *scan, const char *table, const char *const *columns,
                     size_t n_columns,
                     int (*each)(void *ctx, size_t slot, const struct store_row_read *row),
                     void *ctx) {
    struct scanning s = {
        .scan = scan, .frame = INT64_MIN, .width = AT_VALUES + n_columns, .each = each, .ctx = ctx};
    int r = rows_table_open(scan->store, table, columns, n_columns, &s.table);
    if (!r)
        r = load_instances(&s);
    if (!r)
        r = s.instances.n ? prepare(&s) : -ENOENT;
    if (!r)
        r = read_rows(&s);
    free(s.cells);
    free(s.order);
    instances_release(&s.instances);
    rows_table_release(&s.table);
    return r;
}
