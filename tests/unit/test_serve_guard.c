/* SPDX-License-Identifier: MIT */
/* Requests that the page answers, and those that it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/serve/guard.h"

static const uid_t ours = 1000, others = 1001;

/* On loopback, for the user `ours`. */
static struct guard on_loopback(void) {
    struct guard guard;
    assert_int_equal(guard_init(&guard), 0);
    snprintf(guard.address, sizeof guard.address, "127.0.0.1");
    snprintf(guard.cookie, sizeof guard.cookie, "chokepoint-8642");
    guard_allow(&guard, ours);
    return guard;
}

/* On all interfaces, with a token. */
static struct guard with_token(void) {
    struct guard guard = on_loopback();
    snprintf(guard.address, sizeof guard.address, "0.0.0.0");
    snprintf(guard.own_name, sizeof guard.own_name, "vm1");
    snprintf(guard.token, sizeof guard.token, "a-token-of-24-characters");
    guard.everywhere = true;
    return guard;
}

static enum guard_answer judge_host(const struct guard *guard, const char *host) {
    const struct guard_visit visit = {.host = host, .uid = &ours};
    return guard_judge(guard, &visit);
}

static void names_of_this_host_are_answered(void **state) {
    static const char *const names[] = {"127.0.0.1",      "127.0.0.1:8642", "localhost",
                                        "LocalHost:8080", "[::1]",          "[::1]:1"};
    const struct guard guard = on_loopback();
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(judge_host(&guard, names[i]), GUARD_WELCOME);
}

static void a_name_turned_to_this_address_is_refused(void **state) {
    static const char *const names[] = {NULL,
                                        "",
                                        "evil.example",
                                        "localhost.evil.example",
                                        "127.0.0.1.evil.example",
                                        "127.0.0.1@evil.example",
                                        "localhost:80:80",
                                        "localhost:x",
                                        "[::1",
                                        "[::1]x",
                                        "[]",
                                        "10.0.0.1",
                                        "vm1"};
    const struct guard guard = on_loopback();
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(judge_host(&guard, names[i]), GUARD_WRONG_NAME);
}

static void everywhere_each_number_is_a_name(void **state) {
    const struct guard guard = with_token();
    struct guard_visit visit = {.authorization = "Bearer a-token-of-24-characters"};
    static const char *const good[] = {"10.0.0.1:8642", "[fe80::1]", "vm1", "VM1:8642"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        visit.host = good[i];
        assert_int_equal(guard_judge(&guard, &visit), GUARD_WELCOME);
    }
    visit.host = "vm2";
    assert_int_equal(guard_judge(&guard, &visit), GUARD_WRONG_NAME);
}

static enum guard_answer judge_fetch(const char *site, const char *mode, const char *dest) {
    const struct guard guard = on_loopback();
    const struct guard_visit visit = {
        .host = "localhost", .site = site, .mode = mode, .dest = dest, .uid = &ours};
    return guard_judge(&guard, &visit);
}

static void another_site_may_only_link(void **state) {
    (void)state;
    assert_int_equal(judge_fetch(NULL, NULL, NULL), GUARD_WELCOME);
    assert_int_equal(judge_fetch("none", "navigate", "document"), GUARD_WELCOME);
    assert_int_equal(judge_fetch("same-origin", "cors", "empty"), GUARD_WELCOME);
    assert_int_equal(judge_fetch("cross-site", "navigate", "document"), GUARD_WELCOME);
    assert_int_equal(judge_fetch("cross-site", "navigate", "iframe"), GUARD_FOREIGN);
    assert_int_equal(judge_fetch("cross-site", "no-cors", "script"), GUARD_FOREIGN);
    assert_int_equal(judge_fetch("same-site", "cors", "empty"), GUARD_FOREIGN);
}

static void another_user_is_a_stranger(void **state) {
    const struct guard guard = on_loopback();
    struct guard_visit visit = {.host = "localhost", .uid = &others};
    (void)state;
    assert_int_equal(guard_judge(&guard, &visit), GUARD_STRANGER);
    visit.uid = NULL;
    assert_int_equal(guard_judge(&guard, &visit), GUARD_STRANGER);
    visit.uid = &ours;
    assert_int_equal(guard_judge(&guard, &visit), GUARD_WELCOME);
}

static enum guard_answer judge_token(const char *authorization, const char *cookie) {
    struct guard guard = with_token();
    char own[200];
    snprintf(guard.session, sizeof guard.session, "00112233445566778899aabbccddeeff");
    snprintf(own, sizeof own, "%s", cookie ? cookie : "");
    const struct guard_visit visit = {.host = "localhost",
                                      .authorization = authorization,
                                      .cookie = cookie ? own : NULL,
                                      .uid = &ours};
    return guard_judge(&guard, &visit);
}

static void the_token_is_needed_and_no_other_will_do(void **state) {
    (void)state;
    assert_int_equal(judge_token(NULL, NULL), GUARD_STRANGER);
    assert_int_equal(judge_token("Bearer a-token-of-24-characters", NULL), GUARD_WELCOME);
    assert_int_equal(judge_token("Bearer a-token-of-24-characterS", NULL), GUARD_STRANGER);
    assert_int_equal(judge_token("Bearer a-token-of-24-character", NULL), GUARD_STRANGER);
    assert_int_equal(judge_token("Bearer a-token-of-24-charactersa-token-of-24-characters", NULL),
                     GUARD_STRANGER);
    assert_int_equal(judge_token("Bearer ", NULL), GUARD_STRANGER);
    assert_int_equal(judge_token("Basic a-token-of-24-characters", NULL), GUARD_STRANGER);
}

static void the_cookie_is_good_under_its_own_name(void **state) {
    (void)state;
    assert_int_equal(judge_token(NULL, "chokepoint-8642=00112233445566778899aabbccddeeff"),
                     GUARD_WELCOME);
    assert_int_equal(judge_token(NULL, "a=b; chokepoint-8642=00112233445566778899aabbccddeeff; c"),
                     GUARD_WELCOME);
    assert_int_equal(judge_token(NULL, "chokepoint-8642=00112233445566778899aabbccddeef0"),
                     GUARD_STRANGER);
    assert_int_equal(judge_token(NULL, "chokepoint-8642="), GUARD_STRANGER);
    assert_int_equal(judge_token(NULL, "xchokepoint-8642=00112233445566778899aabbccddeeff"),
                     GUARD_STRANGER);
    assert_int_equal(judge_token(NULL, ";;; ;"), GUARD_STRANGER);
}

static void a_way_in_is_good_once(void **state) {
    struct guard guard = with_token();
    char word[GUARD_SECRET_SIZE];
    (void)state;
    memcpy(word, guard.way_in, sizeof word);
    assert_false(guard_enter(&guard, "00000000000000000000000000000000"));
    assert_true(guard_enter(&guard, word));
    assert_false(guard_enter(&guard, word));
    assert_string_not_equal(guard.way_in, word);
    guard.token[0] = '\0';
    memcpy(word, guard.way_in, sizeof word);
    assert_false(guard_enter(&guard, word));
}

static void secrets_differ_and_are_wiped(void **state) {
    struct guard guard = with_token(), other = with_token();
    static const struct guard nothing;
    (void)state;
    assert_int_equal(strlen(guard.session), GUARD_SECRET_SIZE - 1);
    assert_string_not_equal(guard.session, guard.way_in);
    assert_string_not_equal(guard.session, other.session);
    guard_release(&guard);
    assert_memory_equal(guard.token, nothing.token, sizeof guard.token);
    assert_memory_equal(guard.session, nothing.session, sizeof guard.session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_this_host_are_answered),
        cmocka_unit_test(a_name_turned_to_this_address_is_refused),
        cmocka_unit_test(everywhere_each_number_is_a_name),
        cmocka_unit_test(another_site_may_only_link),
        cmocka_unit_test(another_user_is_a_stranger),
        cmocka_unit_test(the_token_is_needed_and_no_other_will_do),
        cmocka_unit_test(the_cookie_is_good_under_its_own_name),
        cmocka_unit_test(a_way_in_is_good_once),
        cmocka_unit_test(secrets_differ_and_are_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
