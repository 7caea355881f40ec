/* SPDX-License-Identifier: MIT */
/* The input of a sweep: lists, scans, pairs, the command with values in it, and the runs left to
 * make.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/sweep/parameters.h"
#include "cli/sweep/plan.h"
#include "cli/sweep/shown.h"
#include "common/error.h"

struct fixture {
    struct sweep_parameters parameters;
    char why[PARAMETERS_WHY];
};

static int setup(void **state) {
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    parameters_release(&f->parameters);
    free(f);
    return 0;
}

static void list(struct fixture *f, const char *name, const char *values) {
    assert_int_equal(parameters_add_list(&f->parameters, name, values, f->why), 0);
}

static void expect_cell(struct fixture *f, size_t cell, const char *expected) {
    size_t value[SWEEP_PARAMETERS_MAX];
    char text[100];
    parameters_cell(&f->parameters, cell, value);
    parameters_describe(&f->parameters, value, " ", text, sizeof text);
    assert_string_equal(text, expected);
}

static void the_last_parameter_changes_fastest(void **state) {
    struct fixture *f = *state;
    list(f, "mode", "sync,async");
    list(f, "batch", "1,10,100");
    assert_int_equal(parameters_cells(&f->parameters), 6);
    expect_cell(f, 0, "mode=sync batch=1");
    expect_cell(f, 1, "mode=sync batch=10");
    expect_cell(f, 3, "mode=async batch=1");
    expect_cell(f, 5, "mode=async batch=100");
}

static void expect_word(struct fixture *f, size_t cell, const char *word, const char *expected) {
    char *command[] = {(char *)word, NULL};
    size_t value[SWEEP_PARAMETERS_MAX];
    parameters_cell(&f->parameters, cell, value);
    char **words = parameters_expand(&f->parameters, value, command);
    assert_non_null(words);
    assert_string_equal(words[0], expected);
    assert_null(words[1]);
    parameters_free_words(words);
}

static void values_stand_for_their_names(void **state) {
    struct fixture *f = *state;
    list(f, "mode", "sync,{mode}");
    list(f, "n", "1");
    expect_word(f, 0, "--mode={mode}{n}", "--mode=sync1");
    expect_word(f, 0, "{other} { mode} {mode {}", "{other} { mode} {mode {}");
    expect_word(f, 1, "{mode}", "{mode}"); /* a value is not expanded again */
    expect_word(f, 0, "", "");
}

static void a_comma_can_be_in_a_value(void **state) {
    struct fixture *f = *state;
    list(f, "hosts", "a\\,b,c\\d");
    expect_cell(f, 0, "hosts=a,b");
    expect_cell(f, 1, "hosts=c\\d");
}

static void two_names_change_together(void **state) {
    struct fixture *f = *state;
    list(f, "mode:ranks", "single:1,sync:4");
    assert_int_equal(parameters_cells(&f->parameters), 2);
    expect_word(f, 1, "{ranks}x{mode}", "4xsync");
    expect_cell(f, 0, "mode:ranks=single:1");
    /* without a second name a colon is plain text */
    list(f, "host", "vm1:4");
    expect_word(f, 0, "{host}", "vm1:4");
}

static void a_scan_reaches_its_end(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parameters_add_scan(&f->parameters, "r", "0.1", "0.3", "0.1", f->why), 0);
    assert_int_equal(parameters_cells(&f->parameters), 3);
    expect_cell(f, 2, "r=0.3");
    assert_int_equal(parameters_add_scan(&f->parameters, "n", "-1", "3", "3", f->why), 0);
    expect_cell(f, 1, "r=0.1 n=2");
}

static void wrong_scans_are_refused(void **state) {
    static const char *const wrong[][3] = {{"3", "1", "1"},   {"1", "3", "0"}, {"1", "3", "-1"},
                                           {"1", "3", "inf"}, {"x", "3", "1"}, {"1", "", "1"}};
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct sweep_parameters parameters = {0};
        struct fixture *f = *state;
        f->why[0] = '\0';
        assert_int_equal(
            parameters_add_scan(&parameters, "n", wrong[i][0], wrong[i][1], wrong[i][2], f->why),
            -EINVAL);
        assert_non_null(strstr(f->why, "no numbers to scan"));
        parameters_release(&parameters);
    }
}

static void wrong_lists_are_refused(void **state) {
    static const char *const wrong[][2] = {{"", "1"},     {"a b", "1"},     {"{a}", "1"},
                                           {"a:", "1:2"}, {"a:a", "1:2"},   {"a", ""},
                                           {"a", "1,"},   {"a", ",1"},      {"a", "1,2,1"},
                                           {"a:b", "1"},  {"a:b", "1:2:3"}, {"a", "\033,?"}};
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct sweep_parameters parameters = {0};
        struct fixture *f = *state;
        f->why[0] = '\0';
        assert_int_equal(parameters_add_list(&parameters, wrong[i][0], wrong[i][1], f->why),
                         -EINVAL);
        assert_true(f->why[0]);
        parameters_release(&parameters);
    }
}

static void a_name_is_given_once(void **state) {
    struct fixture *f = *state;
    list(f, "mode:ranks", "a:1");
    assert_int_equal(parameters_add_list(&f->parameters, "ranks", "2", f->why), -EINVAL);
    assert_non_null(strstr(f->why, "'ranks' is given twice"));
}

static void there_is_an_end_to_values_and_cells(void **state) {
    struct fixture *f = *state;
    assert_int_equal(parameters_add_scan(&f->parameters, "a", "1", "1001", "1", f->why), -EINVAL);
    parameters_release(&f->parameters);
    assert_int_equal(parameters_add_scan(&f->parameters, "a", "1", "1000", "1", f->why), 0);
    assert_int_equal(parameters_add_scan(&f->parameters, "b", "1", "10", "1", f->why), 0);
    assert_int_equal(parameters_cells(&f->parameters), 10000);
    assert_int_equal(parameters_add_scan(&f->parameters, "c", "1", "2", "1", f->why), 0);
    assert_int_equal(parameters_cells(&f->parameters), 0);
}

/* The values that are recorded and shown, "a,b". */
static void expect_shown(const char *name, const char *values, const char *word, const char *after,
                         const char *expected) {
    char *command[] = {(char *)"app", (char *)word, (char *)after, NULL}, why[PARAMETERS_WHY],
         text[200] = "";
    struct sweep_parameters parameters = {0}, shown;
    assert_int_equal(parameters_add_list(&parameters, name, values, why), 0);
    assert_int_equal(parameters_shown(&parameters, NULL, &shown), 0);
    assert_string_equal(shown.items[0].values[0], parameters.items[0].values[0]);
    parameters_release(&shown);
    assert_int_equal(parameters_shown(&parameters, command, &shown), 0);
    assert_int_equal(shown.n, 1);
    assert_string_equal(shown.items[0].name, name);
    for (size_t i = 0; i < shown.items[0].n_values; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : "",
                 shown.items[0].values[i]);
    assert_string_equal(text, expected);
    parameters_release(&shown);
    parameters_release(&parameters);
}

static void values_that_look_secret_are_not_shown(void **state) {
    (void)state;
    expect_shown("batch", "1,2", "--batch", "{batch}", "1,2");
    expect_shown("token", "a,b,c", "--as", "{token}", "***,***2,***3");
    expect_shown("db-password", "a", "{db-password}", NULL, "***");
    expect_shown("mode:api_key", "x:a,y:b", "{mode}", "{api_key}", "***,***2");
    expect_shown("mode:ranks", "x:1,y:2", "{mode}", "{ranks}", "x:1,y:2");
    expect_shown("p", "a,b", "--password", "{p}", "***,***2");
    expect_shown("p", "a", "postgres://me:{p}@host/x", NULL, "***");
    expect_shown("p", "a", "--user={p}", NULL, "a");
    expect_shown("p", "1,AKIAABCDEFGHIJKLMNOP", "{p}", NULL, "***,***2");
    expect_shown("max-tokens", "1,2", "--max-tokens", "{max-tokens}", "1,2");
}

static void names_of_command_and_parameters_must_meet(void **state) {
    struct fixture *f = *state;
    char *good[] = {(char *)"train", (char *)"{a} {} {x y}", NULL},
         *unknown[] = {(char *)"{a}", (char *)"{b}", NULL}, *unused[] = {(char *)"train", NULL};
    list(f, "a:c", "1:2");
    assert_int_equal(parameters_check(&f->parameters, good, f->why), 0);
    assert_int_equal(parameters_check(&f->parameters, unknown, f->why), -EINVAL);
    assert_non_null(strstr(f->why, "'b'"));
    assert_int_equal(parameters_check(&f->parameters, unused, f->why), -EINVAL);
    assert_non_null(strstr(f->why, "{a}"));
}

static void repeats_come_in_turn_without_those_made(void **state) {
    const size_t made[] = {0, 2, 1};
    struct sweep_step steps[6];
    (void)state;
    assert_int_equal(plan_steps(made, 3, 2, steps), 3);
    assert_int_equal(steps[0].cell, 0);
    assert_int_equal(steps[0].repeat, 1);
    assert_int_equal(steps[1].cell, 0);
    assert_int_equal(steps[2].cell, 2);
    assert_int_equal(steps[2].repeat, 2);
}

static void time_left_is_that_of_the_cells(void **state) {
    const struct sweep_step steps[] = {{0, 2}, {1, 2}, {2, 1}};
    const struct sweep_pace none[3] = {{0}}, pace[3] = {{10, 1}, {60, 2}, {0, 0}};
    (void)state;
    assert_int_equal(plan_left_ns(steps, 3, none, 3), -1);
    assert_int_equal(plan_left_ns(steps, 3, pace, 3), 10 + 30 + 70 / 3);
    assert_int_equal(plan_left_ns(steps, 0, pace, 3), 0);
    struct sweep_pace claimed[3] = {{0, 0}};
    for (int i = 0; i < 6000; i++)
        plan_take(&claimed[i % 2], 1000 * 3600 * INT64_C(1000000000));
    assert_int_equal(claimed[0].sum_ns, INT64_MAX);
    assert_int_equal(plan_left_ns(steps, 3, claimed, 3), 2 * (INT64_MAX / 3000) + INT64_MAX / 6000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_last_parameter_changes_fastest, setup, teardown),
        cmocka_unit_test_setup_teardown(values_stand_for_their_names, setup, teardown),
        cmocka_unit_test_setup_teardown(a_comma_can_be_in_a_value, setup, teardown),
        cmocka_unit_test_setup_teardown(two_names_change_together, setup, teardown),
        cmocka_unit_test_setup_teardown(a_scan_reaches_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_scans_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_lists_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_is_given_once, setup, teardown),
        cmocka_unit_test_setup_teardown(there_is_an_end_to_values_and_cells, setup, teardown),
        cmocka_unit_test_setup_teardown(names_of_command_and_parameters_must_meet, setup, teardown),
        cmocka_unit_test(values_that_look_secret_are_not_shown),
        cmocka_unit_test_setup_teardown(repeats_come_in_turn_without_those_made, setup, teardown),
        cmocka_unit_test_setup_teardown(time_left_is_that_of_the_cells, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
