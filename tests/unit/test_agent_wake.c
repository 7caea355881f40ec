/* SPDX-License-Identifier: MIT */
/* The sampler's clock on the real kernel: events that end a wait. (Only the simulated clock is
 * stepped: a test may not set that of its machine.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/sampler/wake.h"
#include "common/clock.h"

static void a_wait_never_ends_before_its_time(void **state) {
    (void)state;
    struct wake wake;
    assert_int_equal(wake_open(&wake, NULL, 0), 0);
    for (int i = 0; i < 50; i++) {
        int64_t until = clock_wall_ns() + i * 100 * NS_PER_US;
        int r = wake_wait(&wake, until);
        assert_true(r == 0 || r == SAMPLER_AGAIN);
        assert_true(r == SAMPLER_AGAIN || clock_wall_ns() >= until);
    }
    wake_close(&wake);
}

static void a_time_that_has_passed_asks_whether_to_stop(void **state) {
    (void)state;
    struct wake wake;
    int stop = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(wake_open(&wake, &stop, 1), 0);
    assert_int_equal(wake_wait(&wake, clock_wall_ns() - NS_PER_S), 0);
    assert_int_equal(eventfd_write(stop, 1), 0);
    assert_int_equal(wake_wait(&wake, clock_wall_ns() - NS_PER_S), SAMPLER_STOP);
    assert_int_equal(wake_wait(&wake, clock_wall_ns() + NS_PER_S), SAMPLER_STOP); /* it stays set */
    wake_close(&wake);
    close(stop);
}

static void *stop_later(void *arg) {
    usleep(20000);
    eventfd_write(*(int *)arg, 1);
    return NULL;
}

static void a_reason_to_stop_ends_the_wait_at_once(void **state) {
    (void)state;
    struct wake wake;
    pthread_t thread;
    int stops[2] = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)};
    assert_int_equal(wake_open(&wake, stops, 2), 0);
    pthread_create(&thread, NULL, stop_later, &stops[1]);
    int64_t until = clock_wall_ns() + 3600 * NS_PER_S;
    assert_int_equal(wake_wait(&wake, until), SAMPLER_STOP);
    assert_true(clock_wall_ns() < until);
    pthread_join(thread, NULL);
    wake_close(&wake);
    close(stops[0]);
    close(stops[1]);
}

/* A call ends the wait and is consumed: it does not end the next one. */
static void a_call_is_heard_once(void **state) {
    (void)state;
    struct wake wake;
    int called = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(wake_open(&wake, NULL, 0), 0);
    wake_listen(&wake, called);
    assert_int_equal(eventfd_write(called, 1), 0);
    assert_int_equal(wake_wait(&wake, clock_wall_ns() + 3600 * NS_PER_S), SAMPLER_CALLED);
    int64_t until = clock_wall_ns() + 20 * NS_PER_MS;
    assert_int_equal(wake_wait(&wake, until), 0);
    assert_true(clock_wall_ns() >= until);
    wake_close(&wake);
    close(called);
}

static void an_idle_core_ends_the_wait_once(void **state) {
    (void)state;
    struct wake wake;
    int idle = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(wake_open(&wake, NULL, 0), 0);
    wake_listen_for_idle(&wake, idle);
    assert_int_equal(eventfd_write(idle, 1), 0);
    assert_int_equal(wake_wait(&wake, clock_wall_ns() + 3600 * NS_PER_S), SAMPLER_IDLE);
    assert_int_equal(wake_wait(&wake, clock_wall_ns() + 20 * NS_PER_MS), 0);
    wake_close(&wake);
    close(idle);
}

/* Calls without a pause are heard now and then, and a stop is heard as well. */
static void calls_without_end_neither_spin_nor_hide_a_stop(void **state) {
    (void)state;
    struct wake wake;
    int calls = 0, r, ends[2], stop = eventfd(0, EFD_NONBLOCK);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(wake_open(&wake, &stop, 1), 0);
    wake_listen(&wake, ends[0]);
    static const char many[4096];
    int64_t begin = clock_monotonic_ns(), until = clock_wall_ns() + 30 * NS_PER_MS;
    do {
        calls++;
        assert_true(write(ends[1], many, sizeof many) == sizeof many);
    } while ((r = wake_wait(&wake, until)) == SAMPLER_CALLED);
    assert_int_equal(r, 0);
    assert_true(calls - 2 <= (clock_monotonic_ns() - begin) / (WAKE_DEAF_MS * NS_PER_MS));
    assert_int_equal(eventfd_write(stop, 1), 0);
    assert_int_equal(wake_wait(&wake, clock_wall_ns() + NS_PER_S), SAMPLER_STOP);
    wake_close(&wake);
    close(stop);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_never_ends_before_its_time),
        cmocka_unit_test(a_time_that_has_passed_asks_whether_to_stop),
        cmocka_unit_test(a_reason_to_stop_ends_the_wait_at_once),
        cmocka_unit_test(a_call_is_heard_once),
        cmocka_unit_test(an_idle_core_ends_the_wait_once),
        cmocka_unit_test(calls_without_end_neither_spin_nor_hide_a_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
