/* SPDX-License-Identifier: MIT */
/*
 * Single events, which come in their own stream after the samples. They must not look like samples
 * of their host, or like gaps in them, and must use the same clock.
 */
#include "tests/unit/store_fixture.h"

#include <errno.h>

#include "collector/clock.h"

static const struct column call_columns[] = {
    {"start_ns", UNIT_NS, COLUMN_LEVEL, ""},
};
static const struct table call_table = {.name = "call",
                                        .instance = "function",
                                        .help = "",
                                        .kind = TABLE_EVENTS,
                                        .columns = call_columns,
                                        .n_columns = 1};

#define BEGIN(f) assert_int_equal(store_begin((f)->store), 0)
#define COMMIT(f) assert_int_equal(store_commit((f)->store), 0)

/* From now on frames belong to the stream of events. */
static void begin_events(struct fixture *f) {
    struct wire_stream stream = {.host = "vm1", .boot_id = BOOT_A, .stream_id = 8};
    assert_int_equal(store_stream(f->store, f->run, &stream, &f->host, &f->stream), 0);
}

/* Ten samples of a second, then events of the same time, some of which are lost in the middle. */
static void record(struct fixture *f) {
    BEGIN(f);
    for (uint64_t i = 1; i <= 10; i++) {
        assert_int_equal(fixture_frame(f, i, 0.1 * (double)i), 0);
        ROW(f, &net_table, "eth0", (int64_t)i * 100, 0);
    }
    COMMIT(f);
    begin_events(f);
    BEGIN(f);
    for (uint64_t i = 3; i <= 6; i++) {
        assert_int_equal(fixture_frame(f, i == 6 ? 9 : i, 0.1 * (double)i), 0);
        ROW(f, &call_table, "MPI_Send", (int64_t)i * 100);
        ROW(f, &call_table, "MPI_Send", (int64_t)i * 100 + 1);
    }
    COMMIT(f);
}

static void events_are_no_samples_of_their_host(void **state) {
    struct fixture *f = *state;
    struct store_host *hosts;
    size_t n;
    record(f);
    assert_int_equal(store_list_hosts(f->store, f->run, &hosts, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(hosts[0].frames, 10);
    assert_int_equal(hosts[0].gaps, 0);
    assert_int_equal(hosts[0].missed_slots, 0);
    assert_int_equal(hosts[0].lost_frames, 0);
    store_hosts_free(hosts, n);
    assert_int_equal(sql_number(f, "SELECT samples FROM run_host"), 10);
    assert_int_equal(sql_number(f, "SELECT gaps FROM run_host"), 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM run_host"), 1);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM call"), 8);
}

/* Its sampler was killed at once, or its spool of samples was lost. */
static void a_host_of_events_alone_is_a_host_without_samples(void **state) {
    struct fixture *f = *state;
    struct wire_stream stream = {.host = "vm2", .boot_id = BOOT_B, .stream_id = 9};
    struct store_host *hosts;
    size_t n;
    record(f);
    assert_int_equal(store_stream(f->store, f->run, &stream, &f->host, &f->stream), 0);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 0.5), 0);
    ROW(f, &call_table, "MPI_Recv", 1);
    COMMIT(f);
    assert_int_equal(store_list_hosts(f->store, f->run, &hosts, &n), 0);
    assert_int_equal(n, 2);
    assert_string_equal(hosts[1].name, "vm2");
    assert_int_equal(hosts[1].frames, 0);
    assert_int_equal(hosts[1].gaps, 0);
    assert_int_equal(hosts[1].clock_offset_ns, hosts[0].clock_offset_ns);
    assert_int_equal(hosts[1].first_ns, NS_PER_S / 2);
    store_hosts_free(hosts, n);
}

static void a_replay_of_events_is_known_by_their_own_numbers(void **state) {
    struct fixture *f = *state;
    record(f);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 9, 2.0), -EALREADY);
    assert_int_equal(fixture_frame(f, 10, 2.0), 0);
    COMMIT(f);
    assert_int_equal(store_stream_last_seq(f->store, f->stream), 10);
    store_close(f->store);
    fixture_open(f);
    begin_events(f);
    assert_int_equal(store_stream_last_seq(f->store, f->stream), 10);
}

static void lost_events_are_told_and_nothing_else_of_them(void **state) {
    struct fixture *f = *state;
    struct store_note *notes;
    size_t n;
    record(f);
    assert_int_equal(store_list_notes(f->store, f->run, &notes, &n), 0);
    assert_int_equal(n, 1); /* 1, 2, 6, 7 and 8 never came */
    assert_string_equal(notes[0].text,
                        "vm1: 5 batches of single MPI calls were lost; totals are complete");
    store_notes_free(notes, n);
}

static int count_row(void *ctx, const struct store_row_read *row) {
    int64_t *t = ctx;
    assert_string_equal(row->instance_name, "MPI_Send");
    assert_true(row->t_ns >= t[0]);
    t[0] = row->t_ns;
    t[1]++;
    return 0;
}

/* The host was suspended at 500 s: from then on its clock is 7 s behind. */
static int exchange(struct fixture *f, int64_t t_s) {
    struct clock_estimate e = {t_s * NS_PER_S, RUN_MONO_NS + (t_s < 500 ? 2 : 9) * NS_PER_S,
                               NS_PER_MS};
    return store_clock(f->store, f->stream, &e);
}

static void events_lie_on_the_clock_of_the_samples(void **state) {
    struct fixture *f = *state;
    const char *const columns[] = {"start_ns"};
    int64_t seen[2] = {INT64_MIN, 0};
    BEGIN(f);
    for (int64_t i = 1; i <= 100; i++) {
        assert_int_equal(fixture_frame(f, (uint64_t)i, 10.0 * (double)i), 0);
        ROW(f, &net_table, "eth0", 0, 0);
        exchange(f, 10 * i);
    }
    COMMIT(f);
    begin_events(f);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 100.5), 0);
    ROW(f, &call_table, "MPI_Send", 1);
    assert_true(exchange(f, 1001) >= 0);
    COMMIT(f);
    assert_int_equal(store_each_row(f->store, f->run, "call", columns, 1, count_row, seen), 0);
    assert_int_equal(seen[1], 1);
    assert_in_range(seen[0], 102499 * NS_PER_MS, 102501 * NS_PER_MS);
    assert_in_range(sql_number(f, "SELECT 1000 * time_s FROM call_rate"), 102499, 102501);
    assert_int_equal(sql_number(f, "SELECT count(DISTINCT stream) FROM clock_piece"), 1);
}

static void events_are_read_in_their_order(void **state) {
    struct fixture *f = *state;
    const char *const columns[] = {"start_ns"};
    int64_t seen[2] = {INT64_MIN, 0};
    record(f);
    assert_int_equal(store_each_row(f->store, f->run, "call", columns, 1, count_row, seen), 0);
    assert_int_equal(seen[1], 8);
}

static void sampled(struct fixture *f, const struct table *table) {
    int64_t id = 0;
    assert_int_equal(store_table(f->store, table, &id), 0);
    assert_int_equal(store_sampled(f->store, id), 0);
}

/* A table without rows before its first instance was still sampled, at its own pace rather than in
 * each frame.
 */
static void what_is_born_first_grew_since_its_table_was_sampled(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    sampled(f, &net_table);
    ROW_NEW(f, &memory_table, "early", 1, 1, 5);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    assert_int_equal(fixture_frame(f, 3, 2.0), 0);
    sampled(f, &net_table);
    ROW_NEW(f, &net_table, "eth0", 700, 9);
    assert_int_equal(fixture_frame(f, 4, 3.0), 0);
    sampled(f, &net_table); /* it is gone */
    assert_int_equal(fixture_frame(f, 5, 4.0), 0);
    sampled(f, &net_table);
    ROW_NEW(f, &net_table, "eth1", 30, 3);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 730);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM net WHERE interval_ns = 1000000000"), 2);
    assert_int_equal(sql_number(f, "SELECT user_ns FROM memory"), VALUE_ABSENT);
}

static void a_table_is_sampled_within_a_frame(void **state) {
    struct fixture *f = *state;
    int64_t id = 0;
    BEGIN(f);
    assert_int_equal(store_table(f->store, &net_table, &id), 0);
    assert_int_equal(store_sampled(f->store, id), -EINVAL);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    assert_int_equal(store_sampled(f->store, id), 0);
    assert_int_equal(store_sampled(f->store, id + 1000), -EINVAL);
    COMMIT(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(events_are_no_samples_of_their_host),
        TEST(a_host_of_events_alone_is_a_host_without_samples),
        TEST(a_replay_of_events_is_known_by_their_own_numbers),
        TEST(lost_events_are_told_and_nothing_else_of_them),
        TEST(events_lie_on_the_clock_of_the_samples),
        TEST(events_are_read_in_their_order),
        TEST(what_is_born_first_grew_since_its_table_was_sampled),
        TEST(a_table_is_sampled_within_a_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
