/* SPDX-License-Identifier: MIT */
/* Phases of programs that mark none: planted ones are found, and none if nothing changes. */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/facts/iteration/phase_detect.h"
#include "analysis/facts/series/stats.h"

static double uniform(uint64_t *random) {
    return (double)stats_random_below(random, 1000000) / 1e6;
}

/* ---- change points ---- */

static void steps_are_found_where_they_are(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        double values[600 * PHASE_FEATURES] = {0};
        size_t truth[8], ends[600], n = 0, found, pieces = 1 + seed % 6, at = 0;
        uint64_t random = seed;
        double level = 0.2;
        for (size_t p = 0; p < pieces; p++) {
            size_t length = 20 + stats_random_below(&random, 80);
            level = level > 0.5 ? level - 0.25 - 0.2 * uniform(&random)
                                : level + 0.25 + 0.2 * uniform(&random);
            for (size_t i = 0; i < length; i++, at++)
                values[at * PHASE_FEATURES] = level + 0.1 * (uniform(&random) - 0.5);
            truth[n++] = at;
        }
        assert_int_equal(phase_change_points((struct phase_signal){values, at}, 6, ends, &found),
                         0);
        assert_int_equal(found, n);
        for (size_t i = 0; i < n; i++)
            assert_true(ends[i] + 1 >= truth[i] && ends[i] <= truth[i] + 1);
    }
}

static void noise_has_no_steps(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        double values[500 * PHASE_FEATURES];
        size_t ends[500], found;
        uint64_t random = seed;
        for (size_t i = 0; i < sizeof values / sizeof *values; i++)
            values[i] = 0.4 + 0.4 * (uniform(&random) - 0.5);
        assert_int_equal(phase_change_points((struct phase_signal){values, 500}, 6, ends, &found),
                         0);
        assert_int_equal(found, 1);
        assert_int_equal(ends[0], 500);
    }
}

/* ---- whole recordings ---- */

/* Loads from disk for 10 s, then computes, with 8 s of communication every 30 s. */
static enum { LOADS, COMPUTES, TALKS } what_at(double t_s) {
    return t_s < 10 ? LOADS : fmod(t_s - 10, 30) >= 22 ? TALKS : COMPUTES;
}

static double of_rank(size_t column, double t_s) {
    return column == RANK_PID   ? 1000
           : column == RANK_RUN ? 1e9 * (what_at(t_s) == COMPUTES ? 0.9 : 0.2)
                                : 0;
}

static double of_mpi(size_t column, double t_s) {
    return column == MPI_PID      ? 1000
           : column == MPI_RANK   ? 0
           : column == MPI_INSIDE ? 1e9 * (what_at(t_s) == TALKS ? 0.8 : 0.05)
                                  : 0;
}

static double of_disk(size_t column, double t_s) {
    return column == DISK_BUSY ? 1e9 * (what_at(t_s) == LOADS ? 0.9 : 0.01) : 0;
}

static double alternating(size_t column, double t_s) {
    return column == RANK_PID   ? 1000
           : column == RANK_RUN ? 1e9 * (fmod(t_s, 8) < 4 ? 0.9 : 0.1)
                                : 0;
}

static void planted_phases_have_names_that_recur(void **state) {
    static const char *const names[] = {"disk",          "compute", "communication", "compute",
                                        "communication", "compute", "communication"};
    struct recording r;
    struct iterations none = {.n = 0};
    struct phase *phases;
    size_t n;
    (void)state;
    plant_init(&r, 1, 100);
    plant(&r, RECORDING_RANK, 0, "rank 0", 0.1, 1u << RANK_PID, of_rank);
    plant(&r, RECORDING_MPI, 0, "rank 0", 0.1, 1u << MPI_PID | 1u << MPI_RANK, of_mpi);
    plant(&r, RECORDING_DISK, 0, "vda", 0.1, 0, of_disk);
    assert_int_equal(phases_detect(&r, &none, &phases, &n), 0);
    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(phases[i].name, names[i]);
        if (i)
            assert_int_equal(phases[i].begin_ns, phases[i - 1].end_ns);
    }
    assert_true(llabs(phases[0].end_ns - 10 * S) <= S);
    assert_true(llabs(phases[1].end_ns - 32 * S) <= S);
    assert_int_equal(phases[6].end_ns, 100 * S);
    free(phases);
    recording_release(&r);
}

/* Computes in the second half, and always sends, a little more in that half. */
static double sent_mb_s[2];
static double of_half(size_t column, double t_s) {
    return column == RANK_PID ? 1000 : column == RANK_RUN ? (t_s < 50 ? 0.1e9 : 0.9e9) : 0;
}
static double of_sending(size_t column, double t_s) {
    return column == NET_SEND_BYTES ? sent_mb_s[t_s >= 50] * 1e6 : 0;
}

static void expect_first_phase(size_t hosts, double first_mb_s, double then_mb_s,
                               const char *name) {
    struct recording r;
    struct iterations none = {.n = 0};
    struct phase *phases;
    size_t n;
    sent_mb_s[0] = first_mb_s;
    sent_mb_s[1] = then_mb_s;
    plant_init(&r, hosts, 100);
    plant(&r, RECORDING_RANK, 0, "rank 0", 0.1, 1u << RANK_PID, of_half);
    plant(&r, RECORDING_NET, 0, "eth0", 0.1, 0, of_sending);
    assert_int_equal(phases_detect(&r, &none, &phases, &n), 0);
    assert_int_equal(n, 2);
    assert_string_equal(phases[0].name, name);
    free(phases);
    recording_release(&r);
}

static void a_phase_that_hardly_sends_is_not_named_by_its_network(void **state) {
    (void)state;
    expect_first_phase(1, 0.8, 1.2, "idle");
    expect_first_phase(1, 80, 120, "network");
}

static void hosts_that_send_nothing_do_not_rename_a_phase(void **state) {
    (void)state;
    expect_first_phase(16, 80, 120, "network");
}

/* 4 s of computing and 4 s of waiting are an iteration of 8 s, and no phases. */
static void what_an_iteration_does_in_turn_is_no_phase(void **state) {
    struct recording r;
    struct iterations iterations;
    struct phase *phases;
    size_t n;
    (void)state;
    plant_init(&r, 1, 160);
    plant(&r, RECORDING_RANK, 0, "rank 0", 0.1, 1u << RANK_PID, alternating);
    for (int i = 0; i < 20; i++)
        plant_mark(&r, MARK_ITERATION, "", 0, 0, i, 8 * i, 8);
    assert_int_equal(iterations_from_marks(&r, &iterations), 0);
    assert_int_equal(phases_detect(&r, &iterations, &phases, &n), 0);
    assert_int_equal(n, 0);
    free(phases);
    iterations_release(&iterations);
    recording_release(&r);
}

static double more_later(size_t column, double t_s) {
    return column == RANK_PID   ? 1000
           : column == RANK_RUN ? 1e9 * (fmod(t_s, 8) < (t_s < 80 ? 4 : 5.2) ? 0.9 : 0.1)
                                : 0;
}

/* It computes for half of each iteration, later for two thirds: the alternation does not hide that.
 */
static void a_change_from_iteration_to_iteration_is_a_phase(void **state) {
    struct recording r;
    struct iterations iterations;
    struct phase *phases;
    size_t n;
    (void)state;
    plant_init(&r, 1, 160);
    plant(&r, RECORDING_RANK, 0, "rank 0", 0.1, 1u << RANK_PID, more_later);
    for (int i = 0; i < 20; i++)
        plant_mark(&r, MARK_ITERATION, "", 0, 0, i, 8 * i, 8);
    assert_int_equal(iterations_from_marks(&r, &iterations), 0);
    assert_int_equal(phases_detect(&r, &iterations, &phases, &n), 0);
    assert_int_equal(n, 2);
    assert_true(llabs(phases[0].end_ns - 80 * S) <= 8 * S);
    free(phases);
    iterations_release(&iterations);
    recording_release(&r);
}

static double busy(size_t column, double t_s) {
    (void)t_s;
    return column == RANK_PID ? 1000 : column == RANK_RUN ? 0.9e9 : 0;
}

/* One of two ranks ends after half of the time; the other computes as before. */
static void the_end_of_a_rank_is_no_phase(void **state) {
    struct recording r;
    struct iterations none = {.n = 0};
    struct phase *phases;
    size_t n;
    (void)state;
    plant_init(&r, 2, 40);
    plant_part(&r, RECORDING_RANK, 0, 7, "rank 0", 0.1, 0, 40, 1u << RANK_PID, busy);
    plant_part(&r, RECORDING_RANK, 1, 8, "rank 1", 0.1, 0, 20, 1u << RANK_PID, busy);
    assert_int_equal(phases_detect(&r, &none, &phases, &n), 0);
    assert_int_equal(n, 0);
    free(phases);
    recording_release(&r);
}

static void a_run_of_nothing_has_no_phases(void **state) {
    struct recording r;
    struct iterations none = {.n = 0};
    struct phase *phases;
    size_t n;
    (void)state;
    plant_init(&r, 1, 0);
    assert_int_equal(phases_detect(&r, &none, &phases, &n), 0);
    assert_int_equal(n, 0);
    free(phases);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_found_where_they_are),
        cmocka_unit_test(noise_has_no_steps),
        cmocka_unit_test(planted_phases_have_names_that_recur),
        cmocka_unit_test(a_phase_that_hardly_sends_is_not_named_by_its_network),
        cmocka_unit_test(hosts_that_send_nothing_do_not_rename_a_phase),
        cmocka_unit_test(what_an_iteration_does_in_turn_is_no_phase),
        cmocka_unit_test(a_change_from_iteration_to_iteration_is_a_phase),
        cmocka_unit_test(the_end_of_a_rank_is_no_phase),
        cmocka_unit_test(a_run_of_nothing_has_no_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
