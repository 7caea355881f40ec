/* SPDX-License-Identifier: MIT */
/* The bytes of a request, by the encoding rules of protobuf written out by hand, and snappy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <snappy-c.h>

#include "cli/remote/message.h"

#define LABEL(name, value)                                                                         \
    { name, value, sizeof(name) - 1, sizeof(value) - 1 }

static void bytes_are_those_of_the_standard(void **state) {
    const struct message_label labels[] = {LABEL("__name__", "up"), LABEL("host", "a\"b")};
    const struct message_sample samples[] = {{1, 1.5}, {300, 0}};
    const struct message_series series = {labels, samples, 2, 2};
    static const uint8_t expected[] = {
        0x0a, 52, /* series */
        0x0a, 14,  0x0a, 8,    '_',  '_', 'n', 'a', 'm',  'e',  '_',  '_',  0x12,
        2,    'u', 'p',                                                          /* label */
        0x0a, 11,  0x0a, 4,    'h',  'o', 's', 't', 0x12, 3,    'a',  '"',  'b', /* label */
        0x12, 11,  0x09, 0,    0,    0,   0,   0,   0,    0xf8, 0x3f, 0x10, 1,   /* 1.5 at 1 ms */
        0x12, 3,   0x10, 0xac, 0x02,                                             /* 0 at 300 ms */
    };
    struct message *message = message_new();
    struct buffer packed = {0};
    (void)state;
    assert_int_equal(message_pack(message, &series, 1, &packed), 0);
    assert_int_equal(packed.size, 2 + 16 + 13 + 13 + 5);
    assert_int_equal(packed.data[1], packed.size - 2);
    assert_memory_equal(packed.data + 2, expected + 2, sizeof expected - 2);
    message_free(message);
    buffer_release(&packed);
}

/* Its bits, not its value: all NaN compare alike. */
static void end_of_a_series_is_a_nan_of_its_own(void **state) {
    double stale = message_stale();
    const struct message_label label = LABEL("__name__", "up");
    const struct message_sample sample = {1, stale};
    const struct message_series series = {&label, &sample, 1, 1};
    static const uint8_t bits[] = {0x09, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f};
    struct message *message = message_new();
    struct buffer packed = {0};
    (void)state;
    assert_true(stale != stale);
    assert_int_equal(message_pack(message, &series, 1, &packed), 0);
    assert_memory_equal(packed.data + packed.size - 11, bits, sizeof bits);
    message_free(message);
    buffer_release(&packed);
}

static void snappy_gives_back_what_was_packed(void **state) {
    struct buffer from = {0}, to = {0};
    char back[4000];
    size_t size = sizeof back;
    (void)state;
    for (int i = 0; i < 1000; i++)
        buffer_put_u32le(&from, (uint32_t)i / 10);
    buffer_put_u8(&to, 7); /* appended to what is there */
    assert_int_equal(message_compress(&from, &to), 0);
    assert_int_equal(to.data[0], 7);
    assert_true(to.size < from.size);
    assert_int_equal(snappy_uncompress((const char *)to.data + 1, to.size - 1, back, &size),
                     SNAPPY_OK);
    assert_int_equal(size, from.size);
    assert_memory_equal(back, from.data, size);
    buffer_release(&from);
    buffer_release(&to);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_standard),
        cmocka_unit_test(end_of_a_series_is_a_nan_of_its_own),
        cmocka_unit_test(snappy_gives_back_what_was_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
