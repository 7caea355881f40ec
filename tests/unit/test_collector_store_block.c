/* SPDX-License-Identifier: MIT */
/* Blocks of columns: what is packed is unpacked, and no bytes do harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/store_block.h"
#include "common/table.h"

#define N 3000
#define COLUMNS 9

struct planted {
    struct block_work *work;
    struct buffer bytes;
    int64_t *values[COLUMNS]; /* N each */
};

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A column of each nature: constant, absent, few words, times, times with gaps, noise of 64 bits,
 * runs, rare values, and small numbers. */
static int64_t plant(size_t column, size_t i, uint64_t *state) {
    uint64_t random = next_random(state);
    switch (column) {
    case 0:
        return -7;
    case 1:
        return VALUE_ABSENT;
    case 2:
        return random % 3 ? (int64_t)(random % 200) << 40 : VALUE_ABSENT;
    case 3:
        return INT64_C(1) << 50 | (int64_t)(i * 1000 + random % 700);
    case 4:
        return random % 5 ? (int64_t)(i * 1000 + random % 90) : VALUE_ABSENT;
    case 5:
        return (int64_t)random;
    case 6:
        return (int64_t)(i / 100);
    case 7:
        return i % 100 == 99 ? INT64_MAX : VALUE_ABSENT;
    default:
        return (int64_t)(random % 5000) - 2500;
    }
}

static int setup(void **state) {
    struct planted *p = calloc(1, sizeof *p);
    uint64_t random = 88172645463325252;
    if (!p || block_work_new(&p->work) < 0)
        return -1;
    for (size_t c = 0; c < COLUMNS; c++) {
        p->values[c] = malloc(N * sizeof(int64_t));
        for (size_t i = 0; p->values[c] && i < N; i++)
            p->values[c][i] = plant(c, i, &random);
    }
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct planted *p = *state;
    for (size_t c = 0; c < COLUMNS; c++)
        free(p->values[c]);
    buffer_release(&p->bytes);
    block_work_free(p->work);
    free(p);
    return 0;
}

/* Packs n rows of all columns, numbered 0, 2, 4 ... */
static int pack(struct planted *p, size_t n) {
    struct block_values columns[COLUMNS];
    for (unsigned c = 0; c < COLUMNS; c++)
        columns[c] = (struct block_values){2 * c, p->values[c]};
    buffer_reset(&p->bytes);
    return block_pack(p->work, columns, COLUMNS, n, &p->bytes);
}

static void assert_unpacks(struct planted *p, size_t n) {
    struct block block;
    int64_t *values = malloc(n * sizeof *values);
    assert_non_null(values);
    assert_int_equal(block_open(p->bytes.data, p->bytes.size, &block), 0);
    assert_int_equal(block.n_rows, n);
    for (unsigned c = 0; c < COLUMNS; c++) {
        assert_int_equal(block_read(p->work, &block, 2 * c, values), 0);
        assert_memory_equal(values, p->values[c], n * sizeof *values);
    }
    free(values);
}

static void blocks_of_any_length_unpack(void **state) {
    struct planted *p = *state;
    static const size_t lengths[] = {1, 2, 3, 7, 8, 9, 17, 100, 255, 256, 257, 1000, N};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_int_equal(pack(p, lengths[i]), 0);
        assert_unpacks(p, lengths[i]);
    }
}

/* Each pair of extremes beside each other: differences wrap around. */
static void extremes_unpack(void **state) {
    struct planted *p = *state;
    static const int64_t extremes[] = {INT64_MAX, INT64_MIN + 1, 0, VALUE_ABSENT, -1, 1};
    uint64_t random = 7;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < N; i++)
            p->values[c][i] = extremes[next_random(&random) % (c < 6 ? c + 1 : 6)];
    assert_int_equal(pack(p, N), 0);
    assert_unpacks(p, N);
    for (size_t i = 0; i < N; i++) /* more than 256 words, of all widths */
        for (size_t c = 0; c < COLUMNS; c++)
            p->values[c][i] = (int64_t)(next_random(&random) >> next_random(&random) % 64);
    assert_int_equal(pack(p, N), 0);
    assert_unpacks(p, N);
}

static void columns_that_are_not_there_are_absent(void **state) {
    struct planted *p = *state;
    struct block block;
    int64_t values[5] = {0};
    assert_int_equal(pack(p, 5), 0);
    assert_int_equal(block_open(p->bytes.data, p->bytes.size, &block), 0);
    assert_int_equal(block_read(p->work, &block, 1, values), BLOCK_LACKS);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(values[i], VALUE_ABSENT);
}

/* The bytes of each codec, by hand. */
static void known_bytes_give_known_values(void **state) {
    struct planted *p = *state;
    static const uint8_t bytes[] = {
        1,    6,
        5, /* form, rows, columns */
        0,    BLOCK_RUNS,
        4, /* number, codec, size */
        1,    BLOCK_WORDS,
        9, /* */
        3,    BLOCK_NUMBERS,
        14, /* */
        8,    BLOCK_STEPS,
        8, /* */
        9,    BLOCK_NUMBERS | BLOCK_SPARSE,
        5, /* */
        2,    0,
        4,    15, /* two absent, four of 7 */
        1,    3,
        0,    0,
        1,    0,
        1,    1,
        0, /* 1 and absent */
        0x13, 2,
        1,    2,
        3,    4,
        5,    6,
        0,    0,
        0,    0,
        0,    1, /* -10 + 1 ... */
        20,   2,
        1,    0,
        1,    0,
        0,    9, /* 10, then steps of 1 and more */
        0x22, 4,
        1,    3,
        5, /* second and sixth: 2 + 3, 2 + 5 */
    };
    static const int64_t wanted[5][6] = {
        {VALUE_ABSENT, VALUE_ABSENT, 7, 7, 7, 7},
        {1, VALUE_ABSENT, 1, VALUE_ABSENT, VALUE_ABSENT, 1},
        {-9, -8, -7, -6, -5, 252},
        {10, 11, 13, 14, 15, 25},
        {VALUE_ABSENT, 5, VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, 7},
    };
    static const unsigned numbers[] = {0, 1, 3, 8, 9};
    struct block block;
    int64_t values[6];
    assert_int_equal(block_open(bytes, sizeof bytes, &block), 0);
    for (size_t c = 0; c < 5; c++) {
        assert_int_equal(block_read(p->work, &block, numbers[c], values), 0);
        assert_memory_equal(values, wanted[c], sizeof values);
    }
}

static void read_all(struct planted *p, const uint8_t *data, size_t size) {
    struct block block;
    int64_t *values = NULL;
    if (block_open(data, size, &block) < 0)
        return;
    values = malloc(block.n_rows * sizeof *values);
    assert_non_null(values);
    for (unsigned c = 0; c < BLOCK_COLUMNS_MAX; c++)
        block_read(p->work, &block, c, values);
    free(values);
}

/* A copy of the exact size, so that a sanitizer sees each read beyond it. */
static void cut_blocks_are_refused(void **state) {
    struct planted *p = *state;
    struct block block;
    assert_int_equal(pack(p, 300), 0);
    for (size_t size = 0; size < p->bytes.size; size++) {
        uint8_t *copy = malloc(size + !size);
        assert_non_null(copy);
        memcpy(copy, p->bytes.data, size);
        assert_int_equal(block_open(copy, size, &block), -EBADMSG);
        free(copy);
    }
}

static void changed_bytes_do_no_harm(void **state) {
    struct planted *p = *state;
    uint64_t random = 99;
    assert_int_equal(pack(p, 300), 0);
    uint8_t *copy = malloc(p->bytes.size);
    assert_non_null(copy);
    for (size_t at = 0; at < p->bytes.size; at++) {
        memcpy(copy, p->bytes.data, p->bytes.size);
        copy[at] = (uint8_t)next_random(&random);
        read_all(p, copy, p->bytes.size);
    }
    free(copy);
}

/* 65,536 rows in twenty bytes: a file of a megabyte would hold three billion. */
static void more_rows_than_bytes_allow_are_refused(void **state) {
    struct planted *p = *state;
    struct block block;
    uint8_t bytes[2048] = {1, 0x80, 0x80, 4, 1, 0, BLOCK_RUNS, 4, 0x80, 0x80, 4, 15};
    int64_t *values = malloc(BLOCK_ROWS_MAX * sizeof *values);
    assert_non_null(values);
    assert_int_equal(block_open(bytes, BLOCK_ROWS_MAX / BLOCK_ROWS_A_BYTE - 1, &block), -EBADMSG);
    assert_int_equal(block_open(bytes, BLOCK_ROWS_MAX / BLOCK_ROWS_A_BYTE, &block), 0);
    assert_int_equal(block_read(p->work, &block, 0, values), 0);
    assert_int_equal(values[BLOCK_ROWS_MAX - 1], 7);
    bytes[1]++; /* a row more */
    assert_int_equal(block_open(bytes, sizeof bytes, &block), -EBADMSG);
    free(values);
}

/* The packer keeps to it by bytes that mean nothing. */
static void constant_rows_may_be_read_again(void **state) {
    struct planted *p = *state;
    int64_t *zeros = calloc(BLOCK_ROWS_MAX, sizeof *zeros);
    struct block_values column = {0, zeros};
    struct block block;
    assert_non_null(zeros);
    assert_int_equal(block_pack(p->work, &column, 1, BLOCK_ROWS_MAX, &p->bytes), 0);
    assert_int_equal(block_open(p->bytes.data, p->bytes.size, &block), 0);
    assert_int_equal(block.n_rows, BLOCK_ROWS_MAX);
    free(zeros);
}

static void blocks_too_large_for_readers_are_not_made(void **state) {
    struct planted *p = *state;
    static struct block_values columns[BLOCK_COLUMNS_MAX];
    struct block block;
    for (unsigned c = 0; c < BLOCK_COLUMNS_MAX; c++)
        columns[c] = (struct block_values){c, p->values[5]};
    assert_int_equal(block_pack(p->work, columns, BLOCK_COLUMNS_MAX, N, &p->bytes), -E2BIG);
    assert_int_equal(p->bytes.size, 0);
    assert_int_equal(block_pack(p->work, columns, BLOCK_COLUMNS_MAX, 512, &p->bytes), 0);
    assert_int_equal(block_open(p->bytes.data, p->bytes.size, &block), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_of_any_length_unpack, setup, teardown),
        cmocka_unit_test_setup_teardown(extremes_unpack, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_that_are_not_there_are_absent, setup, teardown),
        cmocka_unit_test_setup_teardown(known_bytes_give_known_values, setup, teardown),
        cmocka_unit_test_setup_teardown(cut_blocks_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_bytes_do_no_harm, setup, teardown),
        cmocka_unit_test_setup_teardown(more_rows_than_bytes_allow_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(constant_rows_may_be_read_again, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_too_large_for_readers_are_not_made, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
