/* SPDX-License-Identifier: MIT */
/*
 * A virtual table has the columns of a table of events or samples, and the rows of its blocks
 * before those of the table itself, which has some in files of older versions. A block is unpacked
 * when its first row is asked for, and of it only the columns that the query names. The rows of one
 * frame are found without the other blocks, so that a join over frames costs each block once.
 */
#include "collector/store_module.h"

#ifdef CHOKEPOINT_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1
#else
#include <sqlite3.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "collector/store_block.h"
#include "collector/store_block_times.h"
#include "common/table.h"

#define COLUMNS_MAX 128
#define OWN 3 /* frame, instance, n or interval_ns */
enum { FRAME, INSTANCE, THIRD };

/* A function that is told of each block that is unpacked. */
struct listener {
    void (*unpacked)(void *ctx, size_t n);
    void *ctx;
};

struct events_table {
    sqlite3_vtab base;
    sqlite3 *db;
    struct listener listener;
    int64_t id; /* table_info.table_id */
    int n_columns;
    bool has_blocks, samples;
    char name[TABLE_NAME_MAX + 1];
};

struct events_cursor {
    sqlite3_vtab_cursor base;
    uint64_t used; /* bit set of columns; the last one is for all above it */
    bool by_frame;
    int64_t frame;         /* if by_frame */
    sqlite3_stmt *blocks;  /* owned, as the others; NULL: not prepared, or no more */
    sqlite3_stmt *rows;    /* the row of the table, if in_rows */
    sqlite3_stmt *streams; /* of a frame */
    bool in_rows, end;
    struct block_work *work;
    int64_t *cells; /* capacity values a column */
    size_t capacity, n, at;
    int64_t unpacked;          /* the block that cells are of; 0: none */
    struct block_place *order; /* owned: capacity places in the order of frames */
    struct block_times times;  /* owned; for samples */
    int64_t rowid;
};

/* ---- the table ---- */

static int prepare_made(sqlite3 *db, char *sql, sqlite3_stmt **ret_statement) {
    int code = sql ? sqlite3_prepare_v2(db, sql, -1, ret_statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

/* A name as the store makes them; it becomes a part of statements. */
static bool take_name(sqlite3_stmt *row, int column, char to[TABLE_NAME_MAX + 1]) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    size_t size = text ? strlen(text) : 0;
    if (!size || size > TABLE_NAME_MAX || !table_name_valid(text, size))
        return false;
    memcpy(to, text, size + 1);
    return true;
}

/* Columns by ordinal, which have to be 0, 1, 2 ...; SQLITE_CORRUPT. */
static int declare_columns(struct events_table *table, sqlite3_str *declaration) {
    sqlite3_stmt *row = NULL;
    char name[TABLE_NAME_MAX + 1];
    int code = prepare_made(table->db,
                            sqlite3_mprintf("SELECT ordinal, name FROM main.column_info WHERE"
                                            " table_id = %lld ORDER BY ordinal",
                                            (long long)table->id),
                            &row);
    while (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        bool good = sqlite3_column_int64(row, 0) == table->n_columns &&
                    table->n_columns < COLUMNS_MAX && take_name(row, 1, name);
        code = good ? SQLITE_OK : SQLITE_CORRUPT;
        if (good)
            sqlite3_str_appendf(declaration, ", \"%w\" INTEGER", name);
        table->n_columns += good;
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int identify_table(struct events_table *table) {
    sqlite3_stmt *row = NULL;
    int code =
        prepare_made(table->db,
                     sqlite3_mprintf("SELECT table_id, (SELECT count(*) FROM main.sqlite_schema"
                                     " WHERE type = 'table' AND name = 'block' AND rootpage > 0),"
                                     " kind = 'samples' FROM main.table_info WHERE name = %Q",
                                     table->name),
                     &row);
    if (code == SQLITE_OK)
        code = sqlite3_step(row);
    if (code == SQLITE_ROW) {
        table->id = sqlite3_column_int64(row, 0);
        table->has_blocks = sqlite3_column_int64(row, 1) > 0;
        table->samples = sqlite3_column_int64(row, 2) > 0;
    }
    sqlite3_finalize(row);
    return code == SQLITE_ROW ? SQLITE_OK : code == SQLITE_DONE ? SQLITE_ERROR : code;
}

static int declare(struct events_table *table) {
    sqlite3_str *text = sqlite3_str_new(table->db);
    sqlite3_str_appendf(text, "CREATE TABLE events(frame INTEGER, instance INTEGER, %s INTEGER",
                        table->samples ? "interval_ns" : "n");
    int code = declare_columns(table, text);
    sqlite3_str_appendf(text, ")");
    char *sql = sqlite3_str_finish(text);
    if (code == SQLITE_OK)
        code = sql ? sqlite3_declare_vtab(table->db, sql) : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = sqlite3_vtab_config(table->db, SQLITE_VTAB_INNOCUOUS);
    sqlite3_free(sql);
    return code;
}

/* Arguments: module, schema, the virtual table's name, the name of the file's table. */
static int events_connect(sqlite3 *db, void *ctx, int n, const char *const *arguments,
                          sqlite3_vtab **ret_table, char **ret_why) {
    if (n != 4 || !table_name_valid(arguments[3], strlen(arguments[3]))) {
        *ret_why = sqlite3_mprintf("the name of a table is wanted");
        return SQLITE_ERROR;
    }
    struct events_table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->db = db;
    table->listener = *(const struct listener *)ctx;
    sqlite3_snprintf(sizeof table->name, table->name, "%s", arguments[3]);
    int code = identify_table(table);
    if (code == SQLITE_OK)
        code = declare(table);
    if (code != SQLITE_OK) {
        sqlite3_free(table);
        return code;
    }
    *ret_table = &table->base;
    return SQLITE_OK;
}

static int events_disconnect(sqlite3_vtab *base) {
    sqlite3_free(base);
    return SQLITE_OK;
}

/* One frame, or all rows. The columns that are used travel as text. */
static int events_plan(sqlite3_vtab *base, sqlite3_index_info *info) {
    (void)base;
    info->idxNum = 0;
    info->estimatedCost = 1e7;
    info->estimatedRows = 1000000;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->iColumn != FRAME || c->op != SQLITE_INDEX_CONSTRAINT_EQ || !c->usable ||
            info->idxNum)
            continue;
        info->idxNum = 1;
        info->aConstraintUsage[i].argvIndex = 1;
        info->estimatedCost = 1e4;
        info->estimatedRows = 1000;
    }
    info->idxStr = sqlite3_mprintf("%llu", (unsigned long long)info->colUsed);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- a cursor ---- */

static struct events_table *table_of(const struct events_cursor *cursor) {
    return (struct events_table *)cursor->base.pVtab;
}

static bool is_used(const struct events_cursor *cursor, int column) {
    return cursor->used >> (column < 63 ? column : 63) & 1;
}

static int events_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret_cursor) {
    (void)base;
    struct events_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *ret_cursor = &cursor->base;
    return SQLITE_OK;
}

static int events_close(sqlite3_vtab_cursor *base) {
    struct events_cursor *cursor = (struct events_cursor *)base;
    sqlite3_finalize(cursor->blocks);
    sqlite3_finalize(cursor->rows);
    sqlite3_finalize(cursor->streams);
    block_times_release(&cursor->times);
    block_work_free(cursor->work);
    free(cursor->cells);
    free(cursor->order);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int prepare_blocks(struct events_cursor *cursor) {
    const struct events_table *table = table_of(cursor);
    if (cursor->blocks || !table->has_blocks)
        return SQLITE_OK;
    return prepare_made(
        table->db,
        cursor->by_frame
            ? sqlite3_mprintf(
                  "SELECT block, from_frame, columns, stream FROM"
                  " main.block WHERE stream = ? AND table_id = %lld AND until_frame >= ?"
                  " ORDER BY until_frame, block",
                  (long long)table->id)
            : sqlite3_mprintf("SELECT block, from_frame, columns, stream FROM"
                              " main.block WHERE table_id = %lld ORDER BY block",
                              (long long)table->id),
        &cursor->blocks);
}

static int prepare_rows(struct events_cursor *cursor) {
    const struct events_table *table = table_of(cursor);
    return cursor->rows ? SQLITE_OK
                        : prepare_made(table->db,
                                       sqlite3_mprintf("SELECT * FROM main.\"%w\"%s", table->name,
                                                       cursor->by_frame ? " WHERE frame = ?" : ""),
                                       &cursor->rows);
}

static int reserve_cells(struct events_cursor *cursor, size_t n) {
    if (n <= cursor->capacity)
        return SQLITE_OK;
    size_t width = (size_t)(OWN + table_of(cursor)->n_columns);
    int64_t *cells = realloc(cursor->cells, n * width * sizeof *cells);
    if (!cells)
        return SQLITE_NOMEM;
    cursor->cells = cells;
    struct block_place *order = realloc(cursor->order, n * sizeof *order);
    if (!order)
        return SQLITE_NOMEM;
    cursor->order = order;
    cursor->capacity = n;
    return SQLITE_OK;
}

static unsigned number_of(int column) {
    static const unsigned own[OWN] = {BLOCK_FRAME, BLOCK_INSTANCE, BLOCK_THIRD};
    return column < OWN ? own[column] : BLOCK_OWN + (unsigned)(column - OWN);
}

static int64_t *cells_of(const struct events_cursor *cursor, int column) {
    return cursor->cells + (size_t)column * cursor->capacity;
}

/* Intervals follow from the times of their frames. */
static int restore_intervals(struct events_cursor *cursor, size_t n, int64_t stream) {
    int64_t *ends = malloc((n + 1) * sizeof *ends);
    int code = ends ? block_times_load(&cursor->times, table_of(cursor)->db, stream) : SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        block_times_of(&cursor->times, cells_of(cursor, FRAME), n, ends);
        block_intervals_restore(cells_of(cursor, INSTANCE), ends, n, cells_of(cursor, THIRD));
    }
    free(ends);
    return code;
}

static int read_used(struct events_cursor *cursor, const struct block *block) {
    int code = SQLITE_OK, n_columns = OWN + table_of(cursor)->n_columns;
    for (int c = 0; c < n_columns && code == SQLITE_OK; c++)
        if (is_used(cursor, c) &&
            block_read(cursor->work, block, number_of(c), cells_of(cursor, c)) < 0)
            code = SQLITE_CORRUPT;
    return code;
}

/* The current row of the list of blocks. */
static int unpack(struct events_cursor *cursor) {
    struct block block;
    const struct listener *listener = &table_of(cursor)->listener;
    const void *data = sqlite3_column_blob(cursor->blocks, 2);
    size_t size = data ? (size_t)sqlite3_column_bytes(cursor->blocks, 2) : 0;
    cursor->unpacked = 0;
    if (!cursor->work && block_work_new(&cursor->work) < 0)
        return SQLITE_NOMEM;
    if (block_open(data, size, &block) < 0)
        return SQLITE_CORRUPT;
    int code = reserve_cells(cursor, block.n_rows);
    if (code == SQLITE_OK)
        code = read_used(cursor, &block);
    if (code == SQLITE_OK && table_of(cursor)->samples && is_used(cursor, THIRD))
        code = restore_intervals(cursor, block.n_rows, sqlite3_column_int64(cursor->blocks, 3));
    if (code == SQLITE_OK && is_used(cursor, FRAME))
        block_order_by_frame(cells_of(cursor, FRAME), block.n_rows, cursor->order);
    cursor->n = block.n_rows;
    if (listener->unpacked)
        listener->unpacked(listener->ctx, block.n_rows < size ? block.n_rows : size);
    return code;
}

static bool is_wanted(const struct events_cursor *cursor) {
    return cursor->at < cursor->n &&
           (!cursor->by_frame || cursor->order[cursor->at].frame == cursor->frame);
}

/* Moves to the first row of the current block that is wanted; false: it has none. */
static bool first_wanted(struct events_cursor *cursor) {
    size_t low = 0, high = cursor->by_frame ? cursor->n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cursor->order[middle].frame < cursor->frame)
            low = middle + 1;
        else
            high = middle;
    }
    cursor->at = low;
    return is_wanted(cursor);
}

/* The row of the table itself. */
static int step_row(struct events_cursor *cursor) {
    int code = sqlite3_step(cursor->rows);
    cursor->end = code != SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int begin_rows(struct events_cursor *cursor) {
    int code = prepare_rows(cursor);
    if (code != SQLITE_OK)
        return code;
    sqlite3_reset(cursor->rows);
    if (cursor->by_frame)
        sqlite3_bind_int64(cursor->rows, 1, cursor->frame);
    cursor->in_rows = true;
    return step_row(cursor);
}

/* Moves to the next block that has a wanted row, or to the rows of the table. */
static int next_block(struct events_cursor *cursor) {
    int code = SQLITE_DONE;
    while (cursor->blocks && (code = sqlite3_step(cursor->blocks)) == SQLITE_ROW) {
        int64_t block = sqlite3_column_int64(cursor->blocks, 0);
        if (cursor->by_frame && sqlite3_column_int64(cursor->blocks, 1) > cursor->frame) {
            code = SQLITE_DONE; /* as are all that follow in this stream */
            break;
        }
        code = block == cursor->unpacked ? SQLITE_OK : unpack(cursor);
        if (code != SQLITE_OK)
            return code;
        cursor->unpacked = block;
        if (first_wanted(cursor))
            return SQLITE_OK;
    }
    if (cursor->blocks)
        sqlite3_reset(cursor->blocks);
    return code == SQLITE_DONE ? begin_rows(cursor) : code;
}

/* The stream of the frame; 0: there is no such frame. */
static int stream_of_frame(struct events_cursor *cursor, int64_t *ret_stream) {
    int code = cursor->streams
                   ? SQLITE_OK
                   : prepare_made(table_of(cursor)->db,
                                  sqlite3_mprintf("SELECT stream FROM main.frame WHERE frame = ?"),
                                  &cursor->streams);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(cursor->streams, 1, cursor->frame);
    code = sqlite3_step(cursor->streams);
    *ret_stream = code == SQLITE_ROW ? sqlite3_column_int64(cursor->streams, 0) : 0;
    sqlite3_reset(cursor->streams);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int begin_blocks(struct events_cursor *cursor) {
    int64_t stream = 0;
    int code = prepare_blocks(cursor);
    if (code != SQLITE_OK || !cursor->blocks)
        return code;
    sqlite3_reset(cursor->blocks);
    if (!cursor->by_frame)
        return SQLITE_OK;
    code = stream_of_frame(cursor, &stream);
    sqlite3_bind_int64(cursor->blocks, 1, stream);
    sqlite3_bind_int64(cursor->blocks, 2, cursor->frame);
    return code;
}

static int events_filter(sqlite3_vtab_cursor *base, int plan, const char *used, int n,
                         sqlite3_value **values) {
    struct events_cursor *cursor = (struct events_cursor *)base;
    cursor->used = strtoull(used, NULL, 10);
    cursor->by_frame = plan == 1 && n == 1;
    if (cursor->by_frame || table_of(cursor)->samples)
        cursor->used |= 1 << FRAME; /* rows come in the order of frames */
    if (table_of(cursor)->samples && is_used(cursor, THIRD))
        cursor->used |= 1 << INSTANCE;
    cursor->in_rows = cursor->end = false;
    cursor->rowid = 0;
    if (cursor->by_frame && sqlite3_value_numeric_type(values[0]) != SQLITE_INTEGER) {
        cursor->end = true;
        return SQLITE_OK;
    }
    cursor->frame = cursor->by_frame ? sqlite3_value_int64(values[0]) : 0;
    int code = begin_blocks(cursor);
    return code == SQLITE_OK ? next_block(cursor) : code;
}

static int events_next(sqlite3_vtab_cursor *base) {
    struct events_cursor *cursor = (struct events_cursor *)base;
    cursor->rowid++;
    if (cursor->in_rows)
        return step_row(cursor);
    cursor->at++;
    return is_wanted(cursor) ? SQLITE_OK : next_block(cursor);
}

static int events_eof(sqlite3_vtab_cursor *base) {
    return ((struct events_cursor *)base)->end;
}

static int events_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column) {
    struct events_cursor *cursor = (struct events_cursor *)base;
    if (cursor->in_rows) {
        sqlite3_result_value(result, sqlite3_column_value(cursor->rows, column));
        return SQLITE_OK;
    }
    size_t row = is_used(cursor, FRAME) ? cursor->order[cursor->at].row : cursor->at;
    int64_t value = is_used(cursor, column) ? cells_of(cursor, column)[row] : VALUE_ABSENT;
    if (value != VALUE_ABSENT)
        sqlite3_result_int64(result, value);
    return SQLITE_OK;
}

static int events_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret_rowid) {
    *ret_rowid = ((struct events_cursor *)base)->rowid;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 0,
    .xCreate = events_connect,
    .xConnect = events_connect,
    .xBestIndex = events_plan,
    .xDisconnect = events_disconnect,
    .xDestroy = events_disconnect,
    .xOpen = events_open,
    .xClose = events_close,
    .xFilter = events_filter,
    .xNext = events_next,
    .xEof = events_eof,
    .xColumn = events_column,
    .xRowid = events_rowid,
};

/* ---- all tables of a file ---- */

int store_module_register(sqlite3 *db, void (*unpacked)(void *ctx, size_t n), void *ctx) {
    struct listener *listener = malloc(sizeof *listener);
    if (!listener)
        return SQLITE_NOMEM;
    *listener = (struct listener){unpacked, ctx};
    return sqlite3_create_module_v2(db, STORE_MODULE, &module, listener, free);
}

static int execute(sqlite3 *db, char *sql) {
    int code = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

/* The file's own view, of the virtual table. */
static int show_view(sqlite3 *db, const char *name) {
    static const char begin[] = "CREATE VIEW ";
    sqlite3_stmt *row = NULL;
    int code = prepare_made(db,
                            sqlite3_mprintf("SELECT sql FROM main.sqlite_schema WHERE type = 'view'"
                                            " AND name = '%q_rate'",
                                            name),
                            &row);
    if (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        const char *sql = (const char *)sqlite3_column_text(row, 0);
        bool usual = sql && strncmp(sql, begin, sizeof begin - 1) == 0;
        code = usual ? execute(db, sqlite3_mprintf("CREATE TEMP VIEW IF NOT EXISTS %s",
                                                   sql + sizeof begin - 1))
                     : SQLITE_OK;
    }
    sqlite3_finalize(row);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int show_table(sqlite3 *db, const char *name) {
    int code = execute(db, sqlite3_mprintf("CREATE VIRTUAL TABLE IF NOT EXISTS temp.\"%w\" USING"
                                           " " STORE_MODULE "(%s)",
                                           name, name));
    return code == SQLITE_OK ? show_view(db, name) : code;
}

/* The names of tables to show, a line each; NULL: without memory. Read before the first one is
 * made, since SQLite may end statements that are open then. */
static char *list_shown(sqlite3 *db, int *ret_code) {
    sqlite3_stmt *row = NULL;
    sqlite3_str *names = sqlite3_str_new(db);
    char name[TABLE_NAME_MAX + 1];
    bool has_blocks = sqlite3_table_column_metadata(db, "main", "block", "table_id", NULL, NULL,
                                                    NULL, NULL, NULL) == SQLITE_OK;
    int code = prepare_made(
        db,
        sqlite3_mprintf("SELECT name FROM main.table_info WHERE kind = 'events'%s",
                        has_blocks ? " OR table_id IN (SELECT table_id FROM main.block)" : ""),
        &row);
    while (code == SQLITE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        if (take_name(row, 0, name))
            sqlite3_str_appendf(names, "%s\n", name);
        code = SQLITE_OK;
    }
    sqlite3_finalize(row);
    *ret_code = code == SQLITE_DONE ? SQLITE_OK : code;
    sqlite3_str_append(names, "", 1); /* its end, also if there are none */
    return sqlite3_str_finish(names);
}

int store_module_show(sqlite3 *db) {
    int code = SQLITE_OK;
    char *names = list_shown(db, &code), *rest = NULL;
    if (!names && code == SQLITE_OK)
        code = SQLITE_NOMEM;
    for (char *name = names ? strtok_r(names, "\n", &rest) : NULL; name && code == SQLITE_OK;
         name = strtok_r(NULL, "\n", &rest))
        code = show_table(db, name);
    sqlite3_free(names);
    return code;
}

#ifdef CHOKEPOINT_EXTENSION
__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *db, char **ret_why,
                                                                  const sqlite3_api_routines *api);

/* Called by SQLite when a program loads this file. A database without tables stays as it is. */
int sqlite3_extension_init(sqlite3 *db, char **ret_why, const sqlite3_api_routines *api) {
    SQLITE_EXTENSION_INIT2(api);
    int code = store_module_register(db, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_table_column_metadata(db, "main", "table_info", NULL, NULL, NULL, NULL, NULL,
                                             NULL) == SQLITE_OK
                   ? store_module_show(db)
                   : SQLITE_OK;
    if (code != SQLITE_OK)
        *ret_why = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    return code;
}
#endif
