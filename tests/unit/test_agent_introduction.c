/* SPDX-License-Identifier: MIT */
/* An agent describes its host before it samples: which library may be preloaded, or why none. The
 * agent is a copy of this test's program, with or without a library beside it or at its end.
 */
#include "agent/introduction.h"
#include "common/mpi_library.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#define NAME "libchokepoint-mpi.so"
#define LIBRARY "an ELF chokepoint-mpi " CHOKEPOINT_VERSION "\0 and more"
#define SAY "chokepoint-agent: "

struct place {
    char root[64], agent[100], beside[100], home[300];
};

/* Copies this program as the agent, with these bytes at its end. */
static void copy_self(const char *path, const char *end, size_t size) {
    struct stat st;
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
        to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    assert_int_equal(fstat(from, &st), 0);
    for (off_t left = st.st_size; left > 0;) {
        ssize_t n = sendfile(to, from, NULL, (size_t)left);
        assert_true(n > 0);
        left -= n;
    }
    assert_int_equal(write(to, end, size), size);
    close(from);
    close(to);
}

static int make(void **state) {
    static struct place place;
    umask(022);
    strcpy(place.root, "/tmp/chokepoint-introduction-test-XXXXXX");
    assert_non_null(mkdtemp(place.root));
    snprintf(place.agent, sizeof place.agent, "%s/agent", place.root);
    snprintf(place.beside, sizeof place.beside, "%s/" NAME, place.root);
    snprintf(place.home, sizeof place.home, "%s/.cache/chokepoint/0123456789abcdef/" NAME,
             place.root);
    copy_self(place.agent, LIBRARY, sizeof LIBRARY);
    *state = &place;
    return 0;
}

static int clean(void **state) {
    const struct place *place = *state;
    return folder_remove(place->root);
}

/* ---- the agent ---- */

/* "library PATH SIZE CAME" or "spool PATH". */
static int be_agent(char **words) {
    if (strcmp(words[1], "spool") == 0)
        return introduce_spool(words[2]), 0;
    struct agent_options options = {.library = words[2][0] ? words[2] : NULL,
                                    .library_size = strtoull(words[3], NULL, 10),
                                    .delivered = words[4][0] ? words[4] : NULL};
    introduce_library(&options);
    return 0;
}

/* All that it writes to standard error. */
static const char *hear(const struct place *place, const char *const *words) {
    static char text[1000];
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        execv(place->agent, (char *const *)words);
        _exit(127);
    }
    close(fds[1]);
    size_t n = 0;
    for (ssize_t got; (got = read(fds[0], text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return text;
}

static const char *hear_library(const struct place *place, const char *path, size_t size,
                                const char *came) {
    char number[24];
    snprintf(number, sizeof number, "%zu", size);
    return hear(place, (const char *[]){"agent", "library", path, number, came, NULL});
}

/* The line that says that the library may be preloaded from there. */
static const char *confirmed(const char *path) {
    static char line[1000];
    char host[100], boot[64];
    uint64_t digest;
    file_read_line("/proc/sys/kernel/hostname", host, sizeof host);
    file_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    assert_int_equal(mpi_library_digest(path, &digest), 0);
    snprintf(line, sizeof line, SAY "library %016" PRIx64 " %s@%s %s\n", digest, host, boot, path);
    return line;
}

static const char *refused(const char *path, const char *why) {
    static char line[1000];
    snprintf(line, sizeof line, SAY "no library %s: %s\n", path, why);
    return line;
}

/* ---- an agent that is installed ---- */

static void an_agent_tells_the_library_beside_it(void **state) {
    const struct place *place = *state;
    assert_string_equal(hear_library(place, "/home/library", 0, ""),
                        SAY "no library " NAME " is not there\n");
    file_write(place->beside, LIBRARY, sizeof LIBRARY, 0);
    const char *said = hear_library(place, "/home/library", sizeof LIBRARY, "");
    assert_string_equal(said, confirmed(place->beside));
    assert_string_equal(hear_library(place, "", 0, ""), ""); /* not asked for */
}

static void a_library_that_may_not_be_preloaded_is_told_with_its_reason(void **state) {
    const struct place *place = *state;
    file_write(place->beside, "chokepoint-mpi 0.0", 19, 0);
    assert_string_equal(hear_library(place, "/home/library", 0, ""),
                        refused(place->beside, "it is of another version"));
    file_write(place->beside, LIBRARY, sizeof LIBRARY, 0);
    assert_int_equal(chmod(place->beside, 0666), 0);
    assert_string_equal(hear_library(place, "/home/library", 0, ""),
                        refused(place->beside, "others than you and root may write there"));
}

/* ---- one that was sent ---- */

static void a_library_that_came_is_put_in_its_place_and_told(void **state) {
    const struct place *place = *state;
    struct stat st;
    file_write(place->beside, LIBRARY, sizeof LIBRARY, 0); /* left by an earlier agent */
    const char *said = hear_library(place, place->home, sizeof LIBRARY, "/tmp/d");
    assert_string_equal(said, confirmed(place->home));
    assert_int_equal(stat(place->home, &st), 0);
    assert_int_equal(st.st_size, sizeof LIBRARY);
    char *slash = strrchr(place->home, '/');
    *slash = '\0';
    assert_int_equal(stat(place->home, &st), 0);
    *slash = '/';
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void a_library_that_did_not_come_is_none(void **state) {
    const struct place *place = *state;
    file_write(place->beside, LIBRARY, sizeof LIBRARY, 0);
    assert_string_equal(hear_library(place, place->home, 0, "/tmp/d"),
                        refused(place->home, "No such file or directory"));
    const char *said = hear_library(place, place->home, sizeof LIBRARY - 3, "/tmp/d");
    assert_string_equal(said, confirmed(place->home)); /* the file is unchanged */
    assert_string_equal(hear_library(place, place->home, 5, "/tmp/d"),
                        refused(place->home, "it is of another version"));
}

static void a_place_that_others_may_change_gets_none(void **state) {
    const struct place *place = *state;
    assert_int_equal(chmod(place->root, 0777), 0);
    assert_string_equal(hear_library(place, place->home, sizeof LIBRARY, "/tmp/d"),
                        refused(place->home, "others than you and root may write there"));
    assert_int_equal(access(place->home, F_OK), -1);
}

/* ---- the spool ---- */

static void a_spool_is_told_if_its_name_is_one_line(void **state) {
    const struct place *place = *state;
    assert_string_equal(hear(place, (const char *[]){"agent", "spool", "/tmp/a b", NULL}),
                        SAY "spool /tmp/a b\n");
    assert_string_equal(hear(place, (const char *[]){"agent", "spool", "/tmp/a\nb", NULL}), "");
    assert_string_equal(hear(place, (const char *[]){"agent", "spool", "/tmp/\033[2J", NULL}), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        TEST(an_agent_tells_the_library_beside_it),
        TEST(a_library_that_may_not_be_preloaded_is_told_with_its_reason),
        TEST(a_library_that_came_is_put_in_its_place_and_told),
        TEST(a_library_that_did_not_come_is_none),
        TEST(a_place_that_others_may_change_gets_none),
        TEST(a_spool_is_told_if_its_name_is_one_line),
    };
    return argc > 1 ? be_agent(argv) : cmocka_run_group_tests(tests, NULL, NULL);
}
