/* SPDX-License-Identifier: MIT */
/*
 * Tables, states and names that databases rely on. This program has a list of former names of its
 * own, which takes the place of the library's.
 */
#define FORMER_NAMES "tests/unit/former_names.def"
#include "tables/former_names.c" /* NOLINT(bugprone-suspicious-include) */

#include "tests/unit/store_fixture.h"

#include "collector/store_scan.h"
#include "collector/store_tail.h"
#include "common/error.h"

/* ---- what databases rely on ---- */

/* Two states of one number are no C. */
static const char *state_of(int number) {
    switch (number) {
#define STATE(ID, number, name, times, what, as_one)                                               \
    case number:                                                                                   \
        return name;
#define PAIR(ID, number, name, what)                                                               \
    case number:                                                                                   \
        return name;
#include "tables/wait_states.def"
    default:
        return "none";
    }
}

static void states_keep_their_numbers(void **state) {
    static const char *const names[] = {
        "run",   "runnable", "socket_receive", "socket_send", "connect", "accept", "poll",
        "futex", "pipe",     "unix",           "disk",        "fault",   "kernel", "timer",
        "child", "stopped",  "other",          "unclocked",   "name"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_string_equal(state_of((int)i), names[i]);
}

static void check_column(const struct table *table, size_t c) {
    const struct column *column = &table->columns[c];
    assert_true(table_name_valid(column->name, strlen(column->name)));
    assert_in_range(strlen(column->help), 1, TABLE_HELP_MAX);
    assert_int_equal(table_find_column(table, column->name), c); /* no name twice */
}

static void tables_fit_the_wire(void **state) {
    (void)state;
    for (size_t t = 0; t < TABLES_KNOWN; t++) {
        const struct table *table = &all_tables[t];
        assert_true(table_name_valid(table->name, strlen(table->name)));
        assert_in_range(strlen(table->help), 1, TABLE_HELP_MAX);
        assert_in_range(table->n_columns, 1, TABLE_COLUMNS_MAX);
        for (size_t c = 0; c < table->n_columns; c++)
            check_column(table, c);
    }
}

/* ---- former names ---- */

static const struct column old_columns[] = {
    {"rx_bytes", UNIT_BYTES, COLUMN_COUNTER, "as an older version called it"},
    {"send_bytes", UNIT_BYTES, COLUMN_COUNTER, "bytes sent"},
};
static const struct table old_table = {
    .name = "net", .instance = "interface", .help = "", .columns = old_columns, .n_columns = 2};

static void write_old(struct fixture *f) {
    assert_int_equal(store_begin(f->store), 0);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(fixture_frame(f, (uint64_t)i, i), 0);
        ROW(f, &old_table, "eth0", 100 * i, 7 * i);
    }
    assert_int_equal(store_commit(f->store), 0);
}

struct sums {
    int64_t received, sent;
};

static int add(void *ctx, const struct store_row_read *row) {
    struct sums *sums = ctx;
    if (row->interval_ns == VALUE_ABSENT)
        return 0;
    sums->received += row->values[NET_RECEIVE_BYTES];
    sums->sent += row->values[NET_SEND_BYTES];
    return 0;
}

static int add_scanned(void *ctx, size_t slot, const struct store_row_read *row) {
    (void)slot;
    return add(ctx, row);
}

static void expect_sums(struct sums *sums) {
    assert_int_equal(sums->received, 200);
    assert_int_equal(sums->sent, 14);
    *sums = (struct sums){0};
}

static void a_column_is_found_under_its_former_name(void **state) {
    struct fixture *f = *state;
    const char *const names[] = {all_tables[TABLE_NET].columns[NET_RECEIVE_BYTES].name,
                                 all_tables[TABLE_NET].columns[NET_SEND_BYTES].name};
    const struct store_tail_table wanted = {"net", names, 2};
    struct sums sums = {0};
    struct store *reader;
    struct store_scan *scan;
    struct store_tail *tail;
    write_old(f);
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_each_row(reader, f->run, "net", names, 2, add, &sums), 0);
    expect_sums(&sums);
    assert_int_equal(store_each_row_joined(reader, f->run, "net", names, 2, add, &sums), 0);
    expect_sums(&sums);
    assert_int_equal(store_scan_open(reader, f->run, &scan), 0);
    assert_int_equal(store_scan_table(scan, "net", names, 2, add_scanned, &sums), 0);
    store_scan_close(scan);
    expect_sums(&sums);
    assert_int_equal(store_tail_open(reader, f->run, &wanted, 1, &tail), 0);
    assert_int_equal(store_tail_next(tail, add_scanned, &sums), 0);
    store_tail_close(tail);
    expect_sums(&sums);
    store_close(reader);
}

static void each_name_a_column_had_is_known(void **state) {
    (void)state;
    assert_string_equal(former_name("net", "receive_bytes", 0), "rx_bytes");
    assert_string_equal(former_name("net", "receive_bytes", 1), "in_bytes");
    assert_null(former_name("net", "receive_bytes", 2));
    assert_null(former_name("net", "send_bytes", 0));
    assert_true(column_is_known("net", "receive_bytes"));
    assert_true(column_is_known("net", "in_bytes"));
    assert_false(column_is_known("disk", "in_bytes"));
    assert_false(column_is_known("net", "novelty"));
    assert_false(column_is_known("novelty", "receive_bytes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_keep_their_numbers),
        cmocka_unit_test(tables_fit_the_wire),
        cmocka_unit_test_setup_teardown(a_column_is_found_under_its_former_name, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test(each_name_a_column_had_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
