/* SPDX-License-Identifier: MIT */
/* Names of roles: a single rank that is unlike all others is their server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reports/model/model_private.h"

enum { RANKS = 4 };

struct planted {
    struct rank_iterations iterations[RANKS];
    struct rank_budget budgets[RANKS + 1];
    struct run_model model;
};

/* Ranks 0, 1, ..., each on its own host, and a process of the job that is no rank. Role -2: it ends
 * no iteration.
 */
static void plant_ranks(struct planted *p, enum iteration_source source, const int roles[RANKS]) {
    *p = (struct planted){.model.iterations = {.source = source, .ranks = p->iterations},
                          .model.budgets = {.items = p->budgets, .n = RANKS + 1}};
    for (int r = 0; r < RANKS; r++) {
        p->budgets[r] = (struct rank_budget){.rank = r, .host = r};
        if (roles[r] >= 0)
            p->iterations[p->model.iterations.n++] =
                (struct rank_iterations){.rank = r, .host = r, .role = roles[r]};
    }
    p->budgets[RANKS].rank = -1;
}

static void a_server_that_marks_iterations_is_told_by_its_operators(void **state) {
    struct planted p;
    (void)state;
    plant_ranks(&p, ITERATION_MARKER, (const int[]){0, 1, 1, 1});
    assert_string_equal(report_role_name(&p.model, 0), "server");
    assert_string_equal(report_role_name(&p.model, 1), "worker");
}

static void a_server_apart_ends_no_iteration_and_is_one_all_the_same(void **state) {
    struct planted p;
    (void)state;
    plant_ranks(&p, ITERATION_MARKER, (const int[]){-2, 0, 0, 0});
    assert_string_equal(report_role_name(&p.model, ROLE_WITHOUT_ITERATIONS), "server");
    assert_string_equal(report_role_name(&p.model, 0), "worker");
}

static void ranks_that_are_all_alike_have_no_role(void **state) {
    struct planted p;
    (void)state;
    plant_ranks(&p, ITERATION_MARKER, (const int[]){0, 0, 0, 0});
    assert_string_equal(report_role_name(&p.model, 0), "");
    assert_string_equal(report_role_name(&p.model, ROLE_WITHOUT_ITERATIONS), "");
}

static void of_three_roles_none_is_named(void **state) {
    struct planted p;
    (void)state;
    plant_ranks(&p, ITERATION_MARKER, (const int[]){-2, 0, 1, 1});
    assert_string_equal(report_role_name(&p.model, ROLE_WITHOUT_ITERATIONS), "");
    assert_string_equal(report_role_name(&p.model, 0), "");
}

static void several_ranks_without_iterations_are_no_server(void **state) {
    struct planted p;
    (void)state;
    plant_ranks(&p, ITERATION_MARKER, (const int[]){-2, -2, 0, 0});
    assert_string_equal(report_role_name(&p.model, ROLE_WITHOUT_ITERATIONS), "");
    assert_string_equal(report_role_name(&p.model, 0), "");
}

/* A loop that was found in the calls of three ranks says nothing about the fourth. */
static void iterations_that_nobody_marked_tell_no_server(void **state) {
    struct planted p;
    (void)state;
    plant_ranks(&p, ITERATION_CALLS, (const int[]){-2, 0, 0, 0});
    assert_string_equal(report_role_name(&p.model, ROLE_WITHOUT_ITERATIONS), "");
    assert_string_equal(report_role_name(&p.model, 0), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_marks_iterations_is_told_by_its_operators),
        cmocka_unit_test(a_server_apart_ends_no_iteration_and_is_one_all_the_same),
        cmocka_unit_test(ranks_that_are_all_alike_have_no_role),
        cmocka_unit_test(of_three_roles_none_is_named),
        cmocka_unit_test(several_ranks_without_iterations_are_no_server),
        cmocka_unit_test(iterations_that_nobody_marked_tell_no_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
