/* SPDX-License-Identifier: MIT */
/*
 * Samples that are packed while a run is recorded. Time is planted. Readers see the rows that were
 * written, however many are packed and whenever the writer is killed.
 */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "collector/store_age.h"
#include "collector/store_mark.h"
#include "collector/store_pack.h"
#include "collector/store_query.h"
#include "collector/store_read_tables.h"
#include "tables/tables.h"

#define AFTER_NS (60 * NS_PER_S)
#define LONG NS_PER_S /* more than any step here takes */

static int take_number(void *ctx, const struct store_cell *cells, size_t n) {
    assert_int_equal(n, 1);
    *(int64_t *)ctx = cells[0].integer;
    return 0;
}

static int take_names(void *ctx, const char *const *names, size_t n) {
    (void)ctx, (void)names, (void)n;
    return 0;
}

/* One number, as `chokepoint sql` gives it. */
static int64_t ask(struct fixture *f, const char *sql) {
    int64_t number = VALUE_ABSENT;
    const struct store_view_reader query = {take_names, take_number, &number};
    struct store *reader;
    if (store_open_read(f->path, &reader, f->why, sizeof f->why) != 0 ||
        store_query(reader, sql, &query, f->why, sizeof f->why) != 0)
        fail_msg("%s: %s", sql, f->why);
    store_close(reader);
    return number;
}

#define PACKED "SELECT coalesce(sum(n), 0) FROM block"
#define ROWS "SELECT count(*) FROM net"

/* Frames from..until, one a second, each with two interfaces that received 7 bytes more. */
static void write_frames(struct fixture *f, int from, int until) {
    for (int i = from; i < until; i++) {
        assert_int_equal(store_begin(f->store), 0);
        assert_int_equal(fixture_frame(f, (uint64_t)i + 1, 10.0 + i), 0);
        ROW(f, &net_table, "eth0", 7 * i, i);
        ROW(f, &net_table, "eth1", 7 * i, i);
        assert_int_equal(store_commit(f->store), 0);
    }
}

static void check_frames(struct fixture *f, int n) {
    assert_int_equal(ask(f, ROWS), 2 * n);
    assert_int_equal(ask(f, "SELECT sum(receive_bytes) FROM net"), 2 * 7 * (n - 1));
    assert_int_equal(ask(f, "SELECT count(DISTINCT frame * 1000 + instance) FROM net"), 2 * n);
    assert_int_equal(ask(f, "SELECT sum(interval_ns) FROM net"), 2 * (n - 1) * NS_PER_S);
}

static struct aging *begin_aging(struct fixture *f) {
    struct aging *aging;
    assert_int_equal(aging_new(f->store, f->run, AFTER_NS, &aging), 0);
    return aging;
}

static void pack_all(struct aging *aging, int64_t now_ns) {
    while (aging_is_due(aging, now_ns))
        assert_int_equal(aging_step(aging, clock_monotonic_ns(), LONG), 0);
}

static void rows_are_packed_when_they_are_old_and_newer_ones_stay(void **state) {
    struct fixture *f = *state;
    struct aging *aging = begin_aging(f);
    write_frames(f, 0, 10);
    pack_all(aging, NS_PER_S); /* it sees ten frames */
    write_frames(f, 10, 14);
    pack_all(aging, 60 * NS_PER_S);
    assert_int_equal(ask(f, PACKED), 0);
    pack_all(aging, 61 * NS_PER_S);
    assert_int_equal(ask(f, PACKED), 20);
    check_frames(f, 14);
    pack_all(aging, 121 * NS_PER_S);
    assert_int_equal(ask(f, PACKED), 28);
    check_frames(f, 14);
    aging_free(aging);
}

static void each_step_packs_a_part_and_the_round_comes_to_an_end(void **state) {
    struct fixture *f = *state;
    struct aging *aging = begin_aging(f);
    for (int host = 0; host < 5; host++) {
        char name[16];
        snprintf(name, sizeof name, "host%d", host);
        fixture_stream_of(f, name, BOOT_B, 20 + (uint64_t)host, NS_PER_S);
        write_frames(f, 0, 10);
    }
    pack_all(aging, 0);
    int steps = 0;
    for (; aging_is_due(aging, AFTER_NS); steps++)
        assert_int_equal(aging_step(aging, clock_monotonic_ns(), NS_PER_MS / 10), 0);
    assert_true(steps > 1);
    assert_int_equal(ask(f, PACKED), 100);
    assert_int_equal(ask(f, ROWS), 100);
    aging_free(aging);
}

static void recording_goes_on_and_so_does_the_next_collector(void **state) {
    struct fixture *f = *state;
    struct aging *aging = begin_aging(f);
    write_frames(f, 0, 10);
    pack_all(aging, 0);
    pack_all(aging, AFTER_NS);
    write_frames(f, 10, 20);
    aging_free(aging);
    store_close(f->store);
    fixture_open(f);
    write_frames(f, 20, 30);
    aging = begin_aging(f);
    pack_all(aging, 0);
    pack_all(aging, AFTER_NS);
    write_frames(f, 30, 40);
    assert_int_equal(ask(f, PACKED), 60);
    assert_int_equal(ask(f, "SELECT count(*) FROM block"), 2);
    check_frames(f, 40);
    aging_free(aging);
}

/* A table that the agent brings later is made beside blocks, and widened. */
static void tables_are_made_and_widened_beside_blocks(void **state) {
    struct fixture *f = *state;
    struct aging *aging = begin_aging(f);
    write_frames(f, 0, 10);
    pack_all(aging, 0);
    pack_all(aging, AFTER_NS);
    static const struct column columns[] = {{"receive_bytes", UNIT_BYTES, COLUMN_COUNTER, ""},
                                            {"send_bytes", UNIT_BYTES, COLUMN_COUNTER, ""},
                                            {"errors", UNIT_EVENTS, COLUMN_COUNTER, ""}};
    const struct table wide = {"net", "interface", "", TABLE_SAMPLES, columns, 3};
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, 11, 20.0), 0);
    ROW(f, &wide, "eth0", 70, 10, 4);
    ROW(f, &memory_table, "ram", 1, 2, 3);
    assert_int_equal(fixture_frame(f, 12, 21.0), 0);
    ROW(f, &wide, "eth0", 70, 10, 9);
    assert_int_equal(store_commit(f->store), 0);
    assert_int_equal(ask(f, "SELECT sum(errors) FROM net"), 5);
    assert_int_equal(ask(f, "SELECT count(*) FROM memory"), 1);
    assert_int_equal(ask(f, ROWS), 22);
    aging_free(aging);
}

static void other_runs_of_the_file_stay_as_they_are(void **state) {
    struct fixture *f = *state;
    struct run_begin begin = {.command = "other", .period_ns = NS_PER_S};
    write_frames(f, 0, 10);
    assert_int_equal(store_run_begin(f->store, &begin, &f->run), 0);
    fixture_stream_of(f, "vm1", BOOT_A, 9, NS_PER_S);
    write_frames(f, 0, 4);
    struct aging *aging = begin_aging(f);
    pack_all(aging, 0);
    pack_all(aging, AFTER_NS);
    assert_int_equal(ask(f, PACKED), 8);
    assert_int_equal(ask(f, ROWS), 28);
    aging_free(aging);
}

static void rows_that_no_block_can_hold_stay_rows(void **state) {
    struct fixture *f = *state;
    write_frames(f, 0, 10);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, 11, 20.0), 0);
    ROW(f, &memory_table, "ram", 1, 2, 3);
    assert_int_equal(store_commit(f->store), 0);
    sql_change(f, "UPDATE net SET interval_ns = 9000000000000000000 WHERE frame = 5");
    struct aging *aging = begin_aging(f);
    pack_all(aging, 0);
    pack_all(aging, AFTER_NS);
    assert_int_equal(ask(f, PACKED), 1); /* of memory */
    assert_int_equal(ask(f, ROWS), 20);
    aging_free(aging);
}

static void a_job_is_known_by_packed_samples(void **state) {
    struct fixture *f = *state;
    int64_t values[TABLE_COLUMNS_MAX] = {[PROCESS_JOB] = 1, [PROCESS_RANK] = VALUE_ABSENT};
    struct store *reader;
    bool has = false;
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, 1, 10.0), 0);
    assert_int_equal(fixture_row_flags(f, &all_tables[TABLE_PROCESS], 0, "a[7]", values), 0);
    assert_int_equal(store_commit(f->store), 0);
    struct aging *aging = begin_aging(f);
    pack_all(aging, 0);
    pack_all(aging, AFTER_NS);
    assert_int_equal(ask(f, PACKED), 1);
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_run_has_job(reader, f->run, &has), 0);
    assert_true(has);
    assert_int_equal(store_run_has_ranks(f->store, f->run, &has), 0);
    assert_false(has);
    store_close(reader);
    aging_free(aging);
}

/* ---- other programs ---- */

static int prepare_plainly(const char *path, const char *sql, char *why, size_t size) {
    sqlite3 *db;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    snprintf(why, size, "%s", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return code;
}

static void another_program_refuses_the_file_and_says_what_reads_it(void **state) {
    struct fixture *f = *state;
    struct aging *aging = begin_aging(f);
    write_frames(f, 0, 10);
    pack_all(aging, 0);
    assert_int_equal(prepare_plainly(f->path, ROWS, f->why, sizeof f->why), SQLITE_OK);
    pack_all(aging, AFTER_NS);
    static const char *const statements[] = {ROWS, "SELECT * FROM frame", "DELETE FROM net"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(prepare_plainly(f->path, statements[i], f->why, sizeof f->why),
                         SQLITE_CORRUPT);
        assert_non_null(strstr(f->why, "read this file with chokepoint"));
    }
    aging_free(aging);
}

static void a_reader_that_has_the_file_open_reads_on(void **state) {
    struct fixture *f = *state;
    struct aging *aging = begin_aging(f);
    struct store *reader;
    struct store_run *runs;
    size_t n = 0;
    write_frames(f, 0, 10);
    pack_all(aging, 0);
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_list_runs(reader, &runs, &n), 0);
        assert_int_equal(n, 1);
        store_runs_free(runs, n);
        pack_all(aging, AFTER_NS);
    }
    store_close(reader);
    aging_free(aging);
}

/* One that has the file open already, and knows its schema. */
static void a_program_that_has_the_file_open_refuses_it_from_then_on(void **state) {
    struct fixture *f = *state;
    struct aging *aging = begin_aging(f);
    sqlite3 *db;
    write_frames(f, 0, 10);
    pack_all(aging, 0);
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, ROWS, NULL, NULL, NULL), SQLITE_OK);
    pack_all(aging, AFTER_NS);
    assert_int_equal(sqlite3_exec(db, ROWS, NULL, NULL, NULL), SQLITE_CORRUPT);
    sqlite3_close(db);
    aging_free(aging);
}

static void packed_and_unpacked_it_is_a_plain_file_again(void **state) {
    struct fixture *f = *state;
    struct pack_result result;
    char packed[128];
    struct aging *aging = begin_aging(f);
    write_frames(f, 0, 10);
    pack_all(aging, 0);
    pack_all(aging, AFTER_NS);
    write_frames(f, 10, 14);
    aging_free(aging);
    store_close(f->store);
    f->store = NULL;
    if (store_pack(f->path, &result, f->why, sizeof f->why))
        fail_msg("%s", f->why);
    check_frames(f, 14);
    snprintf(packed, sizeof packed, "%s" PACK_ENDING, f->path);
    if (store_unpack(packed, &result, f->why, sizeof f->why))
        fail_msg("%s", f->why);
    check_frames(f, 14);
    assert_int_equal(sql_number(f, ROWS), 28);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM sqlite_schema WHERE rootpage = 0"
                                   " AND type = 'table'"),
                     0);
}

/* Another entry that is no SQL is no mark. */
static void a_schema_with_another_fault_is_refused(void **state) {
    struct fixture *f = *state;
    struct store *reader;
    write_frames(f, 0, 10);
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "PRAGMA writable_schema=ON; INSERT INTO sqlite_schema VALUES('table', 'other',"
                  " 'other', 0, 'CREATE TABLE of nothing')");
    assert_true(store_open_read(f->path, &reader, f->why, sizeof f->why) != 0);
}

/* ---- kills ---- */

#define KILLED_FRAMES 300

/* Resumes after the last frame that is committed, and packs all but the newest. */
static void write_and_pack(struct fixture *f) {
    struct aging *aging;
    fixture_open(f);
    fixture_stream(f, "vm1", BOOT_A, 7);
    if (aging_new(f->store, f->run, 1, &aging))
        _exit(1);
    for (int i = (int)store_stream_last_seq(f->store, f->stream); i < KILLED_FRAMES; i++) {
        write_frames(f, i, i + 1);
        for (int64_t t = 0; aging_is_due(aging, clock_monotonic_ns()) && t < 3; t++)
            if (aging_step(aging, clock_monotonic_ns(), LONG))
                _exit(1);
    }
    _exit(0);
}

static void a_writer_that_is_killed_while_it_packs_loses_nothing(void **state) {
    struct fixture *f = *state;
    int status = 1, kills = 0;
    store_close(f->store);
    f->store = NULL;
    for (uint32_t wait_us = 1000; !WIFEXITED(status) || kills == 0; kills++) {
        pid_t pid = fork();
        if (pid == 0)
            write_and_pack(f);
        usleep(wait_us = wait_us * 16807 % 2147483647 % 60000 + 1000);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
        assert_true(kills < 3000);
    }
    check_frames(f, KILLED_FRAMES);
    assert_in_range(ask(f, PACKED), KILLED_FRAMES, 2 * KILLED_FRAMES);
}

int main(void) {
#define TEST(claim) cmocka_unit_test_setup_teardown(claim, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rows_are_packed_when_they_are_old_and_newer_ones_stay),
        TEST(each_step_packs_a_part_and_the_round_comes_to_an_end),
        TEST(recording_goes_on_and_so_does_the_next_collector),
        TEST(tables_are_made_and_widened_beside_blocks),
        TEST(other_runs_of_the_file_stay_as_they_are),
        TEST(rows_that_no_block_can_hold_stay_rows),
        TEST(a_job_is_known_by_packed_samples),
        TEST(another_program_refuses_the_file_and_says_what_reads_it),
        TEST(a_reader_that_has_the_file_open_reads_on),
        TEST(a_program_that_has_the_file_open_refuses_it_from_then_on),
        TEST(packed_and_unpacked_it_is_a_plain_file_again),
        TEST(a_schema_with_another_fault_is_refused),
        TEST(a_writer_that_is_killed_while_it_packs_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
