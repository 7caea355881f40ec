/* SPDX-License-Identifier: MIT */
/* Events that come in packed frames: they are stored as blocks, and read as rows, columns and SQL.
 */
#include "tests/unit/store_fixture.h"

#include <errno.h>

#include "collector/store_ask.h"
#include "collector/store_block.h"
#include "collector/store_edit.h"
#include "collector/store_module.h"
#include "collector/store_query.h"
#include "collector/store_read_columns.h"
#include "collector/store_read_tables.h"

static const struct column call_columns[] = {{"start_ns", UNIT_NS, COLUMN_LEVEL, ""},
                                             {"peer", UNIT_NONE, COLUMN_LEVEL, ""},
                                             {"bytes", UNIT_BYTES, COLUMN_LEVEL, ""}};
static const struct table call_table = {"call", "function", "", TABLE_EVENTS, call_columns, 2};
static const struct table wide_table = {"call", "function", "", TABLE_EVENTS, call_columns, 3};
static const char *const wanted[] = {"start_ns", "peer", "bytes"};
static const char *const functions[] = {"MPI_Send", "MPI_Recv", "MPI_Wait"};

#define BEGIN(f) assert_int_equal(store_begin((f)->store), 0)
#define COMMIT(f) assert_int_equal(store_commit((f)->store), 0)

/* The planted event number i: a peer is not always known. */
static int64_t start_of(int64_t i) {
    return i * 1000 + i * 7919 % 777;
}

static int64_t peer_of(int64_t i) {
    return i % 7 == 3 ? VALUE_ABSENT : i % 5;
}

static void begin_events(struct fixture *f, uint64_t id) {
    struct wire_stream stream = {.host = "vm1", .boot_id = BOOT_B, .stream_id = id};
    assert_int_equal(store_stream(f->store, f->run, &stream, &f->host, &f->stream), 0);
}

/* A packed frame of events first to first + n - 1, as bytes of a stream. */
static void encode(const struct table *table, uint64_t seq, int64_t first, size_t n,
                   struct buffer *out) {
    struct wire_stream stream = {.host = "vm1", .boot_id = BOOT_A, .stream_id = 8};
    struct frame_head head = {.seq = seq, .wall_ns = RUN_WALL_NS, .mono_ns = (int64_t)seq};
    struct rows rows, *list[] = {&rows};
    struct buffer scratch = {0};
    assert_int_equal(rows_init_packed(&rows, table, n + 1), 0);
    for (int64_t i = first; i < first + (int64_t)n; i++) {
        const char *name = functions[i % 3];
        struct row *row = rows_append(&rows, name, strlen(name));
        row->values[0] = start_of(i);
        row->values[1] = peer_of(i);
        if (table->n_columns > 2)
            row->values[2] = -i;
    }
    wire_put_stream(out, &stream);
    wire_put_table(out, 0, table);
    wire_put_packed_frame(out, &scratch, &head, list, (const unsigned[]){0}, 1);
    assert_int_equal(out->error, 0);
    rows_release(&rows);
    buffer_release(&scratch);
}

/* Stores such a frame by columns, or row by row. */
static void put_frame(struct fixture *f, const struct table *table, uint64_t seq, int64_t first,
                      size_t n, bool by_rows) {
    struct buffer bytes = {0};
    struct wire_reader reader;
    struct wire_record record;
    struct wire_section section = {0};
    struct wire_row row;
    const struct table *of;
    unsigned index;
    int64_t id;
    encode(table, seq, first, n, &bytes);
    wire_reader_init(&reader, bytes.data, bytes.size);
    for (int i = 0; i < 3; i++)
        assert_int_equal(wire_next(&reader, &record), 0);
    assert_int_equal(store_table(f->store, table, &id), 0);
    assert_int_equal(store_frame(f->store, f->stream, &record.head), 0);
    while (by_rows && wire_frame_row(&reader, &record, &of, &index, &row))
        assert_int_equal(store_row(f->store, id, of, &row), 0);
    while (!by_rows && wire_next_section(&reader, &record, &section))
        assert_int_equal(store_section(f->store, id, &section), 0);
    wire_reader_release(&reader);
    buffer_release(&bytes);
}

/* ---- readers ---- */

struct seen {
    size_t n;
    int64_t next; /* the event that is expected, if they come in order */
    bool in_order, wide;
    int64_t sum;
};

static void see(struct seen *seen, const char *name, int64_t start_ns, int64_t peer,
                int64_t bytes) {
    int64_t i = start_ns / 1000;
    i -= start_of(i) > start_ns; /* it is the number, or one more */
    if (seen->in_order)
        assert_int_equal(i, seen->next++);
    assert_int_equal(start_ns, start_of(i));
    assert_int_equal(peer, peer_of(i));
    assert_string_equal(name, functions[i % 3]);
    assert_int_equal(bytes, seen->wide ? -i : VALUE_ABSENT);
    seen->n++;
    seen->sum += i;
}

static int see_row(void *ctx, const struct store_row_read *row) {
    see(ctx, row->instance_name, row->values[0], row->values[1], row->values[2]);
    return 0;
}

static int see_columns(void *ctx, const struct store_columns_read *rows) {
    for (size_t i = 0; i < rows->n; i++)
        see(ctx, rows->names[rows->instances[i]], rows->values[0][i], rows->values[1][i],
            rows->values[2][i]);
    return 0;
}

/* All readers find events 0 to n - 1, each once. */
static void expect(struct fixture *f, int64_t n) {
    int64_t sum = n * (n - 1) / 2;
    struct seen rows = {0}, stored = {.in_order = true}, columns = {.in_order = true};
    assert_int_equal(store_each_row(f->store, f->run, "call", wanted, 3, see_row, &rows), 0);
    assert_int_equal(
        store_each_row_as_stored(f->store, f->run, "call", wanted, 3, see_row, &stored), 0);
    assert_int_equal(store_each_columns(f->store, f->run, "call", wanted, 3, see_columns, &columns),
                     0);
    assert_int_equal(rows.n, n);
    assert_int_equal(rows.sum, sum);
    assert_int_equal(stored.n, n);
    assert_int_equal(columns.n, n);
}

static int64_t ask(struct fixture *f, const char *sql) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(store_module_register(db, NULL, NULL), SQLITE_OK);
    assert_int_equal(store_module_show(db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int64_t value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static void execute(struct fixture *f, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* ---- tests ---- */

/* More than two blocks in frames of all lengths, over three transactions. */
static void record(struct fixture *f, int64_t *ret_n) {
    static const size_t lengths[] = {1, 5000, 2, 8190, 8193, 40, 7};
    int64_t n = 0;
    begin_events(f, 8);
    for (size_t i = 0; i < 7; i++) {
        if (i % 3 == 0)
            BEGIN(f);
        put_frame(f, &call_table, i + 1, n, lengths[i], false);
        n += (int64_t)lengths[i];
        if (i % 3 == 2 || i == 6)
            COMMIT(f);
    }
    *ret_n = n;
}

static void all_readers_find_each_event_once(void **state) {
    struct fixture *f = *state;
    int64_t n;
    record(f, &n);
    expect(f, n);
    assert_int_equal(ask(f, "SELECT count(*) FROM main.call"), 0);
    assert_int_equal(ask(f, "SELECT sum(n) FROM block"), n);
    assert_int_equal(ask(f, "SELECT count(*) FROM block WHERE n > 8192"), 0);
}

static void sql_shows_blocks_as_rows(void **state) {
    struct fixture *f = *state;
    int64_t n;
    record(f, &n);
    assert_int_equal(ask(f, "SELECT count(*) FROM call"), n);
    assert_int_equal(ask(f, "SELECT count(*) FROM call_rate WHERE function = 'MPI_Recv'"), n / 3);
    assert_int_equal(ask(f, "SELECT count(*) FROM call WHERE frame = 4"), 8190);
    assert_int_equal(ask(f, "SELECT count(*) FROM call WHERE frame = 5"), 8193);
    assert_int_equal(ask(f, "SELECT count(*) FROM frame CROSS JOIN call USING (frame)"), n);
    assert_int_equal(ask(f, "SELECT count(*) FROM call WHERE frame = 99 OR frame = 'x'"), 0);
    assert_int_equal(
        ask(f, "SELECT count(DISTINCT frame || '/' || instance || '/' || n) FROM call"), n);
    assert_int_equal(ask(f, "SELECT max(n) FROM call WHERE frame = 5"), 8193 / 3 - 1);
    assert_int_equal(ask(f, "SELECT count(*) FROM call WHERE peer IS NULL"), (n + 3) / 7);
}

/* Rows of an older version, then blocks, then rows again. */
static void rows_and_blocks_are_read_in_the_order_of_frames(void **state) {
    struct fixture *f = *state;
    begin_events(f, 8);
    for (uint64_t i = 0; i < 5; i++) {
        BEGIN(f);
        /* rows of one function: those of a frame come by function */
        put_frame(f, &call_table, i + 1, (int64_t)i, 1, i != 1 && i != 3);
        COMMIT(f);
    }
    assert_int_equal(ask(f, "SELECT count(*) FROM main.call"), 3);
    assert_int_equal(ask(f, "SELECT count(*) FROM call"), 5);
    expect(f, 5);
}

static void a_rollback_loses_and_doubles_nothing(void **state) {
    struct fixture *f = *state;
    begin_events(f, 8);
    BEGIN(f);
    put_frame(f, &call_table, 1, 0, 100, false);
    COMMIT(f);
    BEGIN(f);
    put_frame(f, &call_table, 2, 100, 9000, false);
    store_rollback(f->store);
    begin_events(f, 8);
    assert_int_equal(store_stream_last_seq(f->store, f->stream), 1);
    expect(f, 100);
    BEGIN(f);
    struct frame_head again = {.seq = 1, .mono_ns = 1};
    assert_int_equal(store_frame(f->store, f->stream, &again), -EALREADY);
    put_frame(f, &call_table, 2, 100, 9000, false);
    COMMIT(f);
    expect(f, 9100);
}

static void streams_do_not_share_blocks(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    struct wire_stream other = {.host = "vm2", .boot_id = BOOT_B, .stream_id = 9};
    int64_t host, second;
    begin_events(f, 8);
    assert_int_equal(store_stream(f->store, f->run, &other, &host, &second), 0);
    int64_t first = f->stream;
    for (uint64_t i = 1; i <= 4; i++) {
        f->stream = i % 2 ? first : second;
        put_frame(f, &call_table, (i + 1) / 2, (int64_t)(i - 1) / 2 * 10, 10, false);
    }
    COMMIT(f);
    assert_int_equal(ask(f, "SELECT count(*) FROM block"), 4);
    assert_int_equal(ask(f, "SELECT count(DISTINCT stream) FROM block"), 2);
    assert_int_equal(ask(f, "SELECT count(DISTINCT host) FROM call JOIN instance USING (instance)"),
                     2);
}

static void blocks_from_before_a_column_lack_it(void **state) {
    struct fixture *f = *state;
    struct seen seen = {.wide = true};
    begin_events(f, 8);
    BEGIN(f);
    put_frame(f, &call_table, 1, 0, 20, false);
    COMMIT(f);
    BEGIN(f);
    put_frame(f, &wide_table, 2, 20, 20, false);
    COMMIT(f);
    assert_int_equal(ask(f, "SELECT count(*) FROM call WHERE bytes IS NULL"), 20);
    assert_int_equal(ask(f, "SELECT sum(bytes) FROM call"), -(20 * 20 + 190));
    execute(f, "DELETE FROM block WHERE block = 1");
    assert_int_equal(store_each_columns(f->store, f->run, "call", wanted, 3, see_columns, &seen),
                     0);
    assert_int_equal(seen.n, 20);
}

static void a_removed_run_leaves_no_block(void **state) {
    struct fixture *f = *state;
    int64_t n;
    record(f, &n);
    assert_int_equal(store_run_remove(f->store, f->run), 0);
    assert_int_equal(ask(f, "SELECT count(*) FROM block"), 0);
}

/* Bytes that are no block cost an error and nothing else. */
static void damaged_blocks_are_told(void **state) {
    static const char *const damages[] = {
        "UPDATE block SET columns = substr(columns, 1, 100)",
        "UPDATE block SET columns = x''",
        "UPDATE block SET columns = zeroblob(5000)",
    };
    struct fixture *f = *state;
    struct seen seen = {0};
    int64_t n;
    record(f, &n);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        execute(f, damages[i]);
        assert_int_equal(store_each_row(f->store, f->run, "call", wanted, 3, see_row, &seen),
                         -EBADMSG);
        assert_int_equal(
            store_each_columns(f->store, f->run, "call", wanted, 3, see_columns, &seen), -EBADMSG);
        assert_int_equal(ask(f, "SELECT sum(peer) FROM call"), -1);
    }
}

static int count_header(void *ctx, const char *const *names, size_t n) {
    (void)ctx;
    (void)names;
    return n ? 0 : -EINVAL;
}

static int count_row(void *ctx, const struct store_cell *cells, size_t n) {
    int64_t *rows = ctx;
    (void)cells;
    (void)n;
    ++*rows;
    return 0;
}

static int query(struct fixture *f, const char *sql, int64_t *rows, char why[200]) {
    struct store_view_reader reader = {count_header, count_row, rows};
    struct store *store;
    assert_int_equal(store_open_read(f->path, &store, why, 200), 0);
    int r = store_query(store, sql, &reader, why, 200);
    store_close(store);
    return r;
}

static void a_query_reads_and_does_nothing_else(void **state) {
    static const char *const refused[] = {
        "DELETE FROM run",
        "UPDATE sqlite_master SET sql = ''",
        "DELETE FROM main.block",
        "INSERT INTO call(frame) VALUES (1)",
        "CREATE TEMP TABLE x(a)",
        "CREATE VIRTUAL TABLE temp.x USING " STORE_MODULE "(call)",
        "ATTACH '/tmp/x' AS x",
        "PRAGMA query_only = OFF",
        "PRAGMA journal_mode = DELETE",
        "VACUUM INTO '/tmp/x'",
        "SELECT load_extension('x')",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM run",
        "",
        ";",
    };
    struct fixture *f = *state;
    char why[200];
    int64_t n, rows = 0;
    record(f, &n);
    assert_int_equal(query(f, "SELECT * FROM call_rate", &rows, why), 0);
    assert_int_equal(rows, n);
    assert_int_equal(query(f, "SELECT * FROM pragma_table_info('call')", &rows, why), 0);
    assert_int_equal(query(f, "WITH t AS (SELECT n FROM call) SELECT max(n) FROM t;", &rows, why),
                     0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        why[0] = '\0';
        assert_int_equal(query(f, refused[i], &rows, why), -EINVAL);
        assert_int_not_equal(why[0], '\0');
    }
}

static int read_header(void *ctx, const char *const *names, size_t n) {
    (void)ctx;
    assert_int_equal(n, 7);
    assert_string_equal(names[2], "function");
    return 0;
}

/* The view of an export, through the connection that reports read by. */
static void name_nothing(void *ctx, const char *const *names, size_t n) {
    (void)ctx;
    (void)names;
    (void)n;
}

static bool take_number(void *ctx, const struct ask_cell *cells, size_t n) {
    *(int64_t *)ctx = n == 1 && cells[0].kind == ASK_INTEGER ? cells[0].integer : -1;
    return false;
}

/* The strict way of asking, that of assistants, has the same rows. */
static void questions_of_others_find_packed_rows(void **state) {
    struct fixture *f = *state;
    int64_t n, found = 0;
    char why[200] = "";
    struct store *store;
    record(f, &n);
    const struct ask asked = {"SELECT count(*) FROM call", NS_PER_S, name_nothing, take_number,
                              &found};
    assert_int_equal(store_open_read(f->path, &store, why, sizeof why), 0);
    assert_int_equal(store_ask(store, &asked, why, sizeof why), 0);
    store_close(store);
    assert_int_equal(found, n);
}

static void the_rate_view_has_blocks(void **state) {
    struct fixture *f = *state;
    int64_t n, rows = 0;
    record(f, &n);
    struct store_view_reader reader = {read_header, count_row, &rows};
    assert_int_equal(store_read_view(f->store, f->run, "call", &reader), 0);
    assert_int_equal(store_read_view(f->store, f->run, "call", &reader), 0);
    assert_int_equal(rows, 2 * n);
    expect(f, n); /* the virtual table has a name of its own */
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_readers_find_each_event_once),
        TEST(sql_shows_blocks_as_rows),
        TEST(rows_and_blocks_are_read_in_the_order_of_frames),
        TEST(a_rollback_loses_and_doubles_nothing),
        TEST(streams_do_not_share_blocks),
        TEST(blocks_from_before_a_column_lack_it),
        TEST(a_removed_run_leaves_no_block),
        TEST(damaged_blocks_are_told),
        TEST(a_query_reads_and_does_nothing_else),
        TEST(questions_of_others_find_packed_rows),
        TEST(the_rate_view_has_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
