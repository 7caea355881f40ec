/* SPDX-License-Identifier: MIT */
/*
 * Clocks of hosts: each exchange that is stored renews the line of the last minutes. Nothing is
 * kept in memory alone: a killed collector loses nothing, and a rollback undoes the exchange and
 * its line together.
 */
#include <errno.h>
#include <stdlib.h>

#include "collector/store_private.h"
#include "common/clock.h"
#include "common/error.h"

#define PIECES_MAX (1 << 20)

/* ---- writing ---- */

struct window {
    struct clock_estimate *estimates; /* owned */
    size_t n;
    int64_t from_ns;
};

static void window_release(struct window *window) {
    free(window->estimates);
}

/* Windows begin at fixed times, so that one exchange more does not move all cuts of the line. */
static int64_t window_start(int64_t mono_ns) {
    int64_t number = mono_ns / CLOCK_WINDOW_NS;
    return number > 0 ? (number - 1) * CLOCK_WINDOW_NS : 0;
}

static void reverse(struct clock_estimate *e, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        struct clock_estimate other = e[n - 1 - i];
        e[n - 1 - i] = e[i];
        e[i] = other;
    }
}

/* The newest exchanges of this boot until mono_ns, in the order of time. */
static int window_load(struct store *store, const struct stream *stream, int64_t mono_ns,
                       struct window *window) {
    int code = SQLITE_DONE, r = 0;
    sqlite3_stmt *row = sql_statement(store, SQL_CLOCK_LIST, &r);
    window->from_ns = window_start(mono_ns);
    window->estimates = malloc(CLOCK_ESTIMATES_MAX * sizeof *window->estimates);
    if (!row || !window->estimates)
        return r ? r : -ENOMEM;
    r = sql_bind(row, "iiit", stream->host, mono_ns, window->from_ns, stream->boot_id);
    while (!r && window->n < CLOCK_ESTIMATES_MAX && (code = sqlite3_step(row)) == SQLITE_ROW) {
        struct clock_estimate e = {sql_column(row, 0), sql_column(row, 1), sql_column(row, 2)};
        if (clock_estimate_valid(&e))
            window->estimates[window->n++] = e;
    }
    sqlite3_reset(row);
    reverse(window->estimates, window->n);
    return r ? r : sql_errno(code);
}

static void piece_from_row(sqlite3_stmt *row, struct clock_piece *ret_piece) {
    *ret_piece = (struct clock_piece){.from_ns = sql_column(row, 0),
                                      .until_ns = sql_column(row, 1),
                                      .at_ns = sql_column(row, 2),
                                      .offset_ns = sql_column(row, 3),
                                      .error_ns = sql_column(row, 4),
                                      .drift_ppm = sqlite3_column_double(row, 5)};
}

/* The time that the window must cover, and where the earlier pieces end. */
static int span_of(struct store *store, const struct stream *stream, const struct window *window,
                   struct clock_span *ret_span) {
    int64_t newest_ns = window->estimates[window->n - 1].mono_ns;
    int r = 0;
    struct clock_piece before;
    sqlite3_stmt *row = sql_statement(store, SQL_PIECE_BEFORE, &r);
    if (!row)
        return r;
    *ret_span = (struct clock_span){
        .from_ns =
            stream->first_mono_ns > window->from_ns ? stream->first_mono_ns : window->from_ns,
        .until_ns = stream->last_mono_ns > newest_ns ? stream->last_mono_ns : newest_ns};
    if (stream->first_mono_ns == VALUE_ABSENT)
        ret_span->from_ns = window->estimates[0].mono_ns;
    sql_bind(row, "ii", stream->id, window->from_ns);
    int code = sqlite3_step(row);
    if (code == SQLITE_ROW) {
        piece_from_row(row, &before);
        ret_span->joined = clock_piece_valid(&before) &&
                           clock_read(&before, 1, ret_span->from_ns, &ret_span->offset_ns, NULL);
    }
    sqlite3_reset(row);
    return sql_errno(code);
}

static int put_pieces(struct store *store, const struct stream *stream, const struct window *window,
                      const struct clock_piece *pieces, size_t n) {
    int r = sql_run(store, SQL_PIECES_DELETE, "ii", stream->id, window->from_ns);
    for (size_t i = 0; i < n && !r; i++) {
        const struct clock_piece *p = &pieces[i];
        if (clock_piece_valid(p))
            r = sql_run(store, SQL_PIECE_INSERT, "iiiiiid", stream->id, p->from_ns, p->until_ns,
                        p->at_ns, p->offset_ns, p->error_ns, p->drift_ppm);
    }
    return r;
}

static int solve_window(struct store *store, const struct stream *stream,
                        const struct window *window, int64_t mono_ns, bool *ret_jumped) {
    struct clock_span span;
    struct clock_piece *pieces = NULL;
    size_t n = 0;
    int64_t offset_ns = 0;
    int r = span_of(store, stream, window, &span);
    if (!r)
        r = clock_solve(window->estimates, window->n, &span, &pieces, &n, ret_jumped);
    if (!r)
        r = put_pieces(store, stream, window, pieces, n);
    if (!r && clock_read(pieces, n, mono_ns, &offset_ns, NULL))
        r = sql_run(store, SQL_STREAM_CLOCK, "ii", stream->id, offset_ns);
    free(pieces);
    return r;
}

int store_clock(struct store *store, int64_t stream_id, const struct clock_estimate *estimate) {
    AUTO(window_release) struct window window = {0};
    bool jumped = false;
    int r = 0;
    const struct stream *stream = stream_get(store, stream_id, &r);
    if (stream && stream->home != stream->id)
        stream = stream_get(store, stream->home, &r);
    if (!stream)
        return r;
    if (!clock_estimate_valid(estimate))
        return -EINVAL;
    r = sql_run(store, SQL_CLOCK_INSERT, "iiii", stream->host, estimate->mono_ns,
                estimate->offset_ns, estimate->error_ns);
    if (!r)
        r = window_load(store, stream, estimate->mono_ns, &window);
    if (!r && window.n)
        r = solve_window(store, stream, &window, estimate->mono_ns, &jumped);
    return r ? r : jumped ? STORE_CLOCK_JUMPED : 0;
}

/* ---- reading ---- */

/* Files of older versions have no pieces, and a stranger's file may have a view of that name. */
static int has_pieces(struct store *store, bool *ret_has) {
    AUTO(sql_finalize) sqlite3_stmt *statement = NULL;
    int r = sql_prepare(store,
                        "SELECT 1 FROM sqlite_schema WHERE name = 'clock_piece' AND type = 'table'"
                        " AND rootpage > 0",
                        &statement);
    int code = r ? SQLITE_DONE : sqlite3_step(statement);
    *ret_has = code == SQLITE_ROW;
    return r ? r : sql_errno(code);
}

static int append_piece(struct store_clock_map *map, sqlite3_stmt *row) {
    struct clock_piece piece;
    piece_from_row(row, &piece);
    if (!clock_piece_valid(&piece) || map->n == PIECES_MAX)
        return 0;
    if ((map->n & (map->n - 1)) == 0) {
        struct clock_piece *grown = realloc(map->pieces, (map->n ? 2 * map->n : 1) * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        map->pieces = grown;
    }
    map->pieces[map->n++] = piece;
    return 0;
}

static int load_pieces(struct store *store, int64_t stream, struct store_clock_map *map) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    bool has;
    int code = SQLITE_DONE, r = has_pieces(store, &has);
    if (r || !has)
        return r;
    r = sql_prepare(store,
                    "SELECT from_ns, until_ns, at_ns, offset_ns, error_ns, drift_ppm"
                    " FROM clock_piece WHERE stream = ? ORDER BY from_ns",
                    &row);
    if (!r)
        r = sql_bind(row, "i", stream);
    while (!r && (code = sqlite3_step(row)) == SQLITE_ROW)
        r = append_piece(map, row);
    return r ? r : sql_errno(code);
}

int clock_map_load(struct store *store, int64_t stream, struct store_clock_map *ret_map) {
    AUTO(sql_finalize) sqlite3_stmt *row = NULL;
    *ret_map = (struct store_clock_map){.error_ns = VALUE_ABSENT};
    int r = sql_prepare(store,
                        "SELECT r.started_mono_ns, s.clock_offset_ns, s.clock_error_ns"
                        " FROM stream s JOIN host h USING(host) JOIN run r USING(run)"
                        " WHERE s.stream = ?",
                        &row);
    if (!r)
        r = sql_bind(row, "i", stream);
    int code = r ? SQLITE_DONE : sqlite3_step(row);
    if (code == SQLITE_ROW) {
        ret_map->start_ns = sql_column(row, 0);
        ret_map->offset_ns = sql_column(row, 1);
        ret_map->error_ns = sql_column(row, 2);
    }
    r = r ? r : sql_errno(code);
    return r ? r : load_pieces(store, stream, ret_map);
}

void clock_map_release(struct store_clock_map *map) {
    free(map->pieces);
    *map = (struct store_clock_map){.error_ns = VALUE_ABSENT};
}

int64_t clock_map_offset(const struct store_clock_map *map, int64_t mono_ns,
                         int64_t *ret_error_ns) {
    int64_t offset_ns;
    if (clock_read(map->pieces, map->n, mono_ns, &offset_ns, ret_error_ns))
        return offset_ns;
    if (ret_error_ns)
        *ret_error_ns = map->error_ns < 0 ? VALUE_ABSENT : map->error_ns;
    return map->offset_ns;
}

int64_t clock_map_time(const struct store_clock_map *map, int64_t mono_ns) {
    int64_t offset_ns = clock_map_offset(map, mono_ns, NULL), t_ns;
    if (mono_ns == VALUE_ABSENT || offset_ns == VALUE_ABSENT || map->start_ns == VALUE_ABSENT ||
        __builtin_add_overflow(mono_ns, offset_ns, &t_ns) ||
        __builtin_sub_overflow(t_ns, map->start_ns, &t_ns))
        return VALUE_ABSENT;
    return t_ns;
}

int64_t store_row_time(const struct store_row_read *row, int64_t mono_ns) {
    return clock_map_time(row->clock, mono_ns);
}
