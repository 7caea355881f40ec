/* SPDX-License-Identifier: MIT */
/* The thread that tells when a core has nothing else to do. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>

#include <cmocka.h>

#include "agent/sampler/idle.h"

#define PATIENCE_MS 60000 /* other tests may use all cores */

static bool is_told(const struct idle_watch *watch, int ms) {
    struct pollfd told = {.fd = watch->tell_fd, .events = POLLIN};
    eventfd_t times;
    return poll(&told, 1, ms) == 1 && eventfd_read(watch->tell_fd, &times) == 0;
}

static void each_question_is_answered_once(void **state) {
    (void)state;
    struct idle_watch watch = {0};
    assert_int_equal(idle_watch_open(&watch), 0);
    for (int i = 0; i < 3; i++) {
        idle_watch_ask(&watch);
        assert_true(is_told(&watch, PATIENCE_MS));
        assert_false(is_told(&watch, 5));
    }
    idle_watch_close(&watch);
}

/* It would take the core from a rank otherwise. */
static void the_thread_runs_on_idle_cores_only(void **state) {
    (void)state;
    struct idle_watch watch = {0};
    struct sched_param param;
    int policy;
    assert_int_equal(idle_watch_open(&watch), 0);
    assert_int_equal(pthread_getschedparam(watch.thread, &policy, &param), 0);
    assert_int_equal(policy, SCHED_IDLE);
    idle_watch_close(&watch);
}

static void one_that_is_not_open_may_be_closed(void **state) {
    (void)state;
    struct idle_watch watch = {0};
    idle_watch_close(&watch);
    assert_false(watch.is_open);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_question_is_answered_once),
        cmocka_unit_test(the_thread_runs_on_idle_cores_only),
        cmocka_unit_test(one_that_is_not_open_may_be_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
