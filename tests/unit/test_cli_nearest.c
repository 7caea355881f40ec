/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/nearest.h"

static void a_distance_counts_letters(void **state) {
    (void)state;
    assert_int_equal(edit_distance("", ""), 0);
    assert_int_equal(edit_distance("report", "report"), 0);
    assert_int_equal(edit_distance("", "list"), 4);
    assert_int_equal(edit_distance("list", ""), 4);
    assert_int_equal(edit_distance("lits", "list"), 1); /* neighbours are swapped */
    assert_int_equal(edit_distance("reprt", "report"), 1);
    assert_int_equal(edit_distance("reeport", "report"), 1);
    assert_int_equal(edit_distance("rexort", "report"), 1);
    assert_int_equal(edit_distance("kitten", "sitting"), 3);
    assert_int_equal(edit_distance("ca", "abc"), 3); /* swapped letters are not separated again */
}

static void a_long_word_is_at_no_distance(void **state) {
    char word[3 * NEAREST_WORD_MAX];
    (void)state;
    memset(word, 'a', sizeof word);
    word[NEAREST_WORD_MAX + 1] = '\0';
    assert_int_equal(edit_distance(word, "a"), SIZE_MAX);
    assert_int_equal(edit_distance("a", word), SIZE_MAX);
    word[NEAREST_WORD_MAX] = '\0';
    assert_int_equal(edit_distance(word, word), 0);
}

static const char *nearest(const char *word) {
    static const char *const verbs[] = {"run", "report", "compare", "rm", "rename"};
    struct nearest search = {.word = word};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        nearest_try(&search, verbs[i]);
    return search.best ? search.best : "none";
}

static void the_nearest_word_is_found_and_no_strange_one(void **state) {
    (void)state;
    assert_string_equal(nearest("reprot"), "report");
    assert_string_equal(nearest("rnu"), "run");
    assert_string_equal(nearest("comprae"), "compare");
    assert_string_equal(nearest("rname"), "rename");
    assert_string_equal(nearest("xyzzy"), "none");
    assert_string_equal(nearest("r"), "rm");
    assert_string_equal(nearest(""), "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_distance_counts_letters),
        cmocka_unit_test(a_long_word_is_at_no_distance),
        cmocka_unit_test(the_nearest_word_is_found_and_no_strange_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
