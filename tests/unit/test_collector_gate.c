/* SPDX-License-Identifier: MIT */
/* Which connections stay if there are too many, or if they take too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/gate.h"
#include "common/clock.h"

#define MOST 64
#define NEVER_NS (3600 * NS_PER_S)

struct fixture {
    struct gate *gate;
    int near[MOST], far[MOST];
    struct visitor *visitors[MOST];
    size_t n;
    atomic_int dropped, room;
};

static void on_dropped(void *ctx) {
    atomic_fetch_add(&((struct fixture *)ctx)->dropped, 1);
}

static void on_room(void *ctx) {
    atomic_fetch_add(&((struct fixture *)ctx)->room, 1);
}

static void open_gate(struct fixture *f, int64_t stranger_ns, int64_t request_ns) {
    const struct gate_limits limits = {.strangers = 4,
                                       .known = 5,
                                       .known_per_host = 2,
                                       .stranger_ns = stranger_ns,
                                       .request_ns = request_ns,
                                       .dropped = on_dropped,
                                       .room = on_room,
                                       .ctx = f};
    assert_int_equal(gate_new(&limits, &f->gate), 0);
}

static int setup(void **state) {
    *state = calloc(1, sizeof(struct fixture));
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < f->n; i++) {
        gate_leave(f->gate, f->visitors[i]);
        close(f->near[i]);
        close(f->far[i]);
    }
    gate_free(f->gate);
    free(f);
    return 0;
}

static size_t enter(struct fixture *f, const char *address) {
    int fds[2];
    struct sockaddr_in from = {.sin_family = AF_INET};
    inet_pton(AF_INET, address, &from.sin_addr);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    f->near[f->n] = fds[0];
    f->far[f->n] = fds[1];
    f->visitors[f->n] = gate_enter(f->gate, fds[0], (struct sockaddr *)&from);
    assert_non_null(f->visitors[f->n]);
    return f->n++;
}

static size_t enter_known(struct fixture *f, const char *host) {
    size_t i = enter(f, "10.0.0.9");
    gate_know(f->gate, f->visitors[i], host);
    return i;
}

static bool is_open(const struct fixture *f, size_t i) {
    struct pollfd fd = {.fd = f->far[i], .events = POLLIN};
    return poll(&fd, 1, 0) == 0;
}

static void await_drop(const struct fixture *f, size_t i) {
    struct pollfd fd = {.fd = f->far[i], .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 20000), 1);
}

static void the_address_with_most_strangers_loses_its_oldest(void **state) {
    struct fixture *f = *state;
    open_gate(f, NEVER_NS, NEVER_NS);
    size_t guest = enter(f, "10.0.0.1");
    size_t crowd[3];
    for (size_t i = 0; i < 3; i++)
        crowd[i] = enter(f, "10.0.0.2");
    assert_int_equal(f->dropped, 0);
    enter(f, "10.0.0.3");
    assert_int_equal(f->dropped, 1);
    assert_true(is_open(f, guest));
    assert_false(is_open(f, crowd[0]));
    for (int i = 0; i < 20; i++)
        enter(f, "10.0.0.2");
    assert_true(is_open(f, guest));
    assert_true(is_open(f, f->n - 1));
    assert_false(is_open(f, crowd[2]));
    assert_int_equal(f->dropped, 21);
}

static bool expects(struct fixture *f, const char *address) {
    struct sockaddr_in from = {.sin_family = AF_INET};
    inet_pton(AF_INET, address, &from.sin_addr);
    return gate_expect(f->gate, (struct sockaddr *)&from);
}

/* Hosts behind one address wait for each other; a host elsewhere does not wait. */
static void a_crowd_behind_one_address_comes_in_one_after_the_other(void **state) {
    struct fixture *f = *state;
    open_gate(f, NEVER_NS, NEVER_NS);
    size_t crowd[4];
    for (size_t i = 0; i < 4; i++) {
        assert_true(expects(f, "10.0.0.2"));
        crowd[i] = enter(f, "10.0.0.2");
    }
    assert_false(expects(f, "10.0.0.2"));
    assert_true(expects(f, "10.0.0.3"));
    enter(f, "10.0.0.3"); /* the address loses one connection */
    assert_int_equal(f->dropped, 1);
    assert_false(expects(f, "10.0.0.2"));
    int before = f->room;
    gate_know(f->gate, f->visitors[crowd[1]], "vm1");
    assert_int_equal(f->room, before + 1);
    assert_true(expects(f, "10.0.0.2"));
    assert_false(expects(f, "10.0.0.2")); /* the slot is kept for the one before */
}

static void known_hosts_are_not_dropped_for_strangers(void **state) {
    struct fixture *f = *state;
    open_gate(f, NEVER_NS, NEVER_NS);
    size_t host = enter_known(f, "vm1");
    for (int i = 0; i < 40; i++)
        enter(f, "10.0.0.9");
    assert_true(is_open(f, host));
    size_t late = enter_known(f, "vm2");
    assert_true(is_open(f, host) && is_open(f, late));
}

static void a_host_with_too_many_connections_loses_its_oldest(void **state) {
    struct fixture *f = *state;
    open_gate(f, NEVER_NS, NEVER_NS);
    size_t other = enter_known(f, "vm1"), first = enter_known(f, "vm2");
    size_t second = enter_known(f, "vm2"), third = enter_known(f, "vm2");
    assert_false(is_open(f, first));
    assert_true(is_open(f, other) && is_open(f, second) && is_open(f, third));
}

static void above_all_slots_of_hosts_the_newest_goes(void **state) {
    struct fixture *f = *state;
    char host[16];
    open_gate(f, NEVER_NS, NEVER_NS);
    for (int i = 0; i < 6; i++) {
        snprintf(host, sizeof host, "vm%d", i);
        enter_known(f, host);
    }
    assert_true(is_open(f, 0) && is_open(f, 4));
    assert_false(is_open(f, 5));
}

static void a_slot_that_is_left_is_free_again(void **state) {
    struct fixture *f = *state;
    open_gate(f, NEVER_NS, NEVER_NS);
    for (int i = 0; i < 40; i++) {
        size_t last = enter(f, "10.0.0.1");
        gate_leave(f->gate, f->visitors[last]);
        f->visitors[last] = NULL;
    }
    assert_int_equal(f->dropped, 0);
}

static void who_shows_no_key_in_time_is_dropped(void **state) {
    struct fixture *f = *state;
    open_gate(f, 20 * NS_PER_MS, NEVER_NS);
    size_t host = enter_known(f, "vm1"), stranger = enter(f, "10.0.0.1");
    await_drop(f, stranger);
    assert_true(is_open(f, host));
}

static void a_request_that_does_not_end_in_time_is_dropped(void **state) {
    struct fixture *f = *state;
    open_gate(f, NEVER_NS, 20 * NS_PER_MS);
    size_t quick = enter_known(f, "vm1"), slow = enter_known(f, "vm2");
    gate_request_begins(f->gate, f->visitors[quick]);
    gate_request_ends(f->gate, f->visitors[quick]);
    gate_request_begins(f->gate, f->visitors[slow]);
    await_drop(f, slow);
    assert_true(is_open(f, quick));
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_address_with_most_strangers_loses_its_oldest),
        TEST(a_crowd_behind_one_address_comes_in_one_after_the_other),
        TEST(known_hosts_are_not_dropped_for_strangers),
        TEST(a_host_with_too_many_connections_loses_its_oldest),
        TEST(above_all_slots_of_hosts_the_newest_goes),
        TEST(a_slot_that_is_left_is_free_again),
        TEST(who_shows_no_key_in_time_is_dropped),
        TEST(a_request_that_does_not_end_in_time_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
