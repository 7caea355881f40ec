/* SPDX-License-Identifier: MIT */
/* Questions in SQL: they read, within limits, and do nothing else. */
#include "tests/unit/store_fixture.h"

#include <errno.h>

#include "collector/store_ask.h"
#include "common/error.h"

#define SECONDS(n) ((n)*NS_PER_S)

struct answer {
    size_t n_columns, n_rows, most;
    char first[64];     /* the first cell of the last row, as a text */
    enum ask_kind kind; /* of that cell */
};

static void take_columns(void *ctx, const char *const *names, size_t n) {
    struct answer *answer = ctx;
    answer->n_columns = n;
    assert_non_null(names[0]);
}

static bool take_row(void *ctx, const struct ask_cell *cells, size_t n) {
    struct answer *answer = ctx;
    assert_int_equal(n, answer->n_columns);
    answer->kind = cells[0].kind;
    snprintf(answer->first, sizeof answer->first, "%s", cells[0].text ? cells[0].text : "");
    if (cells[0].kind == ASK_INTEGER || cells[0].kind == ASK_BYTES)
        snprintf(answer->first, sizeof answer->first, "%lld", (long long)cells[0].integer);
    return ++answer->n_rows == answer->most;
}

static int ask(struct fixture *f, const char *sql, int64_t limit_ns, struct answer *answer) {
    const struct ask ask = {sql, limit_ns, take_columns, take_row, answer};
    struct store *store;
    f->why[0] = '\0';
    assert_int_equal(store_open_read(f->path, &store, f->why, sizeof f->why), 0);
    int r = store_ask(store, &ask, f->why, sizeof f->why);
    store_close(store);
    assert_null(strchr(f->why, '\n'));
    assert_true(r == 0 || f->why[0]);
    return r;
}

static void expect_answer(struct fixture *f, const char *sql, size_t rows, const char *first) {
    struct answer answer = {0};
    int r = ask(f, sql, SECONDS(60), &answer);
    if (r || answer.n_rows != rows || strcmp(answer.first, first) != 0)
        fail_msg("%s: %d %s, %zu rows, '%s'", sql, r, f->why, answer.n_rows, answer.first);
}

static void plant_rows(struct fixture *f) {
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(store_begin(f->store), 0);
        assert_int_equal(fixture_frame(f, i, i), 0);
        ROW(f, &net_table, "eth0", 1000 * i, 10 * i);
        assert_int_equal(store_commit(f->store), 0);
    }
}

static void questions_are_answered(void **state) {
    struct fixture *f = *state;
    plant_rows(f);
    expect_answer(f, "SELECT count(*) FROM run", 1, "1");
    expect_answer(f, "SELECT sum(receive_bytes) FROM net", 1, "4000");
    expect_answer(f, "SELECT interface FROM net_rate WHERE interval_s IS NOT NULL", 4, "eth0");
    expect_answer(f, "SELECT x'0102'", 1, "2");
    expect_answer(f, "SELECT NULL", 1, "");
    expect_answer(f, "SELECT 'a' || char(10) || 'b';  -- a comment", 1, "a?b");
    expect_answer(f,
                  "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t LIMIT 100)"
                  " SELECT x FROM t",
                  100, "100");
}

static void a_reader_may_have_enough(void **state) {
    struct fixture *f = *state;
    struct answer answer = {.most = 3};
    assert_int_equal(ask(f,
                         "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t)"
                         " SELECT x FROM t",
                         SECONDS(60), &answer),
                     0);
    assert_int_equal(answer.n_rows, 3);
}

static void only_reading_is_allowed(void **state) {
    static const char *const refused[] = {"DELETE FROM run",
                                          "UPDATE run SET name = 'x'",
                                          "INSERT INTO run_note VALUES(1, 1, 'x')",
                                          "CREATE TEMP TABLE x(y)",
                                          "CREATE TABLE x(y)",
                                          "DROP VIEW run_host",
                                          "ATTACH ':memory:' AS other",
                                          "VACUUM INTO 'copy.db'",
                                          "PRAGMA query_only = OFF",
                                          "PRAGMA table_info(run)",
                                          "BEGIN",
                                          "SAVEPOINT x",
                                          "REINDEX",
                                          "WITH t AS (SELECT 1) DELETE FROM run",
                                          "SELECT 1; SELECT 2",
                                          "SELECT 1; DELETE FROM run",
                                          "",
                                          "-- nothing"};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct answer answer = {0};
        int r = ask(f, refused[i], SECONDS(60), &answer);
        if (r != -EPERM || answer.n_rows)
            fail_msg("%s: %d %s", refused[i], r, f->why);
    }
}

static void functions_with_effects_are_refused(void **state) {
    static const char *const refused[] = {"SELECT load_extension('x')",
                                          "SELECT randomblob(9)",
                                          "SELECT zeroblob(9)",
                                          "SELECT sqlite_version()",
                                          "SELECT fts3_tokenizer(1)",
                                          "SELECT last_insert_rowid()",
                                          "SELECT readfile('x')",
                                          "SELECT * FROM nowhere",
                                          "SELECT nonsense FROM run",
                                          "SELECT (",
                                          "SELECT * FROM pragma_table_info('run')"};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
        struct answer answer = {0};
        int r = ask(f, refused[i], SECONDS(60), &answer);
        if ((r != -EPERM && r != -EINVAL) || answer.n_rows)
            fail_msg("%s: %d %s", refused[i], r, f->why);
    }
}

static void time_and_memory_are_limited(void **state) {
    struct fixture *f = *state;
    struct answer answer = {0};
    assert_int_equal(ask(f,
                         "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t)"
                         " SELECT max(x) FROM t",
                         NS_PER_S / 20, &answer),
                     -ETIME);
    assert_int_equal(ask(f,
                         "WITH RECURSIVE t(x) AS (SELECT 'xxxxxxxx' UNION ALL SELECT x || x FROM t)"
                         " SELECT max(length(x)) FROM t",
                         SECONDS(60), &answer),
                     -EINVAL);
    assert_int_equal(
        ask(f,
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000),"
            " big AS (SELECT printf('%.200000c', 'x') || i AS t FROM n) SELECT t FROM big ORDER BY "
            "t",
            SECONDS(120), &answer),
        -ENOMEM);
    assert_int_equal(answer.n_rows, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(questions_are_answered, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_reader_may_have_enough, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(only_reading_is_allowed, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(functions_with_effects_are_refused, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(time_and_memory_are_limited, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
