/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/stats.h"
#include "analysis/straggler.h"

#define N 100

/* +-5 %, the same every time. */
static double jitter(uint64_t *random) {
    return 0.95 + 0.1 * (double)stats_random_below(random, 1000) / 1000;
}

static struct straggler_judgement judge(double factor, size_t from, size_t every) {
    double own[N], reference[N], medians[3] = {1, 1.01, 0.99};
    uint64_t random = 7;
    for (size_t i = 0; i < N; i++) {
        bool slow = i >= from && (i % 10) < every;
        own[i] = jitter(&random) * (slow ? factor : 1);
        reference[i] = 1;
    }
    return straggler_judge(own, reference, N, medians, 3);
}

static void jitter_is_not_straggling(void **state) {
    (void)state;
    assert_null(judge(1, 0, 10).kind);
    assert_null(judge(1.05, 0, 10).kind);
}

static void a_rank_a_fifth_slower_is_a_persistent_straggler(void **state) {
    struct straggler_judgement j = judge(1.2, 0, 10);
    (void)state;
    assert_string_equal(j.kind, "persistent");
    assert_true(j.ratio > 1.15 && j.ratio < 1.25);
}

static void slow_in_seven_of_ten_is_intermittent(void **state) {
    (void)state;
    assert_string_equal(judge(1.5, 0, 7).kind, "intermittent");
}

static void slow_from_a_point_on_is_an_onset(void **state) {
    (void)state;
    assert_string_equal(judge(1.5, 30, 10).kind, "onset");
}

static void slow_now_and_then_is_none(void **state) {
    (void)state;
    assert_null(judge(2, 0, 3).kind);
}

static void too_few_iterations_name_nobody(void **state) {
    const double own[] = {2, 2, 2, 2, 2, 2, 2, 2, 2}, reference[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double medians[] = {1, 1};
    (void)state;
    assert_null(straggler_judge(own, reference, 9, medians, 2).kind);
}

/* Peers that differ among themselves by as much hide it. */
static void a_wide_spread_of_peers_excuses(void **state) {
    double own[20], reference[20];
    const double wide[] = {0.7, 0.9, 1, 1.1, 1.3}, narrow[] = {0.99, 1, 1, 1, 1.01};
    (void)state;
    for (int i = 0; i < 20; i++) {
        own[i] = 1.3;
        reference[i] = 1;
    }
    assert_null(straggler_judge(own, reference, 20, wide, 5).kind);
    assert_non_null(straggler_judge(own, reference, 20, narrow, 5).kind);
}

/* ---- whole scenes ---- */

static double no_traffic(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 1e6;
}

static void find(struct recording *r, struct stragglers *found) {
    struct scene scene;
    for (size_t h = 0; h < r->n_hosts; h++)
        plant(r, RECORDING_NET, (int)h, "eth0", 0.1, 0, no_traffic);
    assert_int_equal(scene_build(r, &scene), 0);
    assert_int_equal(straggler_find(&scene, found), 0);
    scene_release(&scene);
    recording_release(r);
}

static void mark_rank(struct recording *r, int rank, double iteration_s) {
    int n = (int)((double)r->duration_ns / 1e9 / iteration_s);
    for (int i = 0; i < n; i++)
        plant_mark(r, MARK_ITERATION, "", rank, rank, i, i * iteration_s, iteration_s);
}

static void free_ranks_are_judged_by_their_own_times(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 3, 60);
    for (int rank = 0; rank < 3; rank++) {
        mark_rank(&r, rank, rank == 2 ? 1.5 : 1);
        plant_process(&r, rank, "p", (struct plant_process){rank, 0.5, rank == 2 ? 0.3 : 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.items[0].rank, 2);
    assert_true(fabs(found.items[0].slowdown - 1.5) < 0.01);
    assert_non_null(strstr(found.items[0].cause, "contention"));
    stragglers_release(&found);
}

/* All take 3 s an iteration; rank 1 computes for 2.7 of them, the others for 1.2 and wait. */
static void in_step_the_one_that_works_longest_is_found(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, rank == 1 ? 0.9 : 0.4, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.items[0].rank, 1);
    assert_non_null(strstr(found.items[0].cause, "CPU"));
    stragglers_release(&found);
}

static void in_step_equal_work_names_nobody(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, 0.4, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    stragglers_release(&found);
}

/* The straggler has half a core, the innocent spin: each uses or wants its core all the time. */
static void spinning_ranks_are_not_judged(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p",
                      (struct plant_process){rank, rank ? 0.95 : 0.5, rank ? 0 : 0.5, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    assert_non_null(strstr(found.note, "spinning"));
    stragglers_release(&found);
}

/* A little of a long iteration more: 10 % of the iteration against 5 %. */
static void twice_of_next_to_nothing_is_no_straggler(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, rank == 1 ? 0.06 : 0.03, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    stragglers_release(&found);
}

/* The server computes more than any worker: it is no worker. */
static void a_server_is_not_a_slow_worker(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    plant_mark(&r, MARK_OPERATOR, "apply", 0, 0, 0, 1, 1);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, rank ? 0.4 : 0.8, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    stragglers_release(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jitter_is_not_straggling),
        cmocka_unit_test(a_rank_a_fifth_slower_is_a_persistent_straggler),
        cmocka_unit_test(slow_in_seven_of_ten_is_intermittent),
        cmocka_unit_test(slow_from_a_point_on_is_an_onset),
        cmocka_unit_test(slow_now_and_then_is_none),
        cmocka_unit_test(too_few_iterations_name_nobody),
        cmocka_unit_test(a_wide_spread_of_peers_excuses),
        cmocka_unit_test(free_ranks_are_judged_by_their_own_times),
        cmocka_unit_test(in_step_the_one_that_works_longest_is_found),
        cmocka_unit_test(in_step_equal_work_names_nobody),
        cmocka_unit_test(spinning_ranks_are_not_judged),
        cmocka_unit_test(twice_of_next_to_nothing_is_no_straggler),
        cmocka_unit_test(a_server_is_not_a_slow_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
