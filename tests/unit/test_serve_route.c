/* SPDX-License-Identifier: MIT */
/* The meaning of the page's paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cli/serve/assets.h"
#include "cli/serve/route.h"

static void paths_of_a_run_name_it(void **state) {
    (void)state;
    assert_int_equal(route_of("/run/12").kind, ROUTE_RUN);
    assert_string_equal(route_of("/run/12").run, "12");
    assert_int_equal(route_of("/live/last").kind, ROUTE_LIVE);
    assert_string_equal(route_of("/live/last").run, "last");
    assert_int_equal(route_of("/live/9223372036854775807/events").kind, ROUTE_EVENTS);
    assert_string_equal(route_of("/live/9223372036854775807/events").run, "9223372036854775807");
}

static void a_moment_is_a_run_and_whole_seconds(void **state) {
    static const char *const others[] = {"/live/7/at/",   "/live/7/at/-1", "/live/7/at/1.5",
                                         "/live/7/at/01", "/live/7/at/1/", "/live/7/at/123456789",
                                         "/live/x/at/1",  "/run/7/at/1",   "/live/7/at/--db"};
    (void)state;
    assert_int_equal(route_of("/live/7/at/75").kind, ROUTE_MOMENT);
    assert_string_equal(route_of("/live/7/at/75").run, "7");
    assert_string_equal(route_of("/live/7/at/75").word, "75");
    assert_int_equal(route_of("/live/last/at/0").kind, ROUTE_MOMENT);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(route_of(others[i]).kind, ROUTE_NONE);
}

static void whole_paths_are_themselves_alone(void **state) {
    (void)state;
    assert_int_equal(route_of("/").kind, ROUTE_RUNS);
    assert_int_equal(route_of("/runs.json").kind, ROUTE_RUNS_JSON);
    assert_int_equal(route_of("/compare").kind, ROUTE_COMPARE);
    assert_int_equal(route_of("/compare/").kind, ROUTE_NONE);
    assert_int_equal(route_of("").kind, ROUTE_NONE);
    assert_int_equal(route_of("//").kind, ROUTE_NONE);
}

static void what_is_no_run_asks_for_nothing(void **state) {
    static const char *const paths[] = {"/run/",
                                        "/run/0",
                                        "/run/01",
                                        "/run/-1",
                                        "/run/--db",
                                        "/run/1/",
                                        "/run/1/x",
                                        "/run/1/events",
                                        "/run/+1",
                                        "/run/last~1",
                                        "/live/",
                                        "/live/1/event",
                                        "/live/1/events/",
                                        "/run/9223372036854775808",
                                        "/run/11111111111111111111111111111111111",
                                        "/run/../../etc/passwd",
                                        "/live/1 /events"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(route_of(paths[i]).kind, ROUTE_NONE);
}

static void words_are_bounded_and_have_no_slash(void **state) {
    char path[ROUTE_WORD_SIZE + 16] = "/enter/";
    (void)state;
    memset(path + 7, 'a', ROUTE_WORD_SIZE - 1);
    assert_int_equal(route_of(path).kind, ROUTE_ENTER);
    assert_int_equal(strlen(route_of(path).word), ROUTE_WORD_SIZE - 1);
    path[7 + ROUTE_WORD_SIZE - 1] = 'a';
    assert_int_equal(route_of(path).kind, ROUTE_NONE);
    assert_int_equal(route_of("/page/").kind, ROUTE_NONE);
    assert_int_equal(route_of("/page/../serve.c").kind, ROUTE_NONE);
    assert_int_equal(route_of("/page/live.js").kind, ROUTE_ASSET);
}

static void files_of_the_page_are_in_the_program(void **state) {
    (void)state;
    const struct asset *script = asset_find("live.js");
    assert_non_null(script);
    assert_string_equal(script->type, "text/javascript; charset=utf-8");
    assert_int_equal(strlen(script->data), script->size);
    assert_non_null(asset_find("runs.html"));
    assert_null(asset_find("live"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_a_run_name_it),
        cmocka_unit_test(a_moment_is_a_run_and_whole_seconds),
        cmocka_unit_test(whole_paths_are_themselves_alone),
        cmocka_unit_test(what_is_no_run_asks_for_nothing),
        cmocka_unit_test(words_are_bounded_and_have_no_slash),
        cmocka_unit_test(files_of_the_page_are_in_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
