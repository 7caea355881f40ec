/* SPDX-License-Identifier: MIT */
/* A user's choice of processes: which words are accepted, and which refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/duration.h"
#include "common/error.h"
#include "common/job_choice.h"

static struct job_choice take(const char *text) {
    struct job_choice choice;
    char why[120];
    assert_int_equal(job_choice_parse(text, &choice, why, sizeof why), 0);
    return choice;
}

static void each_kind_is_taken(void **state) {
    (void)state;
    assert_int_equal(take("port=5432").number, 5432);
    assert_int_equal(take("port=5432").kind, JOB_PORT);
    assert_int_equal(take("pid=1234").number, 1234);
    assert_int_equal(take("session=7").number, 7);
    assert_string_equal(take("unit=postgresql@15-main").value, "postgresql@15-main");
    assert_string_equal(take("user=postgres").value, "postgres");
    assert_string_equal(take("container=3f2a9c").value, "3f2a9c");
}

static void a_group_is_named_as_the_shell_or_the_kernel_shows_it(void **state) {
    (void)state;
    assert_string_equal(take("cgroup=/system.slice/a.service").value, "/system.slice/a.service");
    assert_string_equal(take("cgroup=/sys/fs/cgroup/system.slice/").value, "/system.slice");
}

static void what_makes_no_sense_is_refused_in_one_line(void **state) {
    static const char *const bad[] = {
        "",           "port",          "port=",     "port=0",
        "port=70000", "port=12x",      "pid=0",     "pid=-4",
        "session=x",  "color=red",     "unit=a/b",  "unit=a b",
        "cgroup=/",   "cgroup=a/b",    "cgroup=//", "cgroup=/sys/fs/cgroup/",
        "user=a\nb",  "container=a/b", "=5",        "PORT=1"};
    struct job_choice choice = {.number = 99};
    char why[120], long_one[400] = "unit=";
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        why[0] = '\0';
        assert_true(job_choice_parse(bad[i], &choice, why, sizeof why) < 0);
        assert_true(why[0] && !strchr(why, '\n'));
    }
    memset(long_one + 5, 'a', JOB_CHOICE_VALUE_MAX + 1);
    assert_true(job_choice_parse(long_one, &choice, why, sizeof why) < 0);
    long_one[5 + JOB_CHOICE_VALUE_MAX] = '\0';
    assert_int_equal(strlen(take(long_one).value), JOB_CHOICE_VALUE_MAX);
    assert_int_equal(choice.number, 99); /* unchanged on failure */
}

static void a_duration_has_a_unit_or_is_seconds(void **state) {
    static const char *const bad[] = {"",    "s",  "soon", "-5",  "5 s",          "5y",
                                      "1e3", "..", "5ss",  "nan", "99999999999h", "0x5"};
    int64_t ns = 7;
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_true(duration_parse(bad[i], &ns) < 0);
    assert_int_equal(ns, 7);
    assert_int_equal(duration_parse("60", &ns) | (ns != INT64_C(60000000000)), 0);
    assert_int_equal(duration_parse("2d", &ns) | (ns != INT64_C(172800000000000)), 0);
    assert_int_equal(duration_parse("1w", &ns) | (ns != INT64_C(604800000000000)), 0);
    assert_int_equal(duration_parse("1.5s", &ns) | (ns != INT64_C(1500000000)), 0);
    assert_int_equal(duration_parse("200ms", &ns) | (ns != INT64_C(200000000)), 0);
    assert_int_equal(duration_parse("5m", &ns) | (ns != INT64_C(300000000000)), 0);
    assert_int_equal(duration_parse("2h", &ns) | (ns != INT64_C(7200000000000)), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_taken),
        cmocka_unit_test(a_group_is_named_as_the_shell_or_the_kernel_shows_it),
        cmocka_unit_test(a_duration_has_a_unit_or_is_seconds),
        cmocka_unit_test(what_makes_no_sense_is_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
