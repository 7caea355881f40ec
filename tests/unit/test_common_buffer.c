/* SPDX-License-Identifier: MIT */
/* Growth, errors that persist, and extreme values of the integer forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "common/error.h"
#include "common/rows.h"

static void appends_grow_and_keep_what_was_there(void **state) {
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer);
    for (int i = 0; i < 100000; i++)
        buffer_put_u8(&buffer, (uint8_t)(i * 7));
    assert_int_equal(buffer.size, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buffer.data[i], (uint8_t)(i * 7));
    buffer_release(&buffer);
    assert_null(buffer.data);
}

static void reserved_room_is_used_without_moving(void **state) {
    (void)state;
    struct buffer buffer = {0};
    assert_int_equal(buffer_reserve(&buffer, 5000), 0);
    const uint8_t *data = buffer.data;
    for (int i = 0; i < 5000; i++)
        buffer_put_u8(&buffer, 1);
    assert_ptr_equal(buffer.data, data);
    buffer_reset(&buffer);
    assert_int_equal(buffer.size, 0);
    assert_true(buffer.capacity >= 5000);
    buffer_release(&buffer);
}

static void an_error_stays_until_reset_and_nothing_is_half_written(void **state) {
    (void)state;
    struct buffer buffer = {0};
    buffer_put(&buffer, "abc", 3);
    assert_int_equal(buffer_reserve(&buffer, SIZE_MAX / 2), -ENOMEM);
    buffer_put(&buffer, "def", 3);
    assert_int_equal(buffer.error, -ENOMEM);
    assert_int_equal(buffer.size, 3);
    buffer_reset(&buffer);
    buffer_put(&buffer, "def", 3);
    assert_int_equal(buffer.error, 0);
    assert_memory_equal(buffer.data, "def", 3);
    buffer_release(&buffer);
}

static void check_bytes(struct buffer *buffer, const char *bytes, size_t size) {
    assert_int_equal(buffer->size, size);
    assert_memory_equal(buffer->data, bytes, size);
    buffer_reset(buffer);
}

static void integers_have_the_bytes_the_format_says(void **state) {
    (void)state;
    struct buffer b = {0};
    buffer_put_u32le(&b, 0x01020304);
    check_bytes(&b, "\x04\x03\x02\x01", 4);
    buffer_put_u64le(&b, UINT64_C(0x0102030405060708));
    check_bytes(&b, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    buffer_put_varint(&b, 0);
    check_bytes(&b, "\x00", 1);
    buffer_put_varint(&b, 127);
    check_bytes(&b, "\x7f", 1);
    buffer_put_varint(&b, 128);
    check_bytes(&b, "\x80\x01", 2);
    buffer_put_varint(&b, 300);
    check_bytes(&b, "\xac\x02", 2);
    buffer_put_varint(&b, UINT64_MAX);
    check_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
    buffer_put_zigzag(&b, 0);
    check_bytes(&b, "\x00", 1);
    buffer_put_zigzag(&b, -1);
    check_bytes(&b, "\x01", 1);
    buffer_put_zigzag(&b, 1);
    check_bytes(&b, "\x02", 1);
    buffer_put_zigzag(&b, INT64_MAX);
    check_bytes(&b, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
    buffer_put_zigzag(&b, INT64_MIN); /* VALUE_ABSENT */
    check_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
    buffer_release(&b);
}

static void integers_read_back_as_they_were_written(void **state) {
    (void)state;
    static const int64_t values[] = {0, 1, -1, 63, 64, -65, 1 << 20, INT64_MAX, INT64_MIN};
    struct buffer b = {0};
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        buffer_put_varint(&b, (uint64_t)values[i]);
        buffer_put_zigzag(&b, values[i]);
    }
    struct cursor c = {.p = b.data, .end = b.data + b.size};
    for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
        assert_int_equal(cursor_varint(&c), (uint64_t)values[i]);
        assert_int_equal(cursor_zigzag(&c), values[i]);
    }
    assert_false(c.bad);
    assert_ptr_equal(c.p, c.end);
    cursor_varint(&c);
    assert_true(c.bad);
    buffer_release(&b);
}

static bool is_bad(const char *bytes, size_t size) {
    struct cursor c = {.p = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + size};
    cursor_varint(&c);
    return c.bad;
}

static void integers_of_more_than_64_bits_are_bad(void **state) {
    (void)state;
    assert_false(is_bad("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10));
    assert_true(is_bad("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));
    assert_true(is_bad("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11));
    assert_true(is_bad("\x80\x80", 2));
}

static void rows_beyond_the_capacity_are_dropped_and_counted(void **state) {
    (void)state;
    static const struct column columns[] = {{"a", UNIT_NONE, COLUMN_LEVEL, ""},
                                            {"b", UNIT_NONE, COLUMN_LEVEL, ""}};
    static const struct table table = {"t", "i", "", TABLE_SAMPLES, columns, 2};
    struct rows rows;
    assert_int_equal(rows_init(&rows, &table, 2), 0);
    struct row *first = rows_append(&rows, "x\ny", 3), *second = rows_append(&rows, "z", 1);
    assert_string_equal(first->name, "x?y");
    assert_int_equal(first->name_size, 3);
    assert_int_equal(second->values[1], VALUE_ABSENT);
    first->values[1] = 1;
    second->values[0] = 2; /* its own, not its neighbour's */
    assert_int_equal(first->values[1], 1);
    assert_null(rows_append(&rows, "too many", 8));
    rows_reset(&rows);
    assert_int_equal(rows.dropped, 1);
    assert_int_equal(rows_append(&rows, "again", 5)->values[1], VALUE_ABSENT);
    rows_release(&rows);
}

static void a_name_that_is_too_long_is_cut_between_characters(void **state) {
    (void)state;
    static const struct column columns[] = {{"a", UNIT_NONE, COLUMN_LEVEL, ""}};
    static const struct table table = {"t", "i", "", TABLE_SAMPLES, columns, 1};
    struct rows rows;
    char name[2 * INSTANCE_MAX];
    assert_int_equal(rows_init(&rows, &table, 1), 0);
    for (size_t i = 0; i < sizeof name; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    struct row *row = rows_append(&rows, name, sizeof name);
    assert_int_equal(row->name_size, INSTANCE_MAX - INSTANCE_MAX % 2);
    assert_true(instance_name_valid(row->name, row->name_size));
    rows_release(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_grow_and_keep_what_was_there),
        cmocka_unit_test(reserved_room_is_used_without_moving),
        cmocka_unit_test(an_error_stays_until_reset_and_nothing_is_half_written),
        cmocka_unit_test(integers_have_the_bytes_the_format_says),
        cmocka_unit_test(integers_read_back_as_they_were_written),
        cmocka_unit_test(integers_of_more_than_64_bits_are_bad),
        cmocka_unit_test(rows_beyond_the_capacity_are_dropped_and_counted),
        cmocka_unit_test(a_name_that_is_too_long_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
