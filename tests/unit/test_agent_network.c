/* SPDX-License-Identifier: MIT */
/* The network of an interface by /proc/net/route, which is hostile text like any other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agent/probes/net_network.h"
#include "common/table.h"

#define HEAD "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

static int64_t network_of(const char *routes, const char *interface) {
    return net_network_parse(routes, routes + strlen(routes), interface);
}

/* A line in the format of this machine's kernel. */
static const char *route(char line[160], const char *name, uint32_t to, uint32_t gateway,
                         uint32_t mask) {
    snprintf(line, 160, "%s\t%08X\t%08X\t0001\t0\t0\t0\t%08X\t0\t0\t0   \n", name, htonl(to),
             htonl(gateway), htonl(mask));
    return line;
}

static void the_first_route_without_a_gateway_tells(void **state) {
    char a[160], b[160], c[160], text[600];
    (void)state;
    snprintf(text, sizeof text, HEAD "%s%s%s", route(a, "eth1", 0, 0x0a010001, 0),
             route(b, "eth10", 0x0a020000, 0, 0xffff0000),
             route(c, "eth1", 0x0a010000, 0, 0xffffff00));
    assert_int_equal(network_of(text, "eth1"), INT64_C(0x0a010000) << 8 | 24);
    assert_int_equal(network_of(text, "eth10"), INT64_C(0x0a020000) << 8 | 16);
    assert_int_equal(network_of(text, "eth"), VALUE_ABSENT);
}

static void what_is_no_network_is_absent(void **state) {
    char line[160];
    (void)state;
    assert_int_equal(network_of(route(line, "e", 0, 0, 0), "e"), VALUE_ABSENT);
    assert_int_equal(network_of(route(line, "e", 0x0a010000, 0x0a000001, 0xffffff00), "e"),
                     VALUE_ABSENT);
    assert_int_equal(network_of(route(line, "e", 0x0a010001, 0, 0xffffffff), "e"), VALUE_ABSENT);
    assert_int_equal(network_of(route(line, "e", 0x0a010000, 0, 0xff00ff00), "e"), VALUE_ABSENT);
    assert_int_equal(network_of("e\t0001010\t00000000\t1\t0\t0\t0\t00FFFFFF\n", "e"), VALUE_ABSENT);
    assert_int_equal(network_of("e\t0000010G\t00000000\t1\t0\t0\t0\t00FFFFFF\n", "e"),
                     VALUE_ABSENT);
    assert_int_equal(network_of("e\t0000010A\t00000000\n", "e"), VALUE_ABSENT);
    assert_int_equal(network_of("", "e"), VALUE_ABSENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_route_without_a_gateway_tells),
        cmocka_unit_test(what_is_no_network_is_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
