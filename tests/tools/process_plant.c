/* SPDX-License-Identifier: MIT */
/*
 * process-plant KIND: a process with several threads or connections that knows how it spent its
 * time. Prints lines "process PID COLUMN LEAST MOST" (ns of its clocks as one process), "life PID
 * LEAST MOST" (of all of them together) and "socket PORT COLUMN LEAST MOST".
 */
#include "tests/tools/plant.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define IDLE_THREADS 8
#define RING 16
#define TOKENS 4
#define RING_NS INT64_C(3000000000)

static void say(const char *what, int64_t of, const char *column, int64_t least, int64_t most) {
    printf("%s %" PRId64 " %s %" PRId64 " %" PRId64 "\n", what, of, column, least, most);
    fflush(stdout);
}

/* Runs the work in a separate process, and measures its life: at least the work, at most until it
 * is gone.
 */
static void live(void (*work)(void)) {
    int done[2];
    int64_t before_ns = clock_ns(CLOCK_MONOTONIC), least_ns = 0;
    if (pipe(done) < 0)
        fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
        work();
        least_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
        exit(write(done[1], &least_ns, sizeof least_ns) != sizeof least_ns);
    }
    if (read(done[0], &least_ns, sizeof least_ns) != sizeof least_ns)
        fail("read");
    waitpid(child, NULL, 0);
    say("life", child, "-", least_ns, clock_ns(CLOCK_MONOTONIC) - before_ns);
}

static void wait_on(int *word, int value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(int *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static pthread_t start(void *(*function)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0)
        fail("pthread_create");
    return thread;
}

/* ---- a pool of which one thread works ---- */

static int never, n_idle;

static void *idle(void *argument) {
    __atomic_fetch_add(&n_idle, 1, __ATOMIC_RELAXED);
    for (;;)
        wait_on(&never, 0);
    return argument;
}

static void compute_ms(long ms) {
    int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
        ;
}

/* Returns how long it was on its core. */
static int64_t compute(void) {
    struct measure before = measure();
    int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    compute_ms(PAUSE_MS);
    int64_t wall_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
    return wall_ns - (measure().queued_ns - before.queued_ns);
}

static void work_beside_idle(void) {
    int64_t computed_ns = 0;
    for (int i = 0; i < IDLE_THREADS; i++)
        start(idle, NULL);
    while (__atomic_load_n(&n_idle, __ATOMIC_RELAXED) < IDLE_THREADS)
        sched_yield();
    computed_ns += compute(); /* the others are at rest by its end */
    for (int i = 0; i < ROUNDS; i++) {
        begin();
        pause_ms(PAUSE_MS);
        end();
        computed_ns += compute();
    }
    say("process", getpid(), "process_timer_ns", blocked_ns - queued_ns, blocked_ns);
    int64_t rest_ns =
        clock_ns(CLOCK_PROCESS_CPUTIME_ID) - (ROUNDS + 1) * PAUSE_MS * INT64_C(1000000);
#ifdef __SANITIZE_ADDRESS__
    rest_ns += PAUSE_MS * INT64_C(1000000); /* the end of a process with shadow memory */
#endif
    say("process", getpid(), "process_run_ns", computed_ns, computed_ns + rest_ns);
    say("process", getpid(), "process_futex_ns", 0, 0);
}

/* ---- a ring of threads that wake each other ---- */

static int words[RING];
static int64_t ring_until_ns;
static long ring_us;

static void *pass_on(void *argument) {
    int *own = argument, *next = own == &words[RING - 1] ? words : own + 1;
    while (clock_ns(CLOCK_MONOTONIC) < ring_until_ns) {
        int had = __atomic_load_n(own, __ATOMIC_ACQUIRE);
        if (had == 0) {
            wait_on(own, 0);
            continue;
        }
        __atomic_fetch_sub(own, 1, __ATOMIC_ACQ_REL);
        int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ring_us * 1000;
        while (ring_us && clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
            ;
        __atomic_fetch_add(next, 1, __ATOMIC_ACQ_REL);
        wake(next);
    }
    __atomic_fetch_add(next, 1, __ATOMIC_ACQ_REL); /* so that none waits for ever */
    wake(next);
    return NULL;
}

static void go_round(void) {
    pthread_t threads[RING];
    ring_until_ns = clock_ns(CLOCK_MONOTONIC) + RING_NS;
    for (int i = 0; i < TOKENS; i++)
        words[i * RING / TOKENS] = 1;
    for (int i = 0; i < RING; i++)
        threads[i] = start(pass_on, &words[i]);
    for (int i = 0; i < RING; i++)
        pthread_join(threads[i], NULL);
}

/* ---- servers with an event loop ---- */

/* Its other process writes to the first `busy` connections at once, now and then. */
static pid_t feed(int (*ends)[2], int busy) {
    char byte = 0;
    pid_t feeder = fork();
    if (feeder != 0)
        return feeder;
    for (int i = 0; i < ROUNDS; i++) {
        pause_ms(PAUSE_MS);
        for (int k = 0; k < busy; k++)
            if (write(ends[k][0], &byte, 1) != 1)
                _exit(1);
    }
    pause_ms(PAUSE_MS);
    _exit(0);
}

/* Waits until all connections that were written to are ready, at most timeout_ms at a time, and
 * reads them in order.
 */
static void serve_round(int epoll, int (*ends)[2], int busy, int timeout_ms) {
    struct epoll_event ready[4];
    char byte;
    begin();
    while (epoll_wait(epoll, ready, 4, timeout_ms) == 0)
        ;
    end();
    pause_ms(5);
    for (int k = 0; k < busy; k++)
        if (read(ends[k][1], &byte, 1) != 1)
            fail("read");
}

static void serve(int connections, int busy, int timeout_ms) {
    int ends[4][2], epoll = epoll_create1(0);
    char byte = 0;
    for (int k = 0; k < connections; k++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = k};
        tcp_pair(ends[k]);
        epoll_ctl(epoll, EPOLL_CTL_ADD, ends[k][1], &event);
        /* Each connection must be known before it counts. */
        if (write(ends[k][0], &byte, 1) != 1 || read(ends[k][1], &byte, 1) != 1)
            fail("write");
    }
    pid_t feeder = feed(ends, busy);
    for (int i = 0; i < ROUNDS; i++)
        serve_round(epoll, ends, busy, timeout_ms);
    say("socket", port_of(ends[0][1]), "starved_ns", blocked_ns - queued_ns, blocked_ns);
    for (int k = 1; k < connections; k++)
        say("socket", port_of(ends[k][1]), "starved_ns", 0, 0);
    pause_ms(3 * PAUSE_MS);
    waitpid(feeder, NULL, 0);
}

/* A thread beside it reads the time every few ms, as profilers and collectors do. */
static int tick_id;

static void *tick(void *argument) {
    __atomic_store_n(&tick_id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    for (;;)
        pause_ms(3);
    return argument;
}

/* How long that thread ran, or was ready to: for the process that is no wait. */
static int64_t ticked_ns(void) {
    char path[64], text[128] = "";
    long long ran = 0, queued = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tick_id);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 ||
        sscanf(text, "%lld %lld", &ran, &queued) != 2)
        fail(path);
    close(fd);
    return ran + queued;
}

static void serve_beside_ticks(void) {
    start(tick, NULL);
    while (!__atomic_load_n(&tick_id, __ATOMIC_ACQUIRE))
        sched_yield();
    serve(1, 1, -1);
    int64_t least = blocked_ns - queued_ns - ticked_ns();
    say("process", getpid(), "process_poll_ns", least > 0 ? least : 0, blocked_ns);
}

/* ---- a thread that polls, and hands its work over ---- */

static int handed_over;
static int (*handed_ends)[2];

/* Reads what is there each time that it is woken. */
static void *read_handed(void *argument) {
    char byte;
    for (int i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&handed_over, __ATOMIC_ACQUIRE) <= i)
            wait_on(&handed_over, i);
        if (read(handed_ends[0][1], &byte, 1) != 1)
            fail("read");
    }
    return argument;
}

/* The process waits for the connection, in whichever thread: not for the lock between the two. */
static void serve_by_two_threads(void) {
    int ends[4][2], epoll = epoll_create1(0);
    char byte = 0;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    handed_ends = ends;
    tcp_pair(ends[0]);
    if (write(ends[0][0], &byte, 1) != 1 || read(ends[0][1], &byte, 1) != 1)
        fail("write");
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0][1], &event);
    pid_t feeder = feed(ends, 1);
    pthread_t reader = start(read_handed, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        begin();
        while (epoll_wait(epoll, &event, 1, -1) != 1)
            ;
        end();
        __atomic_store_n(&handed_over, i + 1, __ATOMIC_RELEASE);
        wake(&handed_over);
    }
    pthread_join(reader, NULL);
    int64_t least = blocked_ns - queued_ns;
    say("process", getpid(), "process_poll_ns", least, blocked_ns);
    say("process", getpid(), "process_futex_ns", 0, 0);
    say("socket", port_of(ends[0][1]), "process_starved_ns", least, blocked_ns);
    waitpid(feeder, NULL, 0);
}

/* ---- a writer that polls for room ---- */

/* Its other process reads a good part of the buffers now and then. */
static pid_t drain(int *ends) {
    static char bytes[1 << 20];
    pid_t drainer = fork();
    if (drainer != 0)
        return drainer;
    close(ends[0]); /* so that its end is seen */
    for (ssize_t n = 1; n > 0;) {
        pause_ms(PAUSE_MS);
        n = recv(ends[1], bytes, sizeof bytes, 0);
    }
    _exit(0);
}

static void pour(void) {
    static char bytes[1 << 16];
    int ends[2], size = 1 << 20;
    tcp_pair(ends);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(ends[1], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    if (write(ends[1], bytes, 1) != 1 || read(ends[0], bytes, 1) != 1) /* it is known from now on */
        fail("write");
    pid_t drainer = drain(ends);
    close(ends[1]);
    for (int i = 0; i < ROUNDS; i++) {
        struct pollfd room = {.fd = ends[0], .events = POLLOUT};
        while (write(ends[0], bytes, sizeof bytes) > 0)
            ;
        begin();
        poll(&room, 1, -1);
        end();
    }
    if (write(ends[0], bytes, sizeof bytes) <= 0)
        fail("write");
    say("process", getpid(), "process_poll_ns", blocked_ns - queued_ns, blocked_ns);
    say("socket", port_of(ends[0]), "process_send_blocked_ns", blocked_ns - queued_ns, blocked_ns);
    pause_ms(3 * PAUSE_MS);
    close(ends[0]);
    waitpid(drainer, NULL, 0);
}

int main(int argc, char **argv) {
    const char *kind = argc == 2 ? argv[1] : "";
    if (strcmp(kind, "pool") == 0)
        live(work_beside_idle);
    else if (strcmp(kind, "ring") == 0)
        ring_us = 100, live(go_round);
    else if (strcmp(kind, "storm") == 0)
        live(go_round);
    else if (strcmp(kind, "loop") == 0)
        serve(3, 1, PAUSE_MS / 3);
    else if (strcmp(kind, "ticks") == 0)
        serve_beside_ticks();
    else if (strcmp(kind, "handed") == 0)
        serve_by_two_threads();
    else if (strcmp(kind, "pour") == 0)
        pour();
    else if (strcmp(kind, "together") == 0)
        serve(2, 2, -1);
    else {
        fprintf(stderr, "usage: process-plant pool|ring|storm|loop|ticks|handed|pour|together\n");
        return 2;
    }
    return 0;
}
