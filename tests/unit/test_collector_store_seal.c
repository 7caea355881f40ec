/* SPDX-License-Identifier: MIT */
/*
 * Flipped bytes anywhere in a file: a check of the whole file notices all of them, and no reader
 * answers from one. Three cases are told from damage: a change by another program, a recording
 * older than seals, and one whose writer was killed.
 */
#include "collector/store_verify.h"
#include "common/error.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define N_FRAMES 600
#define N_FLIPS 500

static void record(struct fixture *f, uint64_t first, uint64_t last) {
    assert_int_equal(store_begin(f->store), 0);
    for (uint64_t n = first; n <= last; n++) {
        assert_int_equal(fixture_frame(f, n, 0.1 * (double)n), 0);
        for (int64_t k = 0; k < 5; k++) {
            char name[16];
            snprintf(name, sizeof name, "eth%d", (int)k);
            ROW(f, &net_table, name, (int64_t)n * 1000 * (k + 1), (int64_t)(n * n) + k);
        }
    }
    assert_int_equal(store_commit(f->store), 0);
}

static void record_and_close(struct fixture *f) {
    record(f, 1, N_FRAMES);
    store_close(f->store);
    f->store = NULL;
}

static int add_up(void *ctx, const struct store_row_read *row) {
    int64_t *sum = ctx;
    for (int i = 0; i < 2; i++)
        sum[i] += row->values[i] == VALUE_ABSENT ? 1 : row->values[i] * (row->t_ns % 97);
    return 0;
}

/* 0 and the sums, or the error that kept it from answering. */
static int read_sums(const char *path, int64_t sum[2]) {
    static const char *const columns[] = {"receive_bytes", "send_bytes"};
    struct store *store;
    struct store_run run;
    sum[0] = sum[1] = 0;
    int r = store_open_read(path, &store, NULL, 0);
    if (r)
        return r;
    r = store_find_run(store, "last", &run);
    if (r == 0) {
        r = store_each_row(store, run.id, "net", columns, 2, add_up, sum);
        store_run_release(&run);
    }
    store_close(store);
    return r;
}

static void flip(const char *path, off_t at, uint8_t mask) {
    uint8_t byte;
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= mask;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static bool is_noticed(const char *path) {
    struct verification v;
    char why[300];
    int r = store_verify(path, &v, why, sizeof why);
    bool noticed = r != 0 || !verification_is_good(&v) || v.seal != SEAL_HOLDS;
    verification_release(&v);
    return noticed;
}

static void expect_state(const char *path, enum seal_state seal, bool good) {
    struct verification v;
    char why[300] = "";
    if (store_verify(path, &v, why, sizeof why))
        fail_msg("%s", why);
    assert_int_equal(v.seal, seal);
    assert_int_equal(verification_is_good(&v), good);
    verification_release(&v);
}

static off_t size_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void a_flipped_byte_is_noticed_wherever_it_is(void **state) {
    struct fixture *f = *state;
    uint64_t random = 42;
    int noticed = 0;
    record_and_close(f);
    expect_state(f->path, SEAL_HOLDS, true);
    for (int i = 0; i < N_FLIPS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        off_t at = (off_t)((random >> 20) % (uint64_t)size_of(f->path));
        uint8_t mask = (uint8_t)(1u << (random >> 61));
        flip(f->path, at, mask);
        noticed += is_noticed(f->path);
        flip(f->path, at, mask);
    }
    print_message("           %d of %d noticed\n", noticed, N_FLIPS);
    assert_int_equal(noticed, N_FLIPS);
    expect_state(f->path, SEAL_HOLDS, true);
}

static void a_reader_says_nothing_from_a_flipped_byte(void **state) {
    struct fixture *f = *state;
    uint64_t random = 7;
    int64_t truth[2], sum[2];
    int refused = 0;
    record_and_close(f);
    assert_int_equal(read_sums(f->path, truth), 0);
    for (int i = 0; i < N_FLIPS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        off_t at = (off_t)((random >> 20) % (uint64_t)size_of(f->path));
        uint8_t mask = (uint8_t)(1u << (random >> 61));
        if (at < SEAL_HEADER_BYTES)
            continue; /* the byte that says that there is a seal */
        flip(f->path, at, mask);
        int r = read_sums(f->path, sum);
        flip(f->path, at, mask);
        refused += r != 0;
        if (r == 0 && (sum[0] != truth[0] || sum[1] != truth[1]))
            fail_msg("byte %lld flipped: answered as if nothing were wrong", (long long)at);
        assert_true(r == 0 || r == -EBADMSG);
    }
    print_message("           %d of %d were in pages that were read\n", refused, N_FLIPS);
    assert_true(refused > N_FLIPS / 4);
}

static void a_damaged_page_is_named_with_its_table(void **state) {
    struct fixture *f = *state;
    struct verification v;
    char why[300];
    record_and_close(f);
    int64_t page = sql_number(f, "SELECT max(pageno) FROM dbstat WHERE name = 'net'");
    flip(f->path, (page - 1) * 4096 + 2000, 1);
    assert_int_equal(store_verify(f->path, &v, why, sizeof why), 0);
    assert_int_equal(v.n_damaged, 1);
    assert_int_equal(v.damages[0].page, page);
    assert_string_equal(v.damages[0].object, "table net");
    verification_release(&v);
}

/* By one page, by many, and by a part of one. */
static void a_file_cut_short_is_damaged(void **state) {
    static const struct {
        off_t bytes;
        uint64_t pages;
    } cuts[] = {{4096, 1}, {1, 1}, {4096 + 1, 2}, {3 * 4096, 3}};
    struct fixture *f = *state;
    struct verification v;
    char why[300];
    record_and_close(f);
    off_t whole = size_of(f->path);
    for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
        char cut[sizeof f->path + 8], command[300];
        snprintf(cut, sizeof cut, "%s.cut", f->path);
        snprintf(command, sizeof command, "cp -- '%s' '%s'", f->path, cut);
        assert_int_equal(system(command), 0);
        assert_int_equal(truncate(cut, whole - cuts[i].bytes), 0);
        assert_int_equal(store_verify(cut, &v, why, sizeof why), 0);
        assert_int_equal(v.n_missing, cuts[i].pages);
        assert_int_equal(v.n_pages, whole / 4096 - (int64_t)cuts[i].pages);
        assert_int_equal(v.n_damaged, 0);
        verification_release(&v);
        expect_state(cut, SEAL_HOLDS, false);
    }
}

static void two_pages_that_changed_places_are_damaged(void **state) {
    struct fixture *f = *state;
    uint8_t a[4096], b[4096];
    record_and_close(f);
    off_t last = size_of(f->path) - 4096;
    int fd = open(f->path, O_RDWR);
    assert_int_equal(pread(fd, a, 4096, last) + pread(fd, b, 4096, last - 4096), 8192);
    assert_int_equal(pwrite(fd, b, 4096, last) + pwrite(fd, a, 4096, last - 4096), 8192);
    close(fd);
    expect_state(f->path, SEAL_HOLDS, false);
}

/* Pages of another program are neither damaged nor sealed, whatever is recorded later. */
static void another_programs_change_breaks_the_seal_for_good(void **state) {
    struct fixture *f = *state;
    int64_t sum[2];
    record_and_close(f);
    sql_change(f, "UPDATE net SET send_bytes = 5");
    expect_state(f->path, SEAL_BROKEN, true);
    assert_int_equal(read_sums(f->path, sum), 0);
    fixture_open(f);
    fixture_stream(f, "vm1", BOOT_A, 7);
    record(f, N_FRAMES + 1, N_FRAMES + 10);
    store_close(f->store);
    f->store = NULL;
    expect_state(f->path, SEAL_BROKEN, true);
    assert_int_equal(read_sums(f->path, sum), 0);
}

static void run_each(sqlite3 *db, const char *sql) {
    sqlite3_stmt *each;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &each, NULL), SQLITE_OK);
    while (sqlite3_step(each) == SQLITE_ROW)
        if (sqlite3_exec(db, (const char *)sqlite3_column_text(each, 0), NULL, NULL, NULL))
            fail_msg("%s: %s", sqlite3_column_text(each, 0), sqlite3_errmsg(db));
    sqlite3_finalize(each);
}

/* Makes the file look as before seals existed. */
static void take_seals_away(struct fixture *f) {
    char sql[512], sealed[112];
    sqlite3 *db;
    snprintf(sealed, sizeof sealed, "%s.sealed", f->path);
    assert_int_equal(rename(f->path, sealed), 0);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    snprintf(sql, sizeof sql,
             "ATTACH '%s' AS sealed; PRAGMA application_id=%d; PRAGMA user_version=%d", sealed,
             STORE_APPLICATION_ID, STORE_VERSION);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    run_each(db, "SELECT sql FROM sealed.sqlite_schema WHERE sql IS NOT NULL ORDER BY type='view'");
    run_each(db, "SELECT format('INSERT INTO %s SELECT * FROM sealed.%s', name, name)"
                 " FROM sealed.sqlite_schema WHERE type = 'table'");
    sqlite3_close(db);
}

static void a_recording_without_seals_is_read_and_recorded_into(void **state) {
    struct fixture *f = *state;
    int64_t truth[2], sum[2];
    record_and_close(f);
    assert_int_equal(read_sums(f->path, truth), 0);
    take_seals_away(f);
    expect_state(f->path, SEAL_NONE, true);
    assert_int_equal(read_sums(f->path, sum), 0);
    assert_memory_equal(sum, truth, sizeof sum);
    fixture_open(f);
    fixture_stream(f, "vm1", BOOT_A, 7);
    record(f, N_FRAMES + 1, N_FRAMES + 10);
    store_close(f->store);
    f->store = NULL;
    expect_state(f->path, SEAL_NONE, true);
    assert_int_equal(read_sums(f->path, sum), 0);
}

static void write_and_die(struct fixture *f, uint64_t first, uint64_t last) {
    pid_t child = fork();
    if (child == 0) {
        fixture_open(f);
        fixture_stream(f, "vm1", BOOT_A, 7);
        for (uint64_t n = first; n <= last; n++)
            record(f, n, n);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void what_a_killed_writer_left_is_not_sealed_and_not_damaged(void **state) {
    struct fixture *f = *state;
    struct verification v;
    char why[300];
    record_and_close(f);
    write_and_die(f, N_FRAMES + 1, N_FRAMES + 100);
    assert_int_equal(store_verify(f->path, &v, why, sizeof why), 0);
    assert_int_equal(v.seal, SEAL_HOLDS);
    assert_true(verification_is_good(&v));
    assert_true(v.log_bytes > 0);
    verification_release(&v);
    fixture_open(f); /* the next writer folds it in */
    store_close(f->store);
    f->store = NULL;
    expect_state(f->path, SEAL_HOLDS, true);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM frame"), N_FRAMES + 100);
}

/* Then its pages have no seals, which must not look like damage. */
static void what_another_program_folds_in_is_not_damaged(void **state) {
    struct fixture *f = *state;
    int64_t sum[2];
    record_and_close(f);
    write_and_die(f, N_FRAMES + 1, N_FRAMES + 1);
    sql_change(f, "SELECT count(*) FROM frame; PRAGMA wal_checkpoint(TRUNCATE)");
    expect_state(f->path, SEAL_BROKEN, true);
    assert_int_equal(read_sums(f->path, sum), 0);
}

static void a_note_that_another_program_folds_in_is_not_damaged(void **state) {
    struct fixture *f = *state;
    int64_t sum[2];
    record_and_close(f);
    pid_t child = fork();
    if (child == 0) {
        fixture_open(f);
        store_run_note(f->store, f->run, "all that its writer came to write");
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    sql_change(f, "SELECT count(*) FROM frame; PRAGMA wal_checkpoint(TRUNCATE)");
    expect_state(f->path, SEAL_BROKEN, true);
    assert_int_equal(read_sums(f->path, sum), 0);
}

static void what_is_no_database_of_ours_is_refused(void **state) {
    struct fixture *f = *state;
    struct verification v;
    char path[128], why[300] = "";
    snprintf(path, sizeof path, "%s/none", f->directory);
    assert_int_equal(store_verify(path, &v, why, sizeof why), -ENOENT);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 5000; i++)
        fputs("text ", file);
    fclose(file);
    assert_int_equal(store_verify(path, &v, why, sizeof why), STORE_FOREIGN);
    assert_int_equal(store_verify(f->directory, &v, why, sizeof why), -EISDIR);
    assert_true(why[0]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_flipped_byte_is_noticed_wherever_it_is),
        TEST(a_reader_says_nothing_from_a_flipped_byte),
        TEST(a_damaged_page_is_named_with_its_table),
        TEST(a_file_cut_short_is_damaged),
        TEST(two_pages_that_changed_places_are_damaged),
        TEST(another_programs_change_breaks_the_seal_for_good),
        TEST(a_recording_without_seals_is_read_and_recorded_into),
        TEST(what_a_killed_writer_left_is_not_sealed_and_not_damaged),
        TEST(what_another_program_folds_in_is_not_damaged),
        TEST(a_note_that_another_program_folds_in_is_not_damaged),
        TEST(what_is_no_database_of_ours_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
