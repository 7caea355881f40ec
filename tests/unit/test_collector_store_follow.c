/* SPDX-License-Identifier: MIT */
/* Rows of a run are followed while others are written: each once, in order, and no other run's. */
#include "tests/unit/store_fixture.h"

#include "collector/store_follow.h"
#include "common/error.h"

#define TAKEN_MAX 64

static const struct table *const followed[] = {&net_table, &memory_table};

struct taken {
    size_t n;
    struct store_followed rows[TAKEN_MAX];
    int64_t values[TAKEN_MAX][3];
    int64_t until;
};

static int take(void *ctx, const struct store_followed *row) {
    struct taken *taken = ctx;
    size_t n = taken->n++;
    assert_in_range(n, 0, TAKEN_MAX - 1);
    taken->rows[n] = *row;
    memcpy(taken->values[n], row->values, (row->table ? 3 : 2) * sizeof *row->values);
    return 0;
}

static struct store_follow *follow_open(struct fixture *f, struct store **ret_reader) {
    struct store_follow *follow;
    assert_int_equal(store_open_read(f->path, ret_reader, f->why, sizeof f->why), 0);
    assert_int_equal(
        store_follow_open(*ret_reader, f->run, followed, ARRAY_SIZE(followed), &follow), 0);
    return follow;
}

static void write_frame(struct fixture *f, uint64_t seq, double t, int64_t bytes) {
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, seq, t), 0);
    ROW(f, &net_table, "eth0", bytes, 2 * bytes);
    assert_int_equal(store_commit(f->store), 0);
}

static void rows_are_taken_once_and_in_order(void **state) {
    struct fixture *f = *state;
    struct taken taken = {0};
    struct store *reader;
    write_frame(f, 1, 100, 1000);
    struct store_follow *follow = follow_open(f, &reader);
    assert_int_equal(store_follow_next(follow, 0, 10, take, &taken, &taken.until), 0);
    assert_int_equal(taken.n, 1);
    assert_int_equal(taken.values[0][0], VALUE_ABSENT);
    for (uint64_t seq = 2; seq <= 6; seq++)
        write_frame(f, seq, 99 + (double)seq, 1000 * (int64_t)seq);
    while (true) { /* two frames at a time */
        int64_t before = taken.until;
        assert_int_equal(store_follow_next(follow, before, 2, take, &taken, &taken.until), 0);
        if (taken.until == before)
            break;
    }
    assert_int_equal(taken.n, 6);
    for (size_t i = 1; i < taken.n; i++) {
        assert_int_equal(taken.values[i][0], 1000);
        assert_int_equal(taken.values[i][1], 2000);
        assert_true(taken.rows[i].frame > taken.rows[i - 1].frame);
        assert_int_equal(taken.rows[i].wall_ns - taken.rows[i - 1].wall_ns, NS_PER_S);
    }
    assert_int_equal(taken.rows[0].wall_ns, RUN_WALL_NS + 100 * NS_PER_S);
    store_follow_close(follow);
    store_close(reader);
}

/* A table that comes later, an instance that is idle, a host that comes later. */
static void what_comes_later_is_taken_too(void **state) {
    struct fixture *f = *state;
    struct taken taken = {0};
    char name[INSTANCE_MAX + 1];
    struct store *reader;
    write_frame(f, 1, 100, 1000);
    struct store_follow *follow = follow_open(f, &reader);
    assert_int_equal(store_follow_next(follow, 0, 10, take, &taken, &taken.until), 0);
    write_frame(f, 2, 100.1, 1000); /* nothing grew: a row of zeros, held back to the commit */
    fixture_stream(f, "vm2", BOOT_B, 8);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, 1, 101), 0);
    ROW(f, &memory_table, "memory", 5, VALUE_ABSENT, 7);
    assert_int_equal(store_commit(f->store), 0);
    taken.n = 0;
    assert_int_equal(store_follow_next(follow, taken.until, 10, take, &taken, &taken.until), 0);
    assert_int_equal(taken.n, 2);
    assert_int_equal(taken.values[0][0], 0);
    assert_int_equal(taken.rows[1].table, 1);
    assert_int_equal(taken.values[1][0], 5);
    assert_int_equal(taken.values[1][1], VALUE_ABSENT);
    assert_int_equal(taken.rows[1].host, f->host);
    assert_int_equal(store_follow_host(follow, f->host, name), 0);
    assert_string_equal(name, "vm2");
    assert_int_equal(store_follow_instance(follow, taken.rows[1].instance, name), 0);
    assert_string_equal(name, "memory");
    assert_int_equal(store_follow_instance(follow, 999, name), -ENOENT);
    store_follow_close(follow);
    store_close(reader);
}

static void other_runs_are_left_out(void **state) {
    struct fixture *f = *state;
    struct taken taken = {0};
    struct store *reader;
    int64_t run = f->run, identity;
    bool ended;
    write_frame(f, 1, 100, 1000);
    struct run_begin begin = {.command = "other", .wall_ns = RUN_WALL_NS, .mono_ns = RUN_MONO_NS};
    assert_int_equal(store_run_begin(f->store, &begin, &f->run), 0);
    fixture_stream(f, "vm1", BOOT_B, 10);
    write_frame(f, 1, 101, 3000);
    f->run = run;
    struct store_follow *follow = follow_open(f, &reader);
    assert_int_equal(store_follow_next(follow, 0, 10, take, &taken, &taken.until), 0);
    assert_int_equal(taken.n, 1);
    assert_int_equal(taken.until, sql_number(f, "SELECT max(frame) FROM frame"));
    assert_int_equal(store_follow_identity(follow, &identity), 0);
    assert_int_equal(identity, 7);
    assert_int_equal(store_follow_has_ended(follow, &ended), 0);
    assert_false(ended);
    assert_int_equal(store_run_end(f->store, run, RUN_DONE, 0, RUN_WALL_NS, RUN_MONO_NS), 0);
    assert_int_equal(store_follow_has_ended(follow, &ended), 0);
    assert_true(ended);
    store_follow_close(follow);
    store_close(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_taken_once_and_in_order, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(what_comes_later_is_taken_too, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(other_runs_are_left_out, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
