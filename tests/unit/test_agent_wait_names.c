/* SPDX-License-Identifier: MIT */
/* A sample has one row for each connection's name, even if several sockets have it: a collector
 * cannot store two rows of one name in a frame.
 */
#include "tests/unit/wait_test.h"

static void a_socket_without_a_port_of_its_own_has_no_row(void **state) {
    struct made *m = with_worker(WAIT_CONNECT, 1 * S);
    (void)state;
    sample(m, 1 * S);
    struct wait_socket *first = socket_slot(m, 0, 7, 11), *second = socket_slot(m, 1, 7, 12);
    first->local_port = second->local_port = 0;
    sample(m, 2 * S);
    assert_int_equal(m->socket.rows.n, 0);
    first->local_port = 5000; /* it is connected now, and the other one is refused */
    first->starved_ns = 3;
    second->ended = 1;
    sample(m, 3 * S);
    assert_int_equal(m->socket.rows.n, 1);
    expect(&m->socket, CONNECTION, "starved_ns", 3);
    assert_int_equal(harness_row(&m->socket, CONNECTION)->flags, ROW_BORN);
    assert_int_equal(second->slot, WAIT_FREE);
    unmake(m);
}

/* As if it moved to the group of another emulated host, whose agent has its clocks as well. */
static void a_process_that_left_the_job_alive_is_told_by_others(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    sample(m, 2 * S);
    expect(&m->wait, "worker[7]", "run_ns", 1 * S);
    sample(m, 3 * S); /* no scan of all processes since */
    expect(&m->wait, "worker[7]", "run_ns", 2 * S);
    list(m, NULL, 0);
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "run_ns", HARNESS_NO_ROW);
    list(m, (struct job_process[]){WORKER}, 1);
    sample(m, 5 * S);
    expect(&m->wait, "worker[7]", "run_ns", 4 * S);
    unmake(m);
}

/* The successor's slot is lower, so it would come first. */
static void a_successor_waits_until_the_one_before_has_had_its_last_row(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    struct wait_socket *before = socket_slot(m, 1, 7, 11);
    sample(m, 2 * S);
    before->read_bytes = 10;
    before->ended = 1;
    struct wait_socket *after = socket_slot(m, 0, 7, 12);
    after->read_bytes = 7;
    sample(m, 3 * S);
    assert_int_equal(m->socket.rows.n, 1);
    expect(&m->socket, CONNECTION, "read_bytes", 10);
    assert_int_equal(before->slot, WAIT_FREE);
    sample(m, 4 * S);
    assert_int_equal(m->socket.rows.n, 1);
    expect(&m->socket, CONNECTION, "read_bytes", 7);
    assert_int_equal(harness_row(&m->socket, CONNECTION)->flags, ROW_BORN);
    unmake(m);
}

static void of_two_that_have_ended_both_are_told(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    sample(m, 2 * S);
    for (size_t i = 0; i < 2; i++) {
        struct wait_socket *s = socket_slot(m, i, 7, 11 + i);
        s->read_bytes = 5;
        s->ended = 1;
    }
    sample(m, 3 * S);
    assert_int_equal(m->socket.rows.n, 1);
    assert_int_equal(m->watch->memory.sockets[0].slot, WAIT_FREE);
    assert_int_equal(m->watch->memory.sockets[1].slot, WAIT_LIVE);
    sample(m, 4 * S);
    assert_int_equal(m->socket.rows.n, 1);
    assert_int_equal(harness_row(&m->socket, CONNECTION)->flags, ROW_BORN);
    assert_int_equal(m->watch->memory.sockets[1].slot, WAIT_FREE);
    sample(m, 5 * S);
    assert_int_equal(m->socket.rows.n, 0);
    unmake(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_left_the_job_alive_is_told_by_others),
        cmocka_unit_test(a_socket_without_a_port_of_its_own_has_no_row),
        cmocka_unit_test(a_successor_waits_until_the_one_before_has_had_its_last_row),
        cmocka_unit_test(of_two_that_have_ended_both_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
