/* SPDX-License-Identifier: MIT */
/* Packets summed by pair of hosts: their addresses, a full table, silent pairs. */
#include "tests/unit/probe_test.h"

#include <arpa/inet.h>

#include "agent/probes/flow.h"

/* An IPv4 packet of `bytes` bytes from 10.0.X.Y to 10.1.0.1. */
static struct captured packet4(uint8_t head[20], unsigned from, bool sent, uint32_t bytes) {
    memset(head, 0, 20);
    head[0] = 0x45;
    memcpy(head + 12, (uint8_t[]){10, 0, (uint8_t)(from >> 8), (uint8_t)from}, 4);
    memcpy(head + 16, (uint8_t[]){10, 1, 0, 1}, 4);
    return (struct captured){.interface = 1,
                             .sent = sent,
                             .protocol = 0x0800,
                             .bytes = bytes,
                             .head = head,
                             .head_size = 20};
}

static void expect_name(const struct captured *packet, const char *name) {
    struct flow_key key;
    char found[INSTANCE_MAX + 1];
    flow_key_of(packet, &key);
    assert_int_equal(flow_name(&key, "eth0", found), strlen(name));
    assert_string_equal(found, name);
}

static void both_directions_are_one_flow_from_here(void **state) {
    uint8_t head[20];
    struct captured sent = packet4(head, 7, true, 100);
    (void)state;
    expect_name(&sent, "eth0 10.0.0.7 10.1.0.1");
    sent.sent = false; /* the same packet received: this host is 10.1.0.1 */
    expect_name(&sent, "eth0 10.1.0.1 10.0.0.7");
}

static void version_six_has_its_addresses(void **state) {
    uint8_t head[40] = {0x60};
    struct captured packet = {
        .interface = 1, .sent = true, .protocol = 0x86dd, .head = head, .head_size = sizeof head};
    (void)state;
    inet_pton(AF_INET6, "fe80::1", head + 8);
    inet_pton(AF_INET6, "2001:db8::2", head + 24);
    expect_name(&packet, "eth0 fe80::1 2001:db8::2");
}

static void other_protocols_have_a_row_each(void **state) {
    uint8_t head[20];
    struct captured packet = packet4(head, 7, true, 100);
    (void)state;
    packet.protocol = 0x0806;
    expect_name(&packet, "eth0 arp");
    packet.protocol = 0x88cc;
    expect_name(&packet, "eth0 protocol 0x88cc");
}

/* Cut short, or with another version than its protocol says: counted, and never read beyond its
 * end.
 */
static void what_is_no_packet_has_no_addresses(void **state) {
    (void)state;
    for (size_t size = 0; size < 40; size++) {
        uint8_t *head = malloc(size ? size : 1);
        memset(head, 0x66, size);
        struct captured packet = {.protocol = 0x86dd, .head = head, .head_size = size};
        expect_name(&packet, "eth0 :: ::");
        packet.protocol = 0x0800;
        expect_name(&packet, "eth0 0.0.0.0 0.0.0.0");
        free(head);
    }
}

static void the_longest_name_fits(void **state) {
    struct flow_key key = {.protocol = 0x86dd};
    char name[INSTANCE_MAX + 1];
    (void)state;
    memset(key.local, 0xfe, 16);
    memset(key.remote, 0xfe, 16);
    assert_int_equal(flow_name(&key, "fifteen_letters", name), 95);
    assert_int_equal(strlen(name), 95);
}

static void a_full_table_has_no_room(void **state) {
    struct flows *all = calloc(1, sizeof *all);
    struct flow_key key;
    uint8_t head[20];
    (void)state;
    for (unsigned i = 0; i < FLOWS_MAX; i++) {
        struct captured packet = packet4(head, i, true, 100);
        flow_key_of(&packet, &key);
        assert_null(flows_find(all, &key));
        flows_add(all, &key)->active_ns = i;
    }
    key.interface = 2;
    assert_null(flows_add(all, &key));
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < FLOW_SLOTS; i++) {
        run = all->slots[i] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_in_range(longest, 1, 60); /* neighbours are spread over the table */
    flows_keep(all, FLOWS_MAX - 10);
    assert_int_equal(all->n, 10);
    struct captured packet = packet4(head, FLOWS_MAX - 1, true, 100);
    flow_key_of(&packet, &key);
    assert_int_equal(flows_find(all, &key)->active_ns, FLOWS_MAX - 1);
    packet = packet4(head, 0, true, 100);
    flow_key_of(&packet, &key);
    assert_null(flows_find(all, &key));
    free(all);
}

static void nobody_captures_unless_asked(void **state) {
    static struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_flow), PROBE_ABSENT);
    assert_string_equal(h.why, "");
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_directions_are_one_flow_from_here),
        cmocka_unit_test(version_six_has_its_addresses),
        cmocka_unit_test(other_protocols_have_a_row_each),
        cmocka_unit_test(what_is_no_packet_has_no_addresses),
        cmocka_unit_test(the_longest_name_fits),
        cmocka_unit_test(a_full_table_has_no_room),
        cmocka_unit_test(nobody_captures_unless_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
