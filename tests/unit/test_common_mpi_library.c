/* SPDX-License-Identifier: MIT */
/* Which files may be preloaded, and where one is placed: never where others can write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mpi_library.h"
#include "common/private_path.h"

#define LIBRARY "an ELF chokepoint-mpi " CHOKEPOINT_VERSION "\0 and more"
#define OTHER 65534 /* another user */

struct place {
    char root[64], home[80], program[96];
};

static const char *at(const struct place *place, const char *name) {
    static char path[4][200];
    static unsigned turn;
    char *to = path[turn++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", place->root, name);
    return to;
}

static int make(void **state) {
    static struct place place;
    umask(022);
    strcpy(place.root, "/tmp/chokepoint-library-test-XXXXXX");
    assert_non_null(mkdtemp(place.root));
    strcpy(place.home, at(&place, "home"));
    assert_int_equal(mkdir(place.home, 0755), 0);
    strcpy(place.program, at(&place, "program"));
    file_write(place.program, "program" LIBRARY, 7 + sizeof LIBRARY, 0755);
    setenv("HOME", place.home, 1);
    *state = &place;
    return 0;
}

static int clean(void **state) {
    const struct place *place = *state;
    return folder_remove(place->root);
}

/* ---- who may write there ---- */

static void a_path_is_private_if_nobody_else_can_change_a_part_of_it(void **state) {
    const struct place *place = *state;
    assert_int_equal(private_path_check(place->program), 0); /* below /tmp, which is sticky */
    assert_int_equal(private_path_check_unshared(place->program), -EPERM);
    assert_int_equal(private_path_check_unshared("/bin/sh"), 0);
    assert_int_equal(private_path_check("/"), 0);
    assert_int_equal(private_path_check("relative"), -EPERM);
    assert_int_equal(private_path_check(at(place, "missing")), -ENOENT);
    assert_int_equal(chmod(place->program, 0775), 0);
    assert_int_equal(private_path_check(place->program), -EPERM);
    assert_int_equal(chmod(place->program, 0757), 0);
    assert_int_equal(private_path_check(place->program), -EPERM);
    assert_int_equal(chmod(place->program, 0755), 0);
    assert_int_equal(chmod(place->root, 0777), 0);
    assert_int_equal(private_path_check(place->program), -EPERM);
    assert_int_equal(chmod(place->root, 01777), 0);
    assert_int_equal(private_path_check(place->program), 0);
    assert_int_equal(private_path_check(place->root), -EPERM); /* as the last directory it is shared
                                                                  with others */
}

static void what_a_link_leads_to_must_be_private_too(void **state) {
    const struct place *place = *state;
    assert_int_equal(symlink("home", at(place, "link")), 0);
    file_write(at(place, "home/file"), "x", 1, 0600);
    assert_int_equal(private_path_check(at(place, "link/file")), 0);
    assert_int_equal(chmod(place->home, 0777), 0);
    assert_int_equal(private_path_check(at(place, "link/file")), -EPERM);
}

static void what_belongs_to_another_user_is_not_private(void **state) {
    const struct place *place = *state;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    assert_int_equal(symlink("home", at(place, "link")), 0);
    file_write(at(place, "home/file"), "x", 1, 0600);
    assert_int_equal(lchown(at(place, "link"), OTHER, OTHER), 0);
    assert_int_equal(private_path_check(at(place, "link/file")), -EPERM);
    assert_int_equal(private_path_check(at(place, "home/file")), 0);
    assert_int_equal(symlink("link", at(place, "ours")), 0); /* through their link */
    assert_int_equal(private_path_check(at(place, "ours/file")), -EPERM);
    assert_int_equal(lchown(at(place, "link"), 0, 0), 0);
    assert_int_equal(private_path_check(at(place, "ours/file")), 0);
    assert_int_equal(symlink("/tmp", at(place, "shared")), 0);
    assert_int_equal(private_path_check(at(place, "shared")), -EPERM);
    assert_int_equal(chown(place->home, OTHER, OTHER), 0);
    assert_int_equal(private_path_check(at(place, "home/file")), -EPERM);
    assert_int_equal(chown(place->home, 0, 0), 0);
    assert_int_equal(chown(at(place, "home/file"), OTHER, OTHER), 0);
    assert_int_equal(private_path_check(at(place, "home/file")), -EPERM);
}

/* ---- the library ---- */

static int place_tail(const struct place *place, uint64_t size, const char *path) {
    int fd = open(place->program, O_RDONLY);
    assert_true(fd >= 0);
    int r = mpi_library_place(fd, size, path);
    close(fd);
    return r;
}

static void expect_text(const char *path, const char *text, size_t size) {
    char found[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(found, 1, sizeof found, file), size);
    fclose(file);
    assert_memory_equal(found, text, size);
}

static void the_end_of_the_program_becomes_the_library(void **state) {
    const struct place *place = *state;
    char path[PATH_MAX];
    uint64_t digest, before;
    assert_int_equal(mpi_library_at_home(0xabc, path), 0);
    assert_string_equal(path, at(place, "home/.cache/chokepoint/0000000000000abc/"
                                        "libchokepoint-mpi.so"));
    assert_int_equal(place_tail(place, sizeof LIBRARY, path), 0);
    expect_text(path, LIBRARY, sizeof LIBRARY);
    assert_int_equal(mpi_library_check(path, &digest), 0);
    assert_int_equal(mpi_library_digest(path, &before), 0);
    assert_int_equal(digest, before);
    assert_int_equal(place_tail(place, sizeof LIBRARY + 1, path),
                     0); /* placed by another process */
    expect_text(path, "m" LIBRARY, sizeof LIBRARY + 1);
    assert_int_equal(mpi_library_check(path, &digest), 0);
    assert_true(digest != before);
    struct stat st;
    assert_int_equal(stat(at(place, "home/.cache/chokepoint"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void more_than_came_is_no_library(void **state) {
    const struct place *place = *state;
    char path[PATH_MAX];
    assert_int_equal(mpi_library_at_home(1, path), 0);
    assert_int_equal(place_tail(place, 8 + sizeof LIBRARY, path), -ENODATA);
    assert_int_equal(place_tail(place, 0, path), -ENODATA);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0); /* no part of it is left */
}

static void a_home_that_others_may_write_to_gets_none(void **state) {
    const struct place *place = *state;
    char path[PATH_MAX];
    assert_int_equal(mpi_library_at_home(1, path), 0);
    assert_int_equal(chmod(place->home, 0777), 0);
    assert_int_equal(place_tail(place, sizeof LIBRARY, path), -EPERM);
    assert_int_equal(access(at(place, "home/.cache"), F_OK), -1);
    assert_int_equal(chmod(place->home, 0755), 0);
    assert_int_equal(mkdir(at(place, "home/.cache"), 0700), 0);
    assert_int_equal(chmod(at(place, "home/.cache"), 0777), 0);
    assert_int_equal(place_tail(place, sizeof LIBRARY, path), -EPERM);
    assert_int_equal(rmdir(place->home) == 0 || errno == ENOTEMPTY, 1);
}

static void what_may_not_be_preloaded_is_said(void **state) {
    const struct place *place = *state;
    uint64_t digest;
    file_write(at(place, "old"), "chokepoint-mpi 0.0.9", 21, 0644);
    assert_int_equal(mpi_library_check(at(place, "old"), &digest), -ESTALE);
    assert_int_equal(mpi_library_check(at(place, "none"), &digest), -ENOENT);
    assert_int_equal(mpi_library_check(place->home, &digest), -EINVAL);
    file_write(at(place, "shared"), LIBRARY, sizeof LIBRARY, 0666);
    assert_int_equal(mpi_library_check(at(place, "shared"), &digest), -EPERM);
    assert_string_equal(mpi_library_words(-EPERM), "others than you and root may write there");
    assert_string_equal(mpi_library_words(-ESTALE), "it is of another version");
}

static void it_is_found_beside_the_program_without_links(void **state) {
    const struct place *place = *state;
    char path[PATH_MAX];
    assert_int_equal(mpi_library_beside(place->program, path), -ENOENT);
    file_write(at(place, "home/real.so"), LIBRARY, sizeof LIBRARY, 0644);
    assert_int_equal(symlink("home/real.so", at(place, "libchokepoint-mpi.so")), 0);
    assert_int_equal(mpi_library_beside(place->program, path), 0);
    assert_string_equal(path, at(place, "home/real.so"));
}

static void without_a_home_there_is_no_place(void **state) {
    char path[PATH_MAX];
    (void)state;
    unsetenv("HOME");
    assert_int_equal(mpi_library_at_home(1, path), -ENOENT);
    setenv("HOME", "here", 1);
    assert_int_equal(mpi_library_at_home(1, path), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_path_is_private_if_nobody_else_can_change_a_part_of_it),
        TEST(what_a_link_leads_to_must_be_private_too),
        TEST(what_belongs_to_another_user_is_not_private),
        TEST(the_end_of_the_program_becomes_the_library),
        TEST(more_than_came_is_no_library),
        TEST(a_home_that_others_may_write_to_gets_none),
        TEST(what_may_not_be_preloaded_is_said),
        TEST(it_is_found_beside_the_program_without_links),
        TEST(without_a_home_there_is_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
