/* SPDX-License-Identifier: MIT */
/* The records between a delivered agent and its relay: what is written is read again, and nothing
 * else is accepted.
 */
#include "agent/push/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"

static uint8_t body_bytes[] = "the body of a push";

static void put_request(struct buffer *to, const char *clock) {
    struct buffer body = {.data = body_bytes, .size = sizeof body_bytes};
    const struct push_request request = {.body = &body, .clock = clock, .final = true};
    buffer_init(to);
    assert_int_equal(stream_put_request(to, 77, &request), 0);
    buffer_put(to, body.data, body.size);
}

static void put_answer(struct buffer *to) {
    const struct push_answer answer = {.status = 200,
                                       .address = "10.0.0.1",
                                       .port = 65535,
                                       .text = "committed 5\nstop 0\n",
                                       .why = "not so"};
    buffer_init(to);
    assert_int_equal(stream_put_answer(to, UINT64_MAX, &answer), 0);
}

/* The copy has exactly that size, so that a sanitizer sees reads beyond it. */
static int read_request(const uint8_t *data, size_t size, struct stream_request *ret_request,
                        size_t *ret_size) {
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    int r = stream_read_request(copy, size, ret_request, ret_size);
    if (r == 0)
        ret_request->body = data + (ret_request->body - copy);
    free(copy);
    return r;
}

static int read_answer(const uint8_t *data, size_t size, uint64_t *ret_number,
                       struct push_answer *ret_answer, size_t *ret_size) {
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    int r = stream_read_answer(copy, size, ret_number, ret_answer, ret_size);
    free(copy);
    return r;
}

static void requests_are_read_as_they_were_put(void **state) {
    (void)state;
    struct buffer record;
    struct stream_request request;
    size_t size;
    put_request(&record, "12 -34 56");
    buffer_put(&record, "next", 4); /* the next bytes do not belong to it */
    assert_int_equal(read_request(record.data, record.size, &request, &size), 0);
    assert_int_equal(size, record.size - 4);
    assert_int_equal(request.number, 77);
    assert_true(request.final);
    assert_string_equal(request.clock, "12 -34 56");
    assert_int_equal(request.body_size, sizeof body_bytes);
    assert_memory_equal(request.body, body_bytes, sizeof body_bytes);
    buffer_release(&record);
    put_request(&record, NULL);
    assert_int_equal(read_request(record.data, record.size, &request, &size), 0);
    assert_string_equal(request.clock, "");
    buffer_release(&record);
}

static void answers_are_read_as_they_were_put(void **state) {
    (void)state;
    struct buffer record;
    struct push_answer answer;
    uint64_t number;
    size_t size;
    put_answer(&record);
    assert_int_equal(read_answer(record.data, record.size, &number, &answer, &size), 0);
    assert_int_equal(size, record.size);
    assert_true(number == UINT64_MAX);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.port, 65535);
    assert_string_equal(answer.address, "10.0.0.1");
    assert_string_equal(answer.text, "committed 5\nstop 0\n");
    assert_string_equal(answer.why, "not so");
    buffer_release(&record);
}

static void a_part_of_a_record_asks_for_more_than_there_is(void **state) {
    (void)state;
    struct buffer request_record, answer_record;
    struct stream_request request;
    struct push_answer answer;
    uint64_t number;
    size_t size;
    put_request(&request_record, "1 2 3");
    put_answer(&answer_record);
    for (size_t n = 0; n < request_record.size; n++) {
        assert_int_equal(read_request(request_record.data, n, &request, &size), STREAM_MORE);
        assert_in_range(size, n + 1, request_record.size);
    }
    for (size_t n = 0; n < answer_record.size; n++) {
        assert_int_equal(read_answer(answer_record.data, n, &number, &answer, &size), STREAM_MORE);
        assert_in_range(size, n + 1, answer_record.size);
    }
    buffer_release(&request_record);
    buffer_release(&answer_record);
}

static void a_changed_bit_is_noticed(void **state) {
    (void)state;
    struct buffer request_record, answer_record;
    struct stream_request request;
    struct push_answer answer;
    uint64_t number;
    size_t size;
    put_request(&request_record, "1 2 3");
    put_answer(&answer_record);
    for (size_t bit = 0; bit < 8 * request_record.size; bit++) {
        request_record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(
            read_request(request_record.data, request_record.size, &request, &size), 0);
        assert_in_range(size, 0, STREAM_REQUEST_MAX);
        request_record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * answer_record.size; bit++) {
        answer_record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(
            read_answer(answer_record.data, answer_record.size, &number, &answer, &size), 0);
        answer_record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_release(&request_record);
    buffer_release(&answer_record);
}

/* Refused before the body is read, so that the reader does not wait for 4 GiB. */
static void a_length_without_bounds_is_refused(void **state) {
    (void)state;
    struct buffer record;
    struct stream_request request;
    struct push_answer answer;
    uint64_t number;
    size_t size;
    put_request(&record, NULL);
    memset(record.data + 8, 0xff, 4);
    assert_int_equal(read_request(record.data, STREAM_HEAD_SIZE, &request, &size), -EBADMSG);
    memcpy(record.data + 8, (uint8_t[]){1, 0, 0x40, 0}, 4); /* one byte more than SPOOL_BODY_MAX */
    assert_int_equal(read_request(record.data, STREAM_HEAD_SIZE, &request, &size), -EBADMSG);
    memcpy(record.data + 8, (uint8_t[]){0, 0, 0x40, 0}, 4);
    assert_int_equal(read_request(record.data, STREAM_HEAD_SIZE, &request, &size), STREAM_MORE);
    record.data[5] = STREAM_CLOCK_MAX + 1;
    assert_int_equal(read_request(record.data, STREAM_HEAD_SIZE, &request, &size), -EBADMSG);
    buffer_release(&record);
    put_answer(&record);
    for (size_t at = 8; at < 12; at++) {
        uint8_t old = record.data[at];
        record.data[at] = 0xff;
        assert_int_equal(read_answer(record.data, STREAM_HEAD_SIZE, &number, &answer, &size),
                         at == 10 ? STREAM_MORE : -EBADMSG);
        record.data[at] = old;
    }
    buffer_release(&record);
}

/* It becomes the value of a header. */
static void a_clock_is_numbers_alone(void **state) {
    (void)state;
    struct buffer record;
    struct stream_request request;
    size_t size;
    put_request(&record, "1 2\r\nChokepoint-Final: 1");
    assert_int_equal(read_request(record.data, record.size, &request, &size), -EBADMSG);
    buffer_release(&record);
}

static void what_is_too_large_is_not_put(void **state) {
    (void)state;
    struct buffer record, body = {.data = body_bytes, .size = SPOOL_BODY_MAX + 1};
    struct push_request request = {.body = &body};
    char clock[STREAM_CLOCK_MAX + 2];
    memset(clock, '1', sizeof clock - 1);
    clock[sizeof clock - 1] = '\0';
    buffer_init(&record);
    assert_int_equal(stream_put_request(&record, 1, &request), -EMSGSIZE);
    body.size = 1;
    request.clock = clock;
    assert_int_equal(stream_put_request(&record, 1, &request), -EINVAL);
    buffer_release(&record);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_read_as_they_were_put),
        cmocka_unit_test(answers_are_read_as_they_were_put),
        cmocka_unit_test(a_part_of_a_record_asks_for_more_than_there_is),
        cmocka_unit_test(a_changed_bit_is_noticed),
        cmocka_unit_test(a_length_without_bounds_is_refused),
        cmocka_unit_test(a_clock_is_numbers_alone),
        cmocka_unit_test(what_is_too_large_is_not_put),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
