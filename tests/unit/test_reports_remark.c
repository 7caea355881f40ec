/* SPDX-License-Identifier: MIT */
/* Sentences of remarks: each code has a template, and each template uses what its code carries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/causes/causes.h"
#include "reports/says/candidate_words.h"
#include "reports/says/remark_words.h"
#include "reports/says/term_words.h"
#include "tests/unit/own_remark.h"

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

/* A slot "..., %" is printed as a percentage, and no other is. */
static void check_unit(const char *code, const char *slot, const char *conversion,
                       const char *end) {
    bool percent = strncmp(end, " %%", 3) == 0;
    if (conversion[1] != '[' && percent != ends_with(slot, ", %"))
        fail_msg("%s: %s is said as %.10s", code, slot, conversion);
}

static void check_template(const struct remark_kind *kind) {
    const char *at = remark_sentence(kind), *end;
    int numbers = 0, names = 0;
    if (!at || !*at)
        fail_msg("%s has no template", kind->name);
    for (; (at = strchr(at, '%')); at = end)
        switch (remark_conversion(at, &end)) {
        case REMARK_TAKES_NUMBER:
            if (numbers < kind->n_numbers)
                check_unit(kind->name, kind->numbers[1 + numbers], at, end);
            numbers++;
            break;
        case REMARK_TAKES_NAME:
            names++;
            break;
        case REMARK_TAKES_BOTH:
            numbers++;
            names++;
            break;
        case REMARK_TAKES_BAD:
            fail_msg("%s: no conversion: %.8s", kind->name, at);
            break;
        default:
            break;
        }
    if (numbers != kind->n_numbers || names != kind->n_names)
        fail_msg("%s carries %d numbers and %d names, its template takes %d and %d", kind->name,
                 kind->n_numbers, kind->n_names, numbers, names);
}

typedef void check_kind(const struct remark_kind *kind);

static size_t each_kind(check_kind *check) {
    size_t n, checked = 0;
    const struct cause *const *causes = causes_all(&n);
    for (const struct remark_kind *const *at = remarks_shared; *at; at++, checked++)
        check(*at);
    for (size_t i = 0; i < n; i++)
        for (const struct remark_kind *const *at = causes[i]->remarks; at && *at; at++, checked++)
            check(*at);
    return checked;
}

static void each_template_takes_what_its_kind_carries(void **state) {
    (void)state;
    assert_true(each_kind(check_template) > 250);
    assert_null(remark_sentence(NULL));
}

static void check_label(const struct remark_kind *kind) {
    const char *label = cause_label(kind);
    if (strncmp(remark_sentence(kind), label, strlen(label)) != 0)
        fail_msg("%s does not begin with \"%s\"", kind->name, label);
}

static void a_label_is_how_its_cause_begins(void **state) {
    (void)state;
    each_kind(check_label);
    assert_string_equal(cause_label(&remark_PROCESS_COMPUTES_ALONE), "serial: ");
    assert_string_equal(cause_label(remark_named("INPUT_IS_LATE")), "input: ");
    assert_string_equal(cause_label(remark_named("QUOTA_CORES")), "");
}

static void assert_says(const struct remark *remark, const char *words) {
    char *said = remark_words(remark);
    assert_non_null(said);
    assert_string_equal(said, words);
    free(said);
}

static void numbers_and_names_are_taken_in_turn(void **state) {
    (void)state;
    struct remark remark = {0};
    assert_says(&remark, "");
    remark_fill(&remark, remark_named("QUOTA_CORES"), NUMBERS(0.5), NAMES());
    assert_says(&remark, "its control group may use 0.5 cores");
    remark_fill(&remark, remark_named("HELD_BACK"), NUMBERS(2, 41.6), NAMES("python3[7]"));
    assert_says(&remark, "rank 2 was ready to run but throttled 42 % of the time");
    remark_fill(&remark, remark_named("HELD_BACK"), NUMBERS(0, 41.6), NAMES("python3[7]"));
    assert_says(&remark, "rank 0 was ready to run but throttled 42 % of the time");
    remark_fill(&remark, remark_named("HELD_BACK"), NUMBERS(-1, 41.6), NAMES("python3[7]"));
    assert_says(&remark, "python3[7] was ready to run but throttled 42 % of the time");
    remark_release(&remark);
    assert_says(&remark, "");
}

static void a_large_number_has_no_exponent(void **state) {
    (void)state;
    struct remark remark = {0};
    remark_set(&remark, ADVISE_FASTER_SOME_LINK, NUMBERS(48012.3), NAMES("vm1"));
    char *said = remark_words(&remark);
    assert_non_null(strstr(said, "48010 Mbit/s"));
    free(said);
    remark_set(&remark, ADVISE_FASTER_SOME_LINK, NUMBERS(0.25), NAMES("vm1"));
    said = remark_words(&remark);
    assert_non_null(strstr(said, "0.25 Mbit/s"));
    free(said);
    remark_release(&remark);
}

static void a_number_chooses_between_words(void **state) {
    (void)state;
    struct remark remark = {0};
    remark_fill(&remark, remark_named("CORES_USED"), NUMBERS(1.9, 2, 1, 1), NAMES());
    assert_says(&remark, "the job used 1.9 of the 2 cores of its 1 host");
    remark_fill(&remark, remark_named("CORES_USED"), NUMBERS(1.9, 6, 3, 3), NAMES());
    assert_says(&remark, "the job used 1.9 of the 6 cores of its 3 hosts");
    remark_set(&remark, JUDGED_BY, NUMBERS(2), NAMES());
    assert_says(&remark, "the ranks move together, so judged by the processor and disk time of "
                         "each rank");
    remark_release(&remark);
}

static void a_term_of_the_budget_is_a_number(void **state) {
    (void)state;
    struct remark remark = {0};
    remark_set(&remark, TERM_DIFFERS, NUMBERS(BUDGET_RUN_QUEUE, 0.25, 0.125), NAMES());
    assert_says(&remark, "waiting for a core: 0.25 s an iteration, its peers 0.125 s");
    remark_release(&remark);
    for (int term = 0; term < BUDGET_TERMS; term++)
        assert_non_null(budget_term_words((enum budget_term)term));
}

static void what_is_no_conversion_is_told(void **state) {
    (void)state;
    const char *end;
    static const char *const bad[] = {"%i", "%.f", "%.2e", "%5.1f", "%[one]", "%[one|", "%.2", "%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(remark_conversion(bad[i], &end), REMARK_TAKES_BAD);
    static const char *const good[] = {"%d", "%.0f", "%.3g", "%[one|more]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(remark_conversion(good[i], &end), REMARK_TAKES_NUMBER);
        assert_int_equal(*end, '\0');
    }
    assert_int_equal(remark_conversion("%s", &end), REMARK_TAKES_NAME);
    assert_int_equal(remark_conversion("%%", &end), REMARK_TAKES_NOTHING);
}

static void remarks_are_said_in_order_and_copied_whole(void **state) {
    (void)state;
    struct remarks from = {0}, to = {0};
    struct text_list said = {0};
    char name[] = "dd[3]";
    remarks_append(&from, remark_named("HELD_BACK"), NUMBERS(-1, 10), NAMES(name));
    remarks_append(&from, remark_named("QUOTA_THROTTLED"), NUMBERS(20), NAMES());
    name[0] = 'x'; /* names are copies */
    remarks_copy(&to, &from);
    remarks_move(&to, &from);
    assert_int_equal(from.n, 0);
    remarks_say(&to, &said);
    assert_int_equal(said.n, 4);
    assert_string_equal(said.items[0], said.items[2]);
    assert_string_equal(said.items[0], "dd[3] was ready to run but throttled 10 % of the time");
    assert_string_equal(said.items[1], said.items[3]);
    assert_int_equal(said.error, 0);
    to.error = -12;
    remarks_say(&to, &said);
    assert_int_equal(said.error, -12);
    remarks_release(&to);
    text_list_release(&said);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_template_takes_what_its_kind_carries),
        cmocka_unit_test(a_label_is_how_its_cause_begins),
        cmocka_unit_test(numbers_and_names_are_taken_in_turn),
        cmocka_unit_test(a_large_number_has_no_exponent),
        cmocka_unit_test(a_number_chooses_between_words),
        cmocka_unit_test(a_term_of_the_budget_is_a_number),
        cmocka_unit_test(what_is_no_conversion_is_told),
        cmocka_unit_test(remarks_are_said_in_order_and_copied_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
