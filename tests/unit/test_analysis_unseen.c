/* SPDX-License-Identifier: MIT */
/* CPU time of processes that ended between two scans, from their parents' rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/facts/recording/recording.h"
#include "common/clock.h"

#define S NS_PER_S
#define MS (NS_PER_S / 1000)

/* A row at every second from `from`: growth of its own time, and of its ended children's (-1: not
 * recorded).
 */
static void plant(struct recording *r, int64_t pid, int64_t parent, int from, int n,
                  const int64_t (*grown_ms)[2]) {
    struct series_set *set = &r->tables[RECORDING_PROCESS];
    for (int i = 0; i < n; i++) {
        int64_t values[64];
        for (size_t c = 0; c < set->n_columns; c++)
            values[c] = VALUE_ABSENT;
        values[PROCESS_PID] = pid;
        values[PROCESS_PARENT] = parent;
        values[PROCESS_JOB] = 1;
        values[PROCESS_USER] = grown_ms[i][0] * MS;
        values[PROCESS_CHILDREN] = grown_ms[i][1] < 0 ? VALUE_ABSENT : grown_ms[i][1] * MS;
        assert_int_equal(series_set_append(set, 0, pid, "p", (from + i) * S, S, values), 0);
    }
}

static int64_t unseen_ms(const struct recording *r, size_t series, size_t row) {
    const struct series_set *set = &r->tables[RECORDING_PROCESS];
    return series_value(set, &set->items[series], row, PROCESS_UNSEEN) / MS;
}

/* make, and a compiler that was seen for 600 of its 700 ms; another one was never seen. */
static void what_rows_of_a_child_told_is_not_told_twice(void **state) {
    const int64_t make[][2] = {{10, 0}, {10, 0}, {10, 1000}}, child[][2] = {{600, 0}};
    struct recording r;
    (void)state;
    recording_init(&r);
    plant(&r, 7, 1, 1, 3, make);
    plant(&r, 8, 7, 2, 1, child);
    assert_int_equal(recording_find_unseen(&r), 0);
    assert_int_equal(unseen_ms(&r, 0, 1), 0);
    assert_int_equal(unseen_ms(&r, 0, 2), 400);
    recording_release(&r);
}

/* make - sh - cc: sh had a short-lived child before it ended with cc. */
static void what_ends_with_its_parent_comes_to_the_grandparent(void **state) {
    const int64_t make[][2] = {{0, 0}, {0, 0}, {0, 1500}, {0, 0}}, sh[][2] = {{10, 0}, {10, 300}},
                  cc[][2] = {{900, 0}};
    struct recording r;
    (void)state;
    recording_init(&r);
    plant(&r, 7, 1, 1, 4, make);
    plant(&r, 8, 7, 1, 2, sh);
    plant(&r, 9, 8, 2, 1, cc);
    assert_int_equal(recording_find_unseen(&r), 0);
    assert_int_equal(unseen_ms(&r, 1, 1), 300);                   /* in no row */
    assert_int_equal(unseen_ms(&r, 0, 2), 1500 - 20 - 300 - 900); /* of children that ended since */
    recording_release(&r);
}

/* dd wrote 900 bytes within its rows, and 100 after the last one: its shell has the kernel's sum.
 */
static void bytes_of_children_are_told_once(void **state) {
    const int64_t sh[][2] = {{0, 0}, {0, 0}, {0, 10}}, dd[][2] = {{5, 0}},
                  told[][2] = {{0, -1}, {0, -1}};
    struct recording r;
    (void)state;
    recording_init(&r);
    struct series_set *set = &r.tables[RECORDING_PROCESS];
    plant(&r, 7, 1, 1, 3, sh);
    plant(&r, 8, 7, 2, 1, dd);
    plant(&r, 9, 1, 1, 2, told); /* exits are recorded one by one: its bytes are its own */
    plant(&r, 10, 9, 1, 1, dd);
    set->items[0].values[2 * set->n_columns + PROCESS_WRITE] = 1000;
    set->items[1].values[PROCESS_WRITE] = 900;
    set->items[2].values[set->n_columns + PROCESS_WRITE] = 1000;
    set->items[3].values[PROCESS_WRITE] = 900;
    assert_int_equal(recording_find_unseen(&r), 0);
    assert_int_equal(series_value(set, &set->items[0], 2, PROCESS_WRITE), 100);
    assert_int_equal(series_value(set, &set->items[1], 0, PROCESS_WRITE), 900);
    assert_int_equal(series_value(set, &set->items[2], 1, PROCESS_WRITE), 1000);
    recording_release(&r);
}

static double growth(const struct recording *r, size_t series, size_t column, int64_t from_ns,
                     int64_t to_ns) {
    const struct series_set *set = &r->tables[RECORDING_PROCESS];
    struct window w = {from_ns, to_ns};
    return series_growth(set, &set->items[series], column, (struct windows){&w, 1}, NULL);
}

/* The kernel charged 1.5 s to the command; rows show 1.1 s. */
static void what_no_row_tells_is_a_process_of_its_own(void **state) {
    const int64_t sh[][2] = {{500, 0}, {500, 100}};
    struct recording r;
    (void)state;
    recording_init(&r);
    r.duration_ns = 2500 * MS;
    plant(&r, 7, 1, 1, 2, sh);
    assert_int_equal(recording_find_unseen(&r), 0);
    struct recording_usage usage = {1500 * MS, VALUE_ABSENT, 4096};
    assert_int_equal(recording_add_usage(&r, 0, &usage), 0);
    assert_int_equal(r.tables[RECORDING_PROCESS].n, 2);
    assert_string_equal(r.tables[RECORDING_PROCESS].items[1].name, RECORDING_ENDED);
    assert_true(growth(&r, 1, PROCESS_UNSEEN, 0, r.duration_ns) == 400.0 * MS);
    assert_true(growth(&r, 1, PROCESS_UNSEEN, 1500 * MS, r.duration_ns) == 400.0 * MS);
    assert_true(growth(&r, 1, PROCESS_WRITE, 0, r.duration_ns) == 4096);
    assert_true(growth(&r, 1, PROCESS_READ, 0, r.duration_ns) == 0);
    recording_release(&r);
    recording_init(&r); /* more than a core can do in the last second: spread over the whole run */
    r.duration_ns = 10 * S;
    usage.cpu_ns = 5 * S;
    assert_int_equal(recording_add_usage(&r, 0, &usage), 0);
    assert_true(growth(&r, 0, PROCESS_UNSEEN, 0, 5 * S) == 2.5 * S);
    recording_release(&r);
}

/* A process was sampled at 1 s and 2 s, its rank ten times a second until 2.4 s. */
static void a_rank_is_known_to_its_last_row(void **state) {
    const int64_t rows[][2] = {{500, 0}, {500, 0}};
    struct recording r;
    int64_t values[RECORDING_COLUMNS_MAX] = {0};
    (void)state;
    recording_init(&r);
    r.duration_ns = 2500 * MS;
    r.hosts = calloc(1, sizeof *r.hosts);
    r.hosts[0] = strdup("vm2");
    r.n_hosts = 1;
    plant(&r, 7, 1, 1, 2, rows);
    values[RANK_PID] = 7;
    values[RANK_RUN] = 50 * MS;
    for (int i = 1; i <= 24; i++)
        series_set_append(&r.tables[RECORDING_RANK], 0, 70, "rank 0 [7]", i * 100 * MS, 100 * MS,
                          values);
    assert_int_equal(recording_add_rank_tails(&r, 0), 0);
    assert_int_equal(r.tables[RECORDING_PROCESS].n, 1); /* the command's host has another source */
    assert_int_equal(recording_add_rank_tails(&r, -1), 0);
    assert_int_equal(r.tables[RECORDING_PROCESS].n, 2);
    assert_true(growth(&r, 1, PROCESS_UNSEEN, 0, r.duration_ns) == 200.0 * MS);
    recording_release(&r);
}

/* Its first row reaches back to before the command, its last row to the sample after its end. */
static void the_job_works_while_the_command_runs(void **state) {
    const int64_t rows[][2] = {{300, -1}, {300, -1}};
    struct recording r;
    (void)state;
    recording_init(&r);
    r.duration_ns = 1200 * MS;
    plant(&r, 7, 1, 1, 2, rows);
    struct series_set *set = &r.tables[RECORDING_PROCESS];
    set->items[0].t_ns[0] = 500 * MS;
    set->items[0].t_ns[1] = 1500 * MS;
    set->items[0].values[set->n_columns + PROCESS_PEAK_RSS] = 1;
    recording_settle(&r);
    assert_true(growth(&r, 0, PROCESS_USER, 0, r.duration_ns) == 600.0 * MS);
    assert_true(growth(&r, 0, PROCESS_USER, 0, 500 * MS) == 300.0 * MS);
    recording_release(&r);
}

/* A parent may wait late for its children, an id may be used again, a circle of parents must not
 * hang, and what was not recorded is absent.
 */
static void hostile_families_cost_nothing(void **state) {
    const int64_t late[][2] = {{0, 0}, {0, 0}, {0, 0}, {0, 800}}, child[][2] = {{500, 0}},
                  old[][2] = {{5, -1}};
    struct recording r;
    (void)state;
    recording_init(&r);
    plant(&r, 7, 9, 1, 4, late);
    plant(&r, 8, 7, 1, 1, child);
    plant(&r, 9, 7, 1, 1, child);
    plant(&r, 8, 8, 3, 1, old);
    assert_int_equal(recording_find_unseen(&r), 0);
    assert_int_equal(unseen_ms(&r, 0, 3), 0);
    assert_int_equal(unseen_ms(&r, 3, 0), 0);
    recording_release(&r);
    recording_init(&r); /* counters that no machine reaches */
    plant(&r, 7, 1, 1, 2, (const int64_t[][2]){{0, 0}, {0, INT64_MAX / MS}});
    plant(&r, 8, 7, 1, 1, (const int64_t[][2]){{INT64_MAX / MS, 0}});
    r.tables[RECORDING_PROCESS]
        .items[0]
        .values[r.tables[RECORDING_PROCESS].n_columns + PROCESS_CHILDREN] = INT64_MAX;
    assert_int_equal(recording_find_unseen(&r), 0);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rows_of_a_child_told_is_not_told_twice),
        cmocka_unit_test(what_ends_with_its_parent_comes_to_the_grandparent),
        cmocka_unit_test(bytes_of_children_are_told_once),
        cmocka_unit_test(what_no_row_tells_is_a_process_of_its_own),
        cmocka_unit_test(a_rank_is_known_to_its_last_row),
        cmocka_unit_test(the_job_works_while_the_command_runs),
        cmocka_unit_test(hostile_families_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
