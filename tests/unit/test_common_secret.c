/* SPDX-License-Identifier: MIT */
/* Secrets are moved out of the places where they were given, and nothing of them stays there. */
#include "common/secret.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NAME "CHOKEPOINT_TEST_SECRET"

extern char **environ;

/* The environment consists of these two entries, in memory that the test can read. */
static char secret[64], beside[64];

static void give(const char *value) {
    static char *entries[3];
    memset(secret, '#', sizeof secret);
    strcpy(secret + 8, NAME "=");
    strcat(secret + 8, value);
    strcpy(beside, "PATH=/bin");
    entries[0] = secret + 8;
    entries[1] = beside;
    entries[2] = NULL;
    environ = entries;
}

static void expect_wiped(size_t value) {
    size_t size = strlen(NAME) + 1 + value;
    for (size_t i = 0; i < sizeof secret; i++)
        assert_int_equal(secret[i], i >= 8 && i <= 8 + size ? 0 : '#');
    assert_null(getenv(NAME));
    assert_string_equal(getenv("PATH"), "/bin");
}

static void what_is_taken_is_wiped_where_it_was(void **state) {
    char **own = environ, value[8];
    (void)state;
    give("open it");
    assert_int_equal(secret_take(NAME, value, sizeof value), 0);
    assert_string_equal(value, "open it");
    expect_wiped(7);
    environ = own;
}

static void what_is_too_long_is_wiped_all_the_same(void **state) {
    char **own = environ, value[8];
    (void)state;
    give("open it!");
    assert_int_equal(secret_take(NAME, value, sizeof value), -E2BIG);
    assert_string_equal(value, "");
    expect_wiped(8);
    environ = own;
}

static void what_is_not_given_is_empty(void **state) {
    char value[8] = "x";
    (void)state;
    unsetenv(NAME);
    assert_int_equal(secret_take(NAME, value, sizeof value), 0);
    assert_string_equal(value, "");
}

static int read_line(const char *text, char *value, size_t capacity, char *ret_rest, size_t size) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], text, strlen(text)), strlen(text));
    close(fds[1]);
    int r = secret_read_line(fds[0], value, capacity);
    ssize_t n = read(fds[0], ret_rest, size - 1);
    ret_rest[n > 0 ? n : 0] = '\0';
    close(fds[0]);
    return r;
}

static void a_line_is_read_and_nothing_behind_it(void **state) {
    char value[8], rest[16];
    (void)state;
    assert_int_equal(read_line("key\nrest", value, sizeof value, rest, sizeof rest), 0);
    assert_string_equal(value, "key");
    assert_string_equal(rest, "rest");
    assert_int_equal(read_line("1234567\n", value, sizeof value, rest, sizeof rest), 0);
    assert_string_equal(value, "1234567");
    assert_int_equal(read_line("12345678\n", value, sizeof value, rest, sizeof rest), -E2BIG);
    assert_int_equal(read_line("key", value, sizeof value, rest, sizeof rest), -ENODATA);
    assert_int_equal(secret_read_line(-1, value, sizeof value), -EBADF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_wiped_where_it_was),
        cmocka_unit_test(what_is_too_long_is_wiped_all_the_same),
        cmocka_unit_test(what_is_not_given_is_empty),
        cmocka_unit_test(a_line_is_read_and_nothing_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
