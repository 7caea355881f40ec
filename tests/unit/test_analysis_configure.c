/* SPDX-License-Identifier: MIT */
/* Settings of the judge for ablations: valid words, invalid words, and the table of numbers that
 * they name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/causes/causes.h"
#include "analysis/threshold.h"

static const struct cause *cause_called(const char *name) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(causes[i]->name, name) == 0)
            return causes[i];
    return NULL;
}

/* Restores the judge without ablations. */
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
    assert_true(cause_is_off(cause_called("quota")));
    assert_false(cause_is_off(cause_called("contention")));
    assert_true(GAIN_MIN == 0.07);
    assert_true(fabs(BLOCKED_MIN - 1.5 * usual) < 1e-12);
    /* relative to the usual value, whatever was set before */
    assert_int_equal(rules_configure("BLOCKED_MIN*2", &bad), 0);
    assert_true(fabs(BLOCKED_MIN - 2 * usual) < 1e-12);
    assert_false(cause_is_off(cause_called("quota")));
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
    return strcmp(name, "all") == 0 || cause_called(name);
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

static void each_cause_says_why(void **state) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    (void)state;
    assert_true(n <= 64); /* a bit for each rule says which are off */
    for (size_t i = 0; i < n; i++) {
        assert_true(*causes[i]->reason && causes[i]->detect);
        assert_ptr_equal(cause_called(causes[i]->name), causes[i]); /* no other has its name */
        assert_non_null(cause_name(causes[i]->kind));
    }
}

static bool stands_before(const struct cause *one, const struct cause *other) {
    size_t n, i = 0;
    const struct cause *const *causes = causes_all(&n);
    while (i < n && causes[i] != one && causes[i] != other)
        i++;
    return i < n && causes[i] == one;
}

static void a_cause_is_asked_after_those_it_yields_to(void **state) {
    size_t n, yielded = 0;
    const struct cause *const *causes = causes_all(&n);
    (void)state;
    for (size_t i = 0; i < n; i++)
        for (const struct cause *const *to = causes[i]->yields_to; to && *to; to++, yielded++)
            if (!stands_before(*to, causes[i]))
                fail_msg("%s yields to %s, which is asked later", causes[i]->name, (*to)->name);
    assert_true(yielded > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_word_sets_one_thing, put_back),
        cmocka_unit_test_teardown(a_word_that_makes_no_sense_is_told, put_back),
        cmocka_unit_test(each_number_has_a_rule_a_unit_and_a_reason),
        cmocka_unit_test(each_cause_says_why),
        cmocka_unit_test(a_cause_is_asked_after_those_it_yields_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
