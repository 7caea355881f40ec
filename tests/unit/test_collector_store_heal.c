/* SPDX-License-Identifier: MIT */
/*
 * Reads what a killed writer left when the file may not be changed: a private copy is healed,
 * unless the file changed while it was copied. The test plants the caller's rights and events
 * during the copy: access() and sendfile() of this program replace libc's.
 */
#include "tests/unit/store_fixture.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "collector/store_private.h"
#include "common/error.h"

/* ---- the plant ---- */

static struct plant {
    bool read_only;
    int copied;    /* calls of sendfile that copied bytes */
    int disturbed; /* the number of calls before which the file changes */
    void (*disturb)(const char *path);
    const char *path;
} plant;

int access(const char *path, int mode) {
    int (*real)(const char *, int) = (int (*)(const char *, int))dlsym(RTLD_NEXT, "access");
    if (plant.read_only && mode & W_OK)
        return errno = EACCES, -1;
    return real(path, mode);
}

ssize_t sendfile(int out, int in, off_t *offset, size_t count) {
    ssize_t (*real)(int, int, off_t *, size_t) =
        (ssize_t(*)(int, int, off_t *, size_t))dlsym(RTLD_NEXT, "sendfile");
    ssize_t n = real(out, in, offset, count);
    if (n > 0 && plant.copied++ < plant.disturbed && plant.disturb)
        plant.disturb(plant.path);
    return n;
}

/* ---- the file ---- */

struct left {
    char path[128], beside[160], temporary[128];
};

static void copy(const char *from, const char *to) {
    char command[400];
    snprintf(command, sizeof command, "cp -- '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* Leaves a file with a log that is not folded in, as a writer that is killed now would. */
static void leave_behind(struct fixture *f, struct left *left) {
    char log[160];
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, 1, 1), 0);
    ROW(f, &net_table, "eth0", 1, 2);
    assert_int_equal(store_commit(f->store), 0);
    snprintf(left->path, sizeof left->path, "%s/left.db", f->directory);
    snprintf(left->beside, sizeof left->beside, "%s-wal", left->path);
    snprintf(left->temporary, sizeof left->temporary, "%s/tmp", f->directory);
    snprintf(log, sizeof log, "%s-wal", f->path);
    copy(f->path, left->path);
    copy(log, left->beside);
    assert_int_equal(mkdir(left->temporary, 0700), 0);
    setenv("TMPDIR", left->temporary, 1);
    plant = (struct plant){.read_only = true, .path = left->path};
}

static void expect_left_alone(const struct left *left) {
    struct dirent *entry;
    DIR *directory = opendir(left->temporary);
    assert_non_null(directory);
    while ((entry = readdir(directory)))
        assert_int_equal(entry->d_name[0], '.');
    closedir(directory);
    plant = (struct plant){0};
    unsetenv("TMPDIR");
}

static int64_t count_frames(struct store *store) {
    sqlite3_stmt *statement;
    assert_int_equal(
        sqlite3_prepare_v2(store->db, "SELECT count(*) FROM frame", -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return n;
}

/* ---- what may happen to the file meanwhile ---- */

static void touch(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    const struct timespec times[] = {st.st_atim, {st.st_mtim.tv_sec, st.st_mtim.tv_nsec ^ 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void touch_a_second(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    const struct timespec times[] = {st.st_atim, {st.st_mtim.tv_sec + 1, st.st_mtim.tv_nsec}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Restores its times. */
static void keep_times(const char *path, const struct stat *st) {
    const struct timespec times[] = {st->st_atim, st->st_mtim};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void grow_log(const char *path) {
    char log[160];
    struct stat st;
    snprintf(log, sizeof log, "%s-wal", path);
    assert_int_equal(stat(log, &st), 0);
    assert_int_equal(truncate(log, st.st_size + 1), 0);
    keep_times(log, &st);
}

static void replace(const char *path) {
    char other[160];
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    snprintf(other, sizeof other, "%s.other", path);
    copy(path, other);
    keep_times(other, &st);
    assert_int_equal(rename(other, path), 0);
}

static void begin_journal(const char *path) {
    char journal[160];
    snprintf(journal, sizeof journal, "%s-journal", path);
    int fd = open(journal, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
}

/* ---- claims ---- */

static void what_was_committed_is_read_from_a_copy(void **state) {
    struct fixture *f = *state;
    struct left left;
    struct store *store;
    struct stat before, after;
    leave_behind(f, &left);
    assert_int_equal(stat(left.path, &before), 0);
    assert_int_equal(heal_connect(left.path, &store), 0);
    assert_int_equal(count_frames(store), 1);
    store_close(store);
    assert_int_equal(plant.copied, 2); /* the file and its log, once each */
    assert_int_equal(stat(left.path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(access(left.beside, R_OK), 0);
    expect_left_alone(&left);
}

static void a_copy_of_a_file_that_changed_meanwhile_is_taken_again(void **state) {
    static void (*const changes[])(const char *) = {touch, touch_a_second, grow_log, replace,
                                                    begin_journal};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        struct fixture *f;
        struct left left;
        struct store *store;
        assert_int_equal(fixture_setup((void **)&f), 0);
        leave_behind(f, &left);
        plant.disturbed = 1;
        plant.disturb = changes[i];
        assert_int_equal(heal_connect(left.path, &store), 0);
        assert_int_equal(count_frames(store), 1);
        store_close(store);
        if (plant.copied != (changes[i] == begin_journal ? 5 : 4))
            fail_msg("change %zu: %d files were copied", i, plant.copied);
        expect_left_alone(&left);
        assert_int_equal(fixture_teardown((void **)&f), 0);
    }
}

static void a_file_that_changes_all_the_time_is_busy(void **state) {
    struct fixture *f = *state;
    struct left left;
    struct store *store = NULL;
    leave_behind(f, &left);
    plant.disturbed = INT32_MAX;
    plant.disturb = touch_a_second;
    assert_int_equal(heal_connect(left.path, &store), -EBUSY);
    assert_int_equal(plant.copied, 6);
    expect_left_alone(&left);
}

/* It is healed in place, and is one plain file afterwards. */
static void a_file_that_may_be_changed_is_not_copied(void **state) {
    struct fixture *f = *state;
    struct left left;
    struct store *store;
    leave_behind(f, &left);
    plant.read_only = false;
    assert_int_equal(heal_connect(left.path, &store), 0);
    assert_int_equal(count_frames(store), 1);
    store_close(store);
    assert_int_equal(plant.copied, 0);
    assert_int_equal(access(left.beside, F_OK), -1);
    expect_left_alone(&left);
}

static void a_plain_file_is_read_as_it_lies(void **state) {
    struct fixture *f = *state;
    struct left left;
    struct store *store;
    leave_behind(f, &left);
    plant.read_only = false;
    assert_int_equal(heal_connect(left.path, &store), 0);
    store_close(store);
    plant.read_only = true;
    assert_int_equal(heal_connect(left.path, &store), 0);
    assert_int_equal(count_frames(store), 1);
    store_close(store);
    assert_int_equal(plant.copied, 0);
    expect_left_alone(&left);
}

static void without_a_place_for_the_copy_there_is_an_error(void **state) {
    struct fixture *f = *state;
    struct left left;
    struct store *store;
    leave_behind(f, &left);
    setenv("TMPDIR", "/nonexistent", 1);
    assert_int_equal(heal_connect(left.path, &store), -ENOENT);
    setenv("TMPDIR", left.temporary, 1);
    unlink(left.path);
    assert_int_equal(heal_connect(left.path, &store), -ENOENT);
    expect_left_alone(&left);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_was_committed_is_read_from_a_copy),
        cmocka_unit_test(a_copy_of_a_file_that_changed_meanwhile_is_taken_again),
        TEST(a_file_that_changes_all_the_time_is_busy),
        TEST(a_file_that_may_be_changed_is_not_copied),
        TEST(a_plain_file_is_read_as_it_lies),
        TEST(without_a_place_for_the_copy_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
