/* SPDX-License-Identifier: MIT */
/* A result appears whole or not at all, and anything that is no plain file stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/common/whole_file.h"

#define LARGE 65536

static char directory[] = "/tmp/chokepoint-file-XXXXXX";

static int enter(void **state) {
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state) {
    (void)state;
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static int n_files(void) {
    DIR *d = opendir(".");
    int n = -2; /* . and .. */
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void assert_holds(const char *path, const char *text) {
    char got[64] = {0};
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got - 1, f), strlen(text));
    assert_string_equal(got, text);
    fclose(f);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

static void a_file_is_made_and_replaced(void **state) {
    (void)state;
    umask(027);
    assert_int_equal(whole_file_write("result", "first", 5), 0);
    assert_int_equal(mode_of("result") & 0777, 0640);
    assert_holds("result", "first");
    assert_int_equal(chmod("result", 0604), 0);
    assert_int_equal(whole_file_write("result", "2nd", 3), 0);
    assert_holds("result", "2nd");
    assert_int_equal(mode_of("result") & 0777, 0604);
    assert_int_equal(whole_file_write("result", NULL, 0), 0);
    assert_holds("result", "");
    assert_int_equal(n_files(), 1);
    unlink("result");
}

static void behind_a_link_it_is_the_file_that_is_replaced(void **state) {
    (void)state;
    assert_int_equal(whole_file_write("result", "first", 5), 0);
    assert_int_equal(symlink("result", "link"), 0);
    assert_int_equal(whole_file_write("link", "2nd", 3), 0);
    assert_true(S_ISLNK(mode_of("link")));
    assert_holds("result", "2nd");
    unlink("link");
    unlink("result");
}

static void behind_a_link_to_nothing_the_file_is_made(void **state) {
    (void)state;
    assert_int_equal(mkdir("results", 0755), 0);
    assert_int_equal(symlink("results/first", "link"), 0);
    assert_int_equal(whole_file_write("link", "first", 5), 0);
    assert_true(S_ISLNK(mode_of("link")));
    assert_holds("results/first", "first");
    assert_int_equal(n_files(), 2);
    unlink("results/first");
    assert_int_equal(rmdir("results"), 0);
    assert_int_equal(whole_file_write("link", "first", 5), -ENOENT);
    assert_true(S_ISLNK(mode_of("link")));
    unlink("link");
}

/* As a results file that several users share; root may do everything, so this runs as another user.
 */
static void a_file_in_a_closed_directory_is_written_in_place(void **state) {
    (void)state;
    assert_int_equal(chmod(".", 0755), 0);
    umask(022);
    assert_int_equal(mkdir("closed", 0755), 0);
    assert_int_equal(whole_file_write("closed/result", "longer", 6), 0);
    assert_int_equal(chmod("closed/result", 0666), 0);
    assert_int_equal(chmod("closed", 0555), 0);
    bool root = geteuid() == 0;
    assert_true(!root || seteuid(65534) == 0);
    int shared = whole_file_write("closed/result", "2nd", 3),
        new = whole_file_write("closed/other", "x", 1);
    assert_true(!root || seteuid(0) == 0);
    assert_int_equal(shared, 0);
    assert_int_equal(new, -EACCES);
    assert_holds("closed/result", "2nd");
    assert_int_equal(chmod("closed", 0755), 0);
    unlink("closed/result");
    assert_int_equal(rmdir("closed"), 0);
}

/* A link left by a killed run, or placed by another user, is not followed. */
static void nothing_is_written_through_a_link_of_the_unfinished_name(void **state) {
    (void)state;
    assert_int_equal(whole_file_write("other", "other", 5), 0);
    assert_int_equal(symlink("other", "result.part"), 0);
    assert_int_equal(whole_file_write("result", "first", 5), 0);
    assert_holds("other", "other");
    assert_holds("result", "first");
    assert_int_equal(n_files(), 2);
    unlink("other");
    unlink("result");
}

/* As on a full disk: there is room for half of it. */
static int write_with_room_for_half(const char *path) {
    static char large[LARGE];
    struct rlimit before, half;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    half = (struct rlimit){.rlim_cur = LARGE / 2, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &half), 0);
    int r = whole_file_write(path, large, sizeof large);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    return r;
}

static void no_half_file_is_left(void **state) {
    (void)state;
    assert_int_equal(write_with_room_for_half("result"), -EFBIG);
    assert_int_equal(n_files(), 0);
    assert_int_equal(whole_file_write("result", "first", 5), 0);
    assert_int_equal(write_with_room_for_half("result"), -EFBIG);
    assert_holds("result", "first");
    assert_int_equal(n_files(), 1);
    unlink("result");
}

static void a_device_stays_one(void **state) {
    (void)state;
    assert_int_equal(whole_file_write("/dev/full", "x", 1), -ENOSPC);
    assert_true(S_ISCHR(mode_of("/dev/full")));
    assert_int_equal(symlink("/dev/null", "nowhere"), 0);
    assert_int_equal(whole_file_write("nowhere", "x", 1), 0);
    assert_true(S_ISCHR(mode_of("/dev/null")));
    assert_int_equal(n_files(), 1);
    unlink("nowhere");
}

static void a_pipe_is_written_into(void **state) {
    (void)state;
    char got[8] = {0};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int fd = open("pipe", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(whole_file_write("pipe", "first", 5), 0);
    assert_int_equal(read(fd, got, sizeof got), 5);
    assert_string_equal(got, "first");
    close(fd);
    unlink("pipe");
}

static void what_cannot_be_a_file_is_refused(void **state) {
    (void)state;
    char name[NAME_MAX + 1];
    memset(name, 'a', NAME_MAX);
    name[NAME_MAX] = '\0';
    assert_int_equal(whole_file_write("/nonexistent/result", "x", 1), -ENOENT);
    assert_int_equal(whole_file_write(".", "x", 1), -EISDIR);
    assert_int_equal(whole_file_write("", "x", 1), -ENOENT);
    assert_int_equal(whole_file_write(name, "x", 1), -ENAMETOOLONG);
    assert_int_equal(n_files(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_made_and_replaced),
        cmocka_unit_test(behind_a_link_it_is_the_file_that_is_replaced),
        cmocka_unit_test(behind_a_link_to_nothing_the_file_is_made),
        cmocka_unit_test(a_file_in_a_closed_directory_is_written_in_place),
        cmocka_unit_test(nothing_is_written_through_a_link_of_the_unfinished_name),
        cmocka_unit_test(no_half_file_is_left),
        cmocka_unit_test(a_device_stays_one),
        cmocka_unit_test(a_pipe_is_written_into),
        cmocka_unit_test(what_cannot_be_a_file_is_refused),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
