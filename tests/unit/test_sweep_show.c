/* SPDX-License-Identifier: MIT */
/* `chokepoint sweep report`: its arguments, and where its pictures may be written. */
#include "cli/base/verb.h"
#include "cli/sweep/sweep.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

static char root[64];

static const char *at(const char *name) {
    static char path[4][200];
    static unsigned turn;
    char *to = path[turn++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", root, name);
    return to;
}

static int make(void **state) {
    (void)state;
    umask(022);
    strcpy(root, "/tmp/chokepoint-sweep-show-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int clean(void **state) {
    (void)state;
    return folder_remove(root);
}

static char complaint[500];

/* Keeps standard error until heard(). */
static int kept = -1;
static FILE *heard_file;

static void hear(void) {
    heard_file = tmpfile();
    kept = dup(STDERR_FILENO);
    dup2(fileno(heard_file), STDERR_FILENO);
}

static const char *heard(void) {
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(heard_file);
    complaint[fread(complaint, 1, sizeof complaint - 1, heard_file)] = '\0';
    fclose(heard_file);
    return complaint;
}

/* ---- words ---- */

static bool is_short(const char *word) {
    return strlen(word) < 4;
}

static int read_words(const char *text, struct sweep_words *words) {
    return sweep_words_read(text, "measure", is_short, "short ones", words);
}

static void words_are_separated_by_commas(void **state) {
    struct sweep_words words;
    (void)state;
    assert_int_equal(read_words("a,bb,,ccc", &words), 0);
    assert_int_equal(words.n, 3);
    assert_string_equal(words.items[0], "a");
    assert_string_equal(words.items[1], "bb");
    assert_string_equal(words.items[2], "ccc");
    sweep_words_release(&words);
    assert_int_equal(words.n, 0);
    assert_null(words.copy);
}

static void words_that_are_none_are_refused_with_those_there_are(void **state) {
    struct sweep_words words = {.n = 7};
    char many[4 * SWEEP_WORDS_MAX + 4] = "";
    (void)state;
    hear();
    int unknown = read_words("a,long,b", &words);
    assert_string_equal(heard(),
                        "chokepoint sweep: unknown measure 'long'; there are short ones\n");
    hear();
    int none = read_words(",", &words);
    assert_string_equal(heard(), "chokepoint sweep: no measure is named; there are short ones\n");
    assert_int_equal(unknown, -EINVAL);
    assert_int_equal(none, -EINVAL);
    assert_int_equal(words.n, 7); /* unchanged */
    for (int i = 0; i < SWEEP_WORDS_MAX; i++)
        strcat(many, "ab,");
    assert_int_equal(read_words(many, &words), 0);
    assert_int_equal(words.n, SWEEP_WORDS_MAX);
    sweep_words_release(&words);
    strcat(many, "c");
    hear();
    int too_many = read_words(many, &words);
    assert_string_equal(heard(), "chokepoint sweep: more than 16 words of a --measure\n");
    assert_int_equal(too_many, -EINVAL);
}

/* ---- where it is written ---- */

static int directory(const char *path) {
    hear();
    int status = sweep_pictures_directory("sweep", path);
    heard();
    return status;
}

static void pictures_get_a_directory_that_can_be_written(void **state) {
    struct stat st;
    (void)state;
    assert_int_equal(directory(at("new")), 0);
    assert_int_equal(stat(at("new"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(directory(at("new")), 0); /* it exists */
    file_write_text(at("file"), "", 0);
    assert_int_not_equal(directory(at("file")), 0);
    assert_non_null(strstr(complaint, "Not a directory"));
    assert_int_not_equal(directory(at("missing/new")), 0);
    assert_non_null(strstr(complaint, "No such file"));
    assert_int_equal(symlink("nowhere", at("link")), 0);
    assert_int_not_equal(directory(at("link")), 0);
}

static int show(const char *format, const char *path) {
    const struct sweep_view view = {0};
    const struct sweep_target target = {.format = format, .path = path};
    hear();
    int status = sweep_show(at("missing.db"), &view, 1, &target);
    heard();
    return status;
}

static void what_cannot_be_shown_is_a_line_and_a_status(void **state) {
    (void)state;
    assert_int_equal(show("screen", NULL), EXIT_USAGE);
    assert_non_null(strstr(complaint, "there is no screen of a sweep"));
    assert_int_equal(show("pdf", NULL), EXIT_USAGE);
    assert_non_null(strstr(complaint, "pdf"));
    assert_int_equal(show(NULL, at("page.html")), EXIT_USAGE);
    assert_non_null(strstr(complaint, "missing.db"));
    assert_int_equal(access(at("page.html"), F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(words_are_separated_by_commas),
        TEST(words_that_are_none_are_refused_with_those_there_are),
        TEST(pictures_get_a_directory_that_can_be_written),
        TEST(what_cannot_be_shown_is_a_line_and_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
