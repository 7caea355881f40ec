/* SPDX-License-Identifier: MIT */
/* Facts about program files, found before they are started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/files.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/launch/program_file.h"

static char dir[] = "/tmp/test_program_file.XXXXXX";

static int make_dir(void **state) {
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state) {
    (void)state;
    return rmdir(dir);
}

/* A program of this content in dir; its path. */
static const char *make(const char *name, const char *content) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    file_write_text(path, content, 0755);
    return path;
}

static int takes(const char *word, char *why) {
    char path[PATH_MAX];
    return program_takes_preload(word, path, why, 300);
}

static void what_our_loader_starts_takes_a_library(void **state) {
    char why[300] = "", path[PATH_MAX];
    (void)state;
    assert_int_equal(takes("/proc/self/exe", why), 0);
    assert_int_equal(program_takes_preload("sh", path, why, sizeof why), 0);
    assert_int_equal(path[0], '/');
}

static void a_script_is_its_interpreter(void **state) {
    char why[300] = "", path[PATH_MAX];
    const char *script = make("script", "#!/usr/bin/env -S sh -e\nexit 0\n");
    (void)state;
    assert_int_equal(program_takes_preload(script, path, why, sizeof why), 0);
    assert_string_equal(strrchr(path, '/'), "/sh");
    unlink(script);
    script = make("script", "#!" OTHER_LOADER_PROGRAM "\n");
    assert_int_equal(program_takes_preload(script, path, why, sizeof why), PROGRAM_REFUSES);
    unlink(script);
}

static void a_script_of_itself_ends(void **state) {
    char line[PATH_MAX + 8], why[300];
    (void)state;
    snprintf(line, sizeof line, "#!%s/loop\n", dir);
    const char *script = make("loop", line);
    assert_int_equal(takes(script, why), -ELOOP);
    unlink(script);
}

static void another_loader_and_none_take_nothing(void **state) {
    char why[300] = "";
    (void)state;
    assert_int_equal(takes(OTHER_LOADER_PROGRAM, why), PROGRAM_REFUSES);
    assert_non_null(strstr(why, "another dynamic loader"));
    assert_int_equal(takes(OTHER_LOADER, why), PROGRAM_REFUSES);
    assert_non_null(strstr(why, "linked statically"));
    assert_int_equal(takes("/opt/bin/singularity", why), PROGRAM_REFUSES);
    assert_non_null(strstr(why, "container"));
}

static void nothing_is_said_of_what_is_not_there_or_no_program(void **state) {
    static const char *const contents[] = {
        "", "#", "#!", "#!\n", "#!/nonexistent/sh\n", "\177ELF", "plain text"};
    char why[300];
    (void)state;
    assert_int_equal(takes("nonexistent-program", why), -ENOENT);
    assert_int_equal(takes("", why), -ENOENT);
    assert_int_equal(takes("/tmp", why), -EACCES);
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        const char *path = make("odd", contents[i]);
        assert_true(takes(path, why) < 0);
        unlink(path);
    }
}

/* A program that names a loader with that many bytes, all of which are there. */
static const char *make_program(size_t loader_size) {
    const char *path = make("program", "");
    ElfW(Ehdr) head = {
        .e_phoff = sizeof head, .e_phentsize = sizeof(ElfW(Phdr)), .e_phnum = 1, .e_ident = ELFMAG};
    ElfW(Phdr) part = {
        .p_type = PT_INTERP, .p_filesz = loader_size, .p_offset = sizeof head + sizeof part};
    head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(&head, sizeof head, 1, file) + fwrite(&part, sizeof part, 1, file), 2);
    for (size_t i = 0; i < loader_size; i++)
        fputc('x', file);
    fclose(file);
    return path;
}

static void a_loader_whose_name_is_too_long_makes_no_program(void **state) {
    char why[PATH_MAX + 300] = "", chosen[PATH_MAX];
    (void)state;
    const char *path = make_program(PATH_MAX - 1);
    assert_int_equal(program_takes_preload(path, chosen, why, sizeof why), PROGRAM_REFUSES);
    assert_non_null(strstr(why, "another dynamic loader, xxx"));
    path = make_program(2 * PATH_MAX);
    assert_int_equal(program_takes_preload(path, chosen, why, sizeof why), -ENOEXEC);
    unlink(path);
}

/* For a user without access to the directory; root could not be kept out. */
static void what_lies_in_a_closed_directory_may_not_be_started(void **state) {
    char closed[64], word[80], path[PATH_MAX];
    uid_t user = geteuid();
    (void)state;
    snprintf(closed, sizeof closed, "%s/closed", dir);
    snprintf(word, sizeof word, "%s/program", closed);
    assert_int_equal(mkdir(closed, 0), 0);
    assert_int_equal(chmod(dir, 0711), 0);
    assert_int_equal(user ? 0 : seteuid(65534), 0);
    int r = program_find(word, path);
    assert_int_equal(user ? 0 : seteuid(user), 0);
    assert_int_equal(r, -EACCES);
    assert_int_equal(rmdir(closed), 0);
}

static void libraries_are_found_through_others(void **state) {
    char self[PATH_MAX] = "";
    (void)state;
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    assert_true(program_needs(self, "libc.so"));
    assert_false(program_needs(self, "libmpi"));
    assert_false(program_needs("/nonexistent", "libc.so"));
    assert_false(program_needs(OTHER_LOADER, "libc.so"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_our_loader_starts_takes_a_library),
        cmocka_unit_test(a_script_is_its_interpreter),
        cmocka_unit_test(a_script_of_itself_ends),
        cmocka_unit_test(another_loader_and_none_take_nothing),
        cmocka_unit_test(nothing_is_said_of_what_is_not_there_or_no_program),
        cmocka_unit_test(a_loader_whose_name_is_too_long_makes_no_program),
        cmocka_unit_test(what_lies_in_a_closed_directory_may_not_be_started),
        cmocka_unit_test(libraries_are_found_through_others),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
