/* SPDX-License-Identifier: MIT */
/*
 * Following a run during its recording: each row is given once, from a known begin, for all hosts
 * and wanted tables, with the stored values.
 */
#include "tests/unit/store_fixture.h"

#include <errno.h>

#include "collector/store_tail.h"

#define ROWS_MAX 512

/* In another order than stored, with one that no agent sends. */
static const char *const net_wanted[] = {"send_bytes", "missing", "receive_bytes"};
static const char *const memory_wanted[] = {"free_bytes"};
static const struct store_tail_table wanted[] = {
    {"net", net_wanted, 3}, {"disk", memory_wanted, 1}, {"memory", memory_wanted, 1}};
enum { NET, DISK, MEMORY };

struct seen_row {
    size_t table;
    int64_t host, instance, t_ns, interval_ns, values[3];
};

struct seen {
    struct store *store; /* the store that is read */
    struct store_tail *tail;
    struct seen_row rows[ROWS_MAX];
    size_t n, fail_at; /* number of the row whose callback fails; 0: none */
};

static int see(void *ctx, size_t table, const struct store_row_read *row) {
    struct seen *seen = ctx;
    assert_true(seen->n < ROWS_MAX);
    if (seen->fail_at && seen->n + 1 == seen->fail_at)
        return -ENOSPC;
    struct seen_row *to = &seen->rows[seen->n++];
    *to = (struct seen_row){.table = table,
                            .host = row->host,
                            .instance = row->instance,
                            .t_ns = row->t_ns,
                            .interval_ns = row->interval_ns};
    memcpy(to->values, row->values, wanted[table].n_columns * sizeof *row->values);
    return 1; /* 1: no failure */
}

static void follow(struct fixture *f, struct seen *seen) {
    *seen = (struct seen){0};
    assert_int_equal(store_open_read(f->path, &seen->store, NULL, 0), 0);
    assert_int_equal(store_tail_open(seen->store, f->run, wanted, 3, &seen->tail), 0);
}

static void leave(struct seen *seen) {
    store_tail_close(seen->tail);
    store_close(seen->store);
}

/* Reads new rows, which replace the old ones. */
static size_t next(struct seen *seen) {
    seen->n = 0;
    assert_int_equal(store_tail_next(seen->tail, see, seen), 0);
    return seen->n;
}

/* Second t of a host: one value of joined rows. Counters grow by 1000 + t and 10 * t. */
static void record_second(struct fixture *f, int t) {
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, (uint64_t)t + 1, t), 0);
    ROW(f, &net_table, "eth0", 1000 * t + t * (t + 1) / 2, 5 * t * (t + 1));
    ROW(f, &memory_table, "memory", 7000 + t, 0, 0);
    assert_int_equal(store_commit(f->store), 0);
}

static void record_seconds(struct fixture *f, int from, int to) {
    for (int t = from; t <= to; t++)
        record_second(f, t);
}

static const struct seen_row *find(const struct seen *seen, size_t table, int64_t t_ns) {
    const struct seen_row *found = NULL;
    for (size_t i = 0; i < seen->n; i++)
        if (seen->rows[i].table == table && seen->rows[i].t_ns == t_ns) {
            assert_null(found); /* once */
            found = &seen->rows[i];
        }
    return found;
}

/* Expects all of second t, with its columns in the wanted order. */
static void expect_second(const struct seen *seen, int64_t host, int t, int64_t t0_ns) {
    const struct seen_row *net = find(seen, NET, t0_ns + t * NS_PER_S);
    const struct seen_row *memory = find(seen, MEMORY, t0_ns + t * NS_PER_S);
    if (!net || !memory)
        fail_msg("second %d is missing", t);
    assert_int_equal(net->host, host);
    assert_int_equal(net->interval_ns, NS_PER_S);
    assert_int_equal(net->values[0], 10 * t);
    assert_int_equal(net->values[1], VALUE_ABSENT);
    assert_int_equal(net->values[2], 1000 + t);
    assert_int_equal(memory->values[0], 7000 + t);
    assert_true(net->instance != memory->instance);
}

/* When second 0 was, in the run's time. */
static int64_t beginning(struct seen *seen, int t) {
    for (size_t i = 0; i < seen->n; i++)
        if (seen->rows[i].table == MEMORY && seen->rows[i].values[0] == 7000 + t)
            return seen->rows[i].t_ns - t * NS_PER_S;
    fail_msg("no row of second %d", t);
    return 0;
}

/* ---- claims ---- */

static void each_row_is_given_once(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    record_seconds(f, 0, 4);
    follow(f, &seen);
    assert_int_equal(next(&seen), 2 * 5);
    int64_t t0_ns = beginning(&seen, 4);
    for (int t = 1; t <= 4; t++)
        expect_second(&seen, f->host, t, t0_ns);
    const struct seen_row *first = find(&seen, NET, t0_ns); /* its growth is not known */
    assert_non_null(first);
    assert_int_equal(first->interval_ns, VALUE_ABSENT);
    assert_int_equal(first->values[0], VALUE_ABSENT);
    assert_int_equal(next(&seen), 0);
    record_second(f, 5);
    assert_int_equal(next(&seen), 2);
    expect_second(&seen, f->host, 5, t0_ns);
    record_seconds(f, 6, 8);
    assert_int_equal(next(&seen), 6);
    for (int t = 6; t <= 8; t++)
        expect_second(&seen, f->host, t, t0_ns);
    assert_int_equal(next(&seen), 0);
    leave(&seen);
}

static void a_long_run_is_followed_from_its_last_values(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    record_seconds(f, 0, 40);
    follow(f, &seen);
    next(&seen);
    int64_t t0_ns = beginning(&seen, 40);
    assert_int_equal(seen.n, 2 * STORE_TAIL_FIRST);
    for (int t = 40 - STORE_TAIL_FIRST + 1; t <= 40; t++)
        expect_second(&seen, f->host, t, t0_ns);
    assert_int_equal(next(&seen), 0);
    leave(&seen);
}

/* Exactly as many values as are read: none is left out. */
static void a_run_that_fits_is_followed_from_its_beginning(void **state) {
    struct fixture *f = *state;
    for (int n = STORE_TAIL_FIRST - 1; n <= STORE_TAIL_FIRST + 1; n++) {
        struct seen seen;
        record_seconds(f, n == STORE_TAIL_FIRST - 1 ? 0 : n - 1, n - 1);
        follow(f, &seen);
        next(&seen);
        assert_int_equal(seen.n, 2 * (n <= STORE_TAIL_FIRST ? n : STORE_TAIL_FIRST));
        leave(&seen);
    }
}

static void hosts_are_told_with_their_frames_and_kernel(void **state) {
    struct fixture *f = *state, other = *f;
    const struct store_tail_host *hosts;
    struct seen seen;
    record_seconds(f, 0, 2);
    follow(f, &seen);
    assert_int_equal(store_tail_hosts(seen.tail, &hosts), 0);
    next(&seen);
    int64_t t0_ns = beginning(&seen, 2);
    assert_int_equal(store_tail_hosts(seen.tail, &hosts), 1);
    assert_string_equal(hosts[0].name, "vm1");
    assert_int_equal(hosts[0].id, f->host);
    assert_int_equal(hosts[0].frames, 3);
    assert_int_equal(hosts[0].last_ns, t0_ns + 2 * NS_PER_S);
    assert_string_equal(hosts[0].boot_id, BOOT_A);
    fixture_stream(&other, "vm2", BOOT_B, 8);
    record_seconds(&other, 0, 1);
    record_second(f, 3);
    assert_int_equal(next(&seen), 2 + 4);
    for (size_t i = 0; i < seen.n; i++)
        assert_int_equal(
            seen.rows[i].host,
            seen.rows[i].values[0] == 7003 || seen.rows[i].values[0] == 30 ? f->host : other.host);
    assert_int_equal(store_tail_hosts(seen.tail, &hosts), 2);
    assert_int_equal(hosts[0].frames, 4);
    assert_string_equal(hosts[1].name, "vm2");
    assert_int_equal(hosts[1].frames, 2);
    assert_string_equal(hosts[1].boot_id, BOOT_B);
    leave(&seen);
}

static void a_host_of_two_streams_is_one(void **state) {
    struct fixture *f = *state, other = *f, again = *f;
    const struct store_tail_host *hosts;
    struct seen seen;
    record_seconds(f, 0, 1);
    fixture_stream(&other, "vm2", BOOT_B, 8);
    record_seconds(&other, 0, 1);
    follow(f, &seen);
    next(&seen);
    fixture_stream(&again, "vm1", BOOT_B, 9);
    record_seconds(&again, 0, 2);
    record_second(&other, 2);
    assert_int_equal(next(&seen), 2 * 3 + 2);
    assert_int_equal(store_tail_hosts(seen.tail, &hosts), 2);
    assert_string_equal(hosts[0].boot_id, BOOT_B);
    assert_int_equal(hosts[0].frames, 3);
    assert_int_equal(next(&seen), 0);
    leave(&seen);
}

static void instances_have_their_names(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    char name[INSTANCE_MAX + 1];
    record_seconds(f, 0, 1);
    follow(f, &seen);
    next(&seen);
    for (size_t i = 0; i < seen.n; i++) {
        const struct seen_row *row = &seen.rows[i];
        assert_int_equal(store_tail_name(seen.tail, row->host, row->instance, name), 0);
        assert_string_equal(name, row->table == NET ? "eth0" : "memory");
        assert_int_equal(store_tail_name(seen.tail, row->host + 1, row->instance, name), -ENOENT);
    }
    assert_int_equal(store_tail_name(seen.tail, f->host, 1000, name), -ENOENT);
    leave(&seen);
}

/* The other rows of that call may be lost, but not later ones. */
static void a_row_that_cannot_be_taken_ends_that_call_alone(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    record_seconds(f, 0, 2);
    follow(f, &seen);
    seen.fail_at = 3;
    assert_int_equal(store_tail_next(seen.tail, see, &seen), -ENOSPC);
    assert_int_equal(seen.n, 2);
    seen.fail_at = 0;
    record_second(f, 3);
    assert_int_equal(next(&seen), 4);
    for (int t = 2; t <= 3; t++)
        expect_second(&seen, f->host, t, beginning(&seen, 3));
    leave(&seen);
}

static void another_run_is_none_of_it(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    record_seconds(f, 0, 2);
    f->run++;
    follow(f, &seen);
    f->run--;
    assert_int_equal(next(&seen), 0);
    const struct store_tail_host *hosts;
    assert_int_equal(store_tail_hosts(seen.tail, &hosts), 0);
    leave(&seen);
}

static void too_many_columns_are_refused(void **state) {
    struct fixture *f = *state;
    struct store_tail_table wide = {"net", net_wanted, 129};
    struct store_tail *tail;
    assert_int_equal(store_tail_open(f->store, f->run, &wide, 1, &tail), -EINVAL);
    store_tail_close(NULL);
}

/* A host that is sampled once a second has no joined rows: what holds for others holds for it, too.
 */
static int setup_slow(void **state) {
    int r = fixture_setup(state);
    struct fixture *f = *state;
    fixture_stream_of(f, "vm1", BOOT_A, 77, NS_PER_S);
    return r;
}

int main(void) {
#define SLOW(f) cmocka_unit_test_setup_teardown(f, setup_slow, fixture_teardown)
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_row_is_given_once),
        TEST(a_long_run_is_followed_from_its_last_values),
        TEST(a_run_that_fits_is_followed_from_its_beginning),
        TEST(hosts_are_told_with_their_frames_and_kernel),
        TEST(a_host_of_two_streams_is_one),
        TEST(instances_have_their_names),
        TEST(a_row_that_cannot_be_taken_ends_that_call_alone),
        TEST(another_run_is_none_of_it),
        TEST(too_many_columns_are_refused),
        SLOW(each_row_is_given_once),
        SLOW(a_long_run_is_followed_from_its_last_values),
        SLOW(a_run_that_fits_is_followed_from_its_beginning),
        SLOW(hosts_are_told_with_their_frames_and_kernel),
        SLOW(instances_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
