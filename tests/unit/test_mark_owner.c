/* SPDX-License-Identifier: MIT */
/* The reader of a directory of rings, and what its successor knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/mark/ring_owner.h"

#define FILE_NAME "cursors"
#define SIZE 64

struct place {
    char path[40];
    int dir;
    struct ring_owner first, second;
    uint64_t kept; /* of stream 8 */
};

static int set_up(void **state) {
    struct place *p = *state = calloc(1, sizeof *p);
    strcpy(p->path, "/tmp/test-owner-XXXXXX");
    assert_non_null(mkdtemp(p->path));
    p->dir = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(p->dir >= 0);
    return 0;
}

static int tear_down(void **state) {
    struct place *p = *state;
    ring_owner_close(&p->first);
    ring_owner_close(&p->second);
    unlinkat(p->dir, FILE_NAME, 0);
    close(p->dir);
    rmdir(p->path);
    free(p);
    return 0;
}

static uint64_t kept(void *ctx, uint64_t stream) {
    return stream == 8 ? ((struct place *)ctx)->kept : UINT64_MAX;
}

static void open_one(struct place *p, struct ring_owner *owner) {
    assert_int_equal(ring_owner_open(owner, p->dir, FILE_NAME, SIZE), 0);
}

/* Takes it over; returns the text that the predecessor left. */
static const char *take(struct place *p, struct ring_owner *owner) {
    static char text[SIZE];
    open_one(p, owner);
    assert_int_equal(ring_owner_take(owner), 1);
    memset(text, 0, sizeof text);
    ring_owner_load(owner, kept, p, text);
    return text;
}

static void save(struct ring_owner *owner, uint64_t stream, uint64_t seq, const char *text) {
    ring_owner_save(owner, stream, seq, text, strlen(text) + 1);
}

static void one_reads_at_a_time(void **state) {
    struct place *p = *state;
    assert_string_equal(take(p, &p->first), "");
    open_one(p, &p->second);
    assert_int_equal(ring_owner_take(&p->second), 0);
    assert_int_equal(ring_owner_take(&p->first), 1); /* the first already owns it */
    ring_owner_close(&p->first);
    assert_int_equal(ring_owner_take(&p->second), 1);
}

static void the_owner_hears_that_it_is_asked_and_asks_no_more(void **state) {
    struct place *p = *state;
    take(p, &p->first);
    assert_false(ring_owner_is_asked(&p->first));
    open_one(p, &p->second);
    assert_true(ring_owner_is_asked(&p->first));
    ring_owner_release(&p->first, "all", 4);
    assert_int_equal(ring_owner_take(&p->first), 0);
    assert_int_equal(ring_owner_take(&p->second), 1);
    assert_false(ring_owner_is_asked(&p->second));
    char text[SIZE] = "";
    assert_int_equal(ring_owner_load(&p->second, kept, p, text), 4);
    assert_string_equal(text, "all");
    save(&p->first, 0, 0, "late"); /* from an owner that has lost it */
    ring_owner_close(&p->second);
    assert_string_equal(take(p, &p->second), "all");
}

static void a_dead_owner_is_followed(void **state) {
    struct place *p = *state;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        take(p, &p->first);
        save(&p->first, 0, 0, "read");
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_string_equal(take(p, &p->second), "read");
}

static void a_state_holds_once_its_frame_is_kept(void **state) {
    struct place *p = *state;
    for (p->kept = 4; p->kept < 7; p->kept++) {
        take(p, &p->first);
        save(&p->first, 8, 4, "four");
        save(&p->first, 8, 5, "five");
        ring_owner_close(&p->first);
        assert_string_equal(take(p, &p->second), p->kept < 5 ? "four" : "five");
        ring_owner_close(&p->second);
        unlinkat(p->dir, FILE_NAME, 0);
    }
}

static void before_the_first_frame_nothing_is_read(void **state) {
    struct place *p = *state;
    p->kept = 0;
    take(p, &p->first);
    save(&p->first, 8, 1, "one");
    ring_owner_close(&p->first);
    assert_string_equal(take(p, &p->second), "");
}

static void without_an_answer_a_frame_counts_as_kept(void **state) {
    struct place *p = *state;
    take(p, &p->first);
    save(&p->first, 6, 4, "four");
    save(&p->first, 6, 5, "five");
    ring_owner_close(&p->first);
    assert_string_equal(take(p, &p->second), "five");
}

/* Two deaths in a row: an invalid state stays invalid for the second successor. */
static void what_did_not_hold_stays_void(void **state) {
    struct place *p = *state;
    p->kept = 4;
    take(p, &p->first);
    save(&p->first, 8, 4, "four");
    save(&p->first, 8, 5, "five");
    ring_owner_close(&p->first);
    assert_string_equal(take(p, &p->second), "four");
    save(&p->second, 0, 0, "four");
    ring_owner_close(&p->second);
    p->kept = 5; /* another frame 5, from the owner in between */
    assert_string_equal(take(p, &p->second), "four");
}

static void a_state_that_was_cut_short_is_none(void **state) {
    struct place *p = *state;
    struct stat st;
    take(p, &p->first);
    save(&p->first, 0, 0, "four");
    save(&p->first, 0, 0, "five and more");
    int fd = openat(p->dir, FILE_NAME, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    uint64_t other = 99;
    for (off_t at = 0; at + 13 <= st.st_size; at++) {
        char text[13];
        if (pread(fd, text, sizeof text, at) == 13 && memcmp(text, "five and more", 13) == 0)
            assert_int_equal(pwrite(fd, &other, sizeof other, at + 14), sizeof other);
    }
    close(fd);
    ring_owner_close(&p->first);
    assert_string_equal(take(p, &p->second), "four");
}

static void one_that_took_it_only_to_remove_it_leaves_the_state(void **state) {
    struct place *p = *state;
    take(p, &p->first);
    save(&p->first, 0, 0, "read");
    ring_owner_close(&p->first);
    open_one(p, &p->second);
    assert_int_equal(ring_owner_take(&p->second), 1);
    ring_owner_release(&p->second, "", 1);
    ring_owner_close(&p->second);
    assert_string_equal(take(p, &p->second), "read");
}

static void a_file_that_was_removed_is_told(void **state) {
    struct place *p = *state;
    take(p, &p->first);
    open_one(p, &p->second);
    unlinkat(p->dir, FILE_NAME, 0);
    ring_owner_close(&p->first);
    assert_int_equal(ring_owner_take(&p->second), -ESTALE);
}

static void garbage_is_no_state(void **state) {
    struct place *p = *state;
    char garbage[512];
    memset(garbage, 0xa5, sizeof garbage);
    int fd = openat(p->dir, FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(pwrite(fd, garbage, sizeof garbage, 64), sizeof garbage);
    close(fd);
    assert_string_equal(take(p, &p->first), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(one_reads_at_a_time),
        TEST(the_owner_hears_that_it_is_asked_and_asks_no_more),
        TEST(a_dead_owner_is_followed),
        TEST(a_state_holds_once_its_frame_is_kept),
        TEST(before_the_first_frame_nothing_is_read),
        TEST(without_an_answer_a_frame_counts_as_kept),
        TEST(what_did_not_hold_stays_void),
        TEST(a_state_that_was_cut_short_is_none),
        TEST(one_that_took_it_only_to_remove_it_leaves_the_state),
        TEST(a_file_that_was_removed_is_told),
        TEST(garbage_is_no_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
