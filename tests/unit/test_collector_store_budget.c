/* SPDX-License-Identifier: MIT */
/* Budgets in the store: a run's new budgets replace its old ones, all or none. */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <math.h>

#include "collector/store_budget_read.h"

static struct store_budget budget(int64_t rank, int64_t iteration, int64_t cpu_ns) {
    struct store_budget b = {.host = "vm1",
                             .process = "train[7]",
                             .phase = "training",
                             .source = "events",
                             .rank = rank,
                             .pid = 7,
                             .iteration = iteration,
                             .every = 1,
                             .begin_ns = 10,
                             .end_ns = 110,
                             .wall_ns = 100,
                             .closure_pct = 99.5,
                             .trusted = true,
                             .awaited_rank = -1,
                             .awaited_ns = -1,
                             .path_pct = NAN,
                             .receiver_pct = NAN,
                             .send_buffer_pct = 25};
    for (int i = 0; i < STORE_BUDGET_TERMS; i++)
        b.term_ns[i] = i;
    b.term_ns[0] = cpu_ns;
    return b;
}

static void the_rows_of_a_run_replace_those_it_had(void **state) {
    struct fixture *f = *state;
    const struct store_budget first[] = {budget(0, VALUE_ABSENT, 80), budget(0, 1, 40),
                                         budget(0, 2, 40)};
    const struct store_budget second[] = {budget(-1, VALUE_ABSENT, -1), budget(-1, 1, 50)};
    assert_int_equal(store_budget_replace(f->store, f->run, first, 3), 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM budget"), 3);
    assert_int_equal(sql_number(f, "SELECT sum(cpu_ns) FROM budget WHERE iteration IS NOT NULL"),
                     80);
    assert_int_equal(store_budget_replace(f->store, f->run, second, 2), 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM budget"), 2);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM budget WHERE rank IS NULL"), 2);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM budget WHERE cpu_ns IS NULL"), 1);
}

/* An older file, without the terms for MPI-IO and stops. */
static void terms_that_an_older_file_lacks_are_added(void **state) {
    struct fixture *f = *state;
    const struct store_budget one = budget(3, 12, 0);
    assert_int_equal(store_budget_replace(f->store, f->run, &one, 1), 0);
    sql_change(f, "ALTER TABLE budget DROP COLUMN stopped_ns");
    sql_change(f, "ALTER TABLE budget DROP COLUMN file_ns");
    const struct store_budget next = budget(3, 13, 0);
    assert_int_equal(store_budget_replace(f->store, f->run, &next, 1), 0);
    assert_int_equal(sql_number(f, "SELECT stopped_ns FROM budget"), 8);
    assert_int_equal(sql_number(f, "SELECT file_ns FROM budget"), 12);
}

static void every_value_is_in_the_column_of_its_name(void **state) {
    static const char *const terms[STORE_BUDGET_TERMS] = {
        "cpu",       "runqueue", "quota",    "steal",        "disk",
        "memory",    "gpu",      "gpu_copy", "stopped",      "idle",
        "peer_wait", "transfer", "file",     "mpi_overhead", "mpi_unsplit"};
    struct fixture *f = *state;
    const struct store_budget one = budget(3, 12, 0);
    char sql[100];
    assert_int_equal(store_budget_replace(f->store, f->run, &one, 1), 0);
    for (int i = 0; i < STORE_BUDGET_TERMS; i++) {
        snprintf(sql, sizeof sql, "SELECT %s_ns FROM budget", terms[i]);
        assert_int_equal(sql_number(f, sql), i);
    }
    assert_int_equal(
        sql_number(f, "SELECT host = 'vm1' AND rank = 3 AND pid = 7 AND process = 'train[7]' AND"
                      " phase = 'training' AND iteration = 12 AND every = 1 AND begin_ns = 10 AND"
                      " end_ns = 110 AND wall_ns = 100 AND unknown_ns = 0 AND"
                      " other_threads_cpu_ns = 0 AND closure_pct = 99.5 AND trusted = 1 AND"
                      " source = 'events' AND awaited_host IS NULL AND awaited_rank IS NULL AND"
                      " awaited_ns IS NULL AND path_limited_pct IS NULL AND"
                      " receiver_limited_pct IS NULL AND send_buffer_limited_pct = 25 FROM budget"),
        1);
}

static void all_rows_or_none(void **state) {
    struct fixture *f = *state;
    const struct store_budget good = budget(0, 1, 40);
    struct store_budget bad[] = {budget(1, 1, 1), budget(2, 1, 1)};
    bad[1].host = NULL;
    assert_int_equal(store_budget_replace(f->store, f->run, &good, 1), 0);
    assert_int_equal(store_budget_replace(f->store, f->run, bad, 2), -EEXIST);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM budget WHERE rank = 0"), 1);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM budget"), 1);
    assert_int_equal(store_budget_replace(f->store, f->run + 1, &good, 1), -ENOENT);
}

static void a_file_of_before_gets_the_table(void **state) {
    struct fixture *f = *state;
    const struct store_budget one = budget(0, 1, 40);
    sql_change(f, "DROP TABLE budget");
    assert_int_equal(store_budget_replace(f->store, f->run, &one, 1), 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM budget"), 1);
}

static void what_stands_in_its_place_costs_the_rows_only(void **state) {
    struct fixture *f = *state;
    const struct store_budget one = budget(0, 1, 40);
    sql_change(f, "DROP TABLE budget; CREATE VIEW budget AS SELECT run FROM run");
    assert_true(store_budget_replace(f->store, f->run, &one, 1) < 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM run"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* ---- reading ---- */

static size_t count_sums(struct fixture *f, int64_t run) {
    struct store_budget_sum *sums = NULL;
    size_t n = 99;
    assert_int_equal(store_list_budget_sums(f->store, run, &sums, &n), 0);
    store_budget_sums_free(sums, n);
    return n;
}

static void sums_are_read_as_they_were_stored(void **state) {
    struct fixture *f = *state;
    const struct store_budget rows[] = {budget(0, VALUE_ABSENT, 80), budget(0, 1, 40),
                                        budget(1, VALUE_ABSENT, -1)};
    struct store_budget_sum *sums;
    size_t n;
    assert_int_equal(count_sums(f, f->run), 0);
    assert_int_equal(store_budget_replace(f->store, f->run, rows, 3), 0);
    assert_int_equal(store_list_budget_sums(f->store, f->run, &sums, &n), 0);
    assert_int_equal(n, 2);
    assert_string_equal(sums[0].host, "vm1");
    assert_string_equal(sums[0].process, "train[7]");
    assert_string_equal(sums[0].phase, "training");
    assert_int_equal(sums[0].wall_ns, 100);
    assert_int_equal(sums[0].term_ns[0], 80);
    assert_true(sums[1].term_ns[0] == VALUE_ABSENT);
    for (int i = 1; i < STORE_BUDGET_TERMS; i++)
        assert_int_equal(sums[0].term_ns[i], i);
    store_budget_sums_free(sums, n);
    assert_int_equal(count_sums(f, f->run + 1), 0);
}

static void what_is_no_table_of_budgets_has_no_sums(void **state) {
    struct fixture *f = *state;
    const struct store_budget one = budget(3, VALUE_ABSENT, 5);
    assert_int_equal(store_budget_replace(f->store, f->run, &one, 1), 0);
    sql_change(f, "ALTER TABLE budget DROP COLUMN file_ns");
    assert_int_equal(count_sums(f, f->run), 1);
    sql_change(f, "ALTER TABLE budget RENAME COLUMN process TO program");
    assert_int_equal(count_sums(f, f->run), 0);
    sql_change(f, "DROP TABLE budget; CREATE VIEW budget AS SELECT * FROM run");
    assert_int_equal(count_sums(f, f->run), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_rows_of_a_run_replace_those_it_had),
        TEST(terms_that_an_older_file_lacks_are_added),
        TEST(every_value_is_in_the_column_of_its_name),
        TEST(all_rows_or_none),
        TEST(a_file_of_before_gets_the_table),
        TEST(what_stands_in_its_place_costs_the_rows_only),
        TEST(sums_are_read_as_they_were_stored),
        TEST(what_is_no_table_of_budgets_has_no_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
