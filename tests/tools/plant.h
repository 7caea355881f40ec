/* SPDX-License-Identifier: MIT */
/* Shared by programs that wait in a known way, and measure how long. */
#ifndef CHOKEPOINT_TESTS_TOOLS_PLANT_H
#define CHOKEPOINT_TESTS_TOOLS_PLANT_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 16
#define PAUSE_MS 100

static inline int64_t clock_ns(clockid_t which) {
    struct timespec t;
    clock_gettime(which, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline void fail(const char *what) {
    perror(what);
    exit(1);
}

static inline void pause_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

/* ---- its own measure ---- */

struct measure {
    int64_t off_core_ns, queued_ns;
};
static struct measure began;
static int64_t blocked_ns, queued_ns; /* queued_ns is a part of blocked_ns */

static inline struct measure measure(void) {
    char text[100] = "";
    long long ran, queued = 0;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 ||
        sscanf(text, "%lld %lld", &ran, &queued) != 2)
        fail("/proc/thread-self/schedstat");
    close(fd);
    return (struct measure){clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_THREAD_CPUTIME_ID), queued};
}

static inline void begin(void) {
    began = measure();
}

static inline void end(void) {
    struct measure now = measure();
    blocked_ns += now.off_core_ns - began.off_core_ns;
    queued_ns += now.queued_ns - began.queued_ns;
}

/* ---- ends ---- */

static inline void tcp_pair(int ret_ends[2]) {
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
    setsockopt(ret_ends[0], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    close(door);
}

static inline int port_of(int fd) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    return getsockname(fd, (struct sockaddr *)&address, &size) < 0 ? 0 : ntohs(address.sin_port);
}

#endif
