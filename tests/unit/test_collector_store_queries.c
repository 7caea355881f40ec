/* SPDX-License-Identifier: MIT */
/*
 * The queries that the manual shows (docs/queries.sql), each run on a recording with a known truth,
 * in the tables that the agent's probes describe: a renamed column makes this test fail.
 */
#include "tests/unit/store_fixture.h"

#include "agent/base/probe.h"
#include "tests/table_column.h"

struct cell {
    const char *column;
    int64_t value;
};

static const struct table *probe_table(const char *name) {
    for (size_t i = 0; i < probe_list_size; i++)
        if (strcmp(probe_list[i]->table.name, name) == 0)
            return &probe_list[i]->table;
    fail_msg("no probe fills %s", name);
    return NULL;
}

/* Puts a row with the named columns; other counters are 0, other levels absent. */
static void put_row(struct fixture *f, const char *table_name, const char *instance,
                    const struct cell *cells) {
    const struct table *table = probe_table(table_name);
    int64_t values[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->n_columns; i++)
        values[i] = table->columns[i].kind == COLUMN_COUNTER ? 0 : VALUE_ABSENT;
    for (; cells->column; cells++) {
        int at = table_find_column(table, cells->column);
        if (at < 0)
            fail_msg("%s has no %s", table_name, cells->column);
        values[at] = cells->value;
    }
    assert_int_equal(fixture_row_flags(f, table, 0, instance, values), 0);
}

#define PUT(f, table, instance, ...)                                                               \
    put_row(f, table, instance, (const struct cell[]){__VA_ARGS__, {NULL, 0}})

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
        PUT(f, "cpu", "cpu0", {"user_ns", busy}, {"idle_ns", t - busy});
        PUT(f, "cpu", "cpu1", {"idle_ns", t});
        PUT(f, "net", "lo", {"send_bytes", 7777 * i});
        PUT(f, "net", "eth0", {"send_bytes", (t - busy) / 100}, {"receive_bytes", 1000 * i});
        if (i % 10 == 0)
            PUT(f, "process", "train[7]", {"pid", 7}, {"rank", 3}, {"rss_bytes", 64000000},
                {"user_ns", t / 2}, {"run_queue_ns", t / 2});
        if (i % 10 == 5)
            PUT(f, "mark", "step", {"kind", 2}, {"rank", 3}, {"number", i / 10}, {"start_ns", t},
                {"duration_ns", 200 * NS_PER_MS});
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
                                 .term_ns = {wall_ns / 2, wall_ns / 4, -1, -1, 0, 0, 0,
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
