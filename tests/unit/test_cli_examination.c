/* SPDX-License-Identifier: MIT */
/* Agents' findings about their hosts, and comparisons between hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/doctor/examination.h"
#include "common/clock.h"
#include "reports/findings.h"

#define NOW (INT64_C(1800000000) * NS_PER_S)

static struct examined examined(const char *name, const char *mtu, int64_t wall_ns) {
    struct examined host = {.host = name, .asked_wall_ns = NOW};
    char line[80];
    examined_hear(&host, "fact | version | 1.2.3", NOW);
    snprintf(line, sizeof line, "fact | mtu | eth0 %s", mtu);
    examined_hear(&host, line, NOW);
    snprintf(line, sizeof line, "fact | wall_ns | %lld", (long long)wall_ns);
    examined_hear(&host, line, NOW + NS_PER_S / 10);
    examined_hear(&host, "fact | end | 1", NOW);
    return host;
}

static void an_agents_finding_is_taken(void **state) {
    struct examined host = {.host = "vm1"};
    (void)state;
    examined_hear(&host, "doctor | hinders | spool | /tmp is full | df -h /tmp", NOW);
    examined_hear(&host, "doctor | ok | psi | there | ", NOW);
    assert_int_equal(host.n_findings, 2);
    assert_string_equal(host.findings[0]->host, "vm1");
    assert_string_equal(host.findings[0]->level, "hinders");
    assert_string_equal(host.findings[0]->check, "spool");
    assert_string_equal(host.findings[0]->text, "/tmp is full");
    assert_string_equal(host.findings[0]->mend, "df -h /tmp");
    assert_null(host.findings[1]->mend);
    assert_false(host.complete);
    examined_release(&host);
}

static void what_is_no_finding_is_skipped(void **state) {
    static const char *const lines[] = {"",
                                        "doctor",
                                        "doctor | hinders | spool | text",
                                        "doctor | worse | spool | text | mend",
                                        "fact | end",
                                        "fact | mtu | eth0",
                                        "fact | wall_ns | 99999999999999999999",
                                        "something else | a | b | c | d"};
    struct examined host = {.host = "vm1"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        examined_hear(&host, lines[i], NOW);
    assert_int_equal(host.n_findings, 0);
    assert_int_equal(host.mtu, 0);
    assert_int_equal(host.wall_ns, 0);
    assert_false(host.complete);
    for (size_t i = 0; i < 3 * EXAMINED_FINDINGS_MAX; i++)
        examined_hear(&host, "doctor | ok | psi | there | ", NOW);
    assert_int_equal(host.n_findings, EXAMINED_FINDINGS_MAX);
    examined_release(&host);
}

static void equal_hosts_have_nothing_to_mend(void **state) {
    (void)state;
    struct examined hosts[] = {examined("a", "9000", NOW), examined("b", "9000", NOW + 1)};
    examined_compare(hosts, 2, "1.2.3");
    assert_int_equal(hosts[0].n_findings + hosts[1].n_findings, 0);
}

static void the_host_that_differs_is_named(void **state) {
    (void)state;
    struct examined hosts[] = {examined("a", "9000", NOW), examined("b", "1500", NOW),
                               examined("c", "9000", NOW - 5 * NS_PER_S),
                               examined("d", "9000", NOW + 7 * NS_PER_S)};
    examined_compare(hosts, 4, "1.2.3");
    assert_int_equal(hosts[0].n_findings, 0);
    assert_int_equal(hosts[1].n_findings, 1);
    assert_string_equal(hosts[1].findings[0]->check, "mtu");
    assert_string_equal(hosts[1].findings[0]->mend, "ip link set dev eth0 mtu 9000");
    assert_int_equal(hosts[2].n_findings, 1);
    assert_non_null(strstr(hosts[2].findings[0]->text, "5 s behind"));
    assert_int_equal(hosts[3].n_findings, 1);
    assert_non_null(strstr(hosts[3].findings[0]->text, "6.9 s ahead of"));
    for (size_t i = 0; i < 4; i++)
        examined_release(&hosts[i]);
}

static void another_version_hinders(void **state) {
    (void)state;
    struct examined hosts[] = {examined("a", "1500", NOW), {.host = "silent"}};
    examined_compare(hosts, 2, "2.0.0");
    assert_int_equal(hosts[0].n_findings, 1);
    assert_string_equal(hosts[0].findings[0]->level, "hinders");
    assert_string_equal(hosts[0].findings[0]->check, "version");
    assert_int_equal(hosts[1].n_findings, 0);
    examined_release(&hosts[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agents_finding_is_taken),
        cmocka_unit_test(what_is_no_finding_is_skipped),
        cmocka_unit_test(equal_hosts_have_nothing_to_mend),
        cmocka_unit_test(the_host_that_differs_is_named),
        cmocka_unit_test(another_version_hinders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
