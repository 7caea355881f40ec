/* SPDX-License-Identifier: MIT */
/* The libsvm reader on good and hostile text, the shares of ranks, the compact form of a batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "workloads/common/libsvm.h"

#define N_FEATURES 1000

struct fixture {
    char dir[64], path[96];
    struct batch batch;
    struct libsvm_error error;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/test-libsvm-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof f->path, "%s/a", f->dir);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    char path[128];
    unlink(f->path);
    for (int i = 0; i < 20; i++) {
        snprintf(path, sizeof path, "%s/train-%02d.libsvm", f->dir, i);
        unlink(path);
    }
    assert_int_equal(rmdir(f->dir), 0);
    batch_release(&f->batch);
    free(f);
    return 0;
}

static void put(const char *path, const char *text, size_t n) {
    file_write(path, text, n, 0);
}

/* Reads at most n examples from a file with this text. */
static ssize_t read_text(struct fixture *f, const char *text, size_t n) {
    struct libsvm_reader reader;
    put(f->path, text, strlen(text));
    batch_clear(&f->batch);
    f->error.text[0] = 0;
    assert_int_equal(libsvm_open_file(&reader, f->path, N_FEATURES, &f->error), 0);
    ssize_t got = libsvm_read(&reader, n, &f->batch, &f->error);
    libsvm_release(&reader);
    return got;
}

static void good_text_is_read_as_written(void **state) {
    struct fixture *f = *state;
    const char *text = "1 1:0.5 7:-1.25 1000:3\n"
                       "# a comment\n"
                       "\n"
                       "-1\t2:1e-3\t  3:+4 \r\n"
                       "+1 5:123456789.25 6:.5 # tail\n"
                       "0"; /* no features, no newline */
    assert_int_equal(read_text(f, text, 100), 4);
    const struct batch *b = &f->batch;
    const uint32_t starts[] = {0, 3, 5, 7, 7}, indices[] = {0, 6, 999, 1, 2, 4, 5};
    const float values[] = {.5f, -1.25f, 3, 1e-3f, 4, 123456789.25f, .5f}, labels[] = {1, 0, 1, 0};
    assert_int_equal(b->n_entries, 7);
    assert_memory_equal(b->row_start, starts, sizeof starts);
    assert_memory_equal(b->index, indices, sizeof indices);
    assert_memory_equal(b->value, values, sizeof values);
    assert_memory_equal(b->label, labels, sizeof labels);
}

/* The reader converts short decimals itself: the result must equal strtof()'s. */
static void decimals_are_rounded_correctly(void **state) {
    struct fixture *f = *state;
    char text[4096];
    size_t n = 0;
    for (int i = 0; i < 200; i++)
        n += (size_t)sprintf(text + n, "1 1:%d.%03d\n", i * 37, i * 7 % 1000);
    assert_int_equal(read_text(f, text, 200), 200);
    for (int i = 0; i < 200; i++) {
        char number[32];
        sprintf(number, "%d.%03d", i * 37, i * 7 % 1000);
        assert_true(f->batch.value[i] == strtof(number, NULL));
    }
}

static void bad_text_is_refused_with_its_place(void **state) {
    struct fixture *f = *state;
    const struct {
        const char *text, *place, *expected;
    } cases[] = {
        {"1 1:1\n2 1:1\n", "line 2, column 1", "a label"},
        {"x 1:1\n", "line 1, column 1", "a label"},
        {"1 1\n", "line 1, column 4", "':' after an index"},
        {"1 a:1\n", "line 1, column 3", "index:value"},
        {"1 0:1\n", "line 1, column 3", "an index from 1 on"},
        {"1 5:1 5:1\n", "line 1, column 7", "ascending"},
        {"1 5:1 4:1\n", "line 1, column 7", "ascending"},
        {"1 1001:1\n", "line 1, column 3", "within --features"},
        {"1 99999999999999999999999:1\n", "line 1, column 3", "within --features"},
        {"1 -3:1\n", "line 1, column 3", "index:value"},
        {"1 1:\n", "line 1, column 5", "a finite number"},
        {"1 1:nan\n", "line 1, column 5", "a finite number"},
        {"1 1:inf\n", "line 1, column 5", "a finite number"},
        {"1 1:1e99\n", "line 1, column 5", "a finite number"},
        {"1 1:0x1p3\n", "line 1, column 6", "a blank after a value"},
        {"1 1:1:1\n", "line 1, column 6", "a blank after a value"},
        {"1 1:--1\n", "line 1, column 5", "a finite number"},
        {"1 1:.\n", "line 1, column 5", "a finite number"},
        {"1:1\n", "line 1, column 2", "index:value"},
        {"\n\n#\n1 1:1 \x01\x02\n", "line 4, column 7", "index:value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(read_text(f, cases[i].text, 100) < 0);
        if (!strstr(f->error.text, cases[i].place) || !strstr(f->error.text, cases[i].expected))
            fail_msg("\"%s\" gives: %s", cases[i].text, f->error.text);
        assert_non_null(strstr(f->error.text, f->path));
        for (const char *p = f->error.text; *p; p++)
            assert_in_range(*p, ' ', '~');
    }
}

static void a_nul_byte_is_refused(void **state) {
    struct fixture *f = *state;
    struct libsvm_reader reader;
    put(f->path, "1 1:1\0 2:1\n", 11);
    assert_int_equal(libsvm_open_file(&reader, f->path, N_FEATURES, &f->error), 0);
    assert_true(libsvm_read(&reader, 1, &f->batch, &f->error) < 0);
    libsvm_release(&reader);
}

static void an_endless_line_is_refused_in_bounded_memory(void **state) {
    struct fixture *f = *state;
    struct libsvm_reader reader;
    size_t n = 3 * LIBSVM_MAX_LINE;
    char *text = malloc(n);
    memset(text, '1', n);
    put(f->path, text, n);
    free(text);
    assert_int_equal(libsvm_open_file(&reader, f->path, N_FEATURES, &f->error), 0);
    assert_true(libsvm_read(&reader, 1, &f->batch, &f->error) < 0);
    assert_non_null(strstr(f->error.text, "at most 1 MiB"));
    libsvm_release(&reader);
}

static void a_file_without_examples_is_an_error_not_an_endless_loop(void **state) {
    struct fixture *f = *state;
    assert_true(read_text(f, "# nothing\n\n", 10) < 0);
    assert_non_null(strstr(f->error.text, "at least one example"));
    assert_true(read_text(f, "", 10) < 0);
}

static void a_missing_file_is_named(void **state) {
    struct fixture *f = *state;
    struct libsvm_reader reader;
    assert_true(libsvm_open_file(&reader, "/nonexistent/x", 10, &f->error) < 0);
    assert_non_null(strstr(f->error.text, "/nonexistent/x"));
    assert_true(libsvm_open_share(&reader, "/nonexistent/x", 0, 1, 10, &f->error) < 0);
    assert_true(libsvm_open_share(&reader, f->dir, 0, 1, 10, &f->error) < 0);
    assert_non_null(strstr(f->error.text, "files of training data"));
}

static void a_file_is_read_round_and_round(void **state) {
    struct fixture *f = *state;
    struct libsvm_reader reader;
    put(f->path, "1 1:1\n1 2:1\n1 3:1\n", 18);
    assert_int_equal(libsvm_open_file(&reader, f->path, N_FEATURES, &f->error), 0);
    size_t rows = 0;
    while (rows < 8) {
        ssize_t n = libsvm_read(&reader, 8 - rows, &f->batch, &f->error);
        assert_true(n >= 0);
        rows += (size_t)n;
    }
    const uint32_t expected[] = {0, 1, 2, 0, 1, 2, 0, 1};
    assert_memory_equal(f->batch.index, expected, sizeof expected);
    libsvm_release(&reader);
}

static void check_shares_from(struct fixture *f, int n_files, int n_ranks, int n_lines,
                              size_t first) {
    int seen[N_FEATURES] = {0};
    for (int rank = 0; rank < n_ranks; rank++) {
        struct libsvm_reader reader;
        assert_int_equal(libsvm_open_share(&reader, f->dir, rank, n_ranks, N_FEATURES, &f->error),
                         0);
        batch_clear(&f->batch);
        libsvm_begin_with(&reader, first);
        while (reader.epoch == 0)
            if (libsvm_read(&reader, 7, &f->batch, &f->error) < 0)
                break; /* a share without a line */
        for (size_t i = 0; i < f->batch.n_entries; i++)
            seen[f->batch.index[i]]++;
        libsvm_release(&reader);
    }
    for (int i = 0; i < n_files * n_lines; i++)
        assert_int_equal(seen[i], 1);
}

/* In an epoch every line of every file is read by exactly one rank, whichever file it begins with.
 */
static void check_shares(struct fixture *f, int n_files, int n_ranks, int n_lines) {
    for (size_t first = 0; first < 3; first++)
        check_shares_from(f, n_files, n_ranks, n_lines, first);
}

static void put_packed(const char *path, const char *text, size_t n) {
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)n), n);
    assert_int_equal(gzclose(file), Z_OK);
}

/* With one file of such names, then two, three and four. */
static void check_files(struct fixture *f, const char *format,
                        void (*write)(const char *path, const char *text, size_t n)) {
    const int n_lines = 50;
    for (int file = 0; file < 4; file++) {
        char path[128], name[32], text[4096];
        int n = 0;
        snprintf(name, sizeof name, format, file);
        snprintf(path, sizeof path, "%s/%s", f->dir, name);
        for (int i = 0; i < n_lines; i++)
            n += sprintf(text + n, "1 %d:%.*f\n", file * n_lines + i + 1, i % 5, 1.0);
        write(path, text, (size_t)n);
        for (int ranks = 1; ranks <= 9; ranks++)
            check_shares(f, file + 1, ranks, n_lines);
    }
}

static void ranks_share_all_lines_without_overlap(void **state) {
    check_files(*state, "train-%02d.libsvm", put);
}

static void ranks_share_the_lines_of_packed_files(void **state) {
    check_files(*state, "train-%02d.libsvm", put_packed);
}

static void forget(const struct fixture *f, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    assert_int_equal(unlink(path), 0);
}

/* Held-out examples and hidden files are no training data. */
static void a_directory_may_have_files_of_any_names(void **state) {
    struct fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/test.libsvm", f->dir);
    put(path, "bad", 3);
    snprintf(path, sizeof path, "%s/.part", f->dir);
    put(path, "bad", 3);
    check_files(f, "clicks.%d", put_packed);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "clicks.%d", i);
        forget(f, path);
    }
    forget(f, "test.libsvm");
    forget(f, ".part");
}

/* The file is cut off, or has a byte changed, at each place. */
static void a_damaged_packed_file_is_an_error(void **state) {
    struct fixture *f = *state;
    struct libsvm_reader reader;
    char text[2000], packed[4096];
    size_t n = 0;
    for (int i = 1; i <= 100; i++)
        n += (size_t)sprintf(text + n, "1 %d:%d.5\n", i, i * 7 % 10);
    put_packed(f->path, text, n);
    FILE *file = fopen(f->path, "r");
    size_t size = fread(packed, 1, sizeof packed, file);
    fclose(file);
    for (size_t cut = 10; cut < size; cut += 13) {
        put(f->path, packed, cut);
        assert_int_equal(libsvm_open_file(&reader, f->path, N_FEATURES, &f->error), 0);
        ssize_t got = 0;
        while (got >= 0 && reader.epoch == 0)
            got = libsvm_read(&reader, 64, &f->batch, &f->error);
        assert_true(got < 0);
        libsvm_release(&reader);
    }
    assert_non_null(strstr(f->error.text, "not whole gzip"));
    packed[size - 6] ^= 1; /* of the checksum */
    put(f->path, packed, size);
    assert_int_equal(libsvm_open_file(&reader, f->path, N_FEATURES, &f->error), 0);
    assert_true(libsvm_read(&reader, 200, &f->batch, &f->error) < 0);
    libsvm_release(&reader);
}

static void the_compact_form_is_sorted_unique_and_consistent(void **state) {
    struct fixture *f = *state;
    struct batch *b = &f->batch;
    const uint32_t n_features = 50000000;
    uint64_t random = 1;
    for (int row = 0; row < 300; row++) {
        assert_int_equal(batch_reserve(b, 40), 0);
        for (int i = 0; i < 40; i++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            uint32_t wide = (uint32_t)(random >> 33) % n_features;
            b->index[b->n_entries + (size_t)i] = i % 2 ? wide : wide % 100;
        }
        b->n_entries += 40;
        b->row_start[++b->n_rows] = (uint32_t)b->n_entries;
    }
    b->index[0] = n_features - 1;
    b->index[1] = 0;
    assert_int_equal(batch_compact(b, n_features), 0);
    for (size_t i = 1; i < b->n_unique; i++)
        assert_true(b->unique[i] > b->unique[i - 1]);
    for (size_t i = 0; i < b->n_entries; i++) {
        assert_true(b->local[i] < b->n_unique);
        assert_int_equal(b->unique[b->local[i]], b->index[i]);
    }
    assert_in_range(b->n_unique, 6000, 6100);
    assert_int_equal(b->unique[b->n_unique - 1], n_features - 1);
}

/* Two epochs of each of three shares of a file with several blocks; returns what was read as text.
 */
static size_t read_shares(struct fixture *f, const char *path, bool direct, uint32_t *ret,
                          size_t size) {
    size_t n = 0;
    for (int rank = 0; rank < 3; rank++) {
        struct libsvm_reader reader;
        assert_int_equal(libsvm_open_share(&reader, path, rank, 3, N_FEATURES, &f->error), 0);
        reader.direct = direct;
        while (reader.epoch < 2) {
            batch_clear(&f->batch);
            if (libsvm_read(&reader, 1000, &f->batch, &f->error) < 0) {
                libsvm_release(&reader);
                return 0;
            }
            for (size_t i = 0; i < f->batch.n_entries && n < size; i++)
                ret[n++] = f->batch.index[i];
        }
        libsvm_release(&reader);
    }
    return n;
}

static void reading_past_the_page_cache_gives_the_same_rows(void **state) {
    struct fixture *f = *state;
    static uint32_t cached[200000], direct[200000];
    static char text[1 << 20];
    char path[128];
    size_t n = 0;
    for (uint32_t i = 0; n < sizeof text - 64; i++)
        n += (size_t)sprintf(text + n, "1 %u:1 %u:2.5\n", i % 400 + 1, 500 + i % 491);
    snprintf(path, sizeof path, "%s/train-00.libsvm", f->dir);
    put(path, text, n);
    size_t n_cached = read_shares(f, path, false, cached, 200000);
    size_t n_direct = read_shares(f, path, true, direct, 200000);
    if (n_direct == 0 && strstr(f->error.text, "past the page cache"))
        return; /* a temporary directory in memory, on an older kernel */
    assert_true(n_cached > 100000);
    assert_int_equal(n_direct, n_cached);
    assert_memory_equal(direct, cached, n_cached * sizeof *cached);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(good_text_is_read_as_written),
        TEST(decimals_are_rounded_correctly),
        TEST(bad_text_is_refused_with_its_place),
        TEST(a_nul_byte_is_refused),
        TEST(an_endless_line_is_refused_in_bounded_memory),
        TEST(a_file_without_examples_is_an_error_not_an_endless_loop),
        TEST(a_missing_file_is_named),
        TEST(a_file_is_read_round_and_round),
        TEST(ranks_share_all_lines_without_overlap),
        TEST(ranks_share_the_lines_of_packed_files),
        TEST(a_directory_may_have_files_of_any_names),
        TEST(a_damaged_packed_file_is_an_error),
        TEST(reading_past_the_page_cache_gives_the_same_rows),
        TEST(the_compact_form_is_sorted_unique_and_consistent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
