/* SPDX-License-Identifier: MIT */
/* Options of `testbed up`, and the state that it keeps; nothing here makes a testbed. */
#include "cli/base/file.h"
#include "cli/base/spawn.h"
#include "cli/testbed/testbed.h"
#include "common/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Parses the words (NULL at their end) after "up". */
static int parse(struct testbed_options *ret, const char *const words[]) {
    char copies[8][128], *argv[9] = {(char[]){"up"}};
    int argc = 1;
    *ret = (struct testbed_options){0};
    assert_int_equal(testbed_init(&ret->testbed, "t"), 0);
    for (; words[argc - 1]; argc++)
        argv[argc] = strcpy(copies[argc - 1], words[argc - 1]);
    argv[argc] = NULL;
    return testbed_parse_up(argc, argv, ret);
}

#define PARSE(ret, ...) parse(ret, (const char *const[]){__VA_ARGS__, NULL})

static void up_has_sensible_defaults(void **state) {
    struct testbed_options o;
    (void)state;
    assert_int_equal(PARSE(&o, "5"), 0);
    assert_int_equal(o.testbed.n_hosts, 5);
    assert_int_equal(o.testbed.rate_bits_per_s, 1800000000);
    assert_int_equal(o.testbed.mtu, 9000);
    assert_string_equal(o.testbed.cpus[0], "");
    assert_false(o.subnet_given || o.replace);
}

static void up_takes_its_options_in_any_order(void **state) {
    struct testbed_options o;
    (void)state;
    assert_int_equal(
        PARSE(&o, "--rate=none", "3", "--memory", "2g", "--replace", "--subnet", "10.9.8.0/28"), 0);
    assert_int_equal(o.testbed.n_hosts, 3);
    assert_int_equal(o.testbed.rate_bits_per_s, 0);
    assert_int_equal(o.testbed.memory_bytes, 2ull << 30);
    assert_int_equal(o.testbed.network, 0x0a090800);
    assert_int_equal(o.testbed.prefix, 28);
    assert_true(o.subnet_given && o.replace);
}

static void up_refuses_wrong_words_in_one_line(void **state) {
    static const char *const wrong[][3] = {
        {"0"},
        {"101"},
        {"-1"},
        {"many"},
        {"3", "4"},
        {"3", "--rate", "9"},
        {"3", "--rate"},
        {"3", "--wings"},
        {"3", "--memory", "1"},
        {"3", "--mtu", "100"},
        {"3", "--cpus", ""},
        {"15", "--subnet", "10.0.0.0/28"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct testbed_options o;
        const char *words[4] = {wrong[i][0], wrong[i][1], wrong[i][2], NULL};
        assert_int_equal(parse(&o, words), TESTBED_USAGE);
        assert_true(o.testbed.trouble[0]);
        assert_null(strchr(o.testbed.trouble, '\n'));
    }
    struct testbed_options o;
    assert_int_equal(parse(&o, (const char *const[]){NULL}), TESTBED_USAGE);
    assert_int_equal(PARSE(&o, "14", "--subnet", "10.0.0.0/28"), 0);
}

static void cpus_go_round(void **state) {
    struct testbed t;
    (void)state;
    assert_int_equal(testbed_init(&t, "t"), 0);
    if (sysconf(_SC_NPROCESSORS_CONF) < 2)
        skip();
    assert_int_equal(testbed_parse_cpus("0,1", &t), 0);
    assert_string_equal(t.cpus[0], "0");
    assert_string_equal(t.cpus[1], "1");
    assert_string_equal(t.cpus[2], "0");
    assert_int_equal(testbed_parse_cpus("0-1;1", &t), 0);
    assert_string_equal(t.cpus[0], "0-1");
    assert_string_equal(t.cpus[1], "1");
    assert_string_equal(t.cpus[2], "0-1");
    assert_int_equal(testbed_parse_cpus("0,1;0", &t), 0);
    assert_string_equal(t.cpus[0], "0,1");
    assert_int_equal(testbed_parse_cpus("none", &t), 0);
    assert_string_equal(t.cpus[0], "");
}

static void cpus_that_are_no_list_are_refused(void **state) {
    static const char *const wrong[] = {
        "",     "x",   "0,", ",0",    "0;",  "1-0",  "-1", "0-",
        "0--1", "0 1", "+0", "99999", "0x0", "0,,0", ";",  "0-99999999999999999999"};
    struct testbed t;
    (void)state;
    assert_int_equal(testbed_init(&t, "t"), 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_int_equal(testbed_parse_cpus(wrong[i], &t), TESTBED_USAGE);
}

static void subnets_that_are_none_are_refused(void **state) {
    static const char *const wrong[] = {"",          "10.0.0.0",    "10.0.0.0/",  "10.0.0.1/24",
                                        "10.0.0/24", "10.0.0.0/31", "10.0.0.0/7", "10.0.0.0/24x",
                                        "/24",       "fe80::/64",   "10.0.0.0/-8"};
    struct testbed t;
    (void)state;
    assert_int_equal(testbed_init(&t, "t"), 0);
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_int_equal(testbed_parse_subnet(wrong[i], &t), TESTBED_USAGE);
}

static void names_cannot_leave_their_place(void **state) {
    static const char *const wrong[] = {
        "..", "a/b", "-x", "A", "a b", "a.b", "abcdefghijklmnopqrstuvwxyz"};
    struct testbed t;
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_int_equal(testbed_init(&t, wrong[i]), TESTBED_USAGE);
    assert_int_equal(testbed_init(&t, "mine-2"), 0);
    assert_string_equal(t.directory, "/run/chokepoint-testbed/mine-2");
}

static void hosts_are_found_by_name_user_and_address(void **state) {
    struct testbed t;
    (void)state;
    assert_int_equal(testbed_init(&t, "t"), 0);
    t.n_hosts = 12;
    assert_int_equal(testbed_find_host(&t, "vm12"), 12);
    assert_int_equal(testbed_find_host(&t, "root@vm3"), 3);
    assert_int_equal(testbed_find_host(&t, "10.77.0.4"), 4);
    assert_int_equal(testbed_find_host(&t, "vm13"), 0);
    assert_int_equal(testbed_find_host(&t, "vm01"), 0);
    assert_int_equal(testbed_find_host(&t, ""), 0);
}

/* --- the state file --- */

static int make_place(void **state) {
    char *place = strdup("/tmp/chokepoint-test-XXXXXX");
    *state = place;
    return place && mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state) {
    char path[64];
    snprintf(path, sizeof path, "%s/state", (char *)*state);
    unlink(path);
    int r = rmdir(*state);
    free(*state);
    return r;
}

static struct testbed testbed_at(const char *place) {
    struct testbed t;
    assert_int_equal(testbed_init(&t, "t"), 0);
    snprintf(t.directory, sizeof t.directory, "%s", place);
    return t;
}

static void state_survives_the_file(void **state) {
    struct testbed written = testbed_at(*state), read = testbed_at(*state);
    written.phase = TESTBED_UP;
    written.n_hosts = 3;
    written.network = 0x0a090800;
    written.prefix = 28;
    written.mtu = 1500;
    written.rate_bits_per_s = 1800000000;
    written.memory_bytes = 5ull << 30;
    strcpy(written.cpus[2], "0-1,3");
    assert_int_equal(testbed_save(&written), 0);
    assert_int_equal(testbed_load(&read), 0);
    assert_memory_equal(&written, &read, sizeof read);
}

static void a_state_file_of_others_is_refused(void **state) {
    static const char *const wrong[] = {"",
                                        "chokepoint-testbed 2\nhosts 3\n",
                                        "chokepoint-testbed 1\n",
                                        "chokepoint-testbed 1\nhosts 101\n",
                                        "chokepoint-testbed 1\nhosts 3\ncpus 101 0\n",
                                        "chokepoint-testbed 1\nhosts 3\ncpus 0 0\n",
                                        "chokepoint-testbed 1\nhosts 3\nwings 2\n",
                                        "chokepoint-testbed 1\nhosts 3\nnetwork 10.0\n",
                                        "chokepoint-testbed 1\nhosts 3\nprefix 33\n"};
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct testbed t = testbed_at(*state);
        assert_int_equal(file_replace(wrong[i], "%s/state", t.directory), 0);
        assert_int_equal(testbed_load(&t), TESTBED_FAILED);
    }
}

static void without_a_state_file_no_testbed_is_up(void **state) {
    struct testbed t = testbed_at(*state);
    assert_false(testbed_exists(&t));
    assert_int_equal(testbed_load(&t), TESTBED_USAGE);
    assert_non_null(strstr(t.trouble, "testbed up"));
}

/* --- tools --- */

static void a_tool_fails_with_its_first_line(void **state) {
    const char *const argv[] = {"sh", "-c", "echo out; echo first >&2; echo second >&2; exit 3",
                                NULL};
    char complaint[64] = "";
    (void)state;
    assert_int_equal(spawn_tool(NULL, argv, complaint, sizeof complaint), SPAWN_FAILED);
    assert_string_equal(complaint, "first");
}

static void a_tool_that_writes_much_is_drained(void **state) {
    const char *const argv[] = {"sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x >&2", NULL};
    char complaint[64] = "";
    (void)state;
    assert_int_equal(spawn_tool(NULL, argv, complaint, sizeof complaint), 0);
}

static void a_tool_that_is_not_there_is_said(void **state) {
    const char *const argv[] = {"no-such-tool", NULL};
    char complaint[64] = "";
    (void)state;
    assert_int_equal(spawn_tool(NULL, argv, complaint, sizeof complaint), -ENOENT);
    assert_true(complaint[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_has_sensible_defaults),
        cmocka_unit_test(up_takes_its_options_in_any_order),
        cmocka_unit_test(up_refuses_wrong_words_in_one_line),
        cmocka_unit_test(cpus_go_round),
        cmocka_unit_test(cpus_that_are_no_list_are_refused),
        cmocka_unit_test(subnets_that_are_none_are_refused),
        cmocka_unit_test(names_cannot_leave_their_place),
        cmocka_unit_test(hosts_are_found_by_name_user_and_address),
        cmocka_unit_test_setup_teardown(state_survives_the_file, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_state_file_of_others_is_refused, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(without_a_state_file_no_testbed_is_up, make_place,
                                        remove_place),
        cmocka_unit_test(a_tool_fails_with_its_first_line),
        cmocka_unit_test(a_tool_that_writes_much_is_drained),
        cmocka_unit_test(a_tool_that_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
