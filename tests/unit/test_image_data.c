/* SPDX-License-Identifier: MIT */
/* Readers of images: well-formed bytes are read as they are, and others are refused with the place
 * and the expected bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "workloads/data/draw.h"
#include "workloads/data/images.h"
#include "workloads/data/origin.h"
#include "workloads/data/sha256.h"
#include "workloads/data/tar.h"

/* Two images of 2 x 3. */
static uint8_t idx_pixels[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                               0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static uint8_t idx_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 9, 0};

static int parse(size_t n_pixels, size_t n_labels, struct images *ret, struct data_error *error) {
    const struct bytes pixels = {idx_pixels, n_pixels}, labels = {idx_labels, n_labels};
    *ret = (struct images){0};
    return images_parse_idx("images", &pixels, "labels", &labels, ret, error);
}

static void idx_is_read_as_it_is(void **state) {
    (void)state;
    struct images images;
    struct data_error error;
    assert_int_equal(parse(sizeof idx_pixels, sizeof idx_labels, &images, &error), 0);
    assert_int_equal(images.n, 2);
    assert_int_equal(images.rows, 2);
    assert_int_equal(images.columns, 3);
    assert_int_equal(images.channels, 1);
    assert_memory_equal(images.pixels, idx_pixels + 16, 12);
    assert_memory_equal(images.labels, idx_labels + 8, 2);
    images_release(&images);
}

/* With one byte changed: refused, with that text in the error. */
static void refused(uint8_t *byte, uint8_t value, const char *text) {
    struct images images;
    struct data_error error = {""};
    uint8_t good = *byte;
    *byte = value;
    int r = parse(sizeof idx_pixels, sizeof idx_labels, &images, &error);
    *byte = good;
    assert_true(r < 0);
    assert_string_equal(error.text, text);
    assert_null(images.pixels);
}

static void idx_that_contradicts_itself_is_refused_with_the_place(void **state) {
    (void)state;
    refused(&idx_pixels[3], 1,
            "images: offset 0: expected 0x00000803, which is IDX images, found 0x00000801");
    refused(&idx_labels[3], 3,
            "labels: offset 0: expected 0x00000801, which is IDX labels, found 0x00000803");
    refused(&idx_pixels[7], 0, "images: offset 4: expected images, found none");
    refused(&idx_pixels[7], 3, "images: offset 28: expected 34 bytes by its head, found 28");
    refused(&idx_pixels[7], 1, "images: offset 22: expected 22 bytes by its head, found 28");
    refused(&idx_pixels[4], 0xff,
            "images: offset 28: expected 25669140508 bytes by its head, found 28");
    refused(&idx_pixels[11], 0,
            "images: offset 8: expected 1 to 1024 rows and columns, found 0 x 3");
    refused(&idx_pixels[12], 1,
            "images: offset 8: expected 1 to 1024 rows and columns, found 2 x 16777219");
    refused(&idx_labels[7], 1, "labels: offset 4: expected 2 labels, one an image, found 1");
    refused(&idx_labels[9], 10, "labels: offset 9: expected a label from 0 to 9, found 10");
}

static void idx_of_any_other_length_is_refused(void **state) {
    (void)state;
    struct images images;
    struct data_error error;
    for (size_t n = 0; n < sizeof idx_pixels; n++)
        assert_true(parse(n, sizeof idx_labels, &images, &error) < 0);
    for (size_t n = 0; n < sizeof idx_labels; n++)
        assert_true(parse(sizeof idx_pixels, n, &images, &error) < 0);
    assert_string_equal(error.text, "labels: offset 9: expected 10 bytes by its head, found 9");
}

static void cifar_batches_add_up(void **state) {
    (void)state;
    static uint8_t records[2 * CIFAR_RECORD];
    struct images images = {0};
    struct data_error error;
    records[0] = 3;
    records[1] = 77;
    records[CIFAR_RECORD] = 9;
    records[2 * CIFAR_RECORD - 1] = 88;
    const struct bytes both = {records, sizeof records}, one = {records, CIFAR_RECORD};
    assert_int_equal(images_parse_cifar("a", &both, &images, &error), 0);
    assert_int_equal(images_parse_cifar("b", &one, &images, &error), 0);
    assert_int_equal(images.n, 3);
    assert_int_equal(images.channels, 3);
    assert_int_equal(images.labels[1], 9);
    assert_int_equal(images.labels[2], 3);
    assert_int_equal(images.pixels[2 * 3072 - 1], 88);
    assert_int_equal(images.pixels[2 * 3072], 77);

    const struct bytes cut = {records, CIFAR_RECORD + 7}, none = {records, 0};
    assert_true(images_parse_cifar("c", &cut, &images, &error) < 0);
    assert_string_equal(error.text, "c: offset 3073: expected a record of 3073 bytes, found 7");
    assert_true(images_parse_cifar("c", &none, &images, &error) < 0);
    records[CIFAR_RECORD] = 10;
    assert_true(images_parse_cifar("c", &both, &images, &error) < 0);
    assert_string_equal(error.text, "c: offset 3073: expected a label from 0 to 9, found 10");
    assert_int_equal(images.n, 3);
    images_release(&images);
}

static void a_missing_cifar_batch_is_named(void **state) {
    (void)state;
    static const uint8_t record[CIFAR_RECORD];
    char directory[] = "/tmp/test-cifar-XXXXXX", path[96];
    struct images images;
    struct data_error error;
    assert_non_null(mkdtemp(directory));
    for (int i = 2; i <= 6; i++) { /* first without the first; then whole */
        if (i == 6) {
            assert_true(images_read(directory, IMAGES_TRAIN, &images, &error) < 0);
            assert_non_null(strstr(error.text, "/data_batch_1.bin: missing beside"));
        }
        snprintf(path, sizeof path, "%s/data_batch_%d.bin", directory, i % 6 + i / 6);
        file_write(path, record, sizeof record, 0);
    }
    assert_int_equal(images_read(directory, IMAGES_TRAIN, &images, &error), 0);
    assert_int_equal(images.n, 5);
    images_release(&images);
    for (int i = 1; i <= 5; i++) {
        snprintf(path, sizeof path, "%s/data_batch_%d.bin", directory, i);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(directory), 0);
}

static size_t pack(const uint8_t *bytes, size_t n, uint8_t *ret, size_t room) {
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes,
                  .avail_in = (uInt)n,
                  .next_out = ret,
                  .avail_out = (uInt)room};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return (size_t)(z.next_out - ret);
}

static void gzip_is_unpacked_up_to_a_limit_and_refused_when_cut_or_damaged(void **state) {
    (void)state;
    enum { N = 300000 };
    uint8_t *bytes = malloc(N), *packed = malloc(2 * N);
    struct bytes got;
    struct data_error error;
    for (size_t i = 0; i < N; i++)
        bytes[i] = (uint8_t)(i * i >> 8);
    size_t n = pack(bytes, N, packed, N), n2 = pack(bytes, 1000, packed + n, N);
    assert_int_equal(bytes_unpack("x", packed, n, N, &got, &error), 0);
    assert_int_equal(got.n, N);
    assert_memory_equal(got.data, bytes, N);
    bytes_release(&got);
    assert_int_equal(bytes_unpack("x", packed, n + n2, 2 * N, &got, &error), 0); /* two members */
    assert_int_equal(got.n, N + 1000);
    bytes_release(&got);
    assert_true(bytes_unpack("x", packed, n, N - 1, &got, &error) < 0);
    assert_string_equal(error.text, "x: offset 300000: expected at most 299999 bytes unpacked");
    assert_true(bytes_unpack("x", packed, n - 9, N, &got, &error) < 0);
    assert_non_null(strstr(error.text, "the gzip stream ends too early"));
    packed[n - 6] ^= 1; /* of the checksum */
    assert_true(bytes_unpack("x", packed, n, N, &got, &error) < 0);
    assert_non_null(strstr(error.text, "not gzip: incorrect data check"));
    free(bytes);
    free(packed);
}

/* ---- tar ---- */

static void make_head(uint8_t *head, const char *name, unsigned size) {
    unsigned sum = 0;
    memset(head, 0, 512);
    snprintf((char *)head, 100, "%s", name);
    snprintf((char *)head + 124, 12, "%011o", size);
    head[156] = '0';
    memset(head + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += head[i];
    snprintf((char *)head + 148, 8, "%06o", sum);
}

static void tar_entries_are_found_and_bad_names_left_out(void **state) {
    (void)state;
    static uint8_t archive[512 * 7];
    struct tar_entry entry;
    struct data_error error;
    size_t offset = 0;
    make_head(archive, "cifar/data_batch_1.bin", 600);
    memset(archive + 512, 7, 600);
    make_head(archive + 3 * 512, "../../.profile", 0);
    make_head(archive + 4 * 512, "x/evil name.bin", 0);
    const struct bytes all = {archive, sizeof archive};
    assert_int_equal(tar_next("t", &all, &offset, &entry, &error), 1);
    assert_string_equal(entry.name, "data_batch_1.bin");
    assert_int_equal(entry.n, 600);
    assert_ptr_equal(entry.data, archive + 512);
    assert_int_equal(tar_next("t", &all, &offset, &entry, &error), 1);
    assert_string_equal(entry.name, "");
    assert_int_equal(tar_next("t", &all, &offset, &entry, &error), 1);
    assert_string_equal(entry.name, "");
    assert_int_equal(tar_next("t", &all, &offset, &entry, &error), 0);

    const struct bytes cut = {archive, 1000};
    offset = 0;
    assert_true(tar_next("t", &cut, &offset, &entry, &error) < 0);
    assert_string_equal(error.text, "t: offset 124: expected the size of an entry, at most 488");
    archive[3] ^= 1;
    assert_true(tar_next("t", &all, &offset, &entry, &error) < 0);
    assert_string_equal(error.text, "t: offset 148: expected the checksum of a tar head");
}

/* ---- chance and sums ---- */

static void sha256_is_that_of_the_standard(void **state) {
    (void)state;
    struct sha256 sha;
    char text[SHA256_TEXT];
    sha256_init(&sha);
    sha256_text(&sha, text);
    assert_string_equal(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_init(&sha);
    sha256_add(&sha, "abc", 3);
    sha256_text(&sha, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_init(&sha);
    for (int i = 0; i < 100000; i++) /* a million in odd-sized parts */
        sha256_add(&sha, "aaaaaaaaaaa", i % 2 ? 9 : 11);
    sha256_text(&sha, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void images_repeat_and_all_classes_are_drawn(void **state) {
    (void)state;
    uint8_t (*const draw[])(uint64_t, uint64_t, uint8_t *) = {draw_digit, draw_texture};
    const size_t sizes[] = {DIGIT_BYTES, TEXTURE_BYTES};
    static uint8_t a[TEXTURE_BYTES], b[TEXTURE_BYTES];
    for (int kind = 0; kind < 2; kind++) {
        int counts[10] = {0};
        for (uint64_t i = 0; i < 500; i++) {
            uint8_t label = draw[kind](1, i, a);
            assert_in_range(label, 0, 9);
            counts[label]++;
        }
        for (int c = 0; c < 10; c++) /* expected 50, standard deviation 6.7 */
            assert_in_range(counts[c], 20, 85);
        assert_int_equal(draw[kind](1, 499, b), draw[kind](1, 499, a));
        assert_memory_equal(a, b, sizes[kind]);
        draw[kind](2, 499, b);
        assert_true(memcmp(a, b, sizes[kind]) != 0);
    }
}

static void origin_is_one_short_printable_line_whatever_the_file_holds(void **state) {
    (void)state;
    char directory[] = "/tmp/origin.XXXXXX", path[64], text[ORIGIN_SIZE];
    struct data_error error;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/" ORIGIN_FILE, directory);
    origin_read(directory, text);
    assert_string_equal(text, "images of unknown origin");
    assert_int_equal(origin_write(directory, "digits drawn, seed 7", &error), 0);
    origin_read(directory, text);
    assert_string_equal(text, "digits drawn, seed 7");
    assert_int_equal(origin_write(directory, "\033[31m\377\nmore", &error), 0);
    origin_read(directory, text);
    assert_string_equal(text, "?[31m?");
    assert_int_equal(origin_write(directory, "a line of more than the 39 bytes a name has", &error),
                     0);
    origin_read(directory, text);
    assert_string_equal(text, "a line of more than the 39 bytes a name");
    unlink(path);
    assert_true(origin_write("/nonexistent", "x", &error) < 0);
    assert_non_null(strstr(error.text, "/nonexistent/origin.txt: cannot write"));
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_is_read_as_it_is),
        cmocka_unit_test(idx_that_contradicts_itself_is_refused_with_the_place),
        cmocka_unit_test(idx_of_any_other_length_is_refused),
        cmocka_unit_test(cifar_batches_add_up),
        cmocka_unit_test(a_missing_cifar_batch_is_named),
        cmocka_unit_test(gzip_is_unpacked_up_to_a_limit_and_refused_when_cut_or_damaged),
        cmocka_unit_test(tar_entries_are_found_and_bad_names_left_out),
        cmocka_unit_test(sha256_is_that_of_the_standard),
        cmocka_unit_test(images_repeat_and_all_classes_are_drawn),
        cmocka_unit_test(origin_is_one_short_printable_line_whatever_the_file_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
