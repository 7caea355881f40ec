/* SPDX-License-Identifier: MIT */
/* Runs are removed, renamed, and get comments. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/store_edit.h"
#include "collector/store_verdict.h"
#include "collector/store_verify.h"
#include "tests/unit/store_fixture.h"

#define FRAMES 200

static void record(struct fixture *f, uint64_t stream) {
    fixture_stream(f, "vm1", BOOT_A, stream);
    for (uint64_t seq = 1; seq <= FRAMES; seq++) {
        assert_int_equal(store_begin(f->store), 0);
        assert_int_equal(fixture_frame(f, seq, 1 + 0.1 * (double)seq), 0);
        ROW(f, &net_table, "eth0", (int64_t)seq * 1000, (int64_t)seq * 10);
        ROW(f, &memory_table, "memory", 5, 6, (int64_t)seq);
        assert_int_equal(store_commit(f->store), 0);
    }
}

static int64_t begin_another(struct fixture *f) {
    struct run_begin begin = {.command = "/bin/other",
                              .wall_ns = RUN_WALL_NS,
                              .mono_ns = RUN_MONO_NS,
                              .period_ns = 100 * NS_PER_MS,
                              .n_hosts_expected = 1};
    assert_int_equal(store_run_begin(f->store, &begin, &f->run), 0);
    return f->run;
}

static void a_removed_run_leaves_the_rows_of_others(void **state) {
    struct fixture *f = *state;
    int64_t first = f->run, second, bytes = 0;
    struct verification verification;
    record(f, 7);
    second = begin_another(f);
    record(f, 8);
    int64_t sum = sql_number(
        f, "SELECT round(sum(send_bytes_per_s * interval_s)) FROM net_rate WHERE run = 2");
    assert_int_equal(store_run_remove(f->store, first), 0);
    assert_int_equal(sql_number(f, "SELECT group_concat(run) FROM run"), second);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM frame"), FRAMES);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM net"),
                     sql_number(f, "SELECT count(*) FROM net_rate WHERE run = 2"));
    assert_int_equal(
        sql_number(f,
                   "SELECT round(sum(send_bytes_per_s * interval_s)) FROM net_rate WHERE run = 2"),
        sum);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM host"), 1);
    assert_int_equal(store_free_bytes(f->store, &bytes), 0);
    assert_true(bytes > 0);
    assert_int_equal(store_compact(f->store), 0);
    assert_int_equal(store_free_bytes(f->store, &bytes), 0);
    assert_int_equal(bytes, 0);
    store_close(f->store);
    assert_int_equal(store_verify(f->path, &verification, f->why, sizeof f->why), 0);
    assert_true(verification_is_good(&verification));
    assert_int_equal(verification.seal, SEAL_HOLDS);
    verification_release(&verification);
    fixture_open(f);
    assert_int_equal(store_run_remove(f->store, first), -ENOENT);
}

static void a_reader_is_company(void **state) {
    struct fixture *f = *state;
    struct store *reader;
    store_close(f->store);
    fixture_open(f);
    assert_true(store_is_alone(f->store));
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    struct store_run run;
    assert_int_equal(store_find_run(reader, "1", &run), 0);
    store_run_release(&run);
    assert_false(store_is_alone(f->store));
    assert_int_equal(store_compact(f->store), -EBUSY);
    store_close(reader);
    assert_true(store_is_alone(f->store));
    assert_int_equal(store_run_rename(f->store, 1, "still writes"), 0);
}

/* Another process that writes, and closes the file when it reads a byte. */
static pid_t begin_writer(struct fixture *f, int ret_ends[2]) {
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ret_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct store *writer;
        char byte = 0;
        bool good = store_open_write(f->path, &writer, NULL, 0) == 0 &&
                    store_run_rename(writer, 1, "written beside it") == 0 &&
                    write(ret_ends[1], &byte, 1) == 1 && read(ret_ends[1], &byte, 1) == 1;
        store_close(writer);
        _exit(!good);
    }
    return child;
}

/* A second reading of the same file in this process ends, a writing begins, and the other writer
 * ends: as long as the first reading goes on, the log stays that it reads. */
static void a_log_stays_while_it_is_read(void **state) {
    struct fixture *f = *state;
    struct store *reader, *another;
    struct store_run run;
    int ends[2], status;
    char byte = 0, log[4200];
    store_close(f->store);
    f->store = NULL;
    pid_t child = begin_writer(f, ends);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_open_read(f->path, &another, f->why, sizeof f->why), 0);
    store_close(another);
    assert_int_equal(store_open_write(f->path, &another, f->why, sizeof f->why), 0);
    assert_int_equal(write(ends[0], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    snprintf(log, sizeof log, "%s-wal", f->path);
    assert_int_equal(access(log, F_OK), 0);
    assert_int_equal(store_find_run(reader, "written beside it", &run), 0);
    store_run_release(&run);
    store_close(another);
    store_close(reader);
    close(ends[0]);
    close(ends[1]);
    fixture_open(f);
}

static void comments_come_in_the_order_they_were_written(void **state) {
    struct fixture *f = *state;
    struct store_comment *comments;
    size_t n;
    int64_t second = begin_another(f);
    assert_int_equal(store_run_comment(f->store, second, "other"), 0);
    assert_int_equal(store_run_comment(f->store, 1, "one\nline\033[1m"), 0);
    assert_int_equal(store_run_comment(f->store, 1, "two"), 0);
    assert_int_equal(store_run_comment(f->store, 99, "none"), -ENOENT);
    assert_int_equal(store_run_comment(f->store, 1, ""), -EINVAL);
    assert_int_equal(store_list_comments(f->store, 1, &comments, &n), 0);
    assert_int_equal(n, 2);
    assert_string_equal(comments[0].text, "one?line?[1m");
    assert_string_equal(comments[1].text, "two");
    store_comments_free(comments, n);
    assert_int_equal(store_list_comments(f->store, 0, &comments, &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(comments[2].run, second);
    store_comments_free(comments, n);
}

static void a_file_of_before_has_no_comments(void **state) {
    struct fixture *f = *state;
    struct store_comment *comments;
    size_t n = 7;
    store_close(f->store);
    sql_change(f, "DROP TABLE run_comment");
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), 0);
    assert_int_equal(store_list_comments(f->store, 0, &comments, &n), 0);
    assert_int_equal(n, 0);
    store_comments_free(comments, n);
    store_close(f->store);
    fixture_open(f);
    assert_int_equal(store_run_comment(f->store, 1, "now it has"), 0);
}

static void a_run_has_the_name_it_was_given(void **state) {
    struct fixture *f = *state;
    struct store_run run;
    assert_int_equal(store_run_rename(f->store, 1, "new"), 0);
    assert_int_equal(store_run_rename(f->store, 1, ""), -EINVAL);
    assert_int_equal(store_run_rename(f->store, 99, "x"), -ENOENT);
    assert_int_equal(store_find_run(f->store, "new", &run), 0);
    assert_int_equal(run.id, 1);
    store_run_release(&run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static void a_verdict_is_kept_replaced_and_removed_with_its_run(void **state) {
    struct fixture *f = *state;
    struct store_verdict *all, v = {.run = f->run,
                                    .state = (char *)"saturated",
                                    .host = (char *)"vm1",
                                    .resource = (char *)"disk",
                                    .limit = (char *)"disk of vm1: \033[31m60 %",
                                    .confidence = 0.9};
    size_t n;
    assert_int_equal(store_list_verdicts(f->store, &all, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(store_verdict_keep(f->store, &v), 0);
    v.confidence = 0.5;
    v.host = NULL;
    assert_int_equal(store_verdict_keep(f->store, &v), 0);
    assert_int_equal(store_list_verdicts(f->store, &all, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(all[0].run, f->run);
    assert_string_equal(all[0].state, "saturated");
    assert_string_equal(all[0].host, "");
    assert_null(strchr(all[0].limit, '\033'));
    assert_true(all[0].confidence > 0.49 && all[0].confidence < 0.51);
    store_verdicts_free(all, n);
    v.run = f->run + 100;
    assert_int_equal(store_verdict_keep(f->store, &v), -ENOENT);
    assert_int_equal(store_run_remove(f->store, f->run), 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM run_verdict"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_removed_run_leaves_the_rows_of_others),
        TEST(a_reader_is_company),
        TEST(a_log_stays_while_it_is_read),
        TEST(comments_come_in_the_order_they_were_written),
        TEST(a_file_of_before_has_no_comments),
        TEST(a_run_has_the_name_it_was_given),
        TEST(a_verdict_is_kept_replaced_and_removed_with_its_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
