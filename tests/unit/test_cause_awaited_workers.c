/* SPDX-License-Identifier: MIT */
/*
 * Worker processes that are all in use. A broker on the first host reads requests; on the second, a
 * dispatcher takes them and hands them to one worker, which sleeps in each.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/awaited_plant.h"

#define RATE 100. /* requests a second */

enum { BROKER = 1, DISPATCHER, WORKER }; /* the broker is no part of the job */

static double ahead; /* requests that the client sends at once, before the first answer */

/* Reads of the broker from the client: those ahead within the first second. */
static double asked_row(size_t column, double t_s) {
    if (column == SOCKET_WAIT_READS)
        return t_s >= SECONDS - ahead / RATE ? 0 : RATE + (t_s >= 0 && t_s < 1 ? ahead : 0);
    return column == SOCKET_WAIT_PID ? BROKER : column == SOCKET_WAIT_STARVED ? .5e9 : 0;
}

static void judge_workers(double requests_ahead, double worker_idle) {
    ahead = requests_ahead;
    begin();
    add_process(&recording, (struct process){.host = 1, .pid = DISPATCHER, .run = .1, .poll = .9});
    add_process(&recording, (struct process){.host = 1,
                                             .pid = WORKER,
                                             .run = .1,
                                             .timer = .9 - worker_idle,
                                             .timer_ends = RATE,
                                             .pipe = worker_idle});
    plant(&recording, RECORDING_SOCKET_WAIT, 0, A_TO_B, 0.1, 1u << SOCKET_WAIT_PID, asked_row);
    add_pair(&recording, 1, (struct pair){DISPATCHER, WORKER, WAIT_REASON_POLL, .9});
    add_pair(&recording, 1, (struct pair){WORKER, DISPATCHER, WAIT_REASON_PIPE, worker_idle});
    judge();
}

static void requests_under_way_before_one_worker_are_told(void **state) {
    (void)state;
    judge_workers(20, .05);
    const struct candidate *c = found(CAUSE_POOL);
    assert_non_null(c);
    assert_int_equal(c->host, 1);
    assert_null(found(CAUSE_SLEEP));
    release();
}

static void one_request_at_a_time_is_the_workers_own_sleep(void **state) {
    (void)state;
    judge_workers(1, .05);
    assert_null(found(CAUSE_POOL));
    assert_non_null(found(CAUSE_SLEEP));
    release();
}

static void a_worker_that_is_free_has_no_queue(void **state) {
    (void)state;
    judge_workers(20, .3);
    assert_null(found(CAUSE_POOL));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_under_way_before_one_worker_are_told),
        cmocka_unit_test(one_request_at_a_time_is_the_workers_own_sleep),
        cmocka_unit_test(a_worker_that_is_free_has_no_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
