/* SPDX-License-Identifier: MIT */
/*
 * ping-pong SECONDS [MODE]: two processes pass one byte back and forth and do nothing else; prints
 * round trips per second. MODE: tcp (loopback, the default), pipe, or futex, by which two threads
 * of one process wake each other: as many wake-ups as a host can make.
 */
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* On the n-th core that it may use, so that two runs have the same distance. */
static void stay_on(int n) {
    cpu_set_t may, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof may, &may);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &may) && n-- == 0)
            CPU_SET(i, &one);
    if (CPU_COUNT(&one))
        sched_setaffinity(0, sizeof one, &one);
}

/* ---- two processes ---- */

static void connect_pair(int ret_ends[2]) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int one = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(door, (struct sockaddr *)&address, size) < 0 || listen(door, 1) < 0 ||
        getsockname(door, (struct sockaddr *)&address, &size) < 0)
        fail("listen");
    ret_ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(ret_ends[0], (struct sockaddr *)&address, size) < 0)
        fail("connect");
    ret_ends[1] = accept(door, NULL, NULL);
    for (int i = 0; i < 2; i++)
        setsockopt(ret_ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    close(door);
}

static void answer(int in, int out) {
    char byte;
    while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
        ;
    _exit(0);
}

static double play(double seconds, bool pipes) {
    int there[2], back[2], tcp[2];
    if (pipes && (pipe(there) < 0 || pipe(back) < 0))
        fail("pipe");
    if (!pipes)
        connect_pair(tcp);
    pid_t child = fork();
    stay_on(child == 0);
    if (child == 0)
        answer(pipes ? there[0] : tcp[1], pipes ? back[1] : tcp[1]);
    int in = pipes ? back[0] : tcp[0], out = pipes ? there[1] : tcp[0];
    char byte = 0;
    double start = now_s(), end = start + seconds, t = start;
    uint64_t n = 0;
    for (; t < end; n++) {
        if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
            fail("the other process");
        if (n % 64 == 0)
            t = now_s();
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return (double)n / (t - start);
}

/* ---- two threads ---- */

static uint32_t turn;
static bool over;

static void hand_over(uint32_t own) {
    __atomic_store_n(&turn, 1 - own, __ATOMIC_RELEASE);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void take_turns(uint32_t own, uint64_t *ret_n) {
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != own)
            syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - own, NULL, NULL, 0);
        hand_over(own);
        *ret_n += 1;
    }
    hand_over(own); /* the other may wait for it */
}

static void *other_thread(void *ctx) {
    take_turns(1, ctx);
    return NULL;
}

static void *stop_after(void *ctx) {
    usleep((useconds_t)(*(double *)ctx * 1e6));
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    return NULL;
}

static double play_futex(double seconds) {
    pthread_t other, clock;
    uint64_t mine = 0, others = 0;
    double start = now_s();
    pthread_create(&clock, NULL, stop_after, &seconds);
    pthread_create(&other, NULL, other_thread, &others);
    take_turns(0, &mine);
    double took = now_s() - start;
    pthread_join(clock, NULL);
    return (double)mine / took;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    const char *mode = argc > 2 ? argv[2] : "tcp";
    if (seconds <= 0 || argc > 3) {
        fprintf(stderr, "usage: ping-pong SECONDS [tcp|pipe|futex]\n");
        return 2;
    }
    printf("%.1f\n", strcmp(mode, "futex") == 0 ? play_futex(seconds)
                                                : play(seconds, strcmp(mode, "pipe") == 0));
    return 0;
}
