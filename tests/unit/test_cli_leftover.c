/* SPDX-License-Identifier: MIT */
/* Directories that agents left behind: which are found, their contents, whether one is in use, and
 * that nothing else is ever removed.
 */
#include "cli/import/leftover.h"
#include "common/segment_name.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#define OTHER 65534 /* another user */
#define SEGMENT "0123456789abcdef-1.spool"
#define DAY_S 86400

static char root[64];

static const char *at(const char *name) {
    static char path[4][300];
    static unsigned turn;
    char *to = path[turn++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", root, name);
    return to;
}

static int make(void **state) {
    (void)state;
    umask(022);
    strcpy(root, "/tmp/chokepoint-leftover-test-XXXXXX");
    assert_non_null(mkdtemp(root));
    setenv("TZ", "UTC", 1);
    unsetenv("TMPDIR");
    return 0;
}

static int clean(void **state) {
    (void)state;
    return folder_remove(root);
}

static void set_time(const char *path, int64_t written_s) {
    const struct timespec times[2] = {{.tv_sec = written_s}, {.tv_sec = written_s}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void write_file(const char *path, size_t size, int64_t written_s) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        assert_int_not_equal(fputc('x', file), EOF);
    assert_int_equal(fclose(file), 0);
    set_time(path, written_s);
}

/* Makes a spool with one segment, both of that time. Returns its path. */
static const char *plant(const char *name, size_t size, int64_t written_s) {
    char segment[300];
    assert_int_equal(mkdir(at(name), 0700), 0);
    snprintf(segment, sizeof segment, "%s/" SEGMENT, name);
    write_file(at(segment), size, written_s);
    set_time(at(name), written_s);
    return at(name);
}

static size_t find(struct leftover **ret_list) {
    char *places[] = {root, NULL};
    size_t n = 0;
    *ret_list = NULL;
    assert_int_equal(leftovers_find(places, ret_list, &n), 0);
    return n;
}

/* The only leftover. */
static struct leftover find_one(void) {
    struct leftover *list, one;
    assert_int_equal(find(&list), 1);
    one = *list;
    free(list);
    return one;
}

/* The text that fn writes to this stream. */
static const char *printed(int stream, int (*fn)(void *ctx), void *ctx, int expected) {
    static char text[3000];
    FILE *to = tmpfile();
    fflush(NULL);
    int kept = dup(stream);
    assert_true(kept >= 0 && dup2(fileno(to), stream) == stream);
    int r = fn(ctx);
    fflush(NULL);
    dup2(kept, stream);
    close(kept);
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = '\0';
    fclose(to);
    assert_int_equal(r, expected);
    return text;
}

/* ---- which are found ---- */

static void only_directories_with_an_agents_name_are_found_the_oldest_first(void **state) {
    (void)state;
    struct leftover *list;
    assert_int_equal(find(&list), 0);
    free(list);
    plant("chokepoint-spool-aaaaaa", 1, 2000);
    plant("chokepoint-spool-cccccc", 1, 1000);
    plant("chokepoint-spool-bbbbbb", 1, 1000);
    plant("chokepoint-spool-aaaaa", 1, 1);
    plant("chokepoint-spool-aaaaaaa", 1, 1);
    plant("chokepoint_spool-aaaaaa", 1, 1);
    write_file(at("chokepoint-spool-filexx"), 1, 1);
    assert_int_equal(symlink(at("chokepoint-spool-aaaaaa"), at("chokepoint-spool-linkxx")), 0);
    assert_int_equal(find(&list), 3);
    assert_string_equal(list[0].path, at("chokepoint-spool-bbbbbb"));
    assert_string_equal(list[1].path, at("chokepoint-spool-cccccc"));
    assert_string_equal(list[2].path, at("chokepoint-spool-aaaaaa"));
    assert_false(list[0].foreign);
    free(list);
}

static size_t count_of(const char *path) {
    char *none[] = {NULL};
    struct leftover *list;
    size_t n, found = 0;
    assert_int_equal(leftovers_find(none, &list, &n), 0);
    for (size_t i = 0; i < n; i++)
        found += strcmp(list[i].path, path) == 0;
    free(list);
    return found;
}

static void without_a_place_agents_own_places_are_searched_each_once(void **state) {
    (void)state;
    char path[] = "/tmp/chokepoint-spool-XXXXXX", own[300];
    strcpy(own, plant("chokepoint-spool-aaaaaa", 1, 1));
    assert_non_null(mkdtemp(path));
    size_t without = count_of(path), own_without = count_of(own);
    setenv("TMPDIR", "/tmp", 1);
    size_t same = count_of(path);
    setenv("TMPDIR", root, 1);
    size_t with = count_of(path), own_with = count_of(own);
    assert_int_equal(chdir(root), 0);
    setenv("TMPDIR", ".", 1);
    size_t relative = count_of("./chokepoint-spool-aaaaaa");
    assert_int_equal(chdir("/"), 0);
    rmdir(path);
    assert_int_equal(without, 1);
    assert_int_equal(own_without, 0);
    assert_int_equal(same, 1);
    assert_int_equal(with, 1);
    assert_int_equal(own_with, 1);
    assert_int_equal(relative, 0);
}

/* ---- what is in one ---- */

static void segments_alone_are_counted(void **state) {
    (void)state;
    plant("chokepoint-spool-aaaaaa", 100, 2000);
    write_file(at("chokepoint-spool-aaaaaa/0123456789abcdef-2.spool"), 30, 3000);
    write_file(at("chokepoint-spool-aaaaaa/notes.txt"), 500, 9000);
    assert_int_equal(symlink("notes.txt", at("chokepoint-spool-aaaaaa/0123456789abcdef-3.spool")),
                     0);
    assert_int_equal(mkdir(at("chokepoint-spool-aaaaaa/0123456789abcdef-4.spool"), 0700), 0);
    set_time(at("chokepoint-spool-aaaaaa"), 1000);
    struct leftover one = find_one();
    assert_int_equal(one.files, 2);
    assert_int_equal(one.bytes, 130);
    assert_int_equal(one.newest_s, 3000);
    assert_false(one.held);
    set_time(at("chokepoint-spool-aaaaaa"), 4000); /* a segment was removed then */
    assert_int_equal(find_one().newest_s, 4000);
}

/* ---- who holds it ---- */

/* A shell with this word on its command line, which lives until *ret_end is closed. */
static pid_t start_with_word(const char *word, int *ret_end) {
    int fds[2], ready[2];
    char byte;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[0], STDIN_FILENO);
        dup2(ready[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", "echo; read -r line", word, NULL);
        _exit(127);
    }
    close(fds[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    *ret_end = fds[1];
    return pid;
}

static bool is_held_beside(const char *word) {
    int end;
    pid_t pid = start_with_word(word, &end);
    bool held = find_one().held;
    close(end);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return held;
}

static void who_locks_it_or_has_it_in_its_command_line_holds_it(void **state) {
    (void)state;
    char path[300], longer[310];
    strcpy(path, plant("chokepoint-spool-aaaaaa", 1, 1));
    snprintf(longer, sizeof longer, "%s2", path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    assert_true(find_one().held);
    close(fd);
    assert_false(find_one().held);
    assert_true(is_held_beside(path));
    assert_false(is_held_beside(longer));
    assert_false(is_held_beside("chokepoint"));
}

/* ---- others ---- */

static void another_users_is_listed_and_not_looked_into(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(plant("chokepoint-spool-aaaaaa", 1, 1), OTHER, OTHER), 0);
    set_time(at("chokepoint-spool-aaaaaa"), 5000);
    write_file(at("chokepoint-spool-filexx"), 1, 1);
    assert_int_equal(chown(at("chokepoint-spool-filexx"), OTHER, OTHER), 0);
    struct leftover one = find_one();
    assert_true(one.foreign);
    assert_int_equal(one.owner, OTHER);
    assert_int_equal(one.files, 0);
    assert_int_equal(one.newest_s, 5000);
}

static void an_own_one_that_cannot_be_read_is_not_anothers(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip();
    const char *path = plant("chokepoint-spool-aaaaaa", 1, 1);
    struct leftover *list;
    assert_int_equal(chown(path, 54321, 0) | chmod(path, 0) | chmod(root, 0755), 0);
    assert_int_equal(seteuid(54321), 0);
    size_t n = find(&list);
    assert_int_equal(seteuid(0), 0);
    free(list);
    assert_int_equal(n, 0);
}

static int check_owner(void *path) {
    return leftover_check_owner(path);
}

static void files_of_another_user_are_not_brought_in(void **state) {
    (void)state;
    char path[300];
    strcpy(path, plant("chokepoint-spool-aaaaaa", 1, 1));
    assert_string_equal(printed(STDERR_FILENO, check_owner, path, 0), "");
    assert_string_equal(printed(STDERR_FILENO, check_owner, (char *)"/missing", 0), "");
    assert_string_equal(printed(STDERR_FILENO, check_owner, (char *)"/", 0), ""); /* of root */
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, 54321, 0), 0);
    const char *said = printed(STDERR_FILENO, check_owner, path, -EPERM);
    assert_non_null(strstr(said, "is of user 54321, who may have put anything there"));
    assert_int_equal(chmod(root, 0755), 0);
    assert_int_equal(seteuid(54321), 0); /* this user owns everything but what root made */
    int own = leftover_check_owner(path), roots = leftover_check_owner("/");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(own, 0);
    assert_int_equal(roots, 0);
}

/* ---- what is said ---- */

static int list_all(void *ctx) {
    struct leftover *list;
    size_t n = find(&list);
    (void)ctx;
    int r = leftovers_list(list, n);
    free(list);
    return r;
}

static int list_theirs(void *ctx) {
    const struct leftover theirs = {.path = "/tmp/x", .foreign = true, .owner = 54321};
    (void)ctx;
    return leftovers_list(&theirs, 1);
}

static void each_is_one_line_with_what_it_holds(void **state) {
    (void)state;
    char expected[800];
    assert_string_equal(printed(STDOUT_FILENO, list_all, NULL, 0), "nothing was left behind\n");
    plant("chokepoint-spool-aaaaaa", 12, 86400);
    int fd = open(plant("chokepoint-spool-bbb\nbb", 3, 172800 + 3660), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    snprintf(expected, sizeof expected,
             "%s/chokepoint-spool-aaaaaa  1 files, 12 bytes, last written 1970-01-02 00:00\n"
             "%s/chokepoint-spool-bbb?bb  1 files, 3 bytes, last written 1970-01-03 01:01, "
             "in use\n",
             root, root);
    assert_string_equal(printed(STDOUT_FILENO, list_all, NULL, 0), expected);
    close(fd);
    assert_string_equal(printed(STDOUT_FILENO, list_theirs, NULL, 0),
                        "/tmp/x  of user 54321, for whom it is left\n");
}

/* ---- removing ---- */

static struct leftover *found;
static size_t n_found;

static int remove_found(void *days) {
    return leftovers_remove(found, n_found, *(uint64_t *)days);
}

static const char *remove_older(uint64_t days, int expected) {
    return printed(STDOUT_FILENO, remove_found, &days, expected);
}

static bool is_there(const char *name) {
    struct stat st;
    return lstat(at(name), &st) == 0;
}

static void what_is_old_and_held_by_nobody_is_removed(void **state) {
    (void)state;
    int64_t now_s = time(NULL);
    plant("chokepoint-spool-oldest", 1, now_s - 9 * DAY_S);
    plant("chokepoint-spool-recent", 1, now_s - 7 * DAY_S + 100);
    assert_int_equal(symlink("0123", at("chokepoint-spool-oldest/" SPOOL_RUN_LINK)), 0);
    set_time(at("chokepoint-spool-oldest"), now_s - 9 * DAY_S);
    int fd = open(plant("chokepoint-spool-heldxx", 1, 1), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    n_found = find(&found);
    assert_int_equal(n_found, 3);
    const char *said = remove_older(7, 0);
    assert_int_equal(strncmp(said, "removed ", 8), 0);
    assert_non_null(strstr(said, "spool-oldest  1 files"));
    assert_null(strstr(said, "recent"));
    assert_null(strstr(said, "held"));
    assert_null(strstr(said, "nothing"));
    assert_false(is_there("chokepoint-spool-oldest"));
    assert_true(is_there("chokepoint-spool-recent/" SEGMENT));
    assert_true(is_there("chokepoint-spool-heldxx/" SEGMENT));
    close(fd);
    free(found);
    n_found = find(&found);
    assert_string_equal(remove_older(36500, 0),
                        "nothing older than 36500 days that no agent holds was left behind\n");
    free(found);
}

static void what_is_no_segment_stays_and_its_directory(void **state) {
    (void)state;
    plant("chokepoint-spool-aaaaaa", 1, 1);
    write_file(at("chokepoint-spool-aaaaaa/notes.txt"), 1, 1);
    set_time(at("chokepoint-spool-aaaaaa"), 1);
    n_found = find(&found);
    assert_string_equal(remove_older(7, 2), "");
    assert_true(is_there("chokepoint-spool-aaaaaa/notes.txt"));
    assert_false(is_there("chokepoint-spool-aaaaaa/" SEGMENT));
    free(found);
}

static void what_changed_since_it_was_found_stays(void **state) {
    (void)state;
    plant("chokepoint-spool-aaaaaa", 1, 1);
    n_found = find(&found);
    set_time(at("chokepoint-spool-aaaaaa/" SEGMENT), 5); /* an agent has begun to write */
    assert_string_equal(remove_older(7, 2), "");
    set_time(at("chokepoint-spool-aaaaaa/" SEGMENT), 1);
    int fd = open(at("chokepoint-spool-aaaaaa"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_string_equal(remove_older(7, 2), "");
    close(fd);
    int end;
    pid_t pid = start_with_word(at("chokepoint-spool-aaaaaa"), &end);
    assert_string_equal(remove_older(7, 2), "");
    close(end);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(is_there("chokepoint-spool-aaaaaa/" SEGMENT));
    found[0].foreign = true;
    assert_non_null(strstr(remove_older(7, 0), "nothing older"));
    assert_true(is_there("chokepoint-spool-aaaaaa/" SEGMENT));
    found[0].foreign = false;
    assert_non_null(strstr(remove_older(7, 0), "removed "));
    assert_false(is_there("chokepoint-spool-aaaaaa"));
    free(found);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_directories_with_an_agents_name_are_found_the_oldest_first),
        TEST(without_a_place_agents_own_places_are_searched_each_once),
        TEST(segments_alone_are_counted),
        TEST(who_locks_it_or_has_it_in_its_command_line_holds_it),
        TEST(another_users_is_listed_and_not_looked_into),
        TEST(an_own_one_that_cannot_be_read_is_not_anothers),
        TEST(files_of_another_user_are_not_brought_in),
        TEST(each_is_one_line_with_what_it_holds),
        TEST(what_is_old_and_held_by_nobody_is_removed),
        TEST(what_is_no_segment_stays_and_its_directory),
        TEST(what_changed_since_it_was_found_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
