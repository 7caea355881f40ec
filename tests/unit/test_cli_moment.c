/* SPDX-License-Identifier: MIT */
/* Times as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cli/base/moment.h"
#include "common/clock.h"
#include "common/error.h"

#define NOW (INT64_C(1764338730) * NS_PER_S) /* 2025-11-28 14:05:30 UTC */
#define DAY (86400 * NS_PER_S)

static int64_t at(const char *text) {
    int64_t ns = 0;
    int r = moment_parse(text, NOW, &ns);
    if (r < 0)
        print_error("%s is refused\n", text);
    assert_int_equal(r, 0);
    return (ns - NOW) / (NS_PER_S / 10);
}

static void times_are_those_of_journalctl(void **state) {
    (void)state;
    assert_int_equal(at("now"), 0);
    assert_int_equal(at("-10min"), -6000);
    assert_int_equal(at("-10m"), -6000);
    assert_int_equal(at("-90"), -900);
    assert_int_equal(at("-1h"), -36000);
    assert_int_equal(at("-2d"), -2 * 864000);
    assert_int_equal(at("14:05:30"), 0);
    assert_int_equal(at("14:05"), -300);
    assert_int_equal(at("14:05:29.5"), -5);
    assert_int_equal(at("15:00"), 32700 - 864000 + 0); /* yesterday's: today's is to come */
    assert_int_equal(at("2025-11-28 14:05:30"), 0);
    assert_int_equal(at("2025-11-28T14:05:30Z"), 0);
    assert_int_equal(at("2025-11-28T15:05:30+01:00"), 0);
    assert_int_equal(at("2025-11-28T13:05:30-0100"), 0);
    assert_int_equal(at("2025-11-28"), -507300);
    assert_int_equal(at("today"), -507300);
    assert_int_equal(at("yesterday"), -507300 - 864000);
    assert_int_equal(at("@1764338720"), -100);
}

static void local_times_have_the_local_zone(void **state) {
    int64_t ns = 0;
    (void)state;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    assert_int_equal(moment_parse("2025-11-28 15:05:30", NOW, &ns), 0);
    setenv("TZ", "UTC", 1);
    tzset();
    time_t probe = 0;
    struct tm tm;
    localtime_r(&probe, &tm);
    assert_true(ns == NOW || ns == NOW + 3600 * NS_PER_S); /* without zones on this machine */
}

static void other_words_are_no_times(void **state) {
    static const char *const bad[] = {"",
                                      "soon",
                                      "25:00",
                                      "14:5",
                                      "14:05:61.",
                                      "-",
                                      "-10x",
                                      "2025-13-01",
                                      "2025-02-30",
                                      "2025-11-28 ",
                                      "2025-11-28T14:05:30X",
                                      "@",
                                      "@-5",
                                      "14:05 ",
                                      "--5",
                                      "2025-11-28T14:05:30+99:00",
                                      "-99999d",
                                      "1:00"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        int64_t ns;
        if (moment_parse(bad[i], NOW, &ns) == 0) {
            print_error("'%s' is taken\n", bad[i]);
            fail();
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_journalctl),
        cmocka_unit_test(local_times_have_the_local_zone),
        cmocka_unit_test(other_words_are_no_times),
    };
    setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
