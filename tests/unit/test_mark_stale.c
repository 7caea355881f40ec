/* SPDX-License-Identifier: MIT */
/* Which directories of marks are removed when the next run begins, and which stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/files.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/mark/ring.h"
#include "agent/mark/ring_stale.h"

#define OWN "0123456789abcdef" /* names of runs */
#define OTHER "fedcba9876543210"
#define OWN_KEY OWN OWN /* keys of their directories */
#define OTHER_KEY OTHER OTHER

struct place {
    char base[40], proc[64], stem[96], stale[400];
    long gone; /* a process that has ended */
};

static void put(const char *directory, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    file_write_text(path, text, 0);
}

static void path_of(const struct place *p, const char *name, char *path) {
    char stem[200];
    snprintf(stem, sizeof stem, "%s/%s", p->base, name);
    assert_int_equal(mark_directory_path(stem, path, 400), 0);
}

/* Makes the leftovers of a killed run. */
static int set_up(void **state) {
    struct place *p = *state = calloc(1, sizeof *p);
    char ring[40];
    strcpy(p->base, "/tmp/test-stale-XXXXXX");
    assert_non_null(mkdtemp(p->base));
    snprintf(p->proc, sizeof p->proc, "%s/proc", p->base);
    assert_int_equal(mkdir(p->proc, 0700), 0);
    snprintf(p->stem, sizeof p->stem, "%s/chokepoint-" OWN_KEY, p->base);
    path_of(p, "chokepoint-" OTHER_KEY, p->stale);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    p->gone = pid;
    assert_int_equal(mark_directory_create(p->stale), 0);
    assert_int_equal(mark_directory_name_run(p->stale, OTHER), 0);
    assert_int_equal(mark_directory_name_run(p->stale, OTHER), 0);
    put(p->stale, "cursors", "");
    put(p->stale, "calls.cursors", "");
    put(p->stale, "calls.told", "");
    snprintf(ring, sizeof ring, "%ld.ring", p->gone);
    put(p->stale, ring, "marks");
    snprintf(ring, sizeof ring, "%ld-1.calls", p->gone);
    put(p->stale, ring, "calls");
    return 0;
}

static int tear_down(void **state) {
    struct place *p = *state;
    assert_int_equal(folder_remove(p->base), 0);
    free(p);
    return 0;
}

static size_t collect(const struct place *p) {
    return mark_directories_collect(p->stem, p->proc);
}

static bool is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static void stays(const struct place *p) {
    assert_int_equal(collect(p), 0);
    assert_true(is_there(p->stale));
}

static void what_a_killed_run_left_goes(void **state) {
    const struct place *p = *state;
    assert_int_equal(collect(p), 1);
    assert_false(is_there(p->stale));
    assert_int_equal(collect(p), 0);
}

static void what_an_agent_holds_stays(void **state) {
    static const char *const locks[] = {"cursors", "calls.cursors", "calls.told"};
    const struct place *p = *state;
    for (size_t i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", p->stale, locks[i]);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
        stays(p);
        close(fd);
    }
    assert_int_equal(collect(p), 1);
}

static void what_a_living_rank_writes_stays(void **state) {
    static const char *const endings[] = {".ring", ".calls", "-2.calls", ".why"};
    const struct place *p = *state;
    for (size_t i = 0; i < 4; i++) {
        char name[40], path[512];
        snprintf(name, sizeof name, "%ld%s", (long)getpid(), endings[i]);
        put(p->stale, name, "");
        stays(p);
        snprintf(path, sizeof path, "%s/%s", p->stale, name);
        unlink(path);
    }
    assert_int_equal(collect(p), 1);
}

/* A program of the run that has not marked anything yet, or an agent that is being started, was
 * given it.
 */
static void what_a_process_was_told_of_stays(void **state) {
    const struct place *p = *state;
    char process[96];
    snprintf(process, sizeof process, "%s/123", p->proc);
    assert_int_equal(mkdir(process, 0700), 0);
    put(process, "environ", "HOME=/,CHOKEPOINT_RUN=" OTHER ",A=b");
    stays(p);
    put(process, "environ", "HOME=/,CHOKEPOINT_RUN=" OWN ",A=b");
    assert_int_equal(collect(p), 1);
}

static void what_says_no_run_is_of_no_process(void **state) {
    const struct place *p = *state;
    char path[512];
    snprintf(path, sizeof path, "%s/" MARK_RUN_LINK, p->stale);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(collect(p), 1);
}

static void without_processes_to_look_at_it_stays(void **state) {
    struct place *p = *state;
    strcat(p->proc, "/none");
    stays(p);
}

static void what_others_may_enter_stays(void **state) {
    const struct place *p = *state;
    assert_int_equal(chmod(p->stale, 0755), 0);
    stays(p);
}

static void what_another_user_left_stays(void **state) {
    const struct place *p = *state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(p->stale, 12345, 12345), 0);
    stays(p);
}

static void a_link_stays(void **state) {
    const struct place *p = *state;
    char moved[512];
    snprintf(moved, sizeof moved, "%s/moved", p->base);
    assert_int_equal(rename(p->stale, moved), 0);
    assert_int_equal(symlink(moved, p->stale), 0);
    stays(p);
    assert_true(is_there(moved));
}

static void other_names_stay(void **state) {
    static const char *const names[] = {
        "chokepoint-fedcba987654321",    "chokepoint-fedcba98765432100",
        "chokepoint-FEDCBA9876543210",   "vader-fedcba9876543210",
        "chokepoint-bench-fedcba987654", "chokepoint-fedcba9876543210.host"};
    const struct place *p = *state;
    char path[512], own[400];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", p->base, names[i]);
        assert_int_equal(rename(p->stale, path), 0);
        assert_int_equal(collect(p), 0);
        assert_true(is_there(path));
        assert_int_equal(rename(path, p->stale), 0);
    }
    path_of(p, "chokepoint-" OWN_KEY, own);
    assert_int_equal(rename(p->stale, own), 0);
    assert_int_equal(collect(p), 0);
    assert_true(is_there(own));
}

/* An agent makes the directory before it can take its lock. */
static void one_that_is_being_made_stays(void **state) {
    const struct place *p = *state;
    const struct timespec old[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
    char path[512];
    snprintf(path, sizeof path, "%s/cursors", p->stale);
    unlink(path);
    snprintf(path, sizeof path, "%s/calls.cursors", p->stale);
    unlink(path);
    snprintf(path, sizeof path, "%s/calls.told", p->stale);
    unlink(path);
    stays(p);
    assert_int_equal(utimensat(AT_FDCWD, p->stale, old, 0), 0);
    assert_int_equal(collect(p), 1);
}

static void what_somebody_put_there_is_not_removed(void **state) {
    const struct place *p = *state;
    char path[512];
    put(p->stale, "thesis.tex", "\\end{document}");
    stays(p);
    snprintf(path, sizeof path, "%s/thesis.tex", p->stale);
    assert_true(is_there(path));
}

static void stems_of_another_form_have_none_beside_them(void **state) {
    const struct place *p = *state;
    char stem[96];
    snprintf(stem, sizeof stem, "%s/marks", p->base);
    assert_int_equal(mark_directories_collect(stem, p->proc), 0);
    snprintf(stem, sizeof stem, "%s/chokepoint-" OWN, p->base);
    assert_int_equal(mark_directories_collect(stem, p->proc), 0);
    assert_int_equal(mark_directories_collect("chokepoint-" OWN_KEY, p->proc), 0);
    assert_int_equal(mark_directories_collect("", p->proc), 0);
    assert_true(is_there(p->stale));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_a_killed_run_left_goes),
        TEST(what_an_agent_holds_stays),
        TEST(what_a_living_rank_writes_stays),
        TEST(what_a_process_was_told_of_stays),
        TEST(what_says_no_run_is_of_no_process),
        TEST(without_processes_to_look_at_it_stays),
        TEST(what_others_may_enter_stays),
        TEST(what_another_user_left_stays),
        TEST(a_link_stays),
        TEST(other_names_stay),
        TEST(one_that_is_being_made_stays),
        TEST(what_somebody_put_there_is_not_removed),
        TEST(stems_of_another_form_have_none_beside_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
