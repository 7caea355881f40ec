/* SPDX-License-Identifier: MIT */
/* The pairs of hosts in a live picture, from connections and from packets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/live/live_private.h"

#define NEAR(a, b) assert_true(fabs((double)(a) - (b)) < 1e-3)
#define END_NS INT64_C(60000000000)
#define MB INT64_C(1000000)

struct fixture {
    struct live_window window;
    struct live_picture picture;
    int64_t last_ns[3];
    int place[3];
    struct live_host hosts[3];
    int64_t instance;
};

/* The first host of the window is the second in the picture. */
static int setup(void **state) {
    static const char *const names[] = {"vm1", "vm2", "vm3"};
    struct fixture *f = calloc(1, sizeof *f);
    live_window_init(&f->window);
    f->window.last_ns = f->last_ns;
    f->window.recording.n_hosts = 3;
    for (int h = 0; h < 3; h++) {
        f->last_ns[h] = END_NS;
        f->place[h] = h == 2 ? 2 : 1 - h;
        f->hosts[h].name = names[h];
    }
    f->picture.place = f->place;
    f->picture.snapshot.hosts = f->hosts;
    f->picture.snapshot.n_hosts = 3;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    free(f->picture.snapshot.pairs);
    text_list_release(&f->picture.texts);
    f->window.last_ns = NULL;
    f->window.recording.n_hosts = 0;
    live_window_release(&f->window);
    free(f);
    return 0;
}

/* Its bytes of each of the last three seconds. */
static void put_flow(struct fixture *f, int host, const char *name, int64_t send, int64_t receive) {
    f->instance++;
    for (int s = 2; s >= 0; s--)
        assert_int_equal(series_set_append(&f->window.recording.tables[RECORDING_FLOW], host,
                                           f->instance, name, END_NS - s * INT64_C(1000000000),
                                           INT64_C(1000000000), (int64_t[]){send, receive}),
                         0);
}

static void put_connection(struct fixture *f, int host, const char *name, int64_t send) {
    int64_t values[RECORDING_COLUMNS_MAX] = {[CONNECTION_SEND_BYTES] = send};
    f->instance++;
    assert_int_equal(series_set_append(&f->window.recording.tables[RECORDING_CONNECTION], host,
                                       f->instance, name, END_NS, INT64_C(1000000000), values),
                     0);
}

static const struct live_snapshot *fill(struct fixture *f) {
    assert_int_equal(live_fill_pairs(&f->picture, &f->window), 0);
    return &f->picture.snapshot;
}

static void packets_alone_make_a_pair(void **state) {
    struct fixture *f = *state;
    put_flow(f, 0, "eth0 10.0.0.1 10.0.0.2", 8 * MB, 3 * MB);
    put_flow(f, 1, "eth0 10.0.0.2 10.0.0.1", 3 * MB, 8 * MB);
    put_flow(f, 2, "eth0 10.0.0.3 192.0.2.9", 2 * MB, 1 * MB);
    const struct live_snapshot *s = fill(f);
    assert_int_equal(s->n_pairs, 2);
    assert_string_equal(s->pairs[0].host_name, "vm1");
    assert_string_equal(s->pairs[0].peer_name, "vm2");
    NEAR(s->pairs[0].send_mb_s, 3);
    NEAR(s->pairs[0].receive_mb_s, 8);
    assert_int_equal(s->pairs[0].connections, 0);
    assert_int_equal(s->pairs[1].peer, -1);
    assert_string_equal(s->pairs[1].peer_name, "192.0.2.9");
    NEAR(s->pairs[1].send_mb_s, 2);
    NEAR(s->pairs[1].receive_mb_s, 1);
}

static void packets_of_a_bridge_are_counted_once(void **state) {
    struct fixture *f = *state;
    put_flow(f, 0, "br0 10.0.0.1 10.0.0.2", 8 * MB, 0);
    put_flow(f, 0, "br0 10.0.1.1 10.0.0.2", 2 * MB, 0);
    put_flow(f, 0, "eth0 10.0.0.1 10.0.0.2", 8 * MB, 0);
    put_flow(f, 1, "eth0 10.0.0.2 10.0.0.1", 0, 8 * MB);
    const struct live_snapshot *s = fill(f);
    assert_int_equal(s->n_pairs, 1);
    NEAR(s->pairs[0].receive_mb_s, 10);
}

static void packets_tell_the_rate_of_a_pair_with_connections(void **state) {
    struct fixture *f = *state;
    put_connection(f, 0, "10.0.0.1:5>10.0.0.2:6", 4 * MB);
    put_connection(f, 1, "10.0.0.2:6>10.0.0.1:5", 1 * MB);
    put_connection(f, 0, "10.0.0.1:5>10.0.0.3:6", 4 * MB);
    put_connection(f, 2, "10.0.0.3:6>10.0.0.1:5", 0);
    put_flow(f, 0, "eth0 10.0.0.1 10.0.0.2", 9 * MB, 2 * MB);
    put_flow(f, 1, "eth0 10.0.0.2 10.0.0.1", 2 * MB, 9 * MB);
    const struct live_snapshot *s = fill(f);
    assert_int_equal(s->n_pairs, 2);
    NEAR(s->pairs[0].send_mb_s, 2);
    NEAR(s->pairs[0].receive_mb_s, 9);
    assert_int_equal(s->pairs[0].connections, 1);
    NEAR(s->pairs[1].send_mb_s, 4); /* without packets */
    assert_int_equal(s->pairs[1].connections, 1);
}

static void what_is_no_pair_of_hosts_makes_none(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"eth0 arp",
                                        "eth0 protocol 0x88cc",
                                        "other",
                                        "not captured",
                                        "lo 127.0.0.1 127.0.0.1",
                                        "lo 10.0.0.1 10.0.0.1",
                                        "",
                                        " ",
                                        "eth0 224.0.0.251 10.0.0.2",
                                        "eth0 ff02::fb fe80::1",
                                        "eth0 10.0.0.255 10.0.0.2",
                                        "eth0  "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        put_flow(f, 0, names[i], 8 * MB, 8 * MB);
    assert_int_equal(fill(f)->n_pairs, 0);
}

static void an_outside_address_of_ipv6_makes_one_pair_of_packets_and_connections(void **state) {
    struct fixture *f = *state;
    put_connection(f, 0, "[2001:db8::1]:5>[2001:db8::9]:6", 1 * MB);
    put_flow(f, 0, "eth0 2001:db8::1 2001:db8::9", 8 * MB, 2 * MB);
    const struct live_snapshot *s = fill(f);
    assert_int_equal(s->n_pairs, 1);
    assert_string_equal(s->pairs[0].peer_name, "2001:db8::9");
    assert_int_equal(s->pairs[0].connections, 1);
    NEAR(s->pairs[0].send_mb_s, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(packets_alone_make_a_pair, setup, teardown),
        cmocka_unit_test_setup_teardown(packets_of_a_bridge_are_counted_once, setup, teardown),
        cmocka_unit_test_setup_teardown(packets_tell_the_rate_of_a_pair_with_connections, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            an_outside_address_of_ipv6_makes_one_pair_of_packets_and_connections, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_pair_of_hosts_makes_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
