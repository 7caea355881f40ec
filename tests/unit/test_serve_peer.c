/* SPDX-License-Identifier: MIT */
/* The owner of a connection: in planted tables, and of a real connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/serve/peer.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
#define REST " 00000000:00000000 00:00000000 00000000 "

static struct sockaddr_storage address(int family, const char *text, unsigned port) {
    struct sockaddr_storage to = {.ss_family = (sa_family_t)family};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&to;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&to;
    if (family == AF_INET)
        v4->sin_port = htons((uint16_t)port);
    else
        v6->sin6_port = htons((uint16_t)port);
    assert_int_equal(
        inet_pton(family, text, family == AF_INET ? (void *)&v4->sin_addr : &v6->sin6_addr), 1);
    return to;
}

static int find(const char *text, const struct sockaddr_storage *theirs,
                const struct sockaddr_storage *ours, uid_t *ret_uid) {
    FILE *table = fmemopen((void *)text, strlen(text), "r");
    assert_non_null(table);
    int r = peer_find(table, theirs, ours, ret_uid);
    fclose(table);
    return r;
}

static void the_other_end_is_found_and_not_ours(void **state) {
    struct sockaddr_storage theirs = address(AF_INET, "127.0.0.1", 46578),
                            ours = address(AF_INET, "127.0.0.1", 8642);
    uid_t uid = 7;
    (void)state;
    assert_int_equal(find(HEAD "   0: 0100007F:21C2 0100007F:B5F2 01" REST "    0        0 1 1\n"
                               "   1: 0100007F:B5F2 0100007F:21C2 01" REST " 1001        0 2 1\n",
                          &theirs, &ours, &uid),
                     0);
    assert_int_equal(uid, 1001);
}

static void a_closed_socket_has_no_user(void **state) {
    struct sockaddr_storage theirs = address(AF_INET, "127.0.0.1", 46578),
                            ours = address(AF_INET, "127.0.0.1", 8642);
    uid_t uid = 7;
    (void)state;
    assert_int_equal(find(HEAD "   0: 0100007F:B5F2 0100007F:21C2 05" REST "    0        0 0 1\n"
                               "   1: 0100007F:B5F2 0100007F:21C2 06" REST "    0        0 0 1\n",
                          &theirs, &ours, &uid),
                     -ENOENT);
    assert_int_equal(uid, 7);
}

static void addresses_of_ipv6_are_found(void **state) {
    struct sockaddr_storage theirs = address(AF_INET6, "::1", 46578),
                            ours = address(AF_INET6, "::1", 8642);
    uid_t uid = 7;
    (void)state;
    assert_int_equal(find(HEAD "   0: 00000000000000000000000001000000:B5F2 "
                               "00000000000000000000000001000000:21C2 01" REST " 1002 0 2 1\n",
                          &theirs, &ours, &uid),
                     0);
    assert_int_equal(uid, 1002);
}

static void odd_lines_are_passed_over(void **state) {
    struct sockaddr_storage theirs = address(AF_INET, "127.0.0.1", 46578),
                            ours = address(AF_INET, "127.0.0.1", 8642);
    uid_t uid = 7;
    (void)state;
    assert_int_equal(find("", &theirs, &ours, &uid), -ENOENT);
    assert_int_equal(find("   0: 0100007F:B5F2 0100007F:21C2 01\n\n:::\n   1: 0100007F:B5F2\n",
                          &theirs, &ours, &uid),
                     -ENOENT);
}

/* One end of a connection on loopback, and the other in *ret_client. */
static int connected(int family, const char *text, int *ret_client) {
    struct sockaddr_storage at = address(family, text, 0);
    socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int listener = socket(family, SOCK_STREAM, 0);
    *ret_client = socket(family, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&at, size) < 0)
        return -1; /* IPv6 is not available */
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(connect(*ret_client, (struct sockaddr *)&at, size), 0);
    int server = accept(listener, NULL, NULL);
    close(listener);
    return server;
}

static void a_connection_of_ours_is_ours(void **state) {
    static const struct {
        int family;
        const char *text;
    } kinds[] = {{AF_INET, "127.0.0.1"}, {AF_INET6, "::1"}};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int client, server = connected(kinds[i].family, kinds[i].text, &client);
        uid_t uid = 7;
        if (server < 0)
            continue;
        assert_int_equal(peer_uid(server, &uid), 0);
        assert_int_equal(uid, geteuid());
        close(client);
        assert_int_equal(peer_uid(server, &uid), -ENOENT);
        close(server);
    }
}

/* A scan of all sockets of the host would let strangers keep the server busy. */
static void the_kernel_is_asked_for_one_socket(void **state) {
    int client, server = connected(AF_INET, "127.0.0.1", &client);
    struct sockaddr_storage ours = {0}, theirs = {0};
    socklen_t ours_size = sizeof ours, theirs_size = sizeof theirs;
    uid_t uid = 7;
    (void)state;
    assert_int_equal(getsockname(server, (struct sockaddr *)&ours, &ours_size), 0);
    assert_int_equal(getpeername(server, (struct sockaddr *)&theirs, &theirs_size), 0);
    int r = peer_ask(&theirs, &ours, &uid);
    if (r < 0 && r != -ENOENT)
        skip(); /* this kernel does not answer */
    assert_int_equal(r, 0);
    assert_int_equal(uid, geteuid());
    uid = 7;
    close(client);
    assert_int_equal(peer_ask(&theirs, &ours, &uid), -ENOENT);
    close(server);
    assert_int_equal(peer_ask(&theirs, &ours, &uid), -ENOENT);
    assert_int_equal(uid, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_end_is_found_and_not_ours),
        cmocka_unit_test(a_closed_socket_has_no_user),
        cmocka_unit_test(addresses_of_ipv6_are_found),
        cmocka_unit_test(odd_lines_are_passed_over),
        cmocka_unit_test(a_connection_of_ours_is_ours),
        cmocka_unit_test(the_kernel_is_asked_for_one_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
