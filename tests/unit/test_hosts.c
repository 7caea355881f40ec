/* SPDX-License-Identifier: MIT */
/* Host names from hostile texts: a text that is not understood is refused with its line, and
 * nothing is guessed.
 */
#include "cli/launch/hosts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

/* The set as "a b c"; frees it. */
static const char *joined(struct hosts *hosts) {
    static char text[1000];
    text[0] = '\0';
    for (size_t i = 0; i < hosts->n; i++) {
        assert_true(hosts_contain(hosts, hosts->names[i]));
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 hosts->names[i]);
    }
    hosts_release(hosts);
    return text;
}

static const char *hostfile(const char *text) {
    struct hosts hosts = {0};
    char why[200] = "";
    int r = hosts_add_hostfile_text(&hosts, text, strlen(text), why, sizeof why);
    assert_string_equal(why, "");
    assert_int_equal(r, 0);
    return joined(&hosts);
}

static const char *hostfile_refused(const char *text, size_t size) {
    static char why[200];
    struct hosts hosts = {0};
    assert_int_equal(hosts_add_hostfile_text(&hosts, text, size, why, sizeof why), -EINVAL);
    hosts_release(&hosts);
    return why;
}

static void hostfile_lines_are_read_as_mpirun_reads_them(void **state) {
    (void)state;
    assert_string_equal(hostfile("vm1 slots=2 max_slots=4\nvm2\n"), "vm1 vm2");
    assert_string_equal(hostfile("# the cluster\n\n  vm1\t slots=1 # first\nvm2#no blank"),
                        "vm1 vm2");
    assert_string_equal(hostfile("vm1:4\nme@vm2\n10.0.0.3 slots=2\nfe80::1\n"),
                        "vm1 vm2 10.0.0.3 fe80::1");
    assert_string_equal(hostfile("vm1\nvm2\nvm3\n^vm2\n"), "vm1 vm3");
    assert_string_equal(hostfile(""), "");
    assert_string_equal(hostfile("# nothing\n"), "");
}

static void crlf_and_duplicates_are_harmless(void **state) {
    (void)state;
    assert_string_equal(hostfile("vm1 slots=2\r\nvm2\r\n\r\nvm1\r\n"), "vm1 vm2");
    assert_string_equal(hostfile("vm2\nvm1\nvm2:3\nx@vm1\nvm2"), "vm2 vm1");
}

static void a_line_that_is_no_host_is_named(void **state) {
    (void)state;
    const char binary[] = "vm1\n\x7f"
                          "ELF\0\x01\x02";
    assert_string_equal(hostfile_refused("vm1\n$(reboot)\n", 15),
                        "line 2: '$(reboot)' is no host name");
    assert_string_equal(hostfile_refused("-oProxyCommand=x\n", 17),
                        "line 1: '-oProxyCommand=x' is no host name");
    assert_string_equal(hostfile_refused("x@-vm\n", 6), "line 1: 'x@-vm' is no host name");
    assert_string_equal(hostfile_refused("+n0\n", 4), "line 1: '+n0' is no host name");
    assert_non_null(strstr(hostfile_refused(binary, sizeof binary), "line 2: '?ELF?"));
}

static void an_overlong_name_is_refused_and_shown_cut(void **state) {
    (void)state;
    char text[1000];
    memset(text, 'a', sizeof text);
    assert_true(strlen(hostfile_refused(text, sizeof text)) < 100);
    struct hosts hosts = {0};
    char why[100];
    assert_int_equal(hosts_add(&hosts, text, HOST_NAME_LENGTH_MAX, why, sizeof why), 0);
    assert_int_equal(hosts_add(&hosts, text, HOST_NAME_LENGTH_MAX + 1, why, sizeof why), -EINVAL);
    hosts_release(&hosts);
}

static void a_million_lines_of_one_host_are_one_host(void **state) {
    (void)state;
    size_t size = 4000000;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < size; i += 4)
        memcpy(text + i, i % 8 ? "vm1\n" : "vm2\n", 4);
    struct hosts hosts = {0};
    char why[100];
    assert_int_equal(hosts_add_hostfile_text(&hosts, text, size, why, sizeof why), 0);
    assert_string_equal(joined(&hosts), "vm2 vm1");
    free(text);
}

static void a_million_hosts_are_refused(void **state) {
    (void)state;
    size_t size = 8000000;
    char *text = malloc(size + 1), why[100];
    assert_non_null(text);
    for (size_t i = 0; i < size; i += 8)
        snprintf(text + i, 9, "h%06zu\n", i / 8);
    struct hosts hosts = {0};
    assert_int_equal(hosts_add_hostfile_text(&hosts, text, size, why, sizeof why), -E2BIG);
    assert_string_equal(why, "line 4097: more than 4096 hosts");
    assert_int_equal(hosts.n, HOSTS_MAX);
    hosts_release(&hosts);
    free(text);
}

static void random_bytes_never_hurt(void **state) {
    (void)state;
    srandom(7);
    for (int round = 0; round < 2000; round++) {
        char text[200], why[100];
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = "vm[]-,01 :@#^\n\r\t=\x80\xff"[random() % 20];
        struct hosts hosts = {0};
        (void)hosts_add_hostfile_text(&hosts, text, sizeof text, why, sizeof why);
        text[sizeof text - 1] = '\0';
        (void)hosts_add_nodelist(&hosts, text, why, sizeof why);
        (void)hosts_add_list(&hosts, text, why, sizeof why);
        hosts_release(&hosts);
    }
}

static void host_lists_drop_their_slots(void **state) {
    (void)state;
    struct hosts hosts = {0};
    char why[100];
    assert_int_equal(hosts_add_list(&hosts, "vm1:2,vm2,,vm3:*,vm1", why, sizeof why), 0);
    assert_string_equal(joined(&hosts), "vm1 vm2 vm3");
    assert_int_equal(hosts_add_list(&hosts, "vm1,-x", why, sizeof why), -EINVAL);
    assert_string_equal(why, "'-x' is no host name");
    hosts_release(&hosts);
}

static const char *nodelist(const char *text) {
    struct hosts hosts = {0};
    char why[200] = "";
    int r = hosts_add_nodelist(&hosts, text, why, sizeof why);
    assert_string_equal(why, "");
    assert_int_equal(r, 0);
    return joined(&hosts);
}

static void slurm_ranges_are_expanded(void **state) {
    (void)state;
    assert_string_equal(nodelist("n1"), "n1");
    assert_string_equal(nodelist("n[01-03,7]"), "n01 n02 n03 n7");
    assert_string_equal(nodelist("n[8-11],login,gpu-[1]"), "n8 n9 n10 n11 login gpu-1");
    assert_string_equal(nodelist("r[1-2]n[01-02]-ib"), "r1n01-ib r1n02-ib r2n01-ib r2n02-ib");
    assert_string_equal(nodelist("n[00000000000000000001]"), "n00000000000000000001");
    assert_string_equal(nodelist(""), "");
}

static void a_node_list_that_is_none_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"n[",      "n]",     "n[]",
                                      "n[1",     "n[3-1]", "n[a-b]",
                                      "n[1-]",   "n[-1]",  "n[1,,2]",
                                      "n[1[2]]", ",n",     "n,,m",
                                      "n[1 2]",  "n 1",    "n[18446744073709551616]",
                                      "-n[1-2]", "n[1-2",  "n[000000000000000000001]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct hosts hosts = {0};
        char why[100] = "";
        assert_int_equal(hosts_add_nodelist(&hosts, bad[i], why, sizeof why), -EINVAL);
        assert_true(why[0]);
        hosts_release(&hosts);
    }
}

static void a_node_list_cannot_run_away(void **state) {
    (void)state;
    struct hosts hosts = {0};
    char why[100], text[400] = "n";
    assert_int_equal(hosts_add_nodelist(&hosts, "n[0-18446744073709551615]", why, sizeof why),
                     -E2BIG);
    hosts_release(&hosts);
    for (int i = 0; i < 60; i++)
        strcat(text, "[1,1]");
    assert_int_equal(hosts_add_nodelist(&hosts, text, why, sizeof why), -EINVAL);
    hosts_release(&hosts);
}

static void a_hostfile_is_a_plain_file_that_names_hosts(void **state) {
    (void)state;
    char directory[] = "/tmp/chokepoint-hosts-XXXXXX", path[100], why[300];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/hosts", directory);
    struct hosts hosts = {0};
    assert_int_equal(hosts_add_hostfile(&hosts, path, why, sizeof why), -ENOENT);
    assert_non_null(strstr(why, "No such file"));
    assert_int_equal(hosts_add_hostfile(&hosts, directory, why, sizeof why), -EISDIR);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(hosts_add_hostfile(&hosts, path, why, sizeof why), -ESPIPE);
    unlink(path);
    file_write_text(path, "# none\n", 0);
    assert_int_equal(hosts_add_hostfile(&hosts, path, why, sizeof why), -ENODATA);
    assert_non_null(strstr(why, "names no host"));
    file_write_text(path, "# none\nvm1\n", 0);
    assert_int_equal(hosts_add_hostfile(&hosts, path, why, sizeof why), 0);
    assert_string_equal(joined(&hosts), "vm1");
    unlink(path);
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostfile_lines_are_read_as_mpirun_reads_them),
        cmocka_unit_test(crlf_and_duplicates_are_harmless),
        cmocka_unit_test(a_line_that_is_no_host_is_named),
        cmocka_unit_test(an_overlong_name_is_refused_and_shown_cut),
        cmocka_unit_test(a_million_lines_of_one_host_are_one_host),
        cmocka_unit_test(a_million_hosts_are_refused),
        cmocka_unit_test(random_bytes_never_hurt),
        cmocka_unit_test(host_lists_drop_their_slots),
        cmocka_unit_test(slurm_ranges_are_expanded),
        cmocka_unit_test(a_node_list_that_is_none_is_refused),
        cmocka_unit_test(a_node_list_cannot_run_away),
        cmocka_unit_test(a_hostfile_is_a_plain_file_that_names_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
