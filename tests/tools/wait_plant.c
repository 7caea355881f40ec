/* SPDX-License-Identifier: MIT */
/*
 * wait-plant KIND [FILE]: waits in one way, ROUNDS times PAUSE_MS each, and prints "KIND PID
 * OTHER_PID LEAST MOST PORT": for how many ns it was blocked by its own measure. MOST is the wall
 * time of the blocking calls without its time on a core; LEAST also excludes its time ready to run.
 */
#include "tests/tools/plant.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BLOCK_BYTES ((size_t)1 << 20)

static void report(const char *kind, pid_t other, int port) {
    printf("%s %d %d %" PRId64 " %" PRId64 " %d\n", kind, getpid(), other, blocked_ns - queued_ns,
           blocked_ns, port);
    fflush(stdout);
}

/* ---- plants ---- */

/* Another process writes a byte now and then. */
static void read_slowly_fed(const char *kind, int in, int out, bool polls, int port) {
    char byte = 0;
    pid_t feeder = fork();
    if (feeder == 0) {
        for (int i = 0; i < ROUNDS; i++) {
            pause_ms(PAUSE_MS);
            if (write(out, &byte, 1) != 1)
                _exit(1);
        }
        pause_ms(PAUSE_MS);
        _exit(0);
    }
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event);
    for (int i = 0; i < ROUNDS; i++) {
        begin();
        if (polls && epoll_wait(epoll, &event, 1, -1) != 1)
            fail("epoll_wait");
        if (polls)
            end();
        if (read(in, &byte, 1) != 1)
            fail("read");
        if (!polls)
            end();
    }
    report(kind, feeder, port);
    waitpid(feeder, NULL, 0);
}

/* It reads data late that arrived long before. */
static void read_late(const char *kind) {
    int ends[2];
    char byte = 0;
    tcp_pair(ends);
    if (write(ends[0], &byte, 1) != 1 || read(ends[1], &byte, 1) != 1) /* the connection is known
                                                                          from now on */
        fail("write");
    for (int i = 0; i < ROUNDS; i++) {
        if (write(ends[0], &byte, 1) != 1)
            fail("write");
        int64_t there_ns = clock_ns(CLOCK_MONOTONIC);
        pause_ms(PAUSE_MS);
        if (read(ends[1], &byte, 1) != 1)
            fail("read");
        blocked_ns += clock_ns(CLOCK_MONOTONIC) - there_ns;
    }
    report(kind, 0, port_of(ends[1]));
    pause_ms(3 * PAUSE_MS);
}

/* It sends, and no process reads for a while. */
static void send_unread(const char *kind) {
    int ends[2], small = 16384;
    static char block[BLOCK_BYTES];
    tcp_pair(ends);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    pid_t reader = fork();
    if (reader == 0) {
        for (size_t sum = 0; sum < 4 * BLOCK_BYTES;) {
            pause_ms(PAUSE_MS / 4);
            ssize_t n = read(ends[1], block, 65536);
            sum += n > 0 ? (size_t)n : BLOCK_BYTES;
        }
        _exit(0);
    }
    for (int i = 0; i < 4; i++) {
        begin();
        for (size_t sent = 0; sent < BLOCK_BYTES;) {
            ssize_t n = write(ends[0], block + sent, BLOCK_BYTES - sent);
            if (n <= 0)
                fail("write");
            sent += (size_t)n;
        }
        end();
    }
    report(kind, reader, port_of(ends[0]));
    waitpid(reader, NULL, 0);
}

/* Another process holds a lock that it wants. */
static void want_lock(const char *kind) {
    pthread_mutex_t *lock =
        mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attribute;
    pthread_mutexattr_init(&attribute);
    pthread_mutexattr_setpshared(&attribute, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(lock, &attribute);
    int taken[2], again[2];
    char byte = 0;
    if (pipe(taken) < 0 || pipe(again) < 0)
        fail("pipe");
    pid_t holder = fork();
    if (holder == 0) {
        for (int i = 0; i < ROUNDS; i++) {
            pthread_mutex_lock(lock);
            if (write(taken[1], &byte, 1) != 1)
                _exit(1);
            pause_ms(PAUSE_MS);
            pthread_mutex_unlock(lock);
            if (read(again[0], &byte, 1) != 1)
                _exit(1);
        }
        pause_ms(3 * PAUSE_MS);
        _exit(0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (read(taken[0], &byte, 1) != 1)
            fail("read");
        begin();
        pthread_mutex_lock(lock);
        end();
        pthread_mutex_unlock(lock);
        if (write(again[1], &byte, 1) != 1)
            fail("write");
    }
    report(kind, holder, 0);
    waitpid(holder, NULL, 0);
}

static void sleep_often(const char *kind) {
    int never[2];
    begin();
    for (int i = 0; i < ROUNDS; i++)
        pause_ms(PAUSE_MS);
    end();
    report(kind, 0, 0);
    struct pollfd nothing = {.fd = pipe(never) < 0 ? -1 : never[0], .events = POLLIN};
    poll(&nothing, 1, 3 * PAUSE_MS); /* no sleep is clocked until it has been seen */
}

static void await_children(const char *kind) {
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child = fork();
        if (child == 0) {
            pause_ms(PAUSE_MS);
            _exit(0);
        }
        begin();
        waitpid(child, NULL, 0);
        end();
    }
    report(kind, 0, 0);
    pause_ms(3 * PAUSE_MS);
}

/* Another process stops it, measures, and reports its id. */
static void be_stopped(const char *kind) {
    int64_t least_ns = 0;
    pid_t stopped = fork();
    if (stopped == 0)
        for (;;)
            pause_ms(1000);
    pause_ms(5 * PAUSE_MS); /* long enough to be seen */
    for (int i = 0; i < ROUNDS; i++) {
        int status;
        int64_t before_ns = clock_ns(CLOCK_MONOTONIC);
        kill(stopped, SIGSTOP);
        while (waitpid(stopped, &status, WUNTRACED) == stopped && !WIFSTOPPED(status))
            ;
        int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
        pause_ms(PAUSE_MS);
        int64_t end_ns = clock_ns(CLOCK_MONOTONIC);
        kill(stopped, SIGCONT);
        blocked_ns += clock_ns(CLOCK_MONOTONIC) - before_ns;
        least_ns += end_ns - start_ns;
        pause_ms(2);
    }
    printf("%s %d %d %" PRId64 " %" PRId64 " 0\n", kind, stopped, getpid(), least_ns, blocked_ns);
    fflush(stdout);
    pause_ms(3 * PAUSE_MS);
    kill(stopped, SIGKILL);
    waitpid(stopped, NULL, 0);
}

/* Reads past the page cache, from a throttled device. */
static void read_disk(const char *kind, const char *path) {
    void *block;
    int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0 || posix_memalign(&block, 4096, BLOCK_BYTES) != 0)
        fail(path);
    begin();
    for (int i = 0; i < ROUNDS; i++)
        if (read(fd, block, BLOCK_BYTES / 8) <= 0)
            fail("read");
    end();
    report(kind, 0, 0);
    pause_ms(3 * PAUSE_MS);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    int ends[2];
    if (strcmp(kind, "starved") == 0 || strcmp(kind, "polled") == 0) {
        tcp_pair(ends);
        read_slowly_fed(kind, ends[1], ends[0], kind[0] == 'p', port_of(ends[1]));
    } else if (strcmp(kind, "pipe") == 0 && pipe(ends) == 0)
        read_slowly_fed(kind, ends[0], ends[1], false, 0);
    else if (strcmp(kind, "unix") == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
        read_slowly_fed(kind, ends[0], ends[1], false, 0);
    else if (strcmp(kind, "unread") == 0)
        read_late(kind);
    else if (strcmp(kind, "send") == 0)
        send_unread(kind);
    else if (strcmp(kind, "lock") == 0)
        want_lock(kind);
    else if (strcmp(kind, "timer") == 0)
        sleep_often(kind);
    else if (strcmp(kind, "child") == 0)
        await_children(kind);
    else if (strcmp(kind, "stopped") == 0)
        be_stopped(kind);
    else if (strcmp(kind, "disk") == 0 && argc == 3)
        read_disk(kind, argv[2]);
    else {
        fprintf(stderr, "usage: wait-plant starved|polled|pipe|unix|unread|send|lock|timer|child|"
                        "stopped|disk FILE\n");
        return 2;
    }
    return 0;
}
