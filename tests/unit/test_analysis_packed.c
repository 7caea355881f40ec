/* SPDX-License-Identifier: MIT */
/* Packed and quick forms give the same results as the plain ones beside them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/facts/calls/polling.h"
#include "analysis/facts/series/stats.h"
#include "analysis/facts/series/times.h"
#include "analysis/time/budget.h"
#include "tests/unit/mpi_plant.h"

static uint64_t seed = 11;

static int64_t draw(int64_t below) {
    return (int64_t)stats_random_below(&seed, (size_t)below);
}

/* ---- order ---- */

static void times_are_sorted_whatever_runs_they_have(void **state) {
    (void)state;
    for (size_t n = 0; n <= 200; n++)
        for (int runs = 0; runs < 4; runs++) {
            int64_t own[200], right[200];
            for (size_t i = 0; i < n; i++)
                own[i] = right[i] = runs == 0   ? draw(50)
                                    : runs == 1 ? (int64_t)(i % 37)
                                    : runs == 2 ? -(int64_t)i
                                                : (int64_t)(i / 3);
            qsort(right, n, sizeof *right, times_compare);
            assert_int_equal(times_sort(own, n), 0);
            if (n)
                assert_memory_equal(own, right, n * sizeof *own);
        }
}

static int compare_values(const void *a, const void *b) {
    double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;
    return (x > y) - (x < y);
}

static void weighted_values_are_sorted_as_numbers(void **state) {
    static const double some[] = {0, -0.0, 1e300, -1e300, 1e-310, -1e-310, INFINITY, -INFINITY};
    (void)state;
    for (size_t n = 1; n <= 120; n++) {
        struct weighted own[120], right[120];
        for (size_t i = 0; i < n; i++)
            own[i] = right[i] = (struct weighted){
                i % 5 ? (double)(draw(2001) - 1000) / 8 : some[i / 5 % 8], (double)draw(9)};
        stats_weighted_quantile(own, n, 0.3);
        qsort(right, n, sizeof *right, compare_values);
        for (size_t i = 0; i < n; i++)
            assert_true(own[i].value == right[i].value);
    }
}

/* ---- series ---- */

#define COLUMNS 9
#define ROWS 300

/* Column c has values of about 8 * c bits, and each third one lacks some. */
static int64_t value_at(size_t row, size_t column) {
    uint64_t drawn = stats_random(&seed);
    if (column == 8)
        return VALUE_ABSENT;
    if (column % 3 == 2 && row % 7 == 3)
        return VALUE_ABSENT;
    int64_t value = column ? (int64_t)(drawn >> (64 - 8 * column)) : 5;
    return column == 7 && value == VALUE_ABSENT ? 0 : column % 2 ? value : value - 100;
}

static void packed_series_have_their_values(void **state) {
    struct series_set set = {.n_columns = COLUMNS};
    int64_t right[ROWS][COLUMNS];
    (void)state;
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t c = 0; c < COLUMNS; c++)
            right[row][c] = value_at(row, c);
        assert_int_equal(series_set_append(&set, 0, 1, "one", (int64_t)row + 1, 1, right[row]), 0);
    }
    assert_int_equal(series_set_pack(&set), 0);
    assert_null(set.items[0].values);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t c = 0; c < COLUMNS; c++)
            assert_true(series_value(&set, &set.items[0], row, c) == right[row][c]);
    assert_int_equal(set.items[0].columns[0].width, 0);
    assert_int_equal(set.items[0].columns[8].width, 0);
    assert_true(set.items[0].columns[3].width == 4);
    assert_int_equal(series_set_pack(&set), 0); /* once is enough */
    series_set_release(&set);
}

/* Each row's part, one after the other. */
static double plain_growth(const struct series_set *set, struct window w) {
    const struct series *s = &set->items[0];
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        int64_t begin = s->t_ns[i] - s->interval_ns[i], end = s->t_ns[i];
        int64_t from = begin > w.begin_ns ? begin : w.begin_ns,
                to = end < w.end_ns ? end : w.end_ns;
        if (to > from)
            sum +=
                (double)series_value(set, s, i, 0) * ((double)(to - from) / (double)(end - begin));
    }
    return sum;
}

/* Half of the rows come ten times as often as the others. */
static void growth_is_found_in_rows_without_a_pace(void **state) {
    struct series_set set = {.n_columns = 1};
    int64_t t = 0;
    (void)state;
    for (size_t row = 0; row < ROWS; row++) {
        int64_t length = row < ROWS / 2 ? 10 + draw(3) : 100 + draw(30), value = draw(1000);
        t += length;
        assert_int_equal(series_set_append(&set, 0, 1, "one", t, length, &value), 0);
    }
    for (int i = 0; i < 3000; i++) {
        int64_t begin = draw(t + 200) - 100;
        struct window w = {begin, begin + draw(500)};
        double growth = series_growth(&set, &set.items[0], 0, (struct windows){&w, 1}, NULL);
        assert_true(fabs(growth - plain_growth(&set, w)) <= 1e-9);
    }
    series_set_release(&set);
}

/* ---- budgets ---- */

#define ROUNDS 3000
#define ROUND_NS 20000

/* The second rank sends at 15 of each 20 us, and the first waits for it from 5 on. */
static void plant_rounds(struct mpi_log *log) {
    for (int64_t i = 0; i < ROUNDS; i++) {
        int64_t t = i * ROUND_NS;
        PLANT(log, 0, 0, "MPI_Recv", 1, 1, 8, t + 5000, t + 16000);
        PLANT(log, 1, 0, "MPI_Send", 0, 1, 8, t + 15000, t + 16000);
    }
    assert_int_equal(mpi_log_finish(log), 0);
}

/* Cells are divided and forgotten while the events are still read. */
static void rounds_add_up_to_the_whole(void **state) {
    static struct window rounds[ROUNDS], whole = {0, ROUNDS * ROUND_NS};
    static struct windows windows[ROUNDS + 1];
    static struct budget budgets[ROUNDS + 1];
    struct budget_interval intervals[20];
    struct mpi_log log = {0};
    struct call_matches matches = {0};
    struct call_clock clock = {0};
    (void)state;
    plant_rounds(&log);
    assert_int_equal(call_match(&log, &clock, &matches), 0);
    for (int64_t i = 0; i < 20; i++)
        intervals[i] = (struct budget_interval){.begin_ns = i * 3 * 1000000,
                                                .end_ns = (i + 1) * 3 * 1000000,
                                                .cpu = 1e6 * (double)(i % 3),
                                                .run_queue = 2e5,
                                                .mpi = NAN,
                                                .mpi_cpu = NAN,
                                                .sending = NAN};
    windows[0] = (struct windows){&whole, 1};
    for (int64_t i = 0; i < ROUNDS; i++) {
        rounds[i] = (struct window){i * ROUND_NS, (i + 1) * ROUND_NS};
        windows[i + 1] = (struct windows){&rounds[i], 1};
    }
    struct budget_subject subject = {.end_ns = ROUNDS * ROUND_NS,
                                     .intervals = intervals,
                                     .n_intervals = 20,
                                     .log = &log,
                                     .matches = &matches,
                                     .clock = &clock};
    assert_int_equal(budget_make(&subject, windows, ROUNDS + 1, budgets, NULL), 0);
    for (int term = 0; term < BUDGET_TERMS; term++) {
        double sum = 0;
        for (size_t i = 1; i <= ROUNDS; i++)
            sum += stats_or_zero(budgets[i].term_s[term]);
        assert_true(fabs(sum - stats_or_zero(budgets[0].term_s[term])) <= 1e-9);
    }
    for (size_t i = 1; i <= ROUNDS; i++)
        assert_true(fabs(budgets[i].term_s[BUDGET_PEER_WAIT] - 10e-6) <= 1e-12);
    call_matches_release(&matches);
    mpi_log_release(&log);
}

/* ---- calls ---- */

static void a_call_is_a_line_of_the_cache(void **state) {
    struct mpi_event e = {.bytes = MPI_BYTES_MAX,
                          .thread = UINT16_MAX,
                          .cpu_ns = MPI_CPU_MAX_NS,
                          .gap_cpu_ns = MPI_CPU_MAX_NS,
                          .inside_ns = MPI_INSIDE_MAX_NS};
    (void)state;
    assert_int_equal(sizeof e, 64);
    assert_true(sizeof(struct call_need) == 24);
    assert_true(e.bytes == MPI_BYTES_MAX && e.thread == UINT16_MAX && e.cpu_ns == MPI_CPU_MAX_NS &&
                e.gap_cpu_ns == MPI_CPU_MAX_NS && e.inside_ns == MPI_INSIDE_MAX_NS);
}

/* A thread with a high number, as Fortran programs may have. */
static void the_main_thread_may_have_any_number(void **state) {
    struct mpi_log log = {0};
    uint16_t thread;
    (void)state;
    for (int i = 0; i < 10; i++)
        PLANT(&log, 0, 0, "MPI_Send", 1, 1, 8, 10 * i, 10 * i + 5,
              .thread = i % 3 == 0 ? 2 : UINT16_MAX);
    assert_int_equal(budget_main_thread(&log.ranks[0], &thread), 0);
    assert_int_equal(thread, UINT16_MAX);
    mpi_log_release(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_sorted_whatever_runs_they_have),
        cmocka_unit_test(weighted_values_are_sorted_as_numbers),
        cmocka_unit_test(packed_series_have_their_values),
        cmocka_unit_test(growth_is_found_in_rows_without_a_pace),
        cmocka_unit_test(rounds_add_up_to_the_whole),
        cmocka_unit_test(a_call_is_a_line_of_the_cache),
        cmocka_unit_test(the_main_thread_may_have_any_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
