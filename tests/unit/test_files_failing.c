/* SPDX-License-Identifier: MIT */
/*
 * Files that replace others (pack, unpack, export) while the n-th write, sync, open, name, read or
 * allocation fails, once or from then on, for all n: the final name has the whole file or none, the
 * earlier file stays until then, and the next try succeeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <zstd.h>

#include "tests/unit/fail_nth.h"

#include "cli/base/output_stream.h"
#include "collector/store.h"
#include "collector/store_pack.h"
#include "collector/store_read.h"
#include "collector/store_verify.h"
#include "common/clock.h"
#include "common/error.h"
#include "reports/export/export.h"

#define N_FRAMES 200

FAIL_ALLOCATOR(ZSTD_CCtx *, ZSTD_createCCtx, (void), )
FAIL_ALLOCATOR(ZSTD_DCtx *, ZSTD_createDCtx, (void), )

struct files {
    char directory[48], plain[64], packed[72], csv[64];
    uint8_t *original, *original_packed; /* the files that each play begins with */
    size_t size, packed_size;
    int64_t sum;
    const struct export_format *format;
};

/* ---- streams of the C library, whose writes are not taken over ---- */

struct stream_of_ours {
    FILE *file;
    int fd;
};
static struct stream_of_ours the_stream;

static ssize_t stream_write(void *cookie, const char *data, size_t size) {
    const struct stream_of_ours *stream = cookie;
    ssize_t n = write(stream->fd, data, size);
    return n < 0 ? 0 : n; /* as fopencookie requires */
}

static int stream_close(void *cookie) {
    return close(((struct stream_of_ours *)cookie)->fd);
}

FILE *__wrap_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode) {
    if (fail_now(FAIL_MEMORY, ENOMEM))
        return NULL;
    the_stream.fd = fd;
    the_stream.file = fopencookie(
        &the_stream, mode, (cookie_io_functions_t){.write = stream_write, .close = stream_close});
    return the_stream.file;
}

int __real_fileno(FILE *file);
int __wrap_fileno(FILE *file);
int __wrap_fileno(FILE *file) {
    return file == the_stream.file ? the_stream.fd : __real_fileno(file);
}

/* ---- what the files hold ---- */

static int add_up(void *ctx, const struct store_row_read *row) {
    if (row->values[0] != VALUE_ABSENT)
        *(int64_t *)ctx += row->values[0];
    return 0;
}

/* With either name. */
static int64_t sum_of(const char *path) {
    static const char *const columns[] = {"user_ns"};
    struct store *store;
    char why[256] = "";
    int64_t sum = 0;
    MUST(store_open_read(path, &store, why, sizeof why) == 0, "%s", why);
    MUST(store_each_row(store, 1, "cpu", columns, 1, add_up, &sum) == 0, "%s", store_error(store));
    store_close(store);
    return sum;
}

static void expect_whole(const struct files *f, const char *path) {
    struct verification v;
    char why[256] = "";
    MUST(store_verify(path, &v, why, sizeof why) == 0, "%s: %s", path, why);
    MUST(verification_is_good(&v), "%s is damaged", path);
    verification_release(&v);
    MUST(sum_of(path) == f->sum, "%s holds something else", path);
}

static void load(const char *path, uint8_t **ret_data, size_t *ret_size) {
    FILE *in = fopen(path, "r");
    struct stat st;
    assert_true(in && fstat(__real_fileno(in), &st) == 0);
    *ret_data = malloc((size_t)st.st_size + 1);
    *ret_size = (size_t)st.st_size;
    assert_int_equal(fread(*ret_data, 1, *ret_size, in), *ret_size);
    fclose(in);
}

static void put(const char *path, const uint8_t *data, size_t size) {
    FILE *out = fopen(path, "w");
    MUST(out && fwrite(data, 1, size, out) == size && fclose(out) == 0, "%s", path);
}

static bool is_there(const char *path) {
    return access(path, F_OK) == 0;
}

static void remove_all(const struct files *f) {
    DIR *dir = opendir(f->directory);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

static size_t files_in(const struct files *f) {
    DIR *dir = opendir(f->directory);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && ++n > 1)
            fprintf(stderr, "           another file: %s\n", entry->d_name);
    closedir(dir);
    return n;
}

/* ---- plays ---- */

typedef int (*convert_fn)(const char *path, struct pack_result *ret, char *why, size_t why_size);

static void convert(struct files *f, convert_fn function, const char *from, const char *to) {
    struct pack_result result;
    char why[4600] = "";
    unsigned kinds = fail_nth.kinds;
    fail_disarm();
    size_t descriptors = fail_open_files();
    fail_nth.kinds = kinds;
    int r = function(from, &result, why, sizeof why);
    fail_disarm();
    MUST(fail_open_files() == descriptors, "%zu descriptors, not %zu", fail_open_files(),
         descriptors);
    MUST(r == 0 || why[0], "no reason is told: %d", r);
    MUST(r == 0 || is_there(from), "it has failed and removed its file: %s", why);
    MUST(r != 0 || is_there(to), "it has made no file");
    if (is_there(from))
        expect_whole(f, from);
    if (is_there(to))
        expect_whole(f, to);
    if (r == 0)
        return;
    if (is_there(to)) { /* whole, but could not be removed */
        MUST(fail_nth.span == FAIL_FROM_THEN_ON, "it has failed and left its file: %s", why);
        return;
    }
    r = function(from, &result, why, sizeof why);
    MUST(r == 0, "a second try fails: %d %s", r, why);
    expect_whole(f, to);
    MUST(files_in(f) == 1, "%zu files are left", files_in(f));
}

static void play_pack(void *ctx) {
    struct files *f = ctx;
    unsigned kinds = fail_nth.kinds;
    fail_disarm();
    remove_all(f);
    put(f->plain, f->original, f->size);
    fail_nth.kinds = kinds;
    convert(f, store_pack, f->plain, f->packed);
}

static void play_unpack(void *ctx) {
    struct files *f = ctx;
    unsigned kinds = fail_nth.kinds;
    fail_disarm();
    remove_all(f);
    put(f->packed, f->original_packed, f->packed_size);
    fail_nth.kinds = kinds;
    convert(f, store_unpack, f->packed, f->plain);
}

static int export_once(struct files *f) {
    struct store *store;
    struct store_run run;
    struct output_stream output;
    if (store_open_read(f->plain, &store, NULL, 0) != 0)
        return -1;
    int r = store_find_run(store, "last", &run);
    if (r == 0) {
        r = output_stream_open(&output, f->csv);
        if (r == 0)
            r = output_stream_close(
                &output,
                f->format->write(store, &run, f->format->of_one_table ? "cpu" : NULL, output.file));
        store_run_release(&run);
    }
    store_close(store);
    return r;
}

static void expect_file(const char *path, const uint8_t *data, size_t size) {
    uint8_t *now;
    size_t now_size;
    load(path, &now, &now_size);
    MUST(now_size == size && memcmp(now, data, size) == 0, "%s is another file", path);
    free(now);
}

static uint8_t *exported;
static size_t exported_size;

/* The final name has either the whole export or the earlier file. */
static void play_export(void *ctx) {
    static const uint8_t before[] = "before";
    char left[96];
    struct files *f = ctx;
    unsigned kinds = fail_nth.kinds;
    fail_disarm();
    put(f->csv, before, sizeof before);
    size_t descriptors = fail_open_files();
    fail_nth.kinds = kinds;
    int r = export_once(f);
    fail_disarm();
    MUST(fail_open_files() == descriptors, "%zu descriptors, not %zu", fail_open_files(),
         descriptors);
    if (r == 0)
        expect_file(f->csv, exported, exported_size);
    else
        expect_file(f->csv, before, sizeof before);
    snprintf(left, sizeof left, "%s.%ld", f->csv, (long)getpid());
    unlink(left); /* another process would use another name */
    MUST(export_once(f) == 0, "a second try fails");
    expect_file(f->csv, exported, exported_size);
}

/* ---- tests ---- */

static const struct column columns[] = {
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "user"},
    {"idle_ns", UNIT_NS, COLUMN_COUNTER, "idle"},
};
static const struct table cpu = {"cpu",         "core",  "time by use",
                                 TABLE_SAMPLES, columns, ARRAY_SIZE(columns)};

static void record(struct files *f) {
    struct store *store;
    int64_t run, host, stream, table;
    const struct run_begin begin = {
        .command = "true", .wall_ns = 1, .mono_ns = 1, .period_ns = 100 * NS_PER_MS};
    const struct wire_stream wire = {.stream_id = 2, .period_ns = 100 * NS_PER_MS, .host = "vm0"};
    assert_int_equal(store_open_write(f->plain, &store, NULL, 0), 0);
    assert_int_equal(store_run_begin(store, &begin, &run), 0);
    assert_int_equal(store_begin(store), 0);
    assert_int_equal(store_stream(store, run, &wire, &host, &stream), 0);
    assert_int_equal(store_table(store, &cpu, &table), 0);
    for (uint64_t seq = 1; seq <= N_FRAMES; seq++) {
        int64_t t_ns = (int64_t)seq * 100 * NS_PER_MS;
        const struct frame_head head = {.seq = seq, .mono_ns = t_ns, .wall_ns = t_ns};
        struct wire_row row = {.name = {"cpu0", 4}, .values = {t_ns / 2, t_ns / 3}};
        assert_int_equal(store_frame(store, stream, &head), 0);
        assert_int_equal(store_row(store, table, &cpu, &row), 0);
    }
    assert_int_equal(store_commit(store), 0);
    store_close(store);
}

static int set_up(void **state) {
    struct files *f = calloc(1, sizeof *f);
    struct pack_result result;
    bool in_memory = access("/dev/shm", W_OK) == 0;
    snprintf(f->directory, sizeof f->directory, "%s/failing-XXXXXX",
             in_memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(f->directory));
    setenv("TMPDIR", f->directory, 1); /* of the private copy through which a packed file is read */
    snprintf(f->plain, sizeof f->plain, "%s/x.db", f->directory);
    snprintf(f->packed, sizeof f->packed, "%s" PACK_ENDING, f->plain);
    snprintf(f->csv, sizeof f->csv, "%s/x.csv", f->directory);
    record(f);
    f->sum = sum_of(f->plain);
    assert_int_equal(f->sum, (N_FRAMES - 1) * 50 * NS_PER_MS);
    load(f->plain, &f->original, &f->size);
    assert_int_equal(store_pack(f->plain, &result, NULL, 0), 0);
    load(f->packed, &f->original_packed, &f->packed_size);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct files *f = *state;
    remove_all(f);
    assert_int_equal(rmdir(f->directory), 0);
    free(f->original);
    free(f->original_packed);
    free(f);
    return 0;
}

static void all_kinds(void *ctx, int stride, void (*play)(void *ctx)) {
    const struct fail_series all[] = {
        {"write", FAIL_WRITE, 29, false}, {"half of a write", FAIL_WRITE, 37, true},
        {"sync", FAIL_SYNC, 3, false},    {"open and name", FAIL_OPEN | FAIL_NAME, 3, false},
        {"read", FAIL_READ, 13, false},   {"allocation", FAIL_MEMORY, stride, false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        fail_each(&all[i], FAIL_ONCE, play, ctx);
        fail_each(&all[i], FAIL_FROM_THEN_ON, play, ctx);
    }
}

static void a_packed_file_is_whole_or_not_there(void **state) {
    all_kinds(*state, 701, play_pack);
}

static void an_unpacked_file_is_whole_or_not_there(void **state) {
    all_kinds(*state, 701, play_unpack);
}

static void export_as(struct files *f, const char *format) {
    put(f->plain, f->original, f->size);
    unlink(f->packed);
    f->format = export_find_format(format);
    assert_int_equal(export_once(f), 0);
    load(f->csv, &exported, &exported_size);
    all_kinds(f, 701, play_export);
    free(exported);
}

static void an_export_is_whole_or_not_there(void **state) {
    export_as(*state, "csv");
    export_as(*state, "perfetto");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TEST(a_packed_file_is_whole_or_not_there),
        TEST(an_unpacked_file_is_whole_or_not_there),
        TEST(an_export_is_whole_or_not_there),
    };
    fail_read_arguments(argc, argv);
    fail_sqlite_allocations();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
