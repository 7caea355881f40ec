/* SPDX-License-Identifier: MIT */
/* The table of a program's options: values go where their row says or are refused with what is
 * expected, and the help shows each row. */
#include "common/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"

struct values {
    bool flag, push, given, second;
    const char *text;
    uint64_t count;
    uint32_t count32;
    int small, choice;
    double number, positive;
    const char *pair[2];
};

static int take_pair(const struct option_word *word, void *to) {
    const char **pair = to;
    if (!word->rest[0])
        return option_refuse(word, "-p %s is alone", word->text);
    pair[0] = word->text;
    pair[1] = word->rest[0];
    return 1;
}

/* The values that were read, and how reading ended. */
static struct values v;
static struct option_trouble trouble;
static char **rest;

static const char *const colours[] = {"red", "green", "blue", NULL};
static const struct option_row rows[] = {
    {"-f, --flag", "a flag", .flag = &v.flag},
    {"--no-push", "spool only", .not_flag = &v.push},
    {"-o, --output PATH", "write there", .text = &v.text, .given = &v.given},
    {"--count N", NULL, .count = &v.count},
    {"--count32 N", NULL, .count32 = &v.count32, .low = 1},
    {"--small N", NULL, .small = &v.small, .low = 2, .high = 9},
    {.help = "\nOthers:\n"},
    {"--number X", "from one line\nto another", .number = &v.number, .low = -1, .high = 1},
    {"--positive X", NULL, .number = &v.positive},
    {"--colour NAME-THAT-IS-LONG", "one of three", .choices = colours, .choice = &v.choice,
     .second = &v.second},
    {"-p, --pair A B", NULL, .take = take_pair, .to = v.pair},
};
static const struct option_table table = {
    "usage: us\n\n", rows, ARRAY_SIZE(rows), "\nthe end\n", 6, 25, false};
static const struct option_table before_command = {"", rows, ARRAY_SIZE(rows), NULL, 6, 25, true};

static int read_all(const struct option_table *by, const char *const *words) {
    static const char *args[16];
    int n = 1;
    args[0] = "us";
    for (; words[n - 1]; n++)
        args[n] = words[n - 1];
    args[n] = NULL;
    v = (struct values){.push = true, .choice = -1};
    return options_read(by, n, (char **)args, &rest, &trouble);
}
#define READ(...) read_all(&table, (const char *const[]){__VA_ARGS__, NULL})

static void values_go_where_their_row_says(void **state) {
    (void)state;
    assert_int_equal(READ("-f", "--no-push", "one", "-ofile", "--count", "18446744073709551615",
                          "--count32=7", "--small", "9", "two"),
                     0);
    assert_true(v.flag && !v.push && v.given);
    assert_string_equal(v.text, "file");
    assert_true(v.count == UINT64_MAX && v.count32 == 7 && v.small == 9);
    assert_string_equal(rest[0], "one");
    assert_string_equal(rest[1], "two");
    assert_null(rest[2]);
    assert_int_equal(READ("--number", "-0.5", "--positive=1e-9", "--colour", "green", "--output",
                          "a", "-o", "b"),
                     0);
    assert_true(v.number == -0.5 && v.positive == 1e-9 && v.choice == 1 && v.second);
    assert_string_equal(v.text, "b");
    assert_int_equal(READ("--colour", "blue"), 0);
    assert_true(v.choice == 2 && !v.second && !v.given && v.push);
}

static void values_out_of_bounds_are_refused_with_what_is_expected(void **state) {
    static const struct {
        const char *name, *value, *expected;
    } bad[] = {{"count", "-1", "a whole number from 0 on"},
               {"count", "18446744073709551616", "a whole number from 0 on"},
               {"count32", "0", "a whole number from 1 to 4294967295"},
               {"count32", "4294967296", "a whole number from 1 to 4294967295"},
               {"small", "1", "a whole number from 2 to 9"},
               {"small", "10", "a whole number from 2 to 9"},
               {"small", "3x", "a whole number from 2 to 9"},
               {"number", "1.5", "a number from -1 to 1"},
               {"number", "-1.5", "a number from -1 to 1"},
               {"number", "nan", "a number from -1 to 1"},
               {"positive", "0", "a positive number"},
               {"positive", "", "a positive number"},
               {"colour", "yellow", "red, green or blue"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        char option[32];
        snprintf(option, sizeof option, "--%s", bad[i].name);
        assert_int_equal(READ(option, bad[i].value), -EINVAL);
        assert_int_equal(trouble.wrong, OPTION_BAD_VALUE);
        assert_string_equal(trouble.name, bad[i].name);
        assert_string_equal(trouble.word, bad[i].value);
        assert_string_equal(trouble.text, bad[i].expected);
    }
    assert_true(v.choice == -1 && v.small == 0);
}

static void expect_wrong(int r, enum option_wrong wrong, const char *word, const char *nearest) {
    assert_int_equal(r, -EINVAL);
    assert_int_equal(trouble.wrong, wrong);
    assert_string_equal(trouble.word, word);
    assert_string_equal(trouble.nearest, nearest);
}

static void wrong_words_are_told_apart(void **state) {
    (void)state;
    expect_wrong(READ("--conut", "3"), OPTION_UNKNOWN, "--conut", "count");
    expect_wrong(READ("--ouptut=x"), OPTION_UNKNOWN, "--ouptut=x", "output");
    expect_wrong(READ("--nothing-like-it"), OPTION_UNKNOWN, "--nothing-like-it", "");
    expect_wrong(READ("-fz"), OPTION_UNKNOWN, "-z", "");
    expect_wrong(READ("--output"), OPTION_NO_VALUE, "--output", "");
    expect_wrong(READ("-o"), OPTION_NO_VALUE, "-o", "");
    expect_wrong(READ("--flag=3"), OPTION_TAKES_NONE, "--flag=3", "");
    expect_wrong(READ("-p", "x"), OPTION_WRONG_IN_ALL, "x", "");
    assert_string_equal(trouble.text, "-p x is alone");
}

static void an_option_may_take_several_words(void **state) {
    (void)state;
    assert_int_equal(READ("-p", "one", "--flag", "word"), 0);
    assert_string_equal(v.pair[0], "one");
    assert_string_equal(v.pair[1], "--flag");
    assert_true(!v.flag);
    assert_string_equal(rest[0], "word");
}

static void options_of_a_command_are_left_alone(void **state) {
    (void)state;
    assert_int_equal(
        read_all(&before_command, (const char *const[]){"-f", "ls", "--output", "x", NULL}), 0);
    assert_true(v.flag && !v.text);
    assert_string_equal(rest[0], "ls");
    assert_string_equal(rest[1], "--output");
    assert_int_equal(read_all(&before_command, (const char *const[]){"--", "-f", "--help", NULL}),
                     0);
    assert_string_equal(rest[0], "-f");
}

static void help_shows_each_row_in_its_column(void **state) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    assert_int_equal(READ("-f", "--help", "--no-such"), OPTIONS_HELP);
    assert_int_equal(READ("-h"), OPTIONS_HELP);
    assert_int_equal(options_print_help(&table, out), 0);
    fclose(out);
    assert_string_equal(text, "usage: us\n\n"
                              "  -f, --flag             a flag\n"
                              "      --no-push          spool only\n"
                              "  -o, --output PATH      write there\n"
                              "\nOthers:\n"
                              "      --number X         from one line\n"
                              "                         to another\n"
                              "      --colour NAME-THAT-IS-LONG\n"
                              "                         one of three\n"
                              "\nthe end\n");
    free(text);
}

static void a_spelling_has_its_parts(void **state) {
    struct option_name name = option_name(&rows[2]);
    (void)state;
    assert_true(strcmp(name.name, "output") == 0 && name.letter == 'o');
    assert_string_equal(name.argument, "PATH");
    name = option_name(&rows[1]);
    assert_true(strcmp(name.name, "no-push") == 0 && !name.letter && !name.argument);
    assert_string_equal(option_name(&rows[6]).name, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_where_their_row_says),
        cmocka_unit_test(values_out_of_bounds_are_refused_with_what_is_expected),
        cmocka_unit_test(wrong_words_are_told_apart),
        cmocka_unit_test(an_option_may_take_several_words),
        cmocka_unit_test(options_of_a_command_are_left_alone),
        cmocka_unit_test(help_shows_each_row_in_its_column),
        cmocka_unit_test(a_spelling_has_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
