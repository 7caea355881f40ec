/* SPDX-License-Identifier: MIT */
/*
 * The queries the manual shows (docs/queries.sql), each run against a recording whose truth is
 * known, in the tables as the agent describes them: a renamed column turns this red.
 */
#include "tables/tables.h"
#include "tests/unit/store_fixture.h"

#include "agent/base/probe.h"
struct cell {
    int column;
    int64_t value;
};

/* A row with these columns set; other counters 0, other levels absent. */
static void put_row(struct fixture *f, enum table_id id, const char *instance,
                    const struct cell *cells, size_t n) {
    const struct table *table = &all_tables[id];
    int64_t values[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->n_columns; i++)
        values[i] = table->columns[i].kind == COLUMN_COUNTER ? 0 : VALUE_ABSENT;
    for (size_t i = 0; i < n; i++)
        values[cells[i].column] = cells[i].value;
    assert_int_equal(fixture_row_flags(f, table, 0, instance, values), 0);
}

#define CELLS(...)                                                                                 \
    (const struct cell[]) {                                                                        \
        __VA_ARGS__                                                                                \
    }
#define PUT(f, table, instance, ...)                                                               \
    put_row(f, table, instance, CELLS(__VA_ARGS__), sizeof CELLS(__VA_ARGS__) / sizeof(struct cell))

/* Ten seconds: two cores, one of them busy for half of the time; 5 MB/s sent, all in the second
 * half; a rank that waits as long as it runs; ten iterations of 200 ms; one frame of 100 lost.
 */
static void record(struct fixture *f) {
    assert_int_equal(store_begin(f->store), 0);
    for (int64_t i = 0; i <= 100; i++) {
        int64_t t = i * 100 * NS_PER_MS, busy = t < 5 * NS_PER_S ? t : 5 * NS_PER_S;
        if (i == 42)
            continue;
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)i, 0.1 * (double)i), 0);
        PUT(f, TABLE_CPU, "cpu0", {CPU_USER, busy}, {CPU_IDLE, t - busy});
        PUT(f, TABLE_CPU, "cpu1", {CPU_IDLE, t});
        PUT(f, TABLE_NET, "lo", {NET_SEND_BYTES, 7777 * i});
        PUT(f, TABLE_NET, "eth0", {NET_SEND_BYTES, (t - busy) / 100},
            {NET_RECEIVE_BYTES, 1000 * i});
        if (i % 10 == 0)
            PUT(f, TABLE_PROCESS, "train[7]", {PROCESS_PID, 7}, {PROCESS_RANK, 3},
                {PROCESS_RSS, 64000000}, {PROCESS_USER, t / 2}, {PROCESS_RUN_QUEUE, t / 2});
        if (i % 10 == 5)
            PUT(f, TABLE_MARK, "step", {MARK_KIND, 2}, {MARK_RANK, 3}, {MARK_NUMBER, i / 10},
                {MARK_START_NS, t}, {MARK_DURATION_NS, 200 * NS_PER_MS});
    }
    for (int64_t s = 0; s <= 10; s++) {
        const struct clock_estimate exchange = {s * NS_PER_S, RUN_MONO_NS, 240000};
        assert_int_equal(store_clock(f->store, f->stream, &exchange), 0);
    }
    assert_int_equal(store_commit(f->store), 0);
}

static struct store_budget budget(const char *phase, int64_t iteration, int64_t wall_ms) {
    int64_t wall_ns = wall_ms * NS_PER_MS;
    return (struct store_budget){.host = "vm1",
                                 .process = "train[7]",
                                 .phase = phase,
                                 .source = "events",
                                 .rank = 3,
                                 .pid = 7,
                                 .iteration = iteration,
                                 .every = 1,
                                 .end_ns = wall_ns,
                                 .wall_ns = wall_ns,
                                 .term_ns = {wall_ns / 2, wall_ns / 4, -1, -1, 0, 0, -1, -1, 0,
                                             wall_ns / 20, wall_ns * 3 / 20, wall_ns / 20, -1, 0,
                                             0},
                                 .awaited_host = "vm2",
                                 .awaited_ns = 1};
}

/* A rank that computes for half of the time and lacks a core for a quarter of it; two iterations.
 */
static void record_budgets(struct fixture *f) {
    const struct store_budget rows[] = {budget("all", VALUE_ABSENT, 10000),
                                        budget("training", VALUE_ABSENT, 10000),
                                        budget("training", 1, 160), budget("training", 2, 240)};
    assert_int_equal(store_budget_replace(f->store, f->run, rows, 4), 0);
}

/* The rows of one statement, columns joined by |, rows by newlines. */
static void run_statement(sqlite3_stmt *statement, char *text, size_t size) {
    text[0] = '\0';
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *value = (const char *)sqlite3_column_text(statement, i);
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", i ? "|" : "", value ? value : "NULL");
        }
        strncat(text, "\n", size - strlen(text) - 1);
    }
}

static void read_queries(char *text, size_t size) {
    FILE *file = fopen(TEST_SOURCE_DIR "/../docs/queries.sql", "r");
    assert_non_null(file);
    size_t n = fread(text, 1, size - 1, file);
    assert_true(n > 0 && feof(file));
    text[n] = '\0';
    fclose(file);
}

static void each_query_of_the_manual_tells_the_planted_truth(void **state) {
    struct fixture *f = *state;
    static const char *const expected[] = {
        "1|train|vm1|100|0|0|0|1|10.0|0.27\n",
        "vm1|25.0|0.0|0.0|0.0|75.0\n",
        "vm1|0.01|5.0|0.01|10.0\n",
        "vm1|train[7]|3|5.0|5.0|64.0\n",
        "vm1|3|iteration|step|10|200.0|200.0\n",
        "all|vm1|3|10.0|50.0|25.0|0.0|5.0|15.0|5.0|0\n"
        "training|vm1|3|10.0|50.0|25.0|0.0|5.0|15.0|5.0|0\n",
        "2|vm1|3|240.0|20.0|10.0|2.0|6.0|2.0\n"
        "1|vm1|3|160.0|-20.0|-10.0|-2.0|-6.0|-2.0\n",
    };
    char queries[16384], text[4096];
    const char *p = queries;
    sqlite3 *db;
    size_t n = 0;
    record(f);
    record_budgets(f);
    read_queries(queries, sizeof queries);
    assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    while (*p) {
        sqlite3_stmt *statement;
        if (sqlite3_prepare_v2(db, p, -1, &statement, &p) != SQLITE_OK)
            fail_msg("query %d: %s", (int)n + 1, sqlite3_errmsg(db));
        if (!statement)
            continue;
        assert_true(n < sizeof expected / sizeof *expected);
        run_statement(statement, text, sizeof text);
        sqlite3_finalize(statement);
        assert_string_equal(text, expected[n++]);
    }
    assert_int_equal(n, sizeof expected / sizeof *expected);
    sqlite3_close(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_query_of_the_manual_tells_the_planted_truth,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
