/* SPDX-License-Identifier: MIT */
/* A supervised process, and the consequences of its end, whatever caused it. Events are recorded in
 * memory that all processes share.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/supervise/supervise.h"

struct shared {
    atomic_int starts, tidied, settled, said, child, grandchild;
    int die_until; /* starts that end by a signal */
    int status;    /* of the start that does not */
    int stop_at;   /* the message at which the supervisor is told to stop; 0: none */
    bool wait;     /* for SIGTERM first */
};

static int play_child(void *ctx) {
    struct shared *shared = ctx;
    sigset_t set;
    int signal;
    int start = atomic_fetch_add(&shared->starts, 1) + 1;
    atomic_store(&shared->grandchild, getpid());
    if (start <= shared->die_until)
        raise(SIGKILL);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    if (shared->wait)
        sigwait(&set, &signal);
    return shared->status;
}

static void play_settle(void *ctx) {
    atomic_fetch_add(&((struct shared *)ctx)->settled, 1);
}

static void play_tidy(void *ctx) {
    atomic_fetch_add(&((struct shared *)ctx)->tidied, 1);
}

static void play_say(void *ctx, const char *text) {
    struct shared *shared = ctx;
    (void)text;
    if (atomic_fetch_add(&shared->said, 1) + 1 == shared->stop_at)
        raise(SIGTERM);
}

static pid_t start(struct shared *shared) {
    struct supervisor_config config = {.child = play_child,
                                       .settle = play_settle,
                                       .tidy = play_tidy,
                                       .say = play_say,
                                       .ctx = shared,
                                       .pause_ms = 1};
    pid_t pid = fork();
    if (pid == 0) {
        int status = supervise(&config);
        _exit(status);
    }
    assert_true(pid > 0);
    return pid;
}

static int status_of(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void until_set(atomic_int *value, int least) {
    for (int i = 0; i < 5000 && atomic_load(value) < least; i++)
        usleep(2000);
    assert_true(atomic_load(value) >= least);
}

static bool ends(pid_t pid) {
    for (int i = 0; i < 5000; i++) {
        if (kill(pid, 0) < 0 && errno == ESRCH)
            return true;
        usleep(2000);
    }
    return false;
}

static int set_up(void **state) {
    *state = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    return *state == MAP_FAILED ? -1 : 0;
}

static int tear_down(void **state) {
    return munmap(*state, sizeof(struct shared));
}

static void the_childs_status_is_passed_on(void **state) {
    struct shared *shared = *state;
    shared->status = 3;
    assert_int_equal(status_of(start(shared)), 3);
    assert_int_equal(shared->starts, 1);
    assert_int_equal(shared->settled, 1);
    assert_int_equal(shared->tidied, 1);
    assert_int_equal(shared->said, 0);
}

static void a_child_that_a_signal_killed_is_started_again(void **state) {
    struct shared *shared = *state;
    shared->die_until = 4;
    assert_int_equal(status_of(start(shared)), 0);
    assert_int_equal(shared->starts, 5);
    assert_int_equal(shared->settled, 1);
    assert_int_equal(shared->said, 4);
    assert_int_equal(shared->tidied, 1);
}

static void a_child_that_dies_again_and_again_is_started_ever_again(void **state) {
    struct shared *shared = *state;
    shared->die_until = 12;
    assert_int_equal(status_of(start(shared)), 0);
    assert_int_equal(shared->starts, 13);
    assert_int_equal(shared->said, 5); /* not every time */
    assert_int_equal(shared->tidied, 1);
}

/* The stop comes when the second death is reported. A third child takes what programs have reported
 * since, and is told to end.
 */
static void a_stop_between_two_children_starts_one_that_takes_what_is_there(void **state) {
    struct shared *shared = *state;
    shared->die_until = 2;
    shared->stop_at = 2;
    shared->wait = true;
    shared->status = 7;
    assert_int_equal(status_of(start(shared)), 7);
    assert_int_equal(shared->starts, 3);
}

static void one_that_is_not_started_yet_needs_no_end(void **state) {
    struct shared *shared = *state;
    shared->die_until = 1000;
    pid_t pid = start(shared);
    until_set(&shared->starts, 3);
    kill(pid, SIGTERM);
    assert_int_equal(status_of(pid), 1);
    assert_int_equal(shared->tidied, 1);
}

static void a_signal_becomes_a_sigterm_and_the_end_is_awaited(void **state) {
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    struct shared *shared = *state;
    shared->wait = true;
    shared->status = 7;
    for (int i = 0; i < 3; i++) {
        pid_t pid = start(shared);
        until_set(&shared->starts, i + 1);
        kill(pid, signals[i]);
        assert_int_equal(status_of(pid), 7);
        assert_int_equal(shared->tidied, i + 1);
    }
}

static void a_child_killed_while_stopping_is_not_started_again(void **state) {
    struct shared *shared = *state;
    shared->wait = true;
    pid_t pid = start(shared);
    until_set(&shared->starts, 1);
    kill(shared->grandchild, SIGSTOP);
    kill(pid, SIGTERM);
    usleep(20000); /* the test holds whichever of the two it sees first */
    kill(shared->grandchild, SIGKILL);
    int status = status_of(pid);
    assert_true(status == 1 || status == 0);
    assert_true(shared->starts <= 2);
}

static void the_death_of_the_starter_ends_both(void **state) {
    struct shared *shared = *state;
    shared->wait = true;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t starter = fork();
    if (starter == 0) {
        atomic_store(&shared->child, start(shared));
        pause();
        _exit(0);
    }
    until_set(&shared->child, 1);
    until_set(&shared->starts, 1);
    kill(starter, SIGKILL);
    assert_int_equal(waitpid(starter, NULL, 0), starter);
    assert_int_equal(waitpid(shared->child, NULL, 0), shared->child);
    assert_int_equal(shared->tidied, 1);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void the_child_of_a_killed_supervisor_ends_and_tidies(void **state) {
    struct shared *shared = *state;
    shared->wait = true;
    pid_t pid = start(shared);
    until_set(&shared->starts, 1);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    until_set(&shared->tidied, 1);
    assert_true(ends(shared->grandchild));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_childs_status_is_passed_on),
        TEST(a_child_that_a_signal_killed_is_started_again),
        TEST(a_child_that_dies_again_and_again_is_started_ever_again),
        TEST(a_stop_between_two_children_starts_one_that_takes_what_is_there),
        TEST(one_that_is_not_started_yet_needs_no_end),
        TEST(a_signal_becomes_a_sigterm_and_the_end_is_awaited),
        TEST(a_child_killed_while_stopping_is_not_started_again),
        TEST(the_death_of_the_starter_ends_both),
        TEST(the_child_of_a_killed_supervisor_ends_and_tidies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
