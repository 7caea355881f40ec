/* SPDX-License-Identifier: MIT */
/* One process with several names is one process of the recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/facts/recording/recording.h"
#include "common/clock.h"

#define S NS_PER_S

struct row {
    const char *name;
    int64_t instance;
    double t_s;
    int64_t used_ns; /* VALUE_ABSENT: the first under that name */
};

static void plant(struct recording *r, int64_t pid, int64_t start_ns, const struct row *rows,
                  size_t n) {
    struct series_set *set = &r->tables[RECORDING_PROCESS];
    for (size_t i = 0; i < n; i++) {
        int64_t values[64];
        for (size_t c = 0; c < set->n_columns; c++)
            values[c] = VALUE_ABSENT;
        values[PROCESS_PID] = pid;
        values[PROCESS_START] = start_ns + (int64_t)i * 1000; /* the host's clock drifts */
        values[PROCESS_USER] = rows[i].used_ns;
        int64_t interval = rows[i].used_ns == VALUE_ABSENT ? VALUE_ABSENT : S;
        assert_int_equal(series_set_append(set, 0, rows[i].instance, rows[i].name,
                                           (int64_t)(rows[i].t_s * (double)S), interval, values),
                         0);
    }
}

static double used_s(const struct recording *r, size_t at, int64_t *ret_covered_ns) {
    struct window all = {0, 100 * S};
    const struct series_set *set = &r->tables[RECORDING_PROCESS];
    return series_growth(set, &set->items[at], PROCESS_USER, (struct windows){&all, 1},
                         ret_covered_ns) /
           1e9;
}

/* `sh` calls exec: its last row counts what both did in that second. */
static void a_wrapper_and_what_it_executes_are_one_process(void **state) {
    const struct row rows[] = {{"sh[7]", 1, 1, S / 10},
                               {"sh[7]", 1, 2, 9 * S / 10},
                               {"train[7]", 2, 2, VALUE_ABSENT},
                               {"train[7]", 2, 3, S}};
    struct recording r;
    int64_t covered;
    (void)state;
    recording_init(&r);
    plant(&r, 7, 5 * S, rows, 4);
    plant(&r, 9, 5 * S, &(struct row){"other[9]", 3, 2, S / 2}, 1);
    assert_int_equal(recording_join_names(&r), 0);
    assert_int_equal(r.tables[RECORDING_PROCESS].n, 2);
    assert_string_equal(r.tables[RECORDING_PROCESS].items[0].name, "train[7]");
    assert_int_equal(r.tables[RECORDING_PROCESS].items[0].instance, 2);
    assert_true(used_s(&r, 0, &covered) == 2.0);
    assert_int_equal(covered, 3 * S);
    assert_string_equal(r.tables[RECORDING_PROCESS].items[1].name, "other[9]");
    recording_release(&r);
}

/* A process id may be used again. */
static void a_successor_with_the_same_id_is_another_process(void **state) {
    struct recording r;
    (void)state;
    recording_init(&r);
    plant(&r, 7, 5 * S, &(struct row){"sh[7]", 1, 1, S}, 1);
    plant(&r, 7, 6 * S, &(struct row){"train[7]", 2, 3, S}, 1);
    plant(&r, 8, INT64_MIN + 1, &(struct row){"a[8]", 3, 3, S}, 1);
    plant(&r, 8, INT64_MAX - 1, &(struct row){"b[8]", 4, 3, S}, 1);
    assert_int_equal(recording_join_names(&r), 0);
    assert_int_equal(r.tables[RECORDING_PROCESS].n, 4);
    recording_release(&r);
}

/* Back to an earlier name: growth that both names report for the same second counts once. */
static void a_title_that_comes_and_goes_counts_once(void **state) {
    const struct row first[] = {{"a[7]", 1, 1, S}, {"a[7]", 1, 2, S}, {"a[7]", 1, 3, S}};
    const struct row second[] = {
        {"b[7]", 2, 2, VALUE_ABSENT}, {"b[7]", 2, 3, S}, {"b[7]", 2, 4, S}};
    struct recording r;
    int64_t covered;
    (void)state;
    recording_init(&r);
    plant(&r, 7, 5 * S, first, 3);
    plant(&r, 7, 5 * S, second, 3);
    assert_int_equal(recording_join_names(&r), 0);
    assert_int_equal(r.tables[RECORDING_PROCESS].n, 1);
    assert_true(used_s(&r, 0, &covered) == 4.0);
    assert_int_equal(covered, 4 * S);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrapper_and_what_it_executes_are_one_process),
        cmocka_unit_test(a_successor_with_the_same_id_is_another_process),
        cmocka_unit_test(a_title_that_comes_and_goes_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
