/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/iteration/phase.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-6)

static void phases_are_those_of_the_lowest_rank_that_marks_any(void **state) {
    struct recording r;
    struct phase *phases;
    size_t n;
    (void)state;
    plant_init(&r, 1, 10);
    plant_mark(&r, MARK_PHASE, "other", 3, 0, 0, 0, 9);
    plant_mark(&r, MARK_PHASE, "other", -1, 0, 0, 0, 9);
    plant_mark(&r, MARK_PHASE, "training", 1, 0, 0, 1, NAN); /* at its begin, and again when
                                                                complete */
    plant_mark(&r, MARK_PHASE, "testing", 1, 0, 0, 5, 2);
    plant_mark(&r, MARK_PHASE, "training", 1, 0, 0, 1, 3);
    assert_int_equal(phases_from_marks(&r, &phases, &n), 0);
    assert_int_equal(n, 2);
    assert_string_equal(phases[0].name, "training");
    assert_int_equal(phases[0].end_ns, 4 * S);
    assert_string_equal(phases[1].name, "testing");
    free(phases);
    recording_release(&r);
}

static void an_open_phase_ends_with_the_next_or_with_the_run(void **state) {
    struct recording r;
    struct phase *phases;
    size_t n;
    (void)state;
    plant_init(&r, 1, 10);
    plant_mark(&r, MARK_PHASE, "a", 0, 0, 0, 1, NAN);
    plant_mark(&r, MARK_PHASE, "b", 0, 0, 0, 4, NAN);
    plant_mark(&r, MARK_PHASE, "late", 0, 0, 0, 12, NAN);
    assert_int_equal(phases_from_marks(&r, &phases, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(phases[0].end_ns, 4 * S);
    assert_int_equal(phases[1].end_ns, 10 * S);
    free(phases);
    recording_release(&r);
}

static void phases_of_one_name_are_one_group(void **state) {
    const struct phase phases[] = {{"x", 0, 1 * S}, {"y", 1 * S, 2 * S}, {"x", 2 * S, 5 * S}};
    struct phase_group *groups;
    size_t n;
    (void)state;
    assert_int_equal(phase_groups_make(phases, 3, 6 * S, NULL, &groups, &n), 0);
    assert_int_equal(n, 3);
    assert_string_equal(groups[0].name, "all");
    assert_int_equal(windows_length(phase_windows(&groups[0])), 6 * S);
    assert_string_equal(groups[1].name, "x");
    assert_int_equal(groups[1].n, 2);
    assert_int_equal(windows_length(phase_windows(&groups[1])), 4 * S);
    phase_groups_free(groups, n);
}

static void time_in_no_phase_is_a_group_where_it_is_long(void **state) {
    const struct phase phases[] = {{"x", 1 * S, 4 * S}, {"y", 4 * S, 6 * S}, {"x", 7 * S, 10 * S}};
    struct phase_group *groups;
    size_t n;
    (void)state;
    assert_int_equal(phase_groups_make(phases, 3, 11 * S, NULL, &groups, &n), 0);
    assert_int_equal(n, 4);
    assert_string_equal(groups[3].name, PHASE_OUTSIDE);
    assert_int_equal(groups[3].n, 3);
    assert_int_equal(groups[3].items[0].begin_ns, 0);
    assert_int_equal(groups[3].items[1].begin_ns, 6 * S);
    assert_int_equal(groups[3].items[2].end_ns, 11 * S);
    assert_int_equal(windows_length(phase_windows(&groups[3])), 3 * S);
    phase_groups_free(groups, n);
    assert_int_equal(phase_groups_make(phases, 2, 6 * S, NULL, &groups, &n), 0); /* one second */
    assert_int_equal(n, 3);
    phase_groups_free(groups, n);
    assert_int_equal(phase_groups_make(phases, 3, 60 * S, NULL, &groups, &n), 0);
    assert_int_equal(n, 4);
    phase_groups_free(groups, n);
    const struct phase most = {"x", 0, 97 * S}; /* 3 s of 100 */
    assert_int_equal(phase_groups_make(&most, 1, 100 * S, NULL, &groups, &n), 0);
    assert_int_equal(n, 2);
    phase_groups_free(groups, n);
    assert_int_equal(phase_groups_make(NULL, 0, 6 * S, NULL, &groups, &n), 0);
    assert_int_equal(n, 1);
    phase_groups_free(groups, n);
}

static void ranks_that_end_together_move_in_step(void **state) {
    struct recording r;
    struct iterations it;
    (void)state;
    plant_init(&r, 1, 30);
    for (int rank = 0; rank < 3; rank++)
        for (int i = 0; i < 20; i++)
            plant_mark(&r, MARK_ITERATION, "", rank, 0, i, i + 0.01 * rank, 1);
    assert_int_equal(iterations_from_marks(&r, &it), 0);
    assert_int_equal(it.n, 3);
    assert_true(it.lockstep);
    assert_int_equal(it.ranks[2].rank, 2);
    assert_int_equal(it.ranks[2].n, 20);
    struct window half = {0, 10 * S};
    NEAR(iteration_median(&it.ranks[0], (struct windows){&half, 1}), 1);
    iterations_release(&it);
    recording_release(&r);
}

static void ranks_of_their_own_pace_do_not(void **state) {
    struct recording r;
    struct iterations it;
    (void)state;
    plant_init(&r, 1, 30);
    for (int i = 0; i < 20; i++) {
        plant_mark(&r, MARK_ITERATION, "", 0, 0, i, i, 1);
        plant_mark(&r, MARK_ITERATION, "", 1, 0, i, 1.5 * i, 1.5);
    }
    assert_int_equal(iterations_from_marks(&r, &it), 0);
    assert_false(it.lockstep);
    iterations_release(&it);
    recording_release(&r);
}

/* The first mark of a loop has no begin, which duration 0 shows. */
static void an_iteration_without_a_beginning_is_left_out(void **state) {
    struct recording r;
    struct iterations it;
    (void)state;
    plant_init(&r, 1, 30);
    plant_mark(&r, MARK_ITERATION, "", 0, 0, 0, 1, 0);
    plant_mark(&r, MARK_ITERATION, "", 0, 0, 1, 1, 2);
    plant_mark(&r, MARK_ITERATION, "", 0, 0, 2, 3, NAN);
    assert_int_equal(iterations_from_marks(&r, &it), 0);
    assert_int_equal(it.n, 1);
    assert_int_equal(it.ranks[0].n, 1);
    iterations_release(&it);
    recording_release(&r);
}

static void operators_tell_roles_apart(void **state) {
    struct recording r;
    struct iterations it;
    (void)state;
    plant_init(&r, 1, 30);
    for (int rank = 0; rank < 3; rank++) {
        plant_mark(&r, MARK_ITERATION, "", rank, 0, 0, 0, 1);
        plant_mark(&r, MARK_OPERATOR, "gradient", rank, 0, 0, 0, 0.1);
    }
    plant_mark(&r, MARK_OPERATOR, "apply", 0, 0, 0, 0.5, 0.1);
    assert_int_equal(iterations_from_marks(&r, &it), 0);
    assert_int_not_equal(it.ranks[0].role, it.ranks[1].role);
    assert_int_equal(it.ranks[1].role, it.ranks[2].role);
    iterations_release(&it);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_those_of_the_lowest_rank_that_marks_any),
        cmocka_unit_test(an_open_phase_ends_with_the_next_or_with_the_run),
        cmocka_unit_test(phases_of_one_name_are_one_group),
        cmocka_unit_test(time_in_no_phase_is_a_group_where_it_is_long),
        cmocka_unit_test(ranks_that_end_together_move_in_step),
        cmocka_unit_test(ranks_of_their_own_pace_do_not),
        cmocka_unit_test(an_iteration_without_a_beginning_is_left_out),
        cmocka_unit_test(operators_tell_roles_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
