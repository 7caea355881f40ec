/* SPDX-License-Identifier: MIT */
/* Lines from other hosts count only if they are plausible. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calibrate/result.h"

struct fixture {
    struct hosts hosts;
    struct calibration c;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    char why[100];
    assert_int_equal(hosts_add_list(&f->hosts, "vm1,vm2", why, sizeof why), 0);
    f->c.hosts = &f->hosts;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    calibration_release(&f->c);
    hosts_release(&f->hosts);
    free(f);
    return 0;
}

static void take(struct fixture *f, const char *line) {
    assert_int_equal(calibration_take_line(&f->c, line), 0);
}

#define FIGURE(host, peer, metric, unit, value, low, high)                                         \
    "{\"host\": \"" host "\", " peer "\"metric\": \"" metric "\", \"unit\": \"" unit               \
    "\", \"value\": " value ", \"low\": " low ", \"high\": " high ", \"how\": \"somehow\"}"
#define GOOD FIGURE("vm1", "", "net_egress", "MB/s", "223.4", "220", "225")

static void a_figure_is_taken_as_it_is(void **state) {
    struct fixture *f = *state;
    take(f, GOOD);
    take(f, FIGURE("vm1", "\"peer\": \"vm2\", ", "net_pair", "MB/s", "100", "99", "101"));
    assert_int_equal(f->c.n, 2);
    assert_int_equal(f->c.n_refused, 0);
    const struct store_ceiling *a = &f->c.figures[0], *b = &f->c.figures[1];
    assert_string_equal(a->host, "vm1");
    assert_null(a->peer);
    assert_string_equal(a->metric, "net_egress");
    assert_true(a->value == 223.4 && a->low == 220 && a->high == 225);
    assert_true(a->measured_wall_ns > 0);
    assert_string_equal(b->peer, "vm2");
    assert_string_equal(b->how, "somehow");
}

/* One line each; none may be accepted. */
static const char *const hostile[] = {
    "garbage",
    "",
    "[1, 2]",
    "\"text\"",
    "{",
    "{}",
    "{\"host\": \"vm1\"}",
    "{\"metric\": 5}",
    FIGURE("vm3", "", "net_egress", "MB/s", "1", "1", "1"),
    FIGURE("", "", "net_egress", "MB/s", "1", "1", "1"),
    FIGURE("vm1", "", "net_egress", "GB/s", "1", "1", "1"),
    FIGURE("vm1", "", "'); DROP TABLE run; --", "MB/s", "1", "1", "1"),
    FIGURE("vm1", "", "net_egress", "MB/s", "-1", "-1", "-1"),
    FIGURE("vm1", "", "net_egress", "MB/s", "0", "0", "0"),
    FIGURE("vm1", "", "net_egress", "MB/s", "1e300", "1", "1e301"),
    FIGURE("vm1", "", "net_egress", "MB/s", "1e999", "1", "1"),
    FIGURE("vm1", "", "net_egress", "MB/s", "NaN", "1", "1"),
    FIGURE("vm1", "", "net_egress", "MB/s", "\"5\"", "1", "9"),
    FIGURE("vm1", "", "net_egress", "MB/s", "5", "6", "9"),
    FIGURE("vm1", "", "net_egress", "MB/s", "5", "1", "4"),
    FIGURE("vm1", "", "net_egress", "MB/s", "5", "null", "9"),
    FIGURE("vm1", "\"peer\": \"vm2\", ", "net_egress", "MB/s", "5", "5", "5"),
    FIGURE("vm1", "", "net_pair", "MB/s", "5", "5", "5"),
    FIGURE("vm1", "\"peer\": \"vm1\", ", "net_pair", "MB/s", "5", "5", "5"),
    FIGURE("vm1", "\"peer\": \"vm9\", ", "net_pair", "MB/s", "5", "5", "5"),
    FIGURE("vm1", "\"value\": 3, ", "net_egress", "MB/s", "5", "5", "5"),
    "{\"done\": 2, \"left_s\": 1, \"what\": \"x\"}",
    "{\"done\": 0.5, \"left_s\": -1, \"what\": \"x\"}",
    "{\"done\": 0.5, \"left_s\": 1}",
    "{\"host\": \"vm7\", \"trouble\": \"x\"}",
};

static void lines_that_cannot_be_so_are_refused_and_counted(void **state) {
    struct fixture *f = *state;
    size_t n = sizeof hostile / sizeof *hostile;
    for (size_t i = 0; i < n; i++) {
        take(f, hostile[i]);
        if (f->c.n_refused != i + 1 || f->c.n != 0 || f->c.n_troubles != 0)
            fail_msg("came through: %s", hostile[i]);
    }
    assert_true(f->c.done == 0);
    assert_non_null(strstr(f->c.refused, "JSON"));
}

static void a_figure_is_said_once(void **state) {
    struct fixture *f = *state;
    take(f, GOOD);
    take(f, GOOD);
    assert_int_equal(f->c.n, 1);
    assert_int_equal(f->c.n_refused, 1);
    assert_non_null(strstr(f->c.refused, "twice"));
}

static void troubles_are_bounded_and_clean(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 3 * CALIBRATION_TROUBLES_MAX; i++)
        take(f, "{\"host\": \"vm2\", \"trouble\": \"disk: \\u001b[2J\\u0007gone\"}");
    assert_int_equal(f->c.n_troubles, CALIBRATION_TROUBLES_MAX);
    assert_null(strchr(f->c.troubles[0], '\033'));
    assert_memory_equal(f->c.troubles[0], "vm2: disk: ", 11);
}

static void progress_is_heard(void **state) {
    struct fixture *f = *state;
    take(f, "{\"done\": 0.25, \"left_s\": 12.5, \"what\": \"vm1 to \\u001bvm2\"}");
    assert_true(f->c.done == 0.25 && f->c.left_s == 12.5);
    assert_null(strchr(f->c.what, '\033'));
}

static void no_line_is_too_long_or_too_deep(void **state) {
    struct fixture *f = *state;
    char *line = malloc(200001);
    memset(line, '[', 200000);
    line[200000] = '\0';
    take(f, line);
    line[CALIBRATION_LINE_MAX] = '\0';
    take(f, line);
    snprintf(line, 200001, "{\"host\": \"%01000d\", \"trouble\": \"x\"}", 5);
    take(f, line);
    assert_int_equal(f->c.n_refused, 3);
    free(line);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_figure_is_taken_as_it_is), TEST(lines_that_cannot_be_so_are_refused_and_counted),
        TEST(a_figure_is_said_once),      TEST(troubles_are_bounded_and_clean),
        TEST(progress_is_heard),          TEST(no_line_is_too_long_or_too_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
