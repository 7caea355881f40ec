/* SPDX-License-Identifier: MIT */
/* The judge as an ablation wants it: words that set it, words that make no sense, and the table of
 * numbers that they name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/causes/cause.h"
#include "analysis/threshold.h"

static const struct rule *rule_called(const char *name) {
    size_t n;
    const struct rule *rules = rule_list(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

/* As it is without any ablation. */
static int put_back(void **state) {
    const char *bad;
    size_t n;
    const struct threshold *all = threshold_list(&n);
    (void)state;
    for (size_t i = 0; i < n; i++)
        *all[i].value = all[i].usual;
    return rules_configure("", &bad);
}

static void each_word_sets_one_thing(void **state) {
    const char *bad;
    double usual = BLOCKED_MIN;
    (void)state;
    assert_int_equal(rules_configure("-quota;GAIN_MIN=0.07;;BLOCKED_MIN*1.5", &bad), 0);
    assert_true(rule_is_off(rule_called("quota")));
    assert_false(rule_is_off(rule_called("contention")));
    assert_true(GAIN_MIN == 0.07);
    assert_true(fabs(BLOCKED_MIN - 1.5 * usual) < 1e-12);
    /* of what it usually is, however it was set before */
    assert_int_equal(rules_configure("BLOCKED_MIN*2", &bad), 0);
    assert_true(fabs(BLOCKED_MIN - 2 * usual) < 1e-12);
    assert_false(rule_is_off(rule_called("quota")));
}

static void a_word_that_makes_no_sense_is_told(void **state) {
    static const char *const words[] = {"-nosuch",      "-quot",        "-quotas",   "GAIN_MIN",
                                        "GAIN_MIN=",    "GAIN_MIN=x",   "NO_SUCH=1", "GAIN_MIN=1x",
                                        "GAIN_MIN*inf", "-source:none", "-",         "quota"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[64] = "-steal;";
        const char *bad = NULL;
        strncat(text, words[i], sizeof text - strlen(text) - 1);
        if (rules_configure(text, &bad) != -EINVAL)
            fail_msg("'%s' was taken", words[i]);
        assert_string_equal(bad, words[i]);
    }
}

static bool is_rule_or_all(const char *name) {
    return strcmp(name, "all") == 0 || rule_called(name);
}

static void each_number_has_a_rule_a_unit_and_a_reason(void **state) {
    size_t n;
    const struct threshold *all = threshold_list(&n);
    (void)state;
    assert_true(n > 50);
    for (size_t i = 0; i < n; i++)
        if (!is_rule_or_all(all[i].rule) || !*all[i].unit || !*all[i].reason ||
            !isfinite(all[i].usual) || *all[i].value != all[i].usual)
            fail_msg("%s of '%s': no such rule, no unit, or no reason", all[i].name, all[i].rule);
}

static void each_rule_says_why(void **state) {
    size_t n;
    const struct rule *rules = rule_list(&n);
    (void)state;
    assert_true(n <= 64); /* a bit each says which are off */
    for (size_t i = 0; i < n; i++) {
        assert_true(*rules[i].reason && rules[i].detect);
        assert_ptr_equal(rule_called(rules[i].name), &rules[i]); /* no other has its name */
        assert_non_null(cause_name(rules[i].cause));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_word_sets_one_thing, put_back),
        cmocka_unit_test_teardown(a_word_that_makes_no_sense_is_told, put_back),
        cmocka_unit_test(each_number_has_a_rule_a_unit_and_a_reason),
        cmocka_unit_test(each_rule_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
