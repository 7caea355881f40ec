/* SPDX-License-Identifier: MIT */
/* Samples of packed databases: all readers see the same as in the plain file, and so does the file
 * once it is unpacked.
 */
#include "tests/unit/store_fixture.h"

#include <errno.h>

#include "collector/store_ask.h"
#include "collector/store_block.h"
#include "collector/store_cold.h"
#include "collector/store_mark.h"
#include "collector/store_pack.h"
#include "collector/store_query.h"
#include "collector/store_read_tables.h"
#include "collector/store_scan.h"
#include "collector/store_verify.h"

#define MANY 40                                      /* instances of net */
#define FRAMES (3 * (size_t)BLOCK_ROWS / (MANY) + 7) /* its rows fill some blocks */

static const struct column wide_columns[] = {
    {"free_bytes", UNIT_BYTES, COLUMN_LEVEL, "free"},
    {"load_nano", UNIT_NANO, COLUMN_LEVEL, "load"},
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "time"},
    {"late_bytes", UNIT_BYTES, COLUMN_COUNTER, "a column that is there later"},
};
static const struct table wide_table = {.name = "memory",
                                        .instance = "memory",
                                        .help = "memory",
                                        .columns = wide_columns,
                                        .n_columns = 4};

/* Some interfaces come and go, some stand still, one counter is unknown now and then and one steps
 * back; frames do not come in even steps. */
static void write_host(struct fixture *f, int64_t host) {
    for (size_t i = 0; i < FRAMES; i++) {
        double t = 5000.1 + (double)i * 0.1 + (double)((i * 7919 + (size_t)host) % 1000) * 1e-6;
        char name[16];
        if (i % 10 == 0) {
            assert_int_equal(store_commit(f->store), 0);
            assert_int_equal(store_begin(f->store), 0);
        }
        assert_int_equal(fixture_frame(f, i + 1, t), 0);
        for (int64_t k = 0; k < MANY; k++) {
            bool away = k % 5 == 3 && i / 50 % 2;
            snprintf(name, sizeof name, "eth%d", (int)k);
            int64_t bytes = k % 7 == 2 ? 5 : (int64_t)i * (k + 1) * 1000 + (int64_t)(i * i) % 977;
            if (!away)
                ROW(f, &net_table, name, bytes, i % 13 == 4 ? VALUE_ABSENT : (int64_t)i % 200 * k);
        }
        if (i < FRAMES / 2)
            ROW(f, &memory_table, "memory", (int64_t)(i * 4096) % 65536 - 9, (int64_t)i,
                (int64_t)i * 1000);
        else
            ROW(f, &wide_table, "memory", (int64_t)i, VALUE_ABSENT, (int64_t)i * 1001, (int64_t)i);
    }
}

static void write_two_hosts(struct fixture *f) {
    assert_int_equal(store_begin(f->store), 0);
    write_host(f, 1);
    fixture_stream_of(f, "vm2", BOOT_B, 8, NS_PER_S);
    write_host(f, 2);
    assert_int_equal(store_commit(f->store), 0);
    store_close(f->store);
    f->store = NULL;
}

/* ---- what readers see, as one number each ---- */

static uint64_t hash(uint64_t seed, const void *data, size_t size) {
    for (size_t i = 0; i < size; i++)
        seed = (seed ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return seed;
}

struct sight {
    uint64_t seen;
    size_t n, n_columns;
};

static int see_row(void *ctx, const struct store_row_read *row) {
    struct sight *s = ctx;
    s->seen = hash(s->seen, row->instance_name, strlen(row->instance_name));
    s->seen = hash(s->seen, &row->host, sizeof row->host);
    s->seen = hash(s->seen, &row->t_ns, sizeof row->t_ns);
    s->seen = hash(s->seen, &row->interval_ns, sizeof row->interval_ns);
    s->seen = hash(s->seen, row->values, s->n_columns * sizeof *row->values);
    s->n++;
    return 0;
}

static int see_scanned(void *ctx, size_t slot, const struct store_row_read *row) {
    (void)slot;
    return see_row(ctx, row);
}

static int see_header(void *ctx, const char *const *names, size_t n) {
    struct sight *s = ctx;
    for (size_t i = 0; i < n; i++)
        s->seen = hash(s->seen, names[i], strlen(names[i]));
    return 0;
}

static int see_cells(void *ctx, const struct store_cell *cells, size_t n) {
    struct sight *s = ctx;
    for (size_t i = 0; i < n; i++) {
        s->seen = hash(s->seen, &cells[i].kind, sizeof cells[i].kind);
        if (cells[i].kind == STORE_CELL_INTEGER)
            s->seen = hash(s->seen, &cells[i].integer, sizeof cells[i].integer);
        if (cells[i].kind == STORE_CELL_REAL)
            s->seen = hash(s->seen, &cells[i].real, sizeof cells[i].real);
        if (cells[i].kind == STORE_CELL_TEXT)
            s->seen = hash(s->seen, cells[i].text, strlen(cells[i].text));
    }
    s->n++;
    return 0;
}

static const char *const net_names[] = {"send_bytes", "no_such_column", "receive_bytes"};
static const char *const memory_names[] = {"free_bytes", "late_bytes", "user_ns"};
static const char *const queries[] = {
    "SELECT * FROM net ORDER BY frame, instance",
    "SELECT * FROM memory",
    "SELECT count(*), sum(interval_ns), total(receive_bytes), count(send_bytes) FROM net",
    "SELECT f.frame, n.* FROM frame f JOIN net n USING(frame) WHERE f.seq % 97 = 5 ORDER BY 1, 3",
    "SELECT m.interval_ns FROM memory m JOIN frame f ON f.frame = m.frame WHERE f.seq = 1",
    "SELECT * FROM net WHERE frame = 3",
    "SELECT * FROM net WHERE frame = 'x'",
    "SELECT * FROM memory_rate WHERE interval_s > 0.1 ORDER BY host, time_s",
    "SELECT a.frame FROM memory a JOIN memory b ON b.frame = a.frame + 1 WHERE a.user_ns = 1000",
};

#define SIGHTS (6 + sizeof queries / sizeof *queries)
#define QUERY_OF_NOTHING (6 + 6)

static struct store *reader_of(struct fixture *f) {
    struct store *reader;
    if (store_open_read(f->path, &reader, f->why, sizeof f->why) != 0)
        fail_msg("%s", f->why);
    return reader;
}

static void look_by_scan(struct fixture *f, struct store *reader, struct sight *sight) {
    struct store_scan *scan;
    *sight = (struct sight){.n_columns = 3};
    assert_int_equal(store_scan_open(reader, f->run, &scan), 0);
    int r = store_scan_table(scan, "net", net_names, 3, see_scanned, sight);
    store_scan_close(scan);
    if (r == STORE_SCAN_MIXED) /* as callers do */
        r = store_each_row(reader, f->run, "net", net_names, 3, see_row, sight);
    assert_int_equal(r, 0);
}

static void look(struct fixture *f, struct sight sights[SIGHTS]) {
    struct store *reader = reader_of(f);
    size_t n = 0;
    for (size_t i = 0; i < SIGHTS; i++)
        sights[i] = (struct sight){.n_columns = 3};
#define LOOK(how, table, names)                                                                    \
    assert_int_equal(how(reader, f->run, table, names, 3, see_row, &sights[n++]), 0)
    LOOK(store_each_row, "net", net_names);
    LOOK(store_each_row, "memory", memory_names);
    LOOK(store_each_row_joined, "net", net_names);
    LOOK(store_each_row_joined, "memory", memory_names);
    for (int i = 0; i < 2; i++) {
        const struct store_view_reader view = {see_header, see_cells, &sights[n++]};
        assert_int_equal(store_read_view(reader, f->run, i ? "memory" : "net", &view), 0);
    }
    store_close(reader);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        const struct store_view_reader query = {see_header, see_cells, &sights[n++]};
        reader = reader_of(f);
        if (store_query(reader, queries[i], &query, f->why, sizeof f->why) != 0)
            fail_msg("%s: %s", queries[i], f->why);
        store_close(reader);
    }
}

static void expect_alike(const struct sight *a, const struct sight *b) {
    for (size_t i = 0; i < SIGHTS; i++)
        if (a[i].n != b[i].n || a[i].seen != b[i].seen)
            fail_msg("sight %zu: %zu and %zu rows", i, a[i].n, b[i].n);
}

/* ---- tests ---- */

static void pack(struct fixture *f) {
    struct pack_result result;
    if (store_pack(f->path, &result, f->why, sizeof f->why) != 0)
        fail_msg("%s", f->why);
    assert_true(result.packed_bytes * 4 < result.plain_bytes);
}

static void unpack(struct fixture *f) {
    struct pack_result result;
    char packed[128];
    snprintf(packed, sizeof packed, "%s" PACK_ENDING, f->path);
    if (store_unpack(packed, &result, f->why, sizeof f->why) != 0)
        fail_msg("%s", f->why);
}

/* Packs some frames of a file that is not packed (store_age.h does so). */
static void pack_frames(struct fixture *f, const char *table, int64_t stream, int64_t until) {
    struct cooling *cooling;
    int64_t n = 0;
    fixture_open(f);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(cooling_new(f->store, table, &cooling), 0);
    assert_int_equal(cooling_frames(cooling, stream, 0, until, &n), 0);
    cooling_free(cooling);
    assert_int_equal(mark_set(f->store), 0);
    assert_int_equal(store_commit(f->store), 0);
    assert_true(n > 0);
    store_close(f->store);
    f->store = NULL;
}

static void readers_see_blocks_and_rows_of_one_table_as_one(void **state) {
    struct fixture *f = *state;
    struct sight plain[SIGHTS], part[SIGHTS];
    write_two_hosts(f);
    sql_change(f, "UPDATE memory SET interval_ns = 0 WHERE frame = 9"); /* of no meaning */
    look(f, plain);
    pack_frames(f, "net", 1, FRAMES / 3);
    pack_frames(f, "memory", 1, FRAMES / 2);
    look(f, part);
    expect_alike(plain, part);
    pack_frames(f, "memory", 1, FRAMES);
    pack_frames(f, "net", 1, FRAMES);
    pack_frames(f, "net", 2, FRAMES + FRAMES / 2);
    look(f, part);
    expect_alike(plain, part);
}

static void readers_see_the_same_in_a_packed_file(void **state) {
    struct fixture *f = *state;
    struct sight plain[SIGHTS], packed[SIGHTS], unpacked[SIGHTS], scanned[2];
    write_two_hosts(f);
    sql_change(f, "UPDATE memory SET interval_ns = 0 WHERE frame = 9"); /* of no meaning */
    look(f, plain);
    assert_true(plain[0].n > 3 * (size_t)BLOCK_ROWS && plain[1].n == 2 * FRAMES);
    for (size_t i = 0; i < SIGHTS; i++)
        if ((plain[i].n > 0) != (i != QUERY_OF_NOTHING))
            fail_msg("sight %zu: %zu rows", i, plain[i].n);
    struct store *reader = reader_of(f);
    look_by_scan(f, reader, &scanned[0]);
    store_close(reader);
    pack(f);
    look(f, packed);
    expect_alike(plain, packed);
    reader = reader_of(f);
    look_by_scan(f, reader, &scanned[1]);
    store_close(reader);
    assert_int_equal(scanned[0].n, scanned[1].n);
    unpack(f);
    look(f, unpacked);
    expect_alike(plain, unpacked);
}

static void copy(const char *from, const char *to) {
    char command[256];
    snprintf(command, sizeof command, "cp %s %s", from, to);
    assert_int_equal(system(command), 0);
}

/* Rows in one of two files that are not in the other. */
static int64_t differences(struct fixture *f, const char *other, const char *table) {
    sqlite3 *db;
    sqlite3_stmt *row;
    int64_t n = 0;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    for (int i = 0; i < 2; i++) {
        char *sql = sqlite3_mprintf("ATTACH %Q AS %s; ", other, i ? "again" : "other");
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_free(sql);
        sql = sqlite3_mprintf("SELECT count(*) FROM (SELECT * FROM %s.\"%w\" EXCEPT SELECT * FROM"
                              " %s.\"%w\")",
                              i ? "main" : "other", table, i ? "other" : "main", table);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
        sqlite3_free(sql);
        assert_int_equal(sqlite3_step(row), SQLITE_ROW);
        n += sqlite3_column_int64(row, 0);
        sqlite3_finalize(row);
    }
    sqlite3_close(db);
    return n;
}

static void an_unpacked_file_has_all_rows_again(void **state) {
    static const char *const tables[] = {"net",      "memory", "joined",        "frame",
                                         "instance", "stream", "counter_state", "block"};
    struct fixture *f = *state;
    char before[128];
    write_two_hosts(f);
    snprintf(before, sizeof before, "%s/before.db", f->directory);
    copy(f->path, before);
    int64_t rows = sql_number(f, "SELECT count(*) FROM net");
    pack(f);
    unpack(f);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (differences(f, before, tables[i]) != 0)
            fail_msg("%s is another one", tables[i]);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM net"), rows);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM block"), 0);
}

static bool begins_with(const char *path, size_t at, const char *text) {
    char bytes[32] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_true(fread(bytes, 1, strlen(text), file) == strlen(text));
    fclose(file);
    return memcmp(bytes, text, strlen(text)) == 0;
}

static void rows_that_no_block_holds_are_packed_as_they_are(void **state) {
    static const char *const changes[] = {
        "UPDATE net SET receive_bytes = -9223372036854775808 WHERE frame = 7",
        "UPDATE memory SET interval_ns = -5 WHERE frame = 9",
        "UPDATE frame SET mono_ns = -1 WHERE frame = 11",
    };
    struct fixture *f = *state;
    struct sight plain[SIGHTS], packed[SIGHTS];
    char name[128];
    snprintf(name, sizeof name, "%s" PACK_ENDING, f->path);
    write_two_hosts(f);
    pack(f);
    assert_true(begins_with(name, 8, "CHKPACK2"));
    unpack(f);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        sql_change(f, changes[i]);
        look(f, plain);
        pack(f);
        assert_true(begins_with(name, 8, "CHKPACK1"));
        look(f, packed);
        expect_alike(plain, packed);
        unpack(f);
        sql_change(f, "UPDATE net SET receive_bytes = 1 WHERE frame = 7");
        sql_change(f, "UPDATE memory SET interval_ns = 5 WHERE frame = 9");
    }
}

/* In a plain file: only packed ones have such blocks. */
static void make_blocks_of(struct fixture *f, const char *table) {
    char sql[64];
    fixture_open(f);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(cold_pack(f->store), 0);
    assert_int_equal(store_commit(f->store), 0);
    store_close(f->store);
    f->store = NULL;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_int_equal(sql_number(f, sql), 0);
}

#define BROAD 24

/* Columns that nothing predicts take more bytes than one value of SQLite may have. */
static void rows_that_are_too_large_for_a_block_are_several(void **state) {
    struct fixture *f = *state;
    static struct column columns[BROAD];
    static char names[BROAD][16];
    static const char *const wanted[] = {"wild0", "wild11", "wild23"};
    const struct table broad_table = {
        .name = "broad", .instance = "thing", .help = "", .columns = columns, .n_columns = BROAD};
    struct sight plain = {.n_columns = 3}, packed = {.n_columns = 3};
    uint64_t wild = 1;
    for (size_t c = 0; c < BROAD; c++) {
        snprintf(names[c], sizeof names[c], "wild%zu", c);
        columns[c] = (struct column){names[c], UNIT_BYTES, COLUMN_LEVEL, ""};
    }
    assert_int_equal(store_begin(f->store), 0);
    for (size_t i = 0; i < BLOCK_ROWS; i++) {
        int64_t values[BROAD];
        for (size_t c = 0; c < BROAD; c++)
            values[c] = (int64_t)((wild = wild * UINT64_C(6364136223846793005) + 1) >> 1);
        assert_int_equal(fixture_frame(f, i + 1, 5000.1 + (double)i * 0.1), 0);
        assert_int_equal(fixture_row_flags(f, &broad_table, 0, "it", values), 0);
    }
    assert_int_equal(store_commit(f->store), 0);
    store_close(f->store);
    struct store *reader = reader_of(f);
    assert_int_equal(store_each_row(reader, f->run, "broad", wanted, 3, see_row, &plain), 0);
    store_close(reader);
    make_blocks_of(f, "broad");
    assert_int_equal(sql_number(f, "SELECT count(*) FROM block"), 2);
    reader = reader_of(f);
    assert_int_equal(store_each_row(reader, f->run, "broad", wanted, 3, see_row, &packed), 0);
    store_close(reader);
    assert_int_equal(plain.n, BLOCK_ROWS);
    assert_true(plain.n == packed.n && plain.seen == packed.seen);
}

static void expect_damage(struct fixture *f) {
    struct sight sight = {.n_columns = 3};
    struct verification v;
    const struct store_view_reader query = {see_header, see_cells, &sight};
    assert_int_equal(store_verify(f->path, &v, f->why, sizeof f->why), 0);
    assert_false(verification_is_good(&v));
    verification_release(&v);
    struct store *reader = reader_of(f);
    assert_int_equal(store_each_row(reader, f->run, "net", net_names, 3, see_row, &sight),
                     -EBADMSG);
    assert_true(store_query(reader, queries[0], &query, f->why, sizeof f->why) < 0);
    store_close(reader);
    fixture_open(f);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(cold_unpack(f->store), -EBADMSG);
    store_rollback(f->store);
    store_close(f->store);
    f->store = NULL;
}

static void damaged_blocks_are_found(void **state) {
    static const char *const damages[] = {
        "UPDATE block SET columns = zeroblob(length(columns))",
        "UPDATE block SET columns = substr(columns, 1, length(columns) - 9)",
        "UPDATE block SET columns = x''",
    };
    struct fixture *f = *state;
    char whole[128];
    snprintf(whole, sizeof whole, "%s/whole.db", f->directory);
    write_two_hosts(f);
    make_blocks_of(f, "net");
    assert_true(sql_number(f, "SELECT count(*) FROM block") > 4);
    copy(f->path, whole);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        copy(whole, f->path);
        sql_change(f, damages[i]);
        expect_damage(f);
    }
}

/* A frame that no stream has leaves its rows without a time. */
static void rows_of_frames_that_are_gone_are_left_out(void **state) {
    struct fixture *f = *state;
    struct sight sight = {.n_columns = 3}, all = {.n_columns = 3};
    write_two_hosts(f);
    make_blocks_of(f, "net");
    assert_true(sql_number(f, "SELECT count(*) FROM block") > 4);
    struct store *reader = reader_of(f);
    assert_int_equal(store_each_row(reader, f->run, "memory", memory_names, 3, see_row, &all), 0);
    store_close(reader);
    sql_change(f, "DELETE FROM frame WHERE frame IN (5, 6, 7)");
    reader = reader_of(f);
    assert_int_equal(store_each_row(reader, f->run, "memory", memory_names, 3, see_row, &sight), 0);
    assert_int_equal(sight.n, all.n - 3);
    store_close(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(readers_see_blocks_and_rows_of_one_table_as_one),
        TEST(readers_see_the_same_in_a_packed_file),
        TEST(an_unpacked_file_has_all_rows_again),
        TEST(rows_that_no_block_holds_are_packed_as_they_are),
        TEST(rows_that_are_too_large_for_a_block_are_several),
        TEST(damaged_blocks_are_found),
        TEST(rows_of_frames_that_are_gone_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
