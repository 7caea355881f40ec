/* SPDX-License-Identifier: MIT */
/* A run beside the runs of the same command before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/base/since.h"
#include "common/clock.h"
#include "common/error.h"

#define RUN(number, command_, seconds)                                                             \
    {                                                                                              \
        .id = (number), .name = (char *)"x", .command = (char *)(command_), .state = RUN_DONE,     \
        .duration_ns = (int64_t)((seconds) * (double)NS_PER_S)                                     \
    }

static void expect(const struct store_run *runs, size_t n, int64_t id, const char *limit,
                   const char *wanted) {
    struct store_verdict verdicts[] = {
        {.run = 1, .limit = (char *)"disk of vm: 60 % of the run"},
        {.run = 2, .limit = (char *)"CPU of vm (contention): 30 % of the run"}};
    char *said = since_say(runs, n, verdicts, ARRAY_SIZE(verdicts), id, limit);
    if (wanted)
        assert_string_equal(said, wanted);
    else
        assert_null(said);
    free(said);
}

static void the_first_run_of_a_command_has_nothing_beside_it(void **state) {
    const struct store_run runs[] = {RUN(1, "make", 10), RUN(2, "make -j2", 5)};
    (void)state;
    expect(runs, 2, 1, "x", NULL);
    expect(runs, 2, 2, "x", NULL);
    expect(runs, 2, 3, "x", NULL);
}

static void a_second_run_is_compared_with_the_last(void **state) {
    struct store_run runs[] = {RUN(1, "make", 10), RUN(2, "make", 12), RUN(3, "make", 9)};
    (void)state;
    expect(runs, 2, 2, "disk of vm: 20 % of the run",
           "20 % longer than the last run of this command (run 1, 10.0 s)");
    expect(runs, 3, 3, "CPU of vm (contention): 10 % of the run",
           "25 % shorter than the last run of this command (run 2, 12.0 s)");
    expect(runs, 3, 3, "disk of vm: 10 % of the run",
           "25 % shorter than the last run of this command (run 2, 12.0 s); its limit was: CPU of "
           "vm (contention)");
    runs[1].duration_ns = 40 * NS_PER_S;
    expect(runs, 2, 2, NULL, "4 times as long as the last run of this command (run 1, 10.0 s)");
    runs[1].duration_ns = 10 * NS_PER_S + NS_PER_MS;
    expect(runs, 2, 2, NULL, "as long as the last run of this command (run 1, 10.0 s)");
}

static void three_runs_before_have_a_range(void **state) {
    struct store_run runs[] = {RUN(1, "a", 10), RUN(2, "a", 12), RUN(3, "a", 11), RUN(4, "a", 9)};
    (void)state;
    expect(runs, 4, 4, NULL,
           "18 % shorter than the last run of this command (run 3, 11.0 s); shorter than all of "
           "the 3 before (10.0 s to 12.0 s)");
    runs[3].duration_ns = 11 * NS_PER_S;
    expect(runs, 4, 4, NULL,
           "as long as the last run of this command (run 3, 11.0 s); within the 3 before (10.0 s "
           "to 12.0 s)");
}

static void runs_that_failed_and_repeats_do_not_count(void **state) {
    struct store_run runs[] = {RUN(1, "a", 10), RUN(2, "a", 5), RUN(3, "a", 10)};
    (void)state;
    runs[1].state = RUN_FAILED;
    expect(runs, 3, 3, NULL, "as long as the last run of this command (run 1, 10.0 s)");
    runs[2].repeats = 5;
    expect(runs, 3, 3, NULL, NULL);
    runs[2].repeats = 0;
    runs[2].state = RUN_INTERRUPTED;
    expect(runs, 3, 3, NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_run_of_a_command_has_nothing_beside_it),
        cmocka_unit_test(a_second_run_is_compared_with_the_last),
        cmocka_unit_test(three_runs_before_have_a_range),
        cmocka_unit_test(runs_that_failed_and_repeats_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
