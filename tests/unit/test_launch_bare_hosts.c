/* SPDX-License-Identifier: MIT */
/* Hosts without an agent are remembered for a week, in a place that nobody else can change. */
#include "cli/launch/bare_hosts.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#define LIST ".cache/chokepoint/hosts-without-agent-" CHOKEPOINT_VERSION

static char home[] = "/tmp/chokepoint-bare-XXXXXX";

static int make_home(void **state) {
    (void)state;
    strcpy(home + strlen(home) - 6, "XXXXXX");
    return !mkdtemp(home) || setenv("HOME", home, 1) < 0 || chdir(home) < 0;
}

static int remove_home(void **state) {
    (void)state;
    return chdir("/") < 0 || folder_remove(home);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void a_host_is_known_once_it_was_added(void **state) {
    (void)state;
    assert_false(bare_hosts_has("vm2"));
    bare_hosts_add("vm2");
    bare_hosts_add("vm22");
    bare_hosts_add("vm2");
    assert_true(bare_hosts_has("vm2") && bare_hosts_has("vm22"));
    assert_false(bare_hosts_has("vm") || bare_hosts_has("vm222") || bare_hosts_has(""));
    assert_int_equal(mode_of(LIST), 0600);
    assert_int_equal(mode_of(".cache/chokepoint"), 0700);
    struct stat st;
    assert_int_equal(stat(LIST, &st), 0);
    assert_int_equal(st.st_size, strlen("vm2\nvm22\n"));
}

static void after_a_week_it_is_asked_again(void **state) {
    (void)state;
    bare_hosts_add("vm2");
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - 8 * 86400}};
    assert_int_equal(utimensat(AT_FDCWD, LIST, times, 0), 0);
    assert_false(bare_hosts_has("vm2"));
    bare_hosts_add("vm3"); /* the old ones are not renewed with it */
    assert_true(bare_hosts_has("vm3"));
    assert_false(bare_hosts_has("vm2"));
}

static void nothing_is_kept_where_others_may_write(void **state) {
    (void)state;
    bare_hosts_add("vm2");
    assert_int_equal(chmod(".cache/chokepoint", 0777), 0);
    assert_false(bare_hosts_has("vm2"));
    bare_hosts_add("vm3");
    assert_int_equal(chmod(".cache/chokepoint", 0700), 0);
    assert_false(bare_hosts_has("vm3"));
    assert_int_equal(unlink(LIST), 0);
    assert_int_equal(symlink("elsewhere", LIST), 0);
    bare_hosts_add("vm4");
    assert_int_equal(access(".cache/chokepoint/elsewhere", F_OK), -1);
    setenv("HOME", "nowhere", 1);
    bare_hosts_add("vm5");
    assert_false(bare_hosts_has("vm5"));
}

static void a_list_that_is_too_long_begins_anew(void **state) {
    char host[20];
    (void)state;
    bare_hosts_add("first");
    FILE *file = fopen(LIST, "a");
    assert_non_null(file);
    for (int i = 0; i < 9000; i++)
        fprintf(file, "host%d\n", i);
    fclose(file);
    assert_false(bare_hosts_has("first"));
    bare_hosts_add("last");
    assert_true(bare_hosts_has("last"));
    snprintf(host, sizeof host, "host%d", 8999);
    assert_false(bare_hosts_has(host));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_home, remove_home)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_host_is_known_once_it_was_added),
        TEST(after_a_week_it_is_asked_again),
        TEST(nothing_is_kept_where_others_may_write),
        TEST(a_list_that_is_too_long_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
