/* SPDX-License-Identifier: MIT */
/* Events of watched runs, with a script in place of the command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/serve/feeds.h"

/* By the number of the run. */
static const char script[] =
    "#!/bin/sh\n"
    "case $2 in\n"
    "1) echo '{\"a\":1}'; echo '{\"a\":2}' ;;\n"
    "2) echo \"chokepoint top: no run '2'\" >&2; exit 2 ;;\n"
    "3) head -c 9000000 /dev/zero | tr '\\0' a; echo; echo '{\"b\":1}' ;;\n"
    "4) printf '{\"c\":1}\\r\\nevent: ended\\n' ;;\n"
    "*) echo '{\"d\":1}'; exec sleep 1000 ;;\n"
    "esac\n";

static char directory[] = "/tmp/test_serve_feeds_XXXXXX";
static struct feeds *feeds;
static size_t n_news;

static void on_news(void *ctx, void *watcher) {
    (void)ctx, (void)watcher;
    n_news++;
}

static int enter_directory(void **state) {
    FILE *file;
    (void)state;
    if (!mkdtemp(directory) || chdir(directory) < 0 || !(file = fopen("program", "w")))
        return -1;
    fputs(script, file);
    fclose(file);
    return chmod("program", 0700);
}

static int begin(void **state) {
    const struct feeds_options options = {"./program", "runs.db", on_news, NULL};
    (void)state;
    n_news = 0;
    return feeds_new(&options, &feeds);
}

static int end(void **state) {
    (void)state;
    feeds_free(feeds);
    feeds = NULL;
    return 0;
}

/* Handles children until all of them have ended. */
static void hear(void) {
    struct pollfd fds[FEEDS_MAX];
    size_t n;
    while ((n = feeds_fds(feeds, fds)) > 0) {
        poll(fds, n, 100);
        feeds_check(feeds);
    }
}

/* Takes all that a watcher gets now, in pieces of that size. Returns the last result. */
static int take(void *watcher, char *text, size_t capacity, size_t piece) {
    size_t size = 0;
    int n;
    while ((n = feeds_next(feeds, watcher, text + size, piece)) > 0) {
        size += (size_t)n;
        assert_true(size + piece < capacity);
    }
    text[size] = '\0';
    return n;
}

static void a_watcher_gets_the_newest_line_and_the_end(void **state) {
    int watcher;
    char text[400];
    (void)state;
    assert_int_equal(feeds_watch(feeds, "1", 0, &watcher), 0);
    hear();
    assert_true(n_news > 0);
    assert_int_equal(take(&watcher, text, sizeof text, 100), -1);
    assert_string_equal(text, "id: 2\nevent: snapshot\ndata: {\"a\":2}\n\n"
                              "event: ended\ndata: 1\n\n");
}

static void pieces_add_up(void **state) {
    int watcher;
    char text[400];
    (void)state;
    feeds_watch(feeds, "1", 0, &watcher);
    hear();
    take(&watcher, text, sizeof text, 1);
    assert_string_equal(text, "id: 2\nevent: snapshot\ndata: {\"a\":2}\n\n"
                              "event: ended\ndata: 1\n\n");
}

static void who_has_the_newest_line_does_not_get_it_again(void **state) {
    int first, second;
    char text[400];
    (void)state;
    feeds_watch(feeds, "1", 0, &first);
    hear();
    assert_int_equal(feeds_watch(feeds, "1", 2, &second), 0);
    take(&second, text, sizeof text, 100);
    assert_string_equal(text, "event: ended\ndata: 1\n\n");
}

static void an_id_of_another_server_is_no_id(void **state) {
    int first, second;
    char text[400];
    (void)state;
    feeds_watch(feeds, "1", 0, &first);
    hear();
    assert_int_equal(feeds_watch(feeds, "1", 77, &second), 0);
    take(&second, text, sizeof text, 100);
    assert_non_null(strstr(text, "{\"a\":2}"));
}

static void a_run_that_cannot_be_read_is_told_why_once(void **state) {
    int watcher;
    char text[400];
    (void)state;
    feeds_watch(feeds, "2", 0, &watcher);
    hear();
    assert_int_equal(take(&watcher, text, sizeof text, 100), 0);
    assert_string_equal(text, "event: trouble\ndata: no run '2'\n\n");
    feeds_check(feeds);
    assert_int_equal(take(&watcher, text, sizeof text, 100), 0);
    assert_string_equal(text, "");
}

static void a_line_that_is_too_long_is_left_out(void **state) {
    int watcher;
    char text[400];
    (void)state;
    feeds_watch(feeds, "3", 0, &watcher);
    hear();
    take(&watcher, text, sizeof text, 100);
    assert_non_null(strstr(text, "data: {\"b\":1}\n\n"));
    assert_null(strstr(text, "aaaa"));
}

static void a_line_cannot_make_an_event_of_its_own(void **state) {
    int watcher;
    char text[400];
    (void)state;
    feeds_watch(feeds, "4", 0, &watcher);
    hear();
    take(&watcher, text, sizeof text, 100);
    assert_null(strchr(text, '\r'));
    assert_string_equal(text, "id: 1\nevent: snapshot\ndata: event: ended\n\n"
                              "event: ended\ndata: 4\n\n");
}

static void runs_and_watchers_are_bounded(void **state) {
    int watchers[FEEDS_MAX + 1];
    char run[16];
    (void)state;
    for (int i = 0; i < FEEDS_MAX; i++) {
        snprintf(run, sizeof run, "%d", 100 + i);
        assert_int_equal(feeds_watch(feeds, run, 0, &watchers[i]), 0);
    }
    assert_int_equal(feeds_watch(feeds, "99", 0, &watchers[FEEDS_MAX]), -EBUSY);
    assert_int_equal(feeds_watch(feeds, "100", 0, &watchers[FEEDS_MAX]), 0);
    feeds_forget(feeds, &watchers[1]); /* no one watches 101 any more: its place is free */
    assert_int_equal(feeds_watch(feeds, "99", 0, &watchers[1]), 0);
}

static void all_are_told_that_the_server_ends(void **state) {
    int watcher;
    char text[400];
    (void)state;
    feeds_watch(feeds, "100", 0, &watcher);
    feeds_close(feeds);
    assert_int_equal(take(&watcher, text, sizeof text, 100), -1);
    assert_non_null(strstr(text, "event: closing\ndata: 100\n\n"));
    assert_int_equal(feeds_watch(feeds, "100", 0, &watcher), -EBUSY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_watcher_gets_the_newest_line_and_the_end),
        TEST(pieces_add_up),
        TEST(who_has_the_newest_line_does_not_get_it_again),
        TEST(an_id_of_another_server_is_no_id),
        TEST(a_run_that_cannot_be_read_is_told_why_once),
        TEST(a_line_that_is_too_long_is_left_out),
        TEST(a_line_cannot_make_an_event_of_its_own),
        TEST(runs_and_watchers_are_bounded),
        TEST(all_are_told_that_the_server_ends),
    };
    return cmocka_run_group_tests(tests, enter_directory, NULL);
}
