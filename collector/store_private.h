/* SPDX-License-Identifier: MIT */
/* Declarations that the store*.c files share. No other file includes this, or sqlite3.h. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_PRIVATE_H
#define CHOKEPOINT_COLLECTOR_STORE_PRIVATE_H

#include <limits.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "collector/store.h"
#include "collector/store_block.h"
#include "collector/store_read.h"
#include "common/cursor.h"
#include "tables/tables.h"

/* Limits against hostile streams. */
#define STORE_TABLES_MAX 256             /* data tables in one database */
#define STORE_COLUMNS_MAX 128            /* columns in one data table, over all versions of it */
#define STORE_INSTANCES_MAX (256 * 1024) /* instances of one table in memory, for one host */

/* Statements with a fixed text, prepared when first used. store_sql.c holds the texts. */
enum statement {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_TOUCH_FIRST_PAGE,
    SQL_RUN_INSERT,
    SQL_RUN_STARTED,
    SQL_RUN_END,
    SQL_RUN_EXISTS,
    SQL_NOTE_INSERT,
    SQL_NOTE_RUN,
    SQL_REFUSED_ADD,
    SQL_HOST_FIND,
    SQL_HOST_INSERT,
    SQL_STREAM_FIND,
    SQL_STREAM_RUN,
    SQL_STREAM_COUNT,
    SQL_STREAM_INSERT,
    SQL_STREAM_LOAD,
    SQL_STREAM_UPDATE,
    SQL_STREAM_CLOCK,
    SQL_CLOCK_INSERT,
    SQL_CLOCK_LIST,
    SQL_PIECE_BEFORE,
    SQL_PIECES_DELETE,
    SQL_PIECE_INSERT,
    SQL_FRAME_INSERT,
    SQL_INSTANCE_FIND,
    SQL_INSTANCE_INSERT,
    SQL_INSTANCE_NAME,
    SQL_RESET_INSERT,
    SQL_STATE_LOAD,
    SQL_STATE_SAVE,
    SQL_STATE_FORGET,
    SQL_JOINED_INSERT,
    SQL_JOINED_EXISTS,
    SQL_BLOCK_INSERT,
    SQL_TABLE_FIND,
    SQL_TABLE_INSERT,
    SQL_TABLE_COUNT,
    SQL_COLUMN_LIST,
    SQL_COLUMN_INSERT,
    SQL_CEILING_INSERT,
    SQL_REPEAT_INSERT,
    SQL_USAGE_INSERT,
    SQL_SWEEP_RUN_INSERT,
    SQL_LABEL_INSERT,
    SQL_BUDGET_COLUMN,
    SQL_BUDGET_DELETE,
    SQL_BUDGET_INSERT,
    SQL_OBJECT_EXISTS,
    STATEMENT_COUNT_
};

/* A column of a data table, as column_info describes it. */
struct data_column {
    char name[TABLE_NAME_MAX + 1];
    enum unit unit;
    enum column_kind kind;
};

/* A data table. Columns are only added, so an ordinal keeps its meaning. */
struct data_table {
    int64_t id;   /* table_info.table_id */
    size_t index; /* position in store->tables */
    char name[TABLE_NAME_MAX + 1], instance[TABLE_NAME_MAX + 1];
    enum table_kind kind;
    struct data_column columns[STORE_COLUMNS_MAX];
    size_t n_columns;
    bool rests; /* rows of instances that do not change are held back for longer */
};

/* A data table as one kind of stream describes it: some of its columns, in the stream's order. */
struct shape {
    struct data_table *table;
    struct row_batch *batch; /* owned: rows that are not inserted yet; store_insert.c */
    size_t n_columns;
    uint16_t ordinals[TABLE_COLUMNS_MAX]; /* of the stream's columns in the data table */
    bool counters[TABLE_COLUMNS_MAX];     /* true: the growth is stored */
    struct block_rows *waiting;           /* owned; NULL: none yet; store_block_rows.c */
};

/* The last state of an instance. */
struct base {
    int64_t instance;
    int64_t seen_ns;          /* host's monotonic time of the last row */
    uint64_t seen_sample;     /* the table's sample number in that row */
    int64_t frame;            /* frame of the last row; 0: written by an earlier process */
    int64_t stored_ns;        /* end of the stored rows; < seen_ns while idle */
    int64_t rested_ns;        /* interval of the last stored row; 0: something changed in it */
    int64_t next_n;           /* for events: number of the next row in this frame */
    const struct shape *idle; /* shape of the row without a change that is held back; NULL: none */
    size_t joined;            /* index of its open joined row plus 1; 0: none */
    uint32_t hash;
    char name[INSTANCE_MAX + 1];
};

/* Successive rows of one instance, joined into one. store_joined.c */
struct joined_row {
    int64_t instance, t_ns, interval_ns;
    const struct shape *shape;
};

/* The instances of one table in one stream: a small open-addressing hash. series_*.c */
struct series {
    struct data_table *table;
    struct base *items; /* owned */
    size_t n, capacity;
    int64_t *values; /* owned: last absolute values, capacity x stride; levels if instances rest */
    size_t stride;
    uint32_t *slots; /* owned: index into items plus 1, 0 empty; the number is a power of two */
    size_t n_slots;
    size_t guess;                   /* the item after the one found last: tried first */
    int64_t frame;                  /* frame of the current sample */
    int64_t sample_ns, previous_ns; /* of the current and the previous sample; or absent */
    uint64_t sample;                /* number of the current sample */
    bool dirty;                     /* changed since the last commit */
    struct joined_row *joined;      /* owned: rows of this transaction */
    int64_t *joined_values;         /* owned: joined_capacity x stride */
    size_t n_joined, joined_capacity;
};

/* A stream of frames: one agent on one host since one boot. */
struct stream {
    int64_t id, host, run;
    int64_t home; /* the stream with its frames and clock: itself; for events the samples of the
                     same boot */
    char host_name[INSTANCE_MAX + 1], boot_id[BOOT_ID_SIZE + 1];
    uint64_t stream_id;
    int64_t period_ns;
    int64_t last_seq, last_mono_ns; /* 0 and VALUE_ABSENT before the first frame */
    int64_t first_mono_ns;          /* VALUE_ABSENT before the first frame */
    int64_t clock_default_ns;       /* offset of the wall clocks at the first frame; or absent */
    int64_t wall_to_run;            /* the run's monotonic start minus its wall-clock start */
    int64_t head_missed, head_lost; /* from the last head of the stream */
    int64_t frames, missed, lost, gaps, restarts, duplicates, dropped_rows;
    bool joins; /* rows are also stored joined; false if an older version began the stream */
    bool dirty;
    bool settles; /* rows that are held back are written with the next commit */
    struct series *series[STORE_TABLES_MAX]; /* owned; by data_table.index */
    struct buffer states; /* owned: as they were saved when this collector began with the stream */
    bool states_by_table; /* an older version wrote them, in several rows */
};

/* Index into store->streams; positions plus 1, 0: none. store_stream_index.c */
struct stream_index {
    uint32_t *by_row, *by_name; /* owned: n_slots each, a power of two */
    size_t n_slots;
};

struct store_run;

struct store {
    sqlite3 *db;
    bool writable;
    bool compacting; /* store_remove.c */
    bool showing;    /* store_show.c */
    bool asked;      /* store_query.c */
    bool has_module;
    bool has_frames;    /* frames were committed */
    int64_t steps_left; /* for a reader: store.c */
    char *path;         /* owned; for a writer, as the next five: store_identity.c */
    int file_fd;        /* descriptor of the opened file; tells its present name */
    struct store_file file, log, log_index; /* the log and its index are 0 until they exist */
    bool left;           /* the file was found moved and folded in; no write since */
    struct stat left_as; /* state of the file then */
    sqlite3_stmt *statements[STATEMENT_COUNT_];
    struct data_table *tables[STORE_TABLES_MAX]; /* owned */
    size_t n_tables;
    struct shape **shapes; /* owned */
    size_t n_shapes;
    uint32_t shape_age; /* part of a shape's public id: older ids are refused after a rollback */
    struct stream **streams; /* owned */
    size_t n_streams;
    struct stream_index index; /* over streams */
    struct stream *stream;     /* stream of the current frame; NULL: none */
    int64_t frame, mono_ns;    /* the current frame and its time */
    struct block_work *blocks; /* owned; NULL until first used */
    char why[1024];            /* overrides SQLite's message when not empty */
};

/* ---- store_sql.c ---- */

extern const char store_schema[];

/* Pieces of clocks (clock.h) by stream; also made in files of older versions. */
#define STORE_PIECE_SCHEMA                                                                         \
    "CREATE TABLE IF NOT EXISTS clock_piece(stream INTEGER NOT NULL, from_ns INTEGER NOT NULL,"    \
    " until_ns INTEGER NOT NULL, at_ns INTEGER NOT NULL, offset_ns INTEGER NOT NULL,"              \
    " error_ns INTEGER NOT NULL, drift_ppm REAL NOT NULL, PRIMARY KEY(stream, from_ns)) STRICT,"   \
    " WITHOUT ROWID;"

/* Joined and packed rows (store_joined.c); also made in files of older versions. */
#define STORE_JOINED_SCHEMA                                                                        \
    "CREATE TABLE IF NOT EXISTS joined(joined INTEGER PRIMARY KEY, stream INTEGER NOT NULL,"       \
    " rows BLOB NOT NULL) STRICT;"                                                                 \
    "CREATE INDEX IF NOT EXISTS joined_of_stream ON joined(stream);"

/* Blocks of columns (store_block.h); also made in files of older versions. Frames and times: the
 * first and the last of its rows, on the host's clock. Frames rise from block to block of a stream
 * and table. */
#define STORE_BLOCK_SCHEMA                                                                         \
    "CREATE TABLE IF NOT EXISTS block(block INTEGER PRIMARY KEY, stream INTEGER NOT NULL,"         \
    " table_id INTEGER NOT NULL, from_frame INTEGER NOT NULL, until_frame INTEGER NOT NULL,"       \
    " from_ns INTEGER NOT NULL, until_ns INTEGER NOT NULL, n INTEGER NOT NULL,"                    \
    " columns BLOB NOT NULL) STRICT;"                                                              \
    "CREATE INDEX IF NOT EXISTS block_of_stream ON block(stream, table_id, until_frame);"

/* Also made when a file of an older version gets its first ceiling. */
#define STORE_CEILING_SCHEMA                                                                       \
    "CREATE TABLE IF NOT EXISTS ceiling(ceiling INTEGER PRIMARY KEY, host TEXT NOT NULL,"          \
    " peer TEXT, metric TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL, low REAL,"         \
    " high REAL, measured_wall_ns INTEGER NOT NULL, how TEXT NOT NULL) STRICT;"

/* The repeats of `run --repeat`; also made in files of older versions. */
#define STORE_REPEAT_SCHEMA                                                                        \
    "CREATE TABLE IF NOT EXISTS run_repeat(run INTEGER PRIMARY KEY, group_run INTEGER NOT NULL,"   \
    " repeat INTEGER NOT NULL, repeats INTEGER NOT NULL) STRICT;"

/* Resources that the command used, and the host it ran on; also made in files of older versions. */
#define STORE_USAGE_SCHEMA                                                                         \
    "CREATE TABLE IF NOT EXISTS run_usage(run INTEGER PRIMARY KEY, host TEXT NOT NULL,"            \
    " user_ns INTEGER, system_ns INTEGER, read_bytes INTEGER, write_bytes INTEGER,"                \
    " peak_rss_bytes INTEGER) STRICT;"

/* Sweeps, their parameters with the values of each, and their runs with the values of each; also
 * made in files of older versions. */
#define STORE_SWEEP_SCHEMA                                                                         \
    "CREATE TABLE IF NOT EXISTS sweep(sweep INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"       \
    " command TEXT NOT NULL, repeats INTEGER NOT NULL) STRICT;"                                    \
    "CREATE TABLE IF NOT EXISTS sweep_value(sweep INTEGER NOT NULL, parameter INTEGER NOT NULL,"   \
    " n INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,"                                \
    " PRIMARY KEY(sweep, parameter, n)) STRICT, WITHOUT ROWID;"                                    \
    "CREATE TABLE IF NOT EXISTS sweep_run(run INTEGER PRIMARY KEY, sweep INTEGER NOT NULL)"        \
    " STRICT;"                                                                                     \
    "CREATE TABLE IF NOT EXISTS run_label(run INTEGER NOT NULL, name TEXT NOT NULL,"               \
    " value TEXT NOT NULL, PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;"

/* The owner's comments on a run; also made in files of older versions. */
#define STORE_COMMENT_SCHEMA                                                                       \
    "CREATE TABLE IF NOT EXISTS run_comment(run INTEGER NOT NULL, n INTEGER NOT NULL,"             \
    " text TEXT NOT NULL, PRIMARY KEY(run, n)) STRICT, WITHOUT ROWID;"

/* The verdict of each run (store_verdict.h); also made in files of older versions. */
#define STORE_VERDICT_SCHEMA                                                                       \
    "CREATE TABLE IF NOT EXISTS run_verdict(run INTEGER PRIMARY KEY, state TEXT NOT NULL,"         \
    " host TEXT, resource TEXT, confidence REAL, limit_said TEXT NOT NULL) STRICT;"                \
    "CREATE TABLE IF NOT EXISTS run_use(run INTEGER PRIMARY KEY, cores REAL, cores_used REAL,"     \
    " memory_gb REAL, memory_peak_gb REAL, gpus REAL, gpus_used REAL) STRICT;"

/* Where the time of each rank went (store.h); also made in files of older versions. */
#define STORE_BUDGET_SCHEMA                                                                        \
    "CREATE TABLE IF NOT EXISTS budget(run INTEGER NOT NULL, n INTEGER NOT NULL,"                  \
    " host TEXT NOT NULL, rank INTEGER, pid INTEGER, process TEXT NOT NULL,"                       \
    " phase TEXT NOT NULL, iteration INTEGER, every INTEGER NOT NULL, begin_ns INTEGER NOT NULL,"  \
    " end_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL, cpu_ns INTEGER, runqueue_ns INTEGER,"     \
    " quota_ns INTEGER, steal_ns INTEGER, disk_ns INTEGER, memory_ns INTEGER, gpu_ns INTEGER,"     \
    " gpu_copy_ns INTEGER, stopped_ns INTEGER,"                                                    \
    " idle_ns INTEGER, peer_wait_ns INTEGER, transfer_ns INTEGER, file_ns INTEGER,"                \
    " mpi_overhead_ns INTEGER, mpi_unsplit_ns INTEGER, unknown_ns INTEGER NOT NULL, "              \
    "other_threads_cpu_ns INTEGER,"                                                                \
    " closure_pct REAL, trusted INTEGER NOT NULL, source TEXT NOT NULL, awaited_host TEXT,"        \
    " awaited_rank INTEGER, awaited_ns INTEGER, path_limited_pct REAL,"                            \
    " receiver_limited_pct REAL, send_buffer_limited_pct REAL, PRIMARY KEY(run, n)) STRICT,"       \
    " WITHOUT ROWID;"

/* Whether a plain table of that name exists: a view could hold any query. */
int sql_has_table(struct store *store, const char *name, bool *ret_has);
/* 1: the table has the column; 0; negative errno of the search. */
int sql_has_column(const struct store *store, const char *table, const char *name);

/* Stores the sweep and the values of a new run, if it has any. */
int store_insert_labels(struct store *store, const struct run_begin *begin, int64_t run);

/* The negative errno of an SQLite result code; 0 for OK, ROW and DONE. */
int sql_errno(int code);

/* Writes why something failed, made printable: the text may contain paths and names from outside.
 * `why` has `size` bytes; NULL: not wanted. */
__attribute__((format(printf, 3, 4))) void store_say(char *why, size_t size, const char *format,
                                                     ...);

/* The prepared statement, or NULL with its error in *ret_error. */
sqlite3_stmt *sql_statement(struct store *store, enum statement id, int *ret_error);

/* Prepares all statements that every file of this version must take; on failure the message is
 * SQLite's. */
int sql_prepare_all(struct store *store);

int sql_exec(struct store *store, const char *sql);
int sql_prepare(struct store *store, const char *sql, sqlite3_stmt **ret_statement);
/* As sql_prepare, with a text from SQLite, which is freed; NULL: -ENOMEM. */
int sql_prepare_made(struct store *store, char *sql, sqlite3_stmt **ret_statement);
/* Rolls back after a failure; store_error still says why it failed. */
void sql_undo(struct store *store, const char *rollback);
void sql_finalize(sqlite3_stmt **statement); /* for AUTO */
/* Ends what sqlite3_step began. Returns its error, or -ENOMEM if a text of its row could not be
 * read. */
int sql_reset(sqlite3_stmt *statement);

/* Binds by format: i int64_t (VALUE_ABSENT: NULL), d double (NAN: NULL), t text (NULL: NULL). */
int sql_bind(sqlite3_stmt *statement, const char *format, ...);

/* Binds and runs the statement to its end. */
int sql_run(struct store *store, enum statement id, const char *format, ...);

/* Binds and reads the first column of the first row. 1 found, 0 no row or NULL, negative errno. */
int sql_get(struct store *store, enum statement id, int64_t *ret_value, const char *format, ...);

/* A column's integer; VALUE_ABSENT for any other type. */
int64_t sql_column(sqlite3_stmt *statement, int column);

/* Copies a column's text, cut to the size; "" for any other type. False without memory, which
 * sql_reset reports, too. */
bool sql_column_text(sqlite3_stmt *statement, int column, char *to, size_t size);

/* A column's text as an owned, sanitized string of at most `max` bytes; NULL without memory. */
/* Counts bytes of text that were read: rows of a damaged tree may share one text, and together need
 * more memory than there is. -EBADMSG: more than the size of the file allows. */
int store_count_text(struct store *store, size_t size);
/* Counts values that were unpacked, of which a small block may have many. -EBADMSG as above. */
int store_count_cells(struct store *store, size_t n);
char *sql_column_dup(sqlite3_stmt *statement, int column, size_t max);

/* ---- store.c ---- */

#define STORE_WRITE_TIMEOUT_MS 10000 /* ends the writes of the caller */

/* The number that a query without parameters gives. -EBADMSG: none. */
int pragma_get(struct store *store, const char *sql, int64_t *ret_value);

/* Writes the database anew, without free pages; nobody else has it open (store_remove.c). */
int store_vacuum(struct store *store);

/* Renews a reader's limit of work, for readers that stay open. */
int store_renew_bound(struct store *store);

/* ---- store_connect.c ---- */

int connect_file(const char *path, int flags, struct store **ret_store);
int connect_unsealed(const char *path, struct store **ret_store); /* for reading damaged files */
int connect_uri(const char *name, int flags, struct store **ret_store); /* "file:..." */

/* ---- store_heal.c ---- */

/* Reads a file whose journal or log only a writer may fold in. */
int heal_connect(const char *path, struct store **ret_store);

/* Makes a private directory for a copy, in the user's place for such (TMPDIR). */
int private_directory(char ret_path[PATH_MAX]);

/* ---- store_identity.c ---- */

/* ---- store_fits.c ---- */

/* -EBADMSG: a table that every file has is missing (*ret_table: its name; NULL: another fault). */
int fits_base(struct store *store, const char **ret_missing);
/* -EBADMSG: a table or column that statements need is missing; SQLite's message names it. */
int fits_all(struct store *store);
/* Whether the file has no table and no journal: its writer was killed at once. */
bool fits_is_unmade(const char *path);
/* Empties such a file. -EBUSY: another process is making it. */
int fits_begin_again(const char *path);

/* For a writer, after opening. -ESTALE: the file has been moved already. */
int identity_keep(struct store *store, const char *path);
void identity_release(struct store *store);

/* ---- store_table.c, store_shape.c, store_view.c ---- */

enum unit unit_from_text(const char *text);
int table_column(const struct data_table *table, const char *name); /* its ordinal; -1: none */

/* The data table for this description, made or widened as needed. -EEXIST, -E2BIG. */
int table_ensure(struct store *store, const struct table *table, struct data_table **ret_table);

void tables_free(struct store *store); /* frees tables and shapes */

/* SQL texts for a data table. Owned by the caller (sqlite3_free); NULL without memory. */
char *table_create_sql(const struct data_table *table);
char *table_insert_sql(const struct data_table *table, const struct shape *shape, size_t n_rows);
char *view_create_sql(const struct data_table *table);
/* Selects the view's rows of run ?1; `rows`: the name of the table that has them. */
char *view_select_sql(const struct data_table *table, const char *rows);

/* A data table as the database describes it, borrowed. 1 found, 0 not, negative errno. */
int table_load(struct store *store, const char *name, struct data_table **ret_table);

/* ---- store_series.c ---- */

struct series *series_new(struct data_table *table);
void series_free(struct series *series);
void series_clear(struct series *series); /* forgets all instances */

/* The values stored for an item: table->n_columns of them. */
static inline int64_t *series_values(const struct series *series, const struct base *base) {
    return series->values + (size_t)(base - series->items) * series->stride;
}

/* Begins a new sample with this frame. */
void series_begin_sample(struct series *series, int64_t frame, int64_t mono_ns);

/* NULL if the name is unknown. */
struct base *series_find(struct series *series, const char *name, size_t size);

/* Adds an unknown instance, all values absent. NULL without memory. */
struct base *series_add(struct series *series, int64_t instance, const char *name, size_t size);

/* Makes room for columns that were added to the table. */
int series_widen(struct series *series);

/* Forgets instances long gone. */
void series_prune(struct series *series);

/* ---- store_state.c: state of all series of a stream for a restart, as one blob ---- */

int state_save(struct store *store, struct stream *stream);
/* Reads the blob once, for state_load of each table. */
int state_load_stream(struct store *store, struct stream *stream);
/* shape: of rows that were held back. */
int state_load(struct store *store, const struct stream *stream, const struct shape *shape,
               struct series *series);

/* ---- store_joined.c ---- */

/* Joins a stored row: values by the shape, VALUE_ABSENT where unknown. If the table has too many,
 * it first writes all of the stream. -ENOMEM. */
int joined_add(struct store *store, struct stream *stream, struct series *series, struct base *base,
               const struct shape *shape, int64_t t_ns, int64_t interval_ns, const int64_t *values);
/* Writes the joined rows of the stream and forgets them; the next rows begin new ones. At any time
 * within a transaction. */
int joined_save(struct store *store, struct stream *stream);
void joined_clear(struct series *series);

/* A stored section from an untrusted file; `bad` if it cannot be decoded. Bytes are not copied. */
struct joined_section {
    int64_t table;
    size_t n_columns;
    struct cursor rows;
    int64_t instance, t_ns, interval_ns; /* of the last row read; t_ns on the host's clock */
};
struct cursor joined_open(const void *data, size_t size);
bool joined_next_section(struct cursor *reader, struct joined_section *ret_section);
/* values: the section's columns, by ordinal. */
bool joined_next_row(struct joined_section *section, int64_t values[STORE_COLUMNS_MAX]);

/* ---- store_stream.c ---- */

struct stream *stream_get(struct store *store, int64_t id, int *ret_error);
void stream_free(struct stream *stream);
int stream_save(struct store *store, struct stream *stream); /* writes counts, states of series */
void streams_free(struct store *store);

/* ---- store_stream_index.c ---- */

int stream_index_reserve(struct store *store); /* makes room for one more stream */
void stream_index_add(struct store *store);    /* adds the last stream of store->streams */
void stream_index_clear(struct stream_index *index);
/* Candidates for a key, one a call, with *at 0 at first; some may not match. NULL: no more. */
struct stream *stream_index_next(const struct store *store, const uint32_t *slots, uint64_t key,
                                 size_t *at);

/* ---- store_clock.c ---- */

struct store_clock_map {
    struct clock_piece *pieces; /* owned */
    size_t n;
    int64_t offset_ns, error_ns; /* without pieces: of the wall clocks; VALUE_ABSENT: unknown */
    int64_t start_ns;            /* start of the command on the collector's clock */
};

int clock_map_load(struct store *store, int64_t stream, struct store_clock_map *ret_map);
void clock_map_release(struct store_clock_map *map);
/* ret_error_ns may be NULL. */
int64_t clock_map_offset(const struct store_clock_map *map, int64_t mono_ns, int64_t *ret_error_ns);
/* Time since the command's start; VALUE_ABSENT if it overflows. */
int64_t clock_map_time(const struct store_clock_map *map, int64_t mono_ns);

/* The same formula in SQL: the offset of stream s at the host's time `mono`. */
#define CLOCK_OFFSET_SQL(mono)                                                                     \
    "coalesce((SELECT c.offset_ns + (" mono " - c.at_ns) * c.drift_ppm / 1e6 FROM clock_piece c"   \
    " WHERE c.stream = s.stream AND c.from_ns <= " mono                                            \
    " ORDER BY c.from_ns DESC LIMIT 1), s.clock_offset_ns)"

/* ---- store_insert.c ---- */

struct row_batch;
int batch_new(struct store *store, const struct data_table *table, const struct shape *shape,
              struct row_batch **ret_batch);
void batch_free(struct row_batch *batch); /* takes NULL */
/* `third`: interval_ns, or the number of an event. Rows are in the file after batches_save. */
int batch_add(struct store *store, const struct shape *shape, int64_t frame, int64_t instance,
              int64_t third, const int64_t *values);
/* Inserts all rows that wait; before each commit. */
int batches_save(struct store *store);

/* ---- store_row.c ---- */

/* Writes rows that are held back; of instances that rest only if they are gone or the stream
 * settles. */
int flush_stream(struct store *store, struct stream *stream);

/* The shape with that public id (store_shape.c); NULL: it is invalid. */
struct shape *shape_get(struct store *store, int64_t public_id);
/* The series of the current stream, in the current frame. NULL: *ret_error. */
struct series *series_of(struct store *store, const struct shape *shape, int *ret_error);
/* The instance of that name, added if it is new. NULL: *ret_error, or 0 if it may not be added. */
struct base *base_of(struct store *store, struct series *series, struct span name, int *ret_error);

/* ---- store_read_blocks.c ---- */

/* Whether a table has rows in blocks. */
int blocks_exist(struct store *store, int64_t table_id, bool *ret_exist);

/* ---- store_show.c ---- */

/* Makes a temporary virtual table with all rows of a table, those of blocks among them;
 * `name`, unlike any in the file: how statements of this connection call it. */
#define STORE_SHOWN_SIZE (TABLE_NAME_MAX + 16)
int store_show_events(struct store *store, const char *table, char name[STORE_SHOWN_SIZE]);
/* All tables of events, and those with blocks, and their views become such tables under their own
 * names. The connection then only answers queries of people. */
int store_show_all(struct store *store);

/* ---- store_block_rows.c: events that become blocks ---- */

/* Writes all rows that wait for their block to be full; before each commit. */
int blocks_save(struct store *store);
void block_rows_free(struct block_rows *rows);
/* The memory of blocks of this connection; NULL: *ret_error. */
struct block_work *blocks_work(struct store *store, int *ret_error);

#endif
