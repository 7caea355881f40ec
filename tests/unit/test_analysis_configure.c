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
#include "analysis/number.h"

static const struct cause *cause_called(const char *name) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(causes[i]->name, name) == 0)
            return causes[i];
    return NULL;
}

static bool is_off(const struct judge *judge, const char *name) {
    size_t n, i = 0;
    const struct cause *const *causes = causes_all(&n);
    while (i < n && strcmp(causes[i]->name, name) != 0)
        i++;
    assert_true(i < n);
    return judge->causes_off >> i & 1;
}

static double own_number(const struct judge *judge, const char *cause, const char *name) {
    const struct number *const *at = cause_called(cause)->numbers;
    while (*at && strcmp((*at)->name, name) != 0)
        at++;
    assert_non_null(*at);
    return judge_number(judge, *at);
}

static void each_word_sets_one_thing(void **state) {
    static const char words[] = "-quota;GAIN_MIN=0.07;;BLOCKED_MIN*1.5;STEAL_MIN*2;-source:psi";
    const char *bad;
    struct judge judge;
    (void)state;
    assert_int_equal(judge_read(words, &judge, &bad), 0);
    assert_true(is_off(&judge, "quota"));
    assert_false(is_off(&judge, "contention"));
    assert_true(number_by(&judge, GAIN_MIN) == 0.07);
    assert_true(number_by(NULL, GAIN_MIN) == number_GAIN_MIN.usual);
    assert_true(fabs(number_by(&judge, BLOCKED_MIN) - 1.5 * number_BLOCKED_MIN.usual) < 1e-12);
    assert_true(number_by(&judge, BUSY_RANK) == number_BUSY_RANK.usual);
    assert_true(own_number(&judge, "steal", "STEAL_MIN") ==
                2 * own_number(NULL, "steal", "STEAL_MIN"));
    assert_int_equal(judge.sources_off, 1u << SOURCE_PSI);
    judge_release(&judge);
}

static void of_two_words_for_one_number_the_later_counts(void **state) {
    const char *bad;
    struct judge judge;
    (void)state;
    assert_int_equal(judge_read("GAIN_MIN=0.07;GAIN_MIN*2", &judge, &bad), 0);
    assert_true(number_by(&judge, GAIN_MIN) == 2 * number_GAIN_MIN.usual);
    judge_release(&judge);
}

static void a_word_that_makes_no_sense_is_told(void **state) {
    static const char *const words[] = {"-nosuch",      "-quot",        "-quotas",   "GAIN_MIN",
                                        "GAIN_MIN=",    "GAIN_MIN=x",   "NO_SUCH=1", "GAIN_MIN=1x",
                                        "GAIN_MIN*inf", "-source:none", "-",         "quota"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[64] = "GAIN_MIN*2;";
        const char *bad = NULL;
        struct judge judge;
        strncat(text, words[i], sizeof text - strlen(text) - 1);
        if (judge_read(text, &judge, &bad) != -EINVAL)
            fail_msg("'%s' was taken", words[i]);
        assert_string_equal(bad, words[i]);
    }
}

static void check_number(const struct number *number, const char *cause) {
    bool listed = strcmp(cause, "all") == 0 || cause_called(cause);
    if (!listed || !*number->unit || !*number->reason || !isfinite(number->usual))
        fail_msg("%s of '%s': no such cause, no unit, or no reason", number->name, cause);
}

static void each_number_has_a_cause_a_unit_and_a_reason(void **state) {
    size_t n, own = 0, shared = 0;
    const struct cause *const *causes = causes_all(&n);
    (void)state;
    for (const struct number *const *at = numbers_shared; *at; at++, shared++)
        check_number(*at, (*at)->cause);
    for (size_t i = 0; i < n; i++)
        for (const struct number *const *at = causes[i]->numbers; at && *at; at++, own++)
            check_number(*at, causes[i]->name);
    assert_true(shared > 50 && own > 20);
}

static void each_cause_says_why(void **state) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    (void)state;
    assert_true(n <= 64); /* a bit for each rule says which are off */
    for (size_t i = 0; i < n; i++) {
        assert_true(*causes[i]->reason &&
                    (causes[i]->detect || causes[i]->detect_last || causes[i]->explain));
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
        cmocka_unit_test(each_word_sets_one_thing),
        cmocka_unit_test(of_two_words_for_one_number_the_later_counts),
        cmocka_unit_test(a_word_that_makes_no_sense_is_told),
        cmocka_unit_test(each_number_has_a_cause_a_unit_and_a_reason),
        cmocka_unit_test(each_cause_says_why),
        cmocka_unit_test(a_cause_is_asked_after_those_it_yields_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
