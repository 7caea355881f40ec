/* SPDX-License-Identifier: MIT */
/* The calibration loop: it is really computed, and the right part of its time counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/sampler/core_speed.h"

struct script {
    const int64_t *ns;
    size_t asked;
};

static int64_t scripted(void *ctx) {
    struct script *script = ctx;
    return script->ns[script->asked++];
}

static int64_t taken(const int64_t ns[3]) {
    struct script script = {.ns = ns};
    int64_t took = core_speed_measure(scripted, &script);
    assert_int_equal(script.asked, 3);
    return took;
}

static void the_shorter_of_two_counts(void **state) {
    (void)state;
    assert_int_equal(taken((const int64_t[]){100, 150, 170}), 20);
    assert_int_equal(taken((const int64_t[]){100, 111, 160}), 11);
}

/* Its result depends on every step, so nothing can be optimized away. */
static void the_work_is_the_same_each_time(void **state) {
    (void)state;
    assert_true(core_speed_work(1) == core_speed_work(1));
    assert_true(core_speed_work(1) != core_speed_work(2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shorter_of_two_counts),
        cmocka_unit_test(the_work_is_the_same_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
