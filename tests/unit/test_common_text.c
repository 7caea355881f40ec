/* SPDX-License-Identifier: MIT */
/* Scanners stay within their bytes, move only when they succeed, and handle extreme numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/table.h"
#include "common/text.h"

/* Text at the end of its own allocation, without a NUL. */
struct copy {
    char *data;
    const char *end;
};

static struct copy copy_of(const char *text) {
    size_t size = strlen(text);
    /* not malloc: gcc 12 at -O2 would warn of unset bytes */
    struct copy copy = {calloc(1, size ? size : 1), NULL};
    memcpy(copy.data, text, size);
    copy.end = copy.data + size;
    return copy;
}

static void numbers_are_read_to_their_last_digit_and_no_further(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
        size_t used;
    } cases[] = {
        {"0", true, 0, 1},
        {"  42 x", true, 42, 4},
        {"\t7", true, 7, 2},
        {"18446744073709551615", true, UINT64_MAX, 20},
        {"18446744073709551616", false, 0, 0},
        {"99999999999999999999999", false, 0, 0},
        {"000012", true, 12, 6},
        {"", false, 0, 0},
        {"   ", false, 0, 0},
        {"-1", false, 0, 0},
        {"+1", false, 0, 0},
        {"x1", false, 0, 0},
        {"\n1", false, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct copy copy = copy_of(cases[i].text);
        const char *p = copy.data;
        uint64_t value = 12345;
        assert_int_equal(text_u64(&p, copy.end, &value), cases[i].good);
        assert_int_equal(p - copy.data, cases[i].used);
        assert_int_equal(value, cases[i].good ? cases[i].value : 12345);
        free(copy.data);
    }
}

static void signed_numbers_know_their_range(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } cases[] = {
        {"-1", true, -1},
        {" -42", true, -42},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775807", true, -INT64_MAX},
        {"-9223372036854775808", false, 0}, /* no text gives VALUE_ABSENT */
        {"- 1", false, 0},
        {"--1", false, 0},
        {"-", false, 0},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct copy copy = copy_of(cases[i].text);
        const char *p = copy.data;
        int64_t value = 12345;
        assert_int_equal(text_i64(&p, copy.end, &value), cases[i].good);
        assert_int_equal(value, cases[i].good ? cases[i].value : 12345);
        assert_true(cases[i].good || p == copy.data);
        free(copy.data);
    }
}

static void lines_and_words_cover_the_text_and_nothing_else(void **state) {
    (void)state;
    struct copy copy = copy_of("one  two\n\n\tthree\nlast");
    const char *p = copy.data, *q;
    struct span line, word;
    assert_true(text_line(&p, copy.end, &line));
    q = line.data;
    assert_true(text_word(&q, line.data + line.size, &word) && span_equal(word, "one"));
    assert_true(text_word(&q, line.data + line.size, &word) && span_equal(word, "two"));
    assert_false(text_word(&q, line.data + line.size, &word));
    assert_true(text_line(&p, copy.end, &line) && line.size == 0);
    assert_true(text_line(&p, copy.end, &line) && span_starts(line, "\tthree"));
    assert_true(text_line(&p, copy.end, &line) && span_equal(line, "last"));
    assert_false(text_line(&p, copy.end, &line));
    q = copy.data;
    for (int i = 0; i < 2; i++)
        assert_true(text_word(&q, copy.end, &word));
    assert_false(text_word(&q, copy.end, &word)); /* a newline ends the words of a line */
    free(copy.data);
}

static void spans_compare_whole(void **state) {
    (void)state;
    struct span span = {"cpu0", 4};
    assert_true(span_equal(span, "cpu0"));
    assert_false(span_equal(span, "cpu"));
    assert_false(span_equal(span, "cpu00"));
    assert_true(span_starts(span, "cpu"));
    assert_true(span_starts(span, ""));
    assert_false(span_starts(span, "cpu01"));
}

static void printable_is_utf8_without_controls(void **state) {
    (void)state;
    static const char *const good[] = {"",
                                       "plain ~",
                                       "\xc3\xa9",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x98\x80",
                                       "\xef\xbf\xbf",
                                       "\xf4\x8f\xbf\xbf",
                                       "\xc2\xa0"};
    static const char *const bad[] = {"\n",
                                      "\x7f",
                                      "\x1b[31m",
                                      "\xc2\x80",
                                      "\xc2\x9f",
                                      "\x80",
                                      "\xc3",
                                      "\xe2\x82",
                                      "\xc0\xaf",
                                      "\xc1\xbf",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xc3\x28",
                                      "\xf0\x9f\x98",
                                      "\u00ad",
                                      "\u061c",
                                      "\u200b",
                                      "\u200f",
                                      "\u2028",
                                      "\u202a",
                                      "\u202e",
                                      "\u2060",
                                      "\u2066",
                                      "\u2069",
                                      "\ufeff",
                                      "\U000e0041"};
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_true(text_is_printable_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_false(text_is_printable_utf8(bad[i], strlen(bad[i])));
    assert_false(text_is_printable_utf8("a\0b", 3));
}

/* Eight bytes are examined together, so each value is tried at each place. */
static void each_byte_is_judged_wherever_it_stands(void **state) {
    (void)state;
    for (size_t size = 1; size <= 20; size++) {
        char *text = malloc(size), to[32]; /* so that a sanitizer sees reads beyond it */
        for (size_t at = 0; at < size; at++) {
            for (int byte = 0; byte < 256; byte++) {
                memset(text, 'x', size);
                text[at] = (char)byte;
                bool good = byte >= 0x20 && byte < 0x7f;
                assert_int_equal(text_is_printable_utf8(text, size), good);
                assert_int_equal(text_sanitize(to, sizeof to, text, size), size);
                assert_int_equal(to[at], good ? byte : '?');
                assert_int_equal(to[(at + 1) % size], size > 1 ? 'x' : to[0]);
                assert_int_equal(to[size], '\0');
                assert_int_equal(text_sanitize(to, size, text, size), size - 1);
                assert_int_equal(to[size - 1], '\0');
            }
        }
        free(text);
    }
}

static void sanitized_text_is_always_printable_and_fits(void **state) {
    (void)state;
    char to[16];
    assert_int_equal(text_sanitize(to, sizeof to, "a\nb\xff\xc3\xa9", 6), 6);
    assert_string_equal(to, "a?b?\xc3\xa9");
    assert_int_equal(text_sanitize(to, sizeof to, "a\u202eb\u200b", 8), 4);
    assert_string_equal(to, "a?b?"); /* one for each character, however many bytes it has */
    uint32_t random = 7;
    for (int round = 0; round < 20000; round++) {
        unsigned char from[24];
        for (size_t i = 0; i < sizeof from; i++) {
            random = random * 1664525 + 1013904223;
            from[i] = (unsigned char)(random >> 24);
        }
        size_t capacity = 1 + (random >> 8) % sizeof to;
        size_t n = text_sanitize(to, capacity, (const char *)from, sizeof from);
        assert_true(n < capacity);
        assert_int_equal(strlen(to), n);
        assert_true(text_is_printable_utf8(to, n));
    }
}

static void whole_numbers_of_command_lines_are_whole(void **state) {
    (void)state;
    uint64_t value = 1;
    double real = 1;
    assert_int_equal(text_parse_u64("10", &value), 0);
    assert_int_equal(value, 10);
    assert_int_equal(text_parse_u64("10x", &value), -EINVAL);
    assert_int_equal(text_parse_u64("", &value), -EINVAL);
    assert_int_equal(text_parse_u64(" 1", &value), -EINVAL);
    assert_int_equal(text_parse_u64("-1", &value), -EINVAL);
    assert_int_equal(text_parse_u64("18446744073709551616", &value), -ERANGE);
    assert_int_equal(value, 10);
    assert_int_equal(text_parse_double("0.5", &real), 0);
    assert_true(real == 0.5);
    assert_int_equal(text_parse_double("nan", &real), -EINVAL);
    assert_int_equal(text_parse_double("inf", &real), -EINVAL);
    assert_int_equal(text_parse_double("1e999", &real), -EINVAL);
    assert_int_equal(text_parse_double("1 ", &real), -EINVAL);
    assert_int_equal(text_parse_double("", &real), -EINVAL);
}

static void rates_are_decimal_bits_and_sizes_binary_bytes(void **state) {
    (void)state;
    uint64_t value = 0;
    assert_int_equal(text_parse_bit_rate("1.8gbit", &value), 0);
    assert_int_equal(value, 1800000000);
    assert_int_equal(text_parse_bit_rate("200Mbit", &value), 0);
    assert_int_equal(value, 200000000);
    assert_int_equal(text_parse_bit_rate("5kbit", &value), 0);
    assert_int_equal(value, 5000);
    assert_int_equal(text_parse_bit_rate("12", &value), 0);
    assert_int_equal(value, 12);
    assert_int_equal(text_parse_bit_rate("5kbyte", &value), -EINVAL);
    assert_int_equal(text_parse_bit_rate("-5kbit", &value), -EINVAL);
    assert_int_equal(text_parse_bytes("64m", &value), 0);
    assert_int_equal(value, 64 << 20);
    assert_int_equal(text_parse_bytes("2G", &value), 0);
    assert_int_equal(value, UINT64_C(2) << 30);
    assert_int_equal(text_parse_bytes("4k", &value), 0);
    assert_int_equal(value, 4096);
    assert_int_equal(text_parse_bytes("4kB", &value), -EINVAL);
    assert_int_equal(text_parse_bytes("", &value), -EINVAL);
    assert_int_equal(text_parse_bytes("99999999t", &value), -ERANGE);
    assert_int_equal(text_parse_bytes("nan", &value), -EINVAL);
}

static void names_of_tables_cannot_be_sql(void **state) {
    (void)state;
    static const char *const bad[] = {"", "A", "_a", "1a", "a b", "a;", "a\"", "a-b", "\xc3\xa9"};
    assert_true(table_name_valid("user_ns2", 8));
    assert_true(table_name_valid("abcdefghijklmnopqrstuvwxyz12345", 31));
    assert_false(table_name_valid("abcdefghijklmnopqrstuvwxyz123456", 32));
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_false(table_name_valid(bad[i], strlen(bad[i])));
}

static void a_word_for_a_shell_is_quoted_where_it_must_be(void **state) {
    static const struct {
        const char *text, *word;
    } cases[] = {{"/tmp/a-b_c.db", "/tmp/a-b_c.db"},
                 {"", "''"},
                 {"a b", "'a b'"},
                 {"it's", "'it'\\''s'"},
                 {"$(id)", "'$(id)'"},
                 {"~root", "'~root'"}};
    char word[64];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(text_shell_word(word, sizeof word, cases[i].text));
        assert_string_equal(word, cases[i].word);
    }
    assert_false(text_shell_word(word, 4, "abcd"));
    assert_true(text_shell_word(word, 5, "abcd"));
    assert_false(text_shell_word(word, 6, "a bc"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_for_a_shell_is_quoted_where_it_must_be),
        cmocka_unit_test(numbers_are_read_to_their_last_digit_and_no_further),
        cmocka_unit_test(signed_numbers_know_their_range),
        cmocka_unit_test(lines_and_words_cover_the_text_and_nothing_else),
        cmocka_unit_test(spans_compare_whole),
        cmocka_unit_test(printable_is_utf8_without_controls),
        cmocka_unit_test(each_byte_is_judged_wherever_it_stands),
        cmocka_unit_test(sanitized_text_is_always_printable_and_fits),
        cmocka_unit_test(whole_numbers_of_command_lines_are_whole),
        cmocka_unit_test(rates_are_decimal_bits_and_sizes_binary_bytes),
        cmocka_unit_test(names_of_tables_cannot_be_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
