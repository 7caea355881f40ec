/* SPDX-License-Identifier: MIT */
/* Repeats in the store: a name means all of them, numbers and positions mean one run. */
#include "tests/unit/store_fixture.h"

#include <errno.h>

static int64_t begin(struct fixture *f, const char *name, const char *command, int repeat,
                     int64_t group) {
    const struct run_begin run = {.name = name,
                                  .command = command,
                                  .wall_ns = 1,
                                  .mono_ns = 1,
                                  .period_ns = 100000000,
                                  .n_hosts_expected = 1,
                                  .repeat = repeat,
                                  .repeats = repeat ? 3 : 0,
                                  .group = group};
    int64_t id = 0;
    assert_int_equal(store_run_begin(f->store, &run, &id), 0);
    return id;
}

/* The fixture has run 1. */
static void begin_all(struct fixture *f) {
    assert_int_equal(begin(f, "sync", "./train --old", 0, 0), 2);
    assert_int_equal(begin(f, "sync", "./train", 1, 0), 3);
    assert_int_equal(begin(f, "other", "./train", 0, 0), 4);
    assert_int_equal(begin(f, "sync", "./train", 2, 3), 5);
    assert_int_equal(begin(f, "sync", "./train", 0, 0), 6);
    assert_int_equal(begin(f, "3", "./odd", 0, 0), 7);
    assert_int_equal(begin(f, "last~1", "./odd", 0, 0), 8);
}

static void expect(struct fixture *f, const char *which, const char *ids, size_t others) {
    struct store_run *runs;
    size_t n, left_out;
    char found[64] = "";
    assert_int_equal(store_find_repeats(f->store, which, &runs, &n, &left_out), 0);
    for (size_t i = 0; i < n; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), " %lld",
                 (long long)runs[i].id);
    assert_string_equal(found, ids);
    assert_int_equal(left_out, others);
    store_runs_free(runs, n);
}

static void a_name_stands_for_all_runs_of_its_newest_command(void **state) {
    begin_all(*state);
    expect(*state, "sync", " 3 5 6", 1);
    expect(*state, "other", " 4", 0);
}

static void a_number_and_a_place_stand_for_one_run(void **state) {
    begin_all(*state);
    expect(*state, "5", " 5", 0);
    expect(*state, "3", " 3", 0); /* not the run called 3 */
    expect(*state, "last", " 8", 0);
    expect(*state, "last~1", " 7", 0); /* not the run called last~1 */
    struct store_run *runs;
    size_t n, others;
    struct fixture *f = *state;
    assert_int_equal(store_find_repeats(f->store, "nobody", &runs, &n, &others), -ENOENT);
}

static void the_number_of_a_repeat_is_kept(void **state) {
    struct fixture *f = *state;
    struct store_run run;
    begin_all(f);
    assert_int_equal(store_find_run(f->store, "5", &run), 0);
    assert_int_equal(run.repeat, 2);
    assert_int_equal(run.repeats, 3);
    assert_int_equal(run.group, 3);
    store_run_release(&run);
    assert_int_equal(store_find_run(f->store, "3", &run), 0);
    assert_int_equal(run.group, 3); /* the first belongs to its own group */
    store_run_release(&run);
    assert_int_equal(store_find_run(f->store, "6", &run), 0);
    assert_int_equal(run.repeat, 0);
    store_run_release(&run);
}

static void damage(struct fixture *f, const char *sql) {
    sqlite3 *db;
    store_close(f->store);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), 0);
}

static void a_file_of_before_has_names_all_the_same(void **state) {
    struct fixture *f = *state;
    begin_all(f);
    damage(f, "DROP TABLE run_repeat");
    expect(f, "sync", " 3 5 6", 1);
    store_close(f->store);
    fixture_open(f);
    assert_int_equal(begin(f, "sync", "./train", 3, 3), 9);
    expect(f, "sync", " 3 5 6 9", 1);
}

static void numbers_from_outside_that_make_no_sense_are_none(void **state) {
    struct fixture *f = *state;
    struct store_run run;
    begin_all(f);
    damage(f, "UPDATE run_repeat SET repeat = -7 WHERE run = 5;"
              "UPDATE run_repeat SET repeats = 9000000000000 WHERE run = 3");
    for (int id = 3; id <= 5; id += 2) {
        assert_int_equal(store_find_run(f->store, id == 3 ? "3" : "5", &run), 0);
        assert_int_equal(run.repeat, 0);
        store_run_release(&run);
    }
    damage(f, "DROP TABLE run_repeat; CREATE VIEW run_repeat AS SELECT 5 AS run, 1 AS group_run,"
              " 1 AS repeat, 2 AS repeats");
    assert_int_equal(store_find_run(f->store, "5", &run), 0);
    assert_int_equal(run.repeat, 0);
    store_run_release(&run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_name_stands_for_all_runs_of_its_newest_command),
        TEST(a_number_and_a_place_stand_for_one_run),
        TEST(the_number_of_a_repeat_is_kept),
        TEST(a_file_of_before_has_names_all_the_same),
        TEST(numbers_from_outside_that_make_no_sense_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
