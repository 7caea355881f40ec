/* SPDX-License-Identifier: MIT */
/* Processes that do not change: their rows are few, and tell the same as one each second. */
#include "tests/unit/store_fixture.h"

#include <string.h>

#include "tables/tables.h"

#define BEGIN(f) assert_int_equal(store_begin((f)->store), 0)
#define COMMIT(f) assert_int_equal(store_commit((f)->store), 0)
#define SLEEPER "sleep[7]"

/* One commit with a sample at second t, in which the process has used so much CPU time and holds so
 * much memory. */
struct look {
    int64_t user_ns, rss_bytes;
};

static void put_process(struct fixture *f, const char *name, struct look look) {
    int64_t values[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
        values[i] = VALUE_ABSENT;
    values[PROCESS_PID] = 7;
    values[PROCESS_USER] = look.user_ns;
    values[PROCESS_SYSTEM] = 5;
    values[PROCESS_RSS] = look.rss_bytes;
    assert_int_equal(fixture_row_flags(f, &all_tables[TABLE_PROCESS], 0, name, values), 0);
}

/* NULL: the process is gone; another one is there all the time. */
static void second(struct fixture *f, int t, const struct look *look) {
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1 + (uint64_t)t, t), 0);
    put_process(f, "busy[8]", (struct look){t * 1000, 100});
    if (look)
        put_process(f, SLEEPER, *look);
    COMMIT(f);
}

static void seconds(struct fixture *f, int from, int until, struct look look) {
    for (int t = from; t < until; t++)
        second(f, t, &look);
}

static void settle(struct fixture *f) {
    BEGIN(f);
    assert_int_equal(store_settle(f->store, f->stream), 0);
    COMMIT(f);
}

/* A number over the sleeper's rows. */
static int64_t of_sleeper(struct fixture *f, const char *number) {
    char sql[400];
    snprintf(sql, sizeof sql,
             "SELECT %s FROM process JOIN instance USING(instance) JOIN frame USING(frame)"
             " WHERE name = '" SLEEPER "'",
             number);
    return sql_number(f, sql);
}

static void check_tiled(struct fixture *f, int64_t until_s) {
    assert_int_equal(of_sleeper(f, "sum(interval_ns)"), until_s * NS_PER_S);
    assert_int_equal(of_sleeper(f, "max(mono_ns)"), until_s * NS_PER_S);
    assert_int_equal(of_sleeper(f, "count(*) - count(interval_ns)"), 1);
}

static void a_process_that_rests_has_a_row_in_ten_seconds(void **state) {
    struct fixture *f = *state;
    seconds(f, 0, 101, (struct look){1000, 4096});
    settle(f);
    check_tiled(f, 100);
    assert_in_range(of_sleeper(f, "count(*)"), 12, 16);
    assert_int_equal(of_sleeper(f, "max(interval_ns)"), 10 * NS_PER_S);
    assert_int_equal(of_sleeper(f, "sum(user_ns)"), 0);
    assert_int_equal(of_sleeper(f, "count(run_queue_ns)"), 0); /* unknown, and not 0 */
    assert_int_equal(of_sleeper(f, "min(rss_bytes)"), 4096);
    assert_int_equal(of_sleeper(f, "count(rss_bytes) = count(*)"), 1);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM process WHERE user_ns = 1000"), 100);
}

/* A reader that watches takes a process for gone after three of its intervals. */
static void a_row_is_held_back_for_twice_the_one_before_at_most(void **state) {
    struct fixture *f = *state;
    int64_t before = NS_PER_S;
    seconds(f, 0, 2, (struct look){1000, 4096});
    for (int t = 2; t < 60; t++) {
        second(f, t, &(struct look){1000, 4096});
        int64_t last = of_sleeper(f, "coalesce(interval_ns, 1000000000) + 0 * max(mono_ns)");
        assert_true(last <= 2 * before);
        assert_true(t * NS_PER_S - of_sleeper(f, "max(mono_ns)") <= 2 * last);
        before = last;
    }
}

static void a_process_that_wakes_up_has_its_rest_before_that(void **state) {
    struct fixture *f = *state;
    seconds(f, 0, 18, (struct look){1000, 4096});
    seconds(f, 18, 20, (struct look){1500, 4096});
    settle(f);
    check_tiled(f, 19);
    assert_int_equal(of_sleeper(f, "sum(user_ns)"), 500);
    assert_int_equal(of_sleeper(f, "max(interval_ns * (user_ns > 0))"), NS_PER_S);
}

static void a_level_that_changes_ends_a_rest(void **state) {
    struct fixture *f = *state;
    seconds(f, 0, 18, (struct look){1000, 4096});
    seconds(f, 18, 20, (struct look){1000, 8192});
    settle(f);
    check_tiled(f, 19);
    assert_int_equal(of_sleeper(f, "max(mono_ns * (rss_bytes = 4096))"), 17 * NS_PER_S);
    assert_int_equal(of_sleeper(f, "min(mono_ns) FILTER (WHERE rss_bytes = 8192)"), 18 * NS_PER_S);
}

static void a_process_that_is_gone_was_there_until_its_last_sample(void **state) {
    struct fixture *f = *state;
    seconds(f, 0, 19, (struct look){1000, 4096});
    assert_true(of_sleeper(f, "max(mono_ns)") < 18 * NS_PER_S); /* it may rest, or be gone */
    second(f, 19, NULL);
    check_tiled(f, 18);
}

static void all_processes_may_be_gone_at_once(void **state) {
    struct fixture *f = *state;
    int64_t id = 0;
    seconds(f, 0, 19, (struct look){1000, 4096});
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 20, 19), 0);
    assert_int_equal(store_table(f->store, &all_tables[TABLE_PROCESS], &id), 0);
    assert_int_equal(store_sampled(f->store, id), 0);
    COMMIT(f);
    check_tiled(f, 18);
}

static void a_restarted_collector_goes_on_with_a_rest(void **state) {
    struct fixture *f = *state;
    seconds(f, 0, 19, (struct look){1000, 4096});
    int64_t stored = of_sleeper(f, "max(mono_ns)");
    store_close(f->store); /* as if it had been killed: nothing settles */
    assert_int_equal(of_sleeper(f, "max(mono_ns)"), stored);
    fixture_open(f);
    second(f, 19, &(struct look){1700, 4096});
    check_tiled(f, 19);
    assert_int_equal(of_sleeper(f, "sum(user_ns)"), 700);
    assert_int_equal(of_sleeper(f, "max(mono_ns * (user_ns = 0))"), 18 * NS_PER_S);
    assert_int_equal(of_sleeper(f, "max(interval_ns * (user_ns > 0))"), NS_PER_S);
}

static void all_streams_settle_with_the_writer(void **state) {
    struct fixture *f = *state;
    seconds(f, 0, 19, (struct look){1000, 4096});
    BEGIN(f);
    store_settle_all(f->store);
    COMMIT(f);
    check_tiled(f, 18);
}

/* Its columns are levels and counters, too, and its rows are asked for one by one. */
static void other_tables_do_not_rest(void **state) {
    struct fixture *f = *state;
    for (int t = 0; t < 30; t++) {
        BEGIN(f);
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)t, t), 0);
        ROW(f, &memory_table, "ram", 7, 8, 9);
        COMMIT(f);
    }
    assert_int_equal(sql_number(f, "SELECT count(*) FROM memory"), 30);
}

int main(void) {
#define TEST(claim) cmocka_unit_test_setup_teardown(claim, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_process_that_rests_has_a_row_in_ten_seconds),
        TEST(a_row_is_held_back_for_twice_the_one_before_at_most),
        TEST(a_process_that_wakes_up_has_its_rest_before_that),
        TEST(a_level_that_changes_ends_a_rest),
        TEST(a_process_that_is_gone_was_there_until_its_last_sample),
        TEST(all_processes_may_be_gone_at_once),
        TEST(a_restarted_collector_goes_on_with_a_rest),
        TEST(all_streams_settle_with_the_writer),
        TEST(other_tables_do_not_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
