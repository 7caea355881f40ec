/* SPDX-License-Identifier: MIT */
/* Ceilings in the store: the newest counts; old files have none, and can get some. */
#include "tests/unit/store_fixture.h"

#include <math.h>

static struct store_ceiling ceiling(const char *host, const char *peer, const char *metric,
                                    double value, int64_t measured_wall_ns) {
    return (struct store_ceiling){.host = (char *)host,
                                  .peer = (char *)peer,
                                  .metric = (char *)metric,
                                  .unit = (char *)"MB/s",
                                  .value = value,
                                  .low = value - 1,
                                  .high = NAN,
                                  .measured_wall_ns = measured_wall_ns,
                                  .how = (char *)"planned"};
}

static size_t list(struct fixture *f, struct store_ceiling **ret_list) {
    struct store *reader;
    size_t n;
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_list_ceilings(reader, ret_list, &n), 0);
    store_close(reader);
    return n;
}

static void the_newest_of_each_is_read(void **state) {
    struct fixture *f = *state;
    struct store_ceiling *found;
    const struct store_ceiling second[] = {ceiling("vm1", NULL, "net_egress", 200, 2000),
                                           ceiling("vm1", "vm2", "net_pair", 90, 2000)};
    const struct store_ceiling first[] = {ceiling("vm1", NULL, "net_egress", 100, 1000),
                                          ceiling("vm2", NULL, "net_egress", 50, 1000)};
    assert_int_equal(store_ceilings_add(f->store, second, 2), 0);
    assert_int_equal(store_ceilings_add(f->store, first, 2), 0); /* measured before, kept later */
    assert_int_equal(list(f, &found), 3);
    assert_string_equal(found[0].host, "vm1");
    assert_null(found[0].peer);
    assert_true(found[0].value == 200 && found[0].low == 199 && isnan(found[0].high));
    assert_string_equal(found[1].peer, "vm2");
    assert_string_equal(found[2].host, "vm2");
    assert_string_equal(found[2].how, "planned");
    store_ceilings_free(found, 3);
}

static void what_is_measured_again_replaces_what_was(void **state) {
    struct fixture *f = *state;
    struct store_ceiling *found;
    for (int i = 1; i <= 3; i++) {
        const struct store_ceiling one = ceiling("vm1", NULL, "net_egress", 100 * i, 1000 * i);
        assert_int_equal(store_ceilings_add(f->store, &one, 1), 0);
        assert_int_equal(list(f, &found), 1);
        assert_true(found[0].value == 100 * i && found[0].measured_wall_ns == 1000 * i);
        store_ceilings_free(found, 1);
    }
}

static void a_file_of_before_has_none_and_can_get_some(void **state) {
    struct fixture *f = *state;
    struct store_ceiling *found, one = ceiling("vm1", NULL, "disk_read", 10, 1);
    store_close(f->store);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE ceiling", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(list(f, &found), 0);
    store_ceilings_free(found, 0);
    fixture_open(f);
    assert_int_equal(store_ceilings_add(f->store, &one, 1), 0);
    assert_int_equal(list(f, &found), 1);
    store_ceilings_free(found, 1);
}

static void values_that_mean_nothing_are_left_out(void **state) {
    struct fixture *f = *state;
    struct store_ceiling *found;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "INSERT INTO ceiling VALUES(1, 'a', NULL, 'm', 'u', -1, 0, 0, 1, ''),"
                     "(2, 'b', NULL, 'm', 'u', 9e999, 0, 0, 1, ''),"
                     "(3, char(27) || '[2J', NULL, 'm', 'u', 5, NULL, NULL, -7, '')",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(list(f, &found), 1);
    assert_null(strchr(found[0].host, '\033'));
    assert_int_equal(found[0].measured_wall_ns, 0);
    store_ceilings_free(found, 1);
}

static void a_view_in_its_place_is_not_run(void **state) {
    struct fixture *f = *state;
    struct store_ceiling *found;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "DROP TABLE ceiling; CREATE VIEW ceiling AS SELECT 'a' host,"
                     " NULL peer, 'm' metric, 'u' unit, 5.0 value, NULL low, NULL high,"
                     " '' how, 1 measured_wall_ns, 1 ceiling",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(list(f, &found), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_newest_of_each_is_read),
        TEST(what_is_measured_again_replaces_what_was),
        TEST(a_file_of_before_has_none_and_can_get_some),
        TEST(values_that_mean_nothing_are_left_out),
        TEST(a_view_in_its_place_is_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
