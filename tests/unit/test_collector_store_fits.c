/* SPDX-License-Identifier: MIT */
/* Files that look like our databases but are not, and files that are not databases yet. */
#include "tests/unit/files.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "common/link_guard.h"

static void close_store(struct fixture *f) {
    store_close(f->store);
    f->store = NULL;
}

static void change(const struct fixture *f, const char *sql) {
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

static void expect_refusal(struct fixture *f, const char *what) {
    f->why[0] = '\0';
    int r = store_open_write(f->path, &f->store, f->why, sizeof f->why);
    if (r == 0 || !strstr(f->why, what))
        fail_msg("%d '%s' where '%s' is wanted", r, f->why, what);
    f->store = NULL;
}

static void record_one_frame(struct fixture *f) {
    fixture_stream(f, "vm1", BOOT_A, 7);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, 1, 0.1), 0);
    assert_int_equal(fixture_row_flags(f, &net_table, 0, "eth0", (int64_t[]){1, 1}), 0);
    assert_int_equal(store_commit(f->store), 0);
    close_store(f);
}

/* Each is refused when it is opened, with the name of the missing part. */
static void a_missing_table_or_column_is_named(void **state) {
    static const struct {
        const char *sql, *what;
    } cases[] = {
        {"DROP VIEW net_rate; DROP TABLE net", "no such table: net"},
        {"DROP VIEW net_rate; ALTER TABLE net DROP COLUMN send_bytes", "send_bytes"},
        {"DROP VIEW net_rate; ALTER TABLE net RENAME COLUMN interval_ns TO x", "interval_ns"},
        {"DROP VIEW run_host; DROP TABLE frame", "no such table: frame"},
        {"DROP VIEW run_host; ALTER TABLE run RENAME COLUMN command TO x", "command"},
        {"ALTER TABLE run_repeat RENAME COLUMN repeats TO x", "repeats"},
        {"DROP INDEX joined_of_stream; ALTER TABLE joined RENAME COLUMN stream TO x", "stream"},
        {"ALTER TABLE run_usage RENAME COLUMN host TO x", "host"},
    };
    struct fixture *f = *state;
    char command[256];
    record_one_frame(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(command, sizeof command, "cp %s %s.kept", f->path, f->path);
        assert_int_equal(system(command), 0);
        change(f, cases[i].sql);
        expect_refusal(f, cases[i].what);
        snprintf(command, sizeof command, "mv %s.kept %s", f->path, f->path);
        assert_int_equal(system(command), 0);
    }
    fixture_open(f);
}

/* A writer accepts missing tables that it can add. */
static void tables_that_can_be_added_may_be_missing(void **state) {
    struct fixture *f = *state;
    record_one_frame(f);
    change(f, "DROP TABLE ceiling; DROP TABLE run_comment; DROP TABLE sweep_run");
    fixture_open(f);
}

static void expect_taken_as_new(const char *directory, const void *bytes, size_t size) {
    struct fixture f = {0};
    snprintf(f.path, sizeof f.path, "%.63s/unmade.db", directory);
    file_write(f.path, bytes, size, 0600);
    int r = store_open_read(f.path, &f.store, f.why, sizeof f.why);
    if (r != -ENODATA || !strstr(f.why, "no run was begun in it"))
        fail_msg("%zu bytes read: %d %s", size, r, f.why);
    fixture_open(&f);
    close_store(&f);
    assert_int_equal(store_open_read(f.path, &f.store, f.why, sizeof f.why), 0);
    close_store(&f);
    unlink(f.path);
}

/* A writer that is killed before it has made a table leaves such files. */
static void a_file_without_a_whole_first_page_is_new(void **state) {
    struct fixture *f = *state;
    unsigned char page[4096] = {0};
    int fd = open(f->path, O_RDONLY);
    expect_taken_as_new(f->directory, page, 0);
    expect_taken_as_new(f->directory, page, 300);
    expect_taken_as_new(f->directory, page, sizeof page);
    assert_int_equal(read(fd, page, sizeof page), sizeof page);
    close(fd);
    for (size_t size = 1; size < sizeof page; size += 465)
        expect_taken_as_new(f->directory, page, size);
}

/* The page written by a change of the journal mode: whole, but without tables. */
static void a_file_without_tables_is_new(void **state) {
    struct fixture *f = *state, other = {0};
    snprintf(other.path, sizeof other.path, "%s/bare.db", f->directory);
    change(&other, "PRAGMA journal_mode = WAL; PRAGMA user_version = 0");
    int r = store_open_read(other.path, &other.store, other.why, sizeof other.why);
    if (r != -ENODATA)
        fail_msg("%d %s", r, other.why);
    fixture_open(&other);
    close_store(&other);
}

static void other_short_files_are_left_alone(void **state) {
    static const unsigned char small[1024] = "SQLite format 3\0\2"; /* pages of 512 bytes */
    struct fixture *f = *state, other = {0};
    struct stat st;
    snprintf(other.path, sizeof other.path, "%s/other.db", f->directory);
    file_write(other.path, "these are my notes", 18, 0600);
    expect_refusal(&other, "is not a Chokepoint database");
    assert_int_equal(stat(other.path, &st), 0);
    assert_int_equal(st.st_size, 18);
    file_write(other.path, small, sizeof small, 0600);
    expect_refusal(&other, other.path);
    assert_int_equal(stat(other.path, &st), 0);
    assert_int_equal(st.st_size, sizeof small);
}

static void a_link_to_nothing_is_not_followed(void **state) {
    struct fixture *f = *state, other = {0};
    char target[128];
    snprintf(other.path, sizeof other.path, "%s/link.db", f->directory);
    snprintf(target, sizeof target, "%s/made.db", f->directory);
    assert_int_equal(symlink(target, other.path), 0);
    expect_refusal(&other, "is a link to a file that is not there");
    assert_int_equal(access(target, F_OK), -1);
}

#define STRANGER 54321

/* A link may belong to another user, or lie in a directory where another user could replace it; our
 * own are followed.
 */
static void a_link_of_another_user_is_refused(void **state) {
    struct fixture *f = *state, other = {0};
    char link[PATH_MAX], theirs[128];
    if (geteuid() != 0)
        skip();
    snprintf(other.path, sizeof other.path, "%s/link.db", f->directory);
    close_store(f);
    assert_int_equal(symlink(f->path, other.path), 0);
    assert_int_equal(link_guard(other.path, link), 0);
    assert_int_equal(lchown(other.path, STRANGER, STRANGER), 0);
    assert_int_equal(link_guard(other.path, link), -EPERM);
    assert_string_equal(link, other.path);
    expect_refusal(&other, "is a link that another user owns or can replace");
    snprintf(theirs, sizeof theirs, "%s/theirs", f->directory);
    assert_int_equal(mkdir(theirs, 0755), 0);
    snprintf(other.path, sizeof other.path, "%.63s/theirs/link.db", f->directory);
    assert_int_equal(symlink(f->path, other.path), 0);
    assert_int_equal(link_guard(other.path, link), 0);
    assert_int_equal(chown(theirs, STRANGER, STRANGER), 0);
    assert_int_equal(link_guard(other.path, link), -EPERM);
    assert_int_equal(chown(theirs, 0, 0), 0);
    assert_int_equal(chmod(theirs, 0777), 0);
    assert_int_equal(link_guard(other.path, link), -EPERM);
    assert_int_equal(chmod(theirs, 01777), 0);
    assert_int_equal(link_guard(other.path, link), 0);
    fixture_open(f);
}

/* In the middle of a path, relative, and circular. */
static void links_are_followed_as_the_kernel_does(void **state) {
    struct fixture *f = *state;
    char link[PATH_MAX], path[160], here[PATH_MAX];
    snprintf(path, sizeof path, "%s/circle", f->directory);
    assert_int_equal(symlink("circle", path), 0);
    assert_int_equal(link_guard(path, link), -ELOOP);
    if (geteuid() != 0)
        skip();
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(f->directory), 0);
    assert_int_equal(mkdir("a", 0700), 0);
    assert_int_equal(symlink("../a/./..", "a/up"), 0);
    assert_int_equal(link_guard("a/up/new/file", link), 0);
    assert_int_equal(lchown("a/up", STRANGER, STRANGER), 0);
    assert_int_equal(link_guard("a/up/new/file", link), -EPERM);
    assert_int_equal(link_guard("a/../new", link), 0);
    assert_int_equal(chdir(here), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_missing_table_or_column_is_named, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(tables_that_can_be_added_may_be_missing, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_file_without_a_whole_first_page_is_new, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_file_without_tables_is_new, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(other_short_files_are_left_alone, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_link_to_nothing_is_not_followed, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_link_of_another_user_is_refused, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(links_are_followed_as_the_kernel_does, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
