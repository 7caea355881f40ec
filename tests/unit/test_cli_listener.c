/* SPDX-License-Identifier: MIT */
/* The programs that listen on ports, in a planted /proc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/listener.h"

#define HEAD                                                                                       \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "  \
    "inode\n"

static char root[64];

static void put(const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_folder(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* 6379 is listened on by process 12, and 8080 over IPv6 by somebody whose files are hidden; a
 * client of 6379 has that port at its far end. */
static int setup(void **state) {
    char link[128];
    (void)state;
    snprintf(root, sizeof root, "/tmp/chokepoint-listener-XXXXXX");
    assert_non_null(mkdtemp(root));
    put_folder("net");
    put_folder("12");
    put_folder("12/fd");
    put("12/comm", "redis-server\n");
    put("net/tcp",
        HEAD "   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
             "  999        0 4711 1 0000000000000000 100 0 0 10 0\n"
             "   1: 0100007F:9C40 0100007F:18EB 01 00000000:00000000 00:00000000 00000000 "
             "    0        0 4712 1 0000000000000000 20 4 30 10 -1\n");
    put("net/tcp6", HEAD "   0: 00000000000000000000000000000000:1F90 "
                         "00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 "
                         "00000000     0        0 4713 1 0000000000000000 100 0 0 10 0\n");
    snprintf(link, sizeof link, "%s/12/fd/3", root);
    assert_int_equal(symlink("socket:[4711]", link), 0);
    return 0;
}

static int teardown(void **state) {
    static const char *const files[] = {"12/fd/3", "12/fd",    "12/comm", "12",
                                        "net/tcp", "net/tcp6", "net"};
    char path[128];
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        assert_int_equal(remove(path), 0);
    }
    return rmdir(root);
}

static void a_server_is_found_with_its_program(void **state) {
    char name[LISTENER_NAME_SIZE];
    (void)state;
    assert_true(listener_find(root, 6379, name));
    assert_string_equal(name, "redis-server");
    assert_true(listener_find(root, 8080, name));
    assert_string_equal(name, "");
}

static void a_port_of_a_client_is_none(void **state) {
    char name[LISTENER_NAME_SIZE];
    (void)state;
    assert_false(listener_find(root, 0x9c40, name));
    assert_false(listener_find(root, 80, name));
    assert_false(listener_find("/nowhere", 6379, name));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_server_is_found_with_its_program, setup, teardown),
        cmocka_unit_test_setup_teardown(a_port_of_a_client_is_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
