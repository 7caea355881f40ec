/* SPDX-License-Identifier: MIT */
/* Hostile databases: parts that would act by themselves are refused before they can. */
#include "tests/unit/store_fixture.h"

#include <sys/stat.h>

#include "collector/store_private.h"
#include "collector/store_read_tables.h"
#include "common/error.h"

#define BEGIN(f) assert_int_equal(store_begin((f)->store), 0)
#define COMMIT(f) assert_int_equal(store_commit((f)->store), 0)

static void close_store(struct fixture *f) {
    store_close(f->store);
    f->store = NULL;
}

static void expect_refused(struct fixture *f, const char *what) {
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), STORE_FOREIGN);
    if (!strstr(f->why, what))
        fail_msg("not '%s' but '%s'", what, f->why);
    assert_int_equal(store_open_write(f->path, &f->store, f->why, sizeof f->why), STORE_FOREIGN);
    if (!strstr(f->why, what) || strchr(f->why, '\n'))
        fail_msg("not '%s' but '%s'", what, f->why);
}

static void what_acts_by_itself_is_refused(void **state) {
    static const struct {
        const char *sql, *what;
    } cases[] = {
        {"CREATE TRIGGER more AFTER INSERT ON run BEGIN INSERT INTO run_note"
         " SELECT 1, run, 'x' FROM run; END",
         "has a trigger 'more'"},
        {"CREATE TABLE mine(x); CREATE TRIGGER \"a\nb\" AFTER INSERT ON mine"
         " BEGIN DELETE FROM run; END",
         "has a trigger 'a?b'"},
        {"CREATE VIRTUAL TABLE words USING fts4(x)", "has a virtual table 'words'"},
        {"ALTER TABLE run ADD COLUMN g INTEGER GENERATED ALWAYS AS (run + 1) VIRTUAL",
         "has a table 'run' with GENERATED"},
        {"ALTER TABLE RUN ADD COLUMN g INTEGER as (run + 1)", "has a table 'run' with AS"},
        {"ALTER TABLE net ADD COLUMN g INTEGER CHECK(g > 0)", "has a table 'net' with CHECK"},
        {"ALTER TABLE sweep ADD COLUMN g INTEGER REFERENCES run(run)",
         "has a table 'sweep' with REFERENCES"},
        {"DROP TABLE host; CREATE TABLE host(host INTEGER PRIMARY KEY, run INTEGER,"
         " name TEXT DEFAULT (hex(randomblob(9))))",
         "has a table 'host' with DEFAULT"},
        {"DROP TABLE host; CREATE TABLE host(host INTEGER PRIMARY KEY, run INTEGER,"
         " name TEXT, UNIQUE(run, name) ON CONFLICT REPLACE)",
         "has a table 'host' with CONFLICT"},
        {"CREATE UNIQUE INDEX one ON run(period_ns)", "has an index 'one' with UNIQUE"},
        {"CREATE INDEX long ON run(length(command))", "has an index 'long' with an expression"},
        {"CREATE INDEX some ON frame(seq) WHERE seq > 1", "has an index 'some' with WHERE"},
        {"PRAGMA page_size = 65536; VACUUM", "has pages of 65536 bytes"},
    };
    struct fixture *f = *state;
    char undo[256];
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1), 0);
    ROW(f, &net_table, "eth0", 1, 1);
    COMMIT(f);
    close_store(f);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        snprintf(undo, sizeof undo, "cp %s %s.kept", f->path, f->path);
        assert_int_equal(system(undo), 0);
        sql_change(f, cases[i].sql);
        expect_refused(f, cases[i].what);
        snprintf(undo, sizeof undo, "mv %s.kept %s", f->path, f->path);
        assert_int_equal(system(undo), 0);
    }
    fixture_open(f);
}

static void another_encoding_is_refused(void **state) {
    struct fixture *f = *state, other = {0};
    char sql[256];
    snprintf(other.path, sizeof other.path, "%s/utf16.db", f->directory);
    snprintf(sql, sizeof sql,
             "PRAGMA encoding = 'UTF-16le'; PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION_ID, STORE_VERSION);
    static const char *const names[] = {"run",      "run_note", "refused",       "host",
                                        "stream",   "frame",    "table_info",    "column_info",
                                        "instance", "clock",    "counter_reset", "counter_state"};
    char tables[1024] = "";
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        snprintf(tables + strlen(tables), sizeof tables - strlen(tables),
                 "; CREATE TABLE %s(name TEXT)", names[i]);
    char all[1400];
    snprintf(all, sizeof all, "%s%s", sql, tables);
    sql_change(&other, all);
    expect_refused(&other, "is encoded in UTF-16le");
}

/* Users add what their own queries need; none of it runs here. */
static void tables_views_and_indexes_of_the_user_are_left_alone(void **state) {
    struct fixture *f = *state;
    int64_t run;
    struct run_begin begin = {.command = "true", .wall_ns = 1, .period_ns = NS_PER_S};
    close_store(f);
    sql_change(f, "CREATE TABLE mine(x CHECK(x > 0), \"check\" TEXT DEFAULT (1));"
                  "CREATE UNIQUE INDEX mine_x ON mine(x);"
                  "CREATE VIEW last AS SELECT max(run) FROM run;"
                  "CREATE INDEX run_of_name ON run(name, state DESC)");
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), 0);
    close_store(f);
    fixture_open(f);
    assert_int_equal(store_run_begin(f->store, &begin, &run), 0);
    assert_int_equal(run, 2);
    assert_int_equal(sql_number(f, "SELECT * FROM last"), 2);
}

static void a_trigger_made_while_the_file_is_open_does_not_fire(void **state) {
    struct fixture *f = *state;
    int64_t run;
    struct run_begin begin = {.command = "true", .wall_ns = 1, .period_ns = NS_PER_S};
    sql_change(f, "CREATE TRIGGER more AFTER INSERT ON run BEGIN"
                  " INSERT INTO run_note VALUES(new.run, 77, 'fired'); END");
    store_run_begin(f->store, &begin, &run);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM run_note WHERE n = 77"), 0);
}

static void nothing_but_the_store_needs_is_allowed(void **state) {
    static const char *const never[] = {"ATTACH ':memory:' AS other",
                                        "SELECT load_extension('x')",
                                        "PRAGMA writable_schema = ON",
                                        "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END",
                                        "CREATE TEMP TABLE t(x)",
                                        "CREATE VIRTUAL TABLE v USING fts4(x)",
                                        "SELECT * FROM run_host",
                                        "DROP TABLE run",
                                        "SELECT hex(zeroblob(1 << 30))",
                                        "PRAGMA main.mmap_size = 1000000",
                                        "VACUUM INTO 'copy.db'",
                                        "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                                        " FROM x) SELECT max(i) FROM x"};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_SIZE(never); i++)
        if (sql_exec(f->store, never[i]) == 0)
            fail_msg("allowed: %s", never[i]);
    close_store(f);
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), 0);
    static const char *const reading[] = {"DELETE FROM run", "CREATE TABLE t(x)",
                                          "UPDATE run SET run = 2", "REINDEX"};
    for (size_t i = 0; i < ARRAY_SIZE(reading); i++) {
        sqlite3_stmt *statement; /* refused for that reason, not since the file is read-only */
        if (sqlite3_prepare_v2(f->store->db, reading[i], -1, &statement, NULL) != SQLITE_AUTH)
            fail_msg("allowed to a reader: %s", reading[i]);
    }
}

static int count_names(void *ctx, const char *const *names, size_t n) {
    (void)ctx;
    (void)names;
    return n == 7 ? 0 : -EINVAL;
}

static int count_row(void *ctx, const struct store_cell *cells, size_t n) {
    size_t *rows = ctx;
    (void)cells;
    (void)n;
    ++*rows;
    return 0;
}

static int read_view(struct fixture *f, size_t *rows) {
    *rows = 0;
    struct store_view_reader reader = {count_names, count_row, rows};
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), 0);
    int r = store_read_view(f->store, f->run, "net", &reader);
    close_store(f);
    return r;
}

static void no_view_of_the_file_is_run(void **state) {
    struct fixture *f = *state;
    size_t rows;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1), 0);
    ROW(f, &net_table, "eth0", 1, 1);
    COMMIT(f);
    close_store(f);
    sql_change(f, "DROP VIEW net_rate; CREATE VIEW net_rate AS WITH RECURSIVE x(i) AS (SELECT 1"
                  " UNION ALL SELECT i + 1 FROM x) SELECT 1 AS run, i, i, i, i, i, i FROM x");
    assert_int_equal(read_view(f, &rows), 0);
    assert_int_equal(rows, 1);
}

static void a_name_that_would_be_sql_is_refused(void **state) {
    static const char *const changes[] = {
        "UPDATE column_info SET name = 'x_ns\", 1 AS \"y_ns' WHERE name = 'send_bytes'",
        "UPDATE table_info SET instance = 'a\"b'"};
    struct fixture *f = *state;
    size_t rows;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1), 0);
    ROW(f, &net_table, "eth0", 1, 1);
    COMMIT(f);
    close_store(f);
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        sql_change(f, changes[i]);
        assert_true(read_view(f, &rows) < 0);
        assert_int_equal(rows, 0);
        sql_change(f, "UPDATE column_info SET name = 'send_bytes' WHERE name LIKE 'x_ns%'");
    }
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

/* A new database is private to its user, whatever the umask; one with another mode keeps it. */
static void a_new_database_and_its_journals_are_private(void **state) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    struct fixture *f = *state;
    char path[128];
    mode_t old = umask(0);
    close_store(f);
    assert_int_equal(unlink(f->path), 0);
    fixture_open(f);
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
        snprintf(path, sizeof path, "%s%s", f->path, endings[i]);
        assert_int_equal(mode_of(path), 0600);
    }
    close_store(f);
    assert_int_equal(chmod(f->path, 0640), 0);
    fixture_open(f);
    umask(old);
    snprintf(path, sizeof path, "%s-wal", f->path);
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(mode_of(f->path), 0640);
}

/* Needs root, since only root can give a file away. */
static void a_file_put_there_by_another_user_is_not_written(void **state) {
    struct fixture *f = *state;
    close_store(f);
    if (chown(f->path, 12345, 12345) < 0)
        skip();
    fixture_open(f); /* no other user could put it here */
    close_store(f);
    assert_int_equal(chmod(f->directory, 01777), 0);
    assert_int_equal(store_open_write(f->path, &f->store, f->why, sizeof f->why), -EPERM);
    assert_non_null(strstr(f->why, "belongs to another user (uid 12345)"));
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_acts_by_itself_is_refused),
        TEST(another_encoding_is_refused),
        TEST(tables_views_and_indexes_of_the_user_are_left_alone),
        TEST(a_trigger_made_while_the_file_is_open_does_not_fire),
        TEST(nothing_but_the_store_needs_is_allowed),
        TEST(no_view_of_the_file_is_run),
        TEST(a_new_database_and_its_journals_are_private),
        TEST(a_file_put_there_by_another_user_is_not_written),
        TEST(a_name_that_would_be_sql_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
