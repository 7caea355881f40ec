/* SPDX-License-Identifier: MIT */
/* The relay, and the output of a launcher, which a shell replaces. */
#include "agent/relay/relay.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/files.h"

#include "common/error.h"

static char directory[] = "/tmp/chokepoint-relay-test-XXXXXX";

static enum relay_place hear(struct relay *relay, const char *script) {
    const char *const words[] = {"sh", "-c", script, NULL};
    *relay = (struct relay){.host = "vm2", .to = -1, .directory = directory};
    buffer_init(&relay->in);
    assert_int_equal(relay_start(relay, (char *const *)words), 0);
    return relay_handshake(relay);
}

static int finish(struct relay *relay) {
    relay_close_input(relay);
    int status = relay_finish(relay);
    close(relay->from);
    close(relay->signal_fd);
    buffer_release(&relay->in);
    return status;
}

/* Expected values are those of cksum(1). */
static void checksums_are_those_of_cksum(void **state) {
    (void)state;
    char digits[] = "123456789";
    const struct program programs[] = {{digits, 4}, {NULL, 0}, {digits + 4, 5}};
    assert_int_equal(relay_cksum(programs, 0), 4294967295u);
    assert_int_equal(relay_cksum(programs, 3), 930766865u);
}

static void noise_is_passed_over(void **state) {
    (void)state;
    struct relay relay;
    assert_int_equal(hear(&relay,
                          "echo Welcome; printf 'chokepoint-agent\\nchokepoint-agent "
                          "installed too\\n'; echo chokepoint-agent delivered; printf rest"),
                     RELAY_DELIVERED);
    while (relay.in.size < 4)
        assert_int_equal(relay_read(&relay, 4), 0);
    assert_memory_equal(relay.in.data, "rest", 4);
    assert_int_equal(finish(&relay), 0);
}

/* A terminal's title and a prompt before our line, and our own words in other output. */
static void noise_may_be_in_our_line(void **state) {
    (void)state;
    struct relay relay;
    assert_int_equal(hear(&relay, "printf '\\033]0;vm2\\007$ '; echo chokepoint-agent installed"),
                     RELAY_NOWHERE); /* the key was looked for and is not there */
    assert_int_equal(finish(&relay), 0);
    assert_int_equal(hear(&relay, "printf 'your chokepoint-agent is old'; "
                                  "echo chokepoint-agent delivered; printf rest"),
                     RELAY_DELIVERED);
    finish(&relay);
}

static void noise_without_end_is_bounded(void **state) {
    (void)state;
    struct relay relay;
    assert_int_equal(hear(&relay, "exec 2>/dev/null; head -c 1000000 /dev/zero; echo; "
                                  "echo chokepoint-agent delivered; sleep 0"),
                     RELAY_NOWHERE);
    finish(&relay);
    assert_int_equal(hear(&relay, "yes | head -c 1000000; echo chokepoint-agent delivered"),
                     RELAY_NOWHERE);
    finish(&relay);
}

/* ssh makes the standard error non-blocking that it shares with the relay: here it is full before
 * it is read.
 */
static void noise_waits_for_its_reader(void **state) {
    (void)state;
    struct relay relay;
    int fds[2], full = 0, old = dup(STDERR_FILENO);
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    int capacity = fcntl(fds[1], F_SETPIPE_SZ, 4096);
    pid_t reader = fork();
    if (reader == 0) {
        char bytes[4096];
        close(fds[1]);
        while (full < capacity && ioctl(fds[0], FIONREAD, &full) == 0)
            usleep(1000);
        close(old);
        close(STDERR_FILENO);
        fcntl(fds[0], F_SETFL, 0);
        while (read(fds[0], bytes, sizeof bytes) > 0)
            ;
        _exit(0);
    }
    dup2(fds[1], STDERR_FILENO);
    enum relay_place place =
        hear(&relay, "yes | head -c 100000; echo chokepoint-agent delivered; yes | head -c 100000");
    int status = finish(&relay);
    dup2(old, STDERR_FILENO);
    close(old);
    close(fds[0]);
    close(fds[1]);
    waitpid(reader, NULL, 0);
    assert_int_equal(place, RELAY_DELIVERED);
    assert_int_equal(status, 0);
}

static void the_program_arrives_whole(void **state) {
    (void)state;
    struct relay relay;
    char path[100], script[1000];
    snprintf(path, sizeof path, "%s/here", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/chokepoint-agent");
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    for (int i = 0; i < 300000; i++)
        fputc(i * 7 % 251, file);
    assert_int_equal(fclose(file), 0);
    snprintf(script, sizeof script,
             "echo chokepoint-agent needs here; read -r size shim sum; head -c $size >%s.copy; "
             "[ $shim = 0 ] && [ \"$(cksum <%s.copy)\" = \"$sum $size\" ] && cmp %s %s.copy && "
             "echo chokepoint-agent delivered; exit 4",
             path, path, path, path);
    assert_int_equal(hear(&relay, script), RELAY_DELIVERED);
    assert_int_equal(finish(&relay), 4);
}

/* Names that lead out of the folder, that do not exist, or that are no names. */
static void nothing_else_is_sent(void **state) {
    (void)state;
    static const char *const names[] = {
        "../here", "nowhere", "", "a/b", ".", "0123456789012345678901234567890123456789"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct relay relay;
        char script[200];
        snprintf(script, sizeof script,
                 "echo 'chokepoint-agent needs %s'; [ -z \"$(head -c 1)\" ] || exit 9", names[i]);
        assert_int_equal(hear(&relay, script), RELAY_NOWHERE);
        assert_int_equal(finish(&relay), 0);
    }
}

static void a_launcher_that_ends_is_no_host(void **state) {
    (void)state;
    struct relay relay;
    assert_int_equal(hear(&relay, "exit 255"), RELAY_NOWHERE);
    assert_int_equal(finish(&relay), 255);
    assert_int_equal(hear(&relay, "echo chokepoint-agent needs here; exit 3"), RELAY_NOWHERE);
    assert_int_equal(finish(&relay), 3);
    assert_int_equal(hear(&relay, "kill -9 $$"), RELAY_NOWHERE);
    assert_int_equal(finish(&relay), 137);
}

static int set_up(void **state) {
    (void)state;
    /* output that is passed on would only disturb */
    return mkdtemp(directory) && freopen("/dev/null", "we", stderr) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    return folder_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_those_of_cksum),
        cmocka_unit_test(noise_is_passed_over),
        cmocka_unit_test(noise_may_be_in_our_line),
        cmocka_unit_test(noise_without_end_is_bounded),
        cmocka_unit_test(noise_waits_for_its_reader),
        cmocka_unit_test(the_program_arrives_whole),
        cmocka_unit_test(nothing_else_is_sent),
        cmocka_unit_test(a_launcher_that_ends_is_no_host),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
