/* SPDX-License-Identifier: MIT */
/*
 * Reads whole tables. Rows are keyed by frame and instance, and frames of all hosts follow each
 * other as they came. With the run's frames in memory, a table is read in one pass from its first
 * row of the run to its last; rows of another run that was recorded at the same time are skipped.
 * Rows are passed on in batches, by instance within each: single rows would each go to another
 * place in memory, which costs more than reading them.
 */
#include "collector/store_scan_private.h"

#include <errno.h>
#include <stdlib.h>

#define BATCH_ROWS (1u << 16) /* some megabytes */

/* A row of the batch: instance slot, t, interval, number of the stream, values. */
#define AT_T 1
#define AT_INTERVAL 2
#define AT_STREAM 3
#define AT_VALUES 4

struct scanning {
    struct store_scan *scan;
    struct rows_table table;         /* owned */
    struct instances_read instances; /* owned: grouped by host */
    int64_t frame;                   /* frame of the last row read */
    size_t at;                       /* its position among the run's frames, or where it would be */
    size_t guess;                    /* the instance after the one found last: tried first */
    int64_t *cells;                  /* owned: rows of the batch, `width` numbers each */
    size_t *order;                   /* owned: row numbers of the batch, by instance */
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

/* Leaves out a row whose time does not follow the previous one. Streams of a host count one after
 * the other, whatever the order of their frames. */
static int batch_row(struct scanning *s) {
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

static int prepare_scan(struct scanning *s) {
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
        r = batch_row(s);
    r = r ? r : sql_errno(code);
    return r ? r : give_batch(s);
}

/* Rows of blocks come by stream, and not in the order of frames. */
static int check_order(struct scanning *s) {
    bool has_blocks;
    int r = blocks_exist(s->scan->store, s->table.id, &has_blocks);
    return r ? r : has_blocks ? STORE_SCAN_MIXED : 0;
}

int store_scan_table(struct store_scan *scan, const char *table, const char *const *columns,
                     size_t n_columns,
                     int (*each)(void *ctx, size_t slot, const struct store_row_read *row),
                     void *ctx) {
    struct scanning s = {
        .scan = scan, .frame = INT64_MIN, .width = AT_VALUES + n_columns, .each = each, .ctx = ctx};
    int r = rows_table_open(scan->store, table, columns, n_columns, &s.table);
    if (!r)
        r = check_order(&s);
    if (!r)
        r = load_instances(&s);
    if (!r)
        r = s.instances.n ? prepare_scan(&s) : -ENOENT;
    if (!r)
        r = read_rows(&s);
    free(s.cells);
    free(s.order);
    instances_release(&s.instances);
    rows_table_release(&s.table);
    return r;
}
