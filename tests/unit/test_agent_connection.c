/* SPDX-License-Identifier: MIT */
/*
 * How often the connection probe looks into the files of the job's processes. The processes are
 * planted: a watch of each one's directory of files counts how often it is opened.
 */
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/probes/probes.h"
#include "tests/unit/probe_test.h"

#define PROCESSES 100
#define FIRST_PID 1000

struct place {
    struct tree tree;
    struct harness h;
    int watches;
};

static void tell_opens(const struct place *place, int opened) {
    char text[120];
    snprintf(text, sizeof text, "Tcp: ActiveOpens PassiveOpens\nTcp: %d 0\n", opened);
    tree_write(&place->tree, "proc/net/snmp", text);
}

static void plant_process(struct place *place, int i) {
    struct job_process process = {.pid = FIRST_PID + i, .rank = i};
    char path[300];
    snprintf(path, sizeof path, "proc/%d/fd/0", process.pid);
    tree_write(&place->tree, path, "");
    snprintf(path, sizeof path, "%s/proc/%d/fd", place->tree.path, process.pid);
    assert_true(inotify_add_watch(place->watches, path, IN_OPEN | IN_ONLYDIR) >= 0);
    assert_true(job_set(&place->h.job, (size_t)i, &process));
}

static void place_make(struct place *place) {
    memset(place, 0, sizeof *place);
    tree_make(&place->tree, NULL);
    tell_opens(place, 1);
    place->watches = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (place->watches < 0)
        skip(); /* other programs use up the user's watches */
    assert_int_equal(harness_init(&place->h, "", SCOPE_HOST), 0);
    snprintf(place->h.proc, sizeof place->h.proc, "%s/proc", place->tree.path);
    place->h.env.run_token_id = "r";
    for (int i = 0; i < PROCESSES; i++)
        plant_process(place, i);
    job_end(&place->h.job, PROCESSES);
    if (harness_open(&place->h, &probe_connection) == PROBE_ABSENT)
        skip();
}

static void place_remove(struct place *place) {
    harness_close(&place->h);
    close(place->watches);
    tree_remove(&place->tree);
}

/* How many directories the next samples open. */
static size_t opened_by(struct place *place, int samples) {
    _Alignas(struct inotify_event) char events[65536];
    size_t n = 0;
    ssize_t got;
    for (int i = 0; i < samples; i++)
        assert_int_equal(harness_sample(&place->h), 0);
    while ((got = read(place->watches, events, sizeof events)) > 0)
        for (ssize_t at = 0; at < got;) {
            const struct inotify_event *event = (const void *)(events + at);
            n += !event->len || !*event->name; /* the directory itself */
            at += (ssize_t)(sizeof *event + event->len);
        }
    return n;
}

/* A network of this process alone, so that no other program's connection is seen. */
static bool enter_network(void) {
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return false;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    bool up = ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;
    close(fd);
    return up;
}

static void connect_ends(int ends[3]) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(ends[0], (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(ends[0], 1), 0);
    getsockname(ends[0], (struct sockaddr *)&at, &size);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(ends[1], (struct sockaddr *)&at, sizeof at), 0);
    ends[2] = accept(ends[0], NULL, NULL);
}

static void files_are_looked_at_only_when_there_is_a_connection(void **state) {
    struct place place;
    int ends[3], others[3];
    (void)state;
    if (!enter_network())
        skip();
    place_make(&place);
    opened_by(&place, 1);
    assert_int_equal(opened_by(&place, 200), 0);
    connect_ends(ends);
    tell_opens(&place, 3);
    assert_in_range(opened_by(&place, 4), PROCESSES, 2 * PROCESSES);
    /* nothing new: one round over all processes in 64 samples, as the sockets might be handed on */
    assert_in_range(opened_by(&place, 640), 9 * PROCESSES, 11 * PROCESSES);
    assert_in_range(opened_by(&place, 1), 0, 3);
    /* others connect: processes that have no connection and opened no file are left out */
    connect_ends(others);
    tell_opens(&place, 5);
    assert_in_range(opened_by(&place, 4), 0, PROCESSES); /* the round has just begun */
    for (int i = 0; i < 3; i++)
        close(others[i]);
    connect_ends(others);
    tell_opens(&place, 7);
    assert_in_range(opened_by(&place, 4), 0, 12);
    for (int i = 0; i < 3; i++) {
        close(ends[i]);
        close(others[i]);
    }
    place_remove(&place);
}

/* A process that opens its first connection when it is told to, and ends when `orders` does. */
static int32_t start_client(const int orders[2], const int answers[2],
                            const struct sockaddr_in *at) {
    int32_t pid = fork();
    if (pid)
        return pid;
    char byte;
    for (int fd = 3; fd < 256; fd++)
        if (fd != orders[0] && fd != answers[1])
            close(fd);
    if (read(orders[0], &byte, 1) == 1) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)at, sizeof *at) == 0)
            (void)!write(answers[1], "", 1);
        (void)!read(orders[0], &byte, 1);
    }
    _exit(0);
}

static void the_first_connection_of_a_process_gets_it_at_once(void **state) {
    static struct harness h;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int orders[2], answers[2], ends[3], listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool found = false;
    char byte;
    (void)state;
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 1), 0);
    getsockname(listener, (struct sockaddr *)&at, &size);
    assert_int_equal(pipe(orders) | pipe(answers), 0);
    struct job_process client = {.pid = start_client(orders, answers, &at), .rank = 7};
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    h.env.run_token_id = "r";
    job_set(&h.job, 0, &client);
    job_end(&h.job, 1);
    if (harness_open(&h, &probe_connection) == PROBE_ABSENT)
        skip();
    connect_ends(ends); /* of this process, which is not of the job */
    for (int i = 0; i < 5; i++)
        assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 0);
    assert_int_equal(write(orders[1], "", 1), 1);
    assert_int_equal(read(answers[0], &byte, 1), 1);
    assert_int_equal(harness_sample(&h), 0);
    for (size_t i = 0; i < h.rows.n; i++)
        found |= h.rows.items[i].values[CONNECTION_PID] == client.pid;
    assert_true(found);
    close(orders[1]);
    for (int i = 0; i < 3; i++)
        close(ends[i]);
    close(listener);
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_connection_of_a_process_gets_it_at_once),
        cmocka_unit_test(files_are_looked_at_only_when_there_is_a_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
