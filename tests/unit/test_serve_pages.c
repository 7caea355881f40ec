/* SPDX-License-Identifier: MIT */
/* Pages made by children, with a script in place of the command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/serve/pages.h"

/* Counts its calls in the file made; refuses run 9, and dies for run 8. */
static const char script[] = "#!/bin/sh\n"
                             "echo call >>made\n"
                             "case $2 in\n"
                             "8) kill -KILL $$ ;;\n"
                             "9) echo 'early words' >&2\n"
                             "   echo \"chokepoint report: no run '9'\" >&2; exit 2 ;;\n"
                             "esac\n"
                             "printf '%s|' \"$@\"\n";

static char directory[] = "/tmp/test_serve_pages_XXXXXX";
static struct pages *pages;
static struct {
    void *waiter;
    enum pages_state state;
    char text[200];
} told[8];
static size_t n_told;

static void read_text(const struct pages_result *result, char *text, size_t size) {
    ssize_t n = pread(result->fd, text, size - 1, 0);
    assert_int_equal((size_t)n, result->size);
    text[n] = '\0';
    close(result->fd);
}

static void on_done(void *ctx, void *waiter, const struct pages_result *result) {
    assert_ptr_equal(ctx, directory);
    told[n_told].waiter = waiter;
    told[n_told].state = result->state;
    if (result->state == PAGES_MADE)
        read_text(result, told[n_told].text, sizeof told[n_told].text);
    else
        snprintf(told[n_told].text, sizeof told[n_told].text, "%s", result->why);
    n_told++;
}

static void write_file(const char *name, const char *text, const char *mode) {
    FILE *file = fopen(name, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int enter_directory(void **state) {
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int begin(void **state) {
    const struct pages_options options = {"./program", "runs.db", on_done, directory};
    (void)state;
    unlink("made");
    write_file("program", script, "w");
    write_file("runs.db", "rows", "w");
    n_told = 0;
    return chmod("program", 0700) || pages_new(&options, &pages);
}

static int end(void **state) {
    (void)state;
    pages_free(pages);
    pages = NULL;
    return 0;
}

static struct pages_result get(const char *run, int *waiter) {
    return pages_get(pages, (const char *const[]){"report", run, "--format", "html", NULL}, waiter);
}

/* Until n children have been reported; each that ends is handled. */
static void await(size_t n) {
    siginfo_t info;
    while (n_told < n) {
        assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
        pages_check(pages);
    }
}

static size_t calls(void) {
    struct stat st;
    return stat("made", &st) == 0 ? (size_t)st.st_size / 5 : 0;
}

static void a_page_is_made_once_for_all_who_ask(void **state) {
    int a, b, c;
    char text[200];
    (void)state;
    assert_int_equal(get("1", &a).state, PAGES_WAIT);
    assert_int_equal(get("1", &b).state, PAGES_WAIT);
    await(2);
    assert_string_equal(told[0].text, "report|1|--format|html|--db|runs.db|");
    assert_string_equal(told[1].text, told[0].text);
    const struct pages_result kept = get("1", &c);
    assert_int_equal(kept.state, PAGES_MADE);
    read_text(&kept, text, sizeof text);
    assert_string_equal(text, told[0].text);
    assert_int_equal(calls(), 1);
}

static void another_page_is_another(void **state) {
    int a, b;
    (void)state;
    get("1", &a);
    get("2", &b);
    await(2);
    assert_string_not_equal(told[0].text, told[1].text);
    assert_int_equal(calls(), 2);
}

static void a_page_is_old_when_the_database_has_changed(void **state) {
    int a;
    (void)state;
    get("1", &a);
    await(1);
    write_file("runs.db", "more", "a");
    assert_int_equal(get("1", &a).state, PAGES_WAIT);
    await(2);
    write_file("runs.db-wal", "log", "w");
    assert_int_equal(get("1", &a).state, PAGES_WAIT);
    await(3);
    assert_int_equal(calls(), 3);
    unlink("runs.db-wal");
}

static void a_refusal_is_told_in_the_words_of_the_verb(void **state) {
    int a;
    (void)state;
    get("9", &a);
    await(1);
    assert_int_equal(told[0].state, PAGES_REFUSED);
    assert_string_equal(told[0].text, "no run '9'");
    assert_int_equal(get("9", &a).state, PAGES_WAIT); /* it may exist now */
    await(2);
}

static void a_child_that_dies_costs_its_page(void **state) {
    int a, b;
    (void)state;
    get("8", &a);
    await(1);
    assert_int_equal(told[0].state, PAGES_FAILED);
    assert_string_equal(told[0].text, "killed by SIGKILL");
    get("1", &b);
    await(2);
    assert_int_equal(told[1].state, PAGES_MADE);
}

static void without_a_database_pages_are_gone(void **state) {
    int a;
    (void)state;
    unlink("runs.db");
    get("9", &a);
    await(1);
    assert_int_equal(told[0].state, PAGES_GONE);
}

static void who_has_left_is_not_told(void **state) {
    int a, b;
    (void)state;
    get("1", &a);
    get("1", &b);
    pages_forget(pages, &a);
    await(1);
    assert_ptr_equal(told[0].waiter, &b);
    pages_check(pages);
    assert_int_equal(n_told, 1);
}

static void crowds_are_turned_away(void **state) {
    int a;
    char run[8];
    size_t n = 0;
    (void)state;
    do
        snprintf(run, sizeof run, "%zu", 100 + n);
    while (get(run, &a).state == PAGES_WAIT && ++n < 1000);
    assert_in_range(n, 8, 64);
    pages_forget(pages, &a);
    for (size_t i = 0; i < n; i++)
        pages_forget(pages, &a);
}

static void all_are_told_of_the_end(void **state) {
    int a, b;
    (void)state;
    get("1", &a);
    get("2", &b);
    pages_close(pages);
    assert_int_equal(n_told, 2);
    assert_int_equal(told[0].state, PAGES_GONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_page_is_made_once_for_all_who_ask),
        TEST(another_page_is_another),
        TEST(a_page_is_old_when_the_database_has_changed),
        TEST(a_refusal_is_told_in_the_words_of_the_verb),
        TEST(a_child_that_dies_costs_its_page),
        TEST(without_a_database_pages_are_gone),
        TEST(who_has_left_is_not_told),
        TEST(crowds_are_turned_away),
        TEST(all_are_told_of_the_end),
    };
    return cmocka_run_group_tests(tests, enter_directory, NULL);
}
