/* SPDX-License-Identifier: MIT */
/* A sender that was killed finds the bodies that were on their way as they were. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/remote/journal.h"
#include "common/error.h"
#include "tests/unit/files.h"

#define URL "http://127.0.0.1:9090/api/v1/write"

struct folder {
    char path[64], database[96];
};

static int setup(void **state) {
    struct folder *folder = calloc(1, sizeof *folder);
    snprintf(folder->path, sizeof folder->path, "/tmp/chokepoint-journal-XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    snprintf(folder->database, sizeof folder->database, "%s/test.db", folder->path);
    int fd = open(folder->database, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    *state = folder;
    return 0;
}

static int teardown(void **state) {
    struct folder *folder = *state;
    assert_int_equal(folder_remove(folder->path), 0);
    free(folder);
    return 0;
}

static struct journal *open_journal(struct folder *folder, uint32_t layout,
                                    struct journal_place *ret_place) {
    struct journal *journal;
    assert_int_equal(journal_open(folder->database, 3, URL, layout, &journal, ret_place), 0);
    return journal;
}

static void add(struct journal *journal, const char *text, size_t n_samples) {
    struct buffer body = {0};
    buffer_put(&body, text, strlen(text));
    journal_add_body(journal, &body, n_samples);
    buffer_release(&body);
}

static void save(struct journal *journal, const struct journal_place *place, const char *text) {
    struct buffer memory = {0};
    buffer_put(&memory, text, strlen(text));
    assert_int_equal(journal_save(journal, place, &memory), 0);
    buffer_release(&memory);
}

static void expect(struct journal *journal, const char *text) {
    struct span body;
    size_t n_samples;
    bool has = journal_next_body(journal, &body, &n_samples);
    assert_int_equal(has, text != NULL);
    if (!text)
        return;
    assert_int_equal(body.size, strlen(text));
    assert_memory_equal(body.data, text, body.size);
    assert_int_equal(n_samples, strlen(text));
}

static void bodies_come_back_until_they_are_taken(void **state) {
    struct journal_place place = {.identity = -9, .frame = 77, .samples = 5};
    struct journal_place read;
    bool usable;
    struct journal *journal = open_journal(*state, 1, &read);
    assert_int_equal(read.frame, 0);
    expect(journal, NULL);
    add(journal, "one", 3);
    add(journal, "two", 3);
    save(journal, &place, "memory");
    assert_int_equal(journal_took_body(journal), 0);
    journal_close(journal); /* as if it were killed */
    journal = open_journal(*state, 1, &read);
    assert_int_equal(read.frame, 77);
    assert_int_equal(read.identity, -9);
    struct cursor memory = journal_memory(journal, &usable);
    assert_true(usable);
    assert_memory_equal(memory.p, "memory", 6);
    expect(journal, "two");
    assert_int_equal(journal_took_body(journal), 0);
    expect(journal, NULL);
    add(journal, "three", 5);
    place.frame = 78;
    save(journal, &place, "m");
    expect(journal, "three");
    journal_close(journal);
    journal = open_journal(*state, 1, &read);
    expect(journal, "three");
    assert_int_equal(read.frame, 78);
    journal_close(journal);
}

static void memory_of_another_layout_is_not_used(void **state) {
    struct journal_place place = {.frame = 1}, read;
    bool usable;
    struct journal *journal = open_journal(*state, 1, &read);
    add(journal, "one", 3);
    save(journal, &place, "memory");
    journal_close(journal);
    journal = open_journal(*state, 2, &read);
    journal_memory(journal, &usable);
    assert_false(usable);
    expect(journal, "one"); /* and the place holds */
    assert_int_equal(read.frame, 1);
    journal_forget(journal, &read);
    expect(journal, NULL);
    assert_int_equal(read.frame, 0);
    journal_close(journal);
}

static void one_process_sends(void **state) {
    struct folder *folder = *state;
    struct journal_place read;
    struct journal *journal = open_journal(folder, 1, &read), *other;
    assert_int_equal(journal_open(folder->database, 3, URL, 1, &other, &read), JOURNAL_IN_USE);
    assert_int_equal(journal_open(folder->database, 4, URL, 1, &other, &read), 0);
    journal_close(other);
    assert_int_equal(journal_open(folder->database, 3, URL "2", 1, &other, &read), 0);
    journal_close(other);
    journal_close(journal);
}

/* The one file that is no lock. */
static void find_file(struct folder *folder, char path[PATH_MAX]) {
    char at[PATH_MAX];
    snprintf(at, sizeof at, "%s-remote", folder->database);
    DIR *directory = opendir(at);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && !strstr(entry->d_name, ".lock"))
            assert_in_range(snprintf(path, PATH_MAX, "%s/%s", at, entry->d_name), 1, PATH_MAX - 1);
    closedir(directory);
}

static void damaged_file_is_refused(void **state) {
    struct folder *folder = *state;
    struct journal_place place = {.frame = 1}, read;
    struct journal *journal = open_journal(folder, 1, &read), *again;
    char path[PATH_MAX];
    struct stat st;
    add(journal, "one", 3);
    save(journal, &place, "memory");
    find_file(folder, path);
    journal_close(journal);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    for (off_t at = 0; at < st.st_size; at++) {
        uint8_t byte, bad;
        int fd = open(path, O_RDWR);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        bad = byte ^ 0x40;
        assert_int_equal(pwrite(fd, &bad, 1, at), 1);
        assert_int_equal(journal_open(folder->database, 3, URL, 1, &again, &read), -EBADMSG);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
    }
    assert_int_equal(truncate(path, st.st_size - 1), 0);
    assert_int_equal(journal_open(folder->database, 3, URL, 1, &again, &read), -EBADMSG);
}

/* Another user foresees the name, and makes it first. */
static void a_folder_that_others_may_enter_is_refused(void **state) {
    struct folder *folder = *state;
    struct journal_place read;
    struct journal *journal;
    char path[PATH_MAX], elsewhere[PATH_MAX];
    snprintf(path, sizeof path, "%s-remote", folder->database);
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder->path);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_int_equal(journal_open(folder->database, 3, URL, 1, &journal, &read), -EPERM);
    assert_int_equal(rmdir(elsewhere), 0); /* nothing was put there */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(journal_open(folder->database, 3, URL, 1, &journal, &read), -EPERM);
    if (geteuid() == 0) {
        assert_int_equal(chmod(path, 0700) | chown(path, 65534, 65534), 0);
        assert_int_equal(journal_open(folder->database, 3, URL, 1, &journal, &read), -EPERM);
        assert_int_equal(chown(path, 0, 0), 0);
    }
    assert_int_equal(chmod(path, 0700), 0);
    assert_int_equal(journal_open(folder->database, 3, URL, 1, &journal, &read), 0);
    journal_close(journal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_come_back_until_they_are_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_of_another_layout_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(one_process_sends, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_file_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_others_may_enter_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
