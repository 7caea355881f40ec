/* SPDX-License-Identifier: MIT */
/*
 * fault-ring: a parallel program without MPI, for the scored half of the matrix: N processes on as
 * many hosts compute, then pass a buffer round a ring of TCP connections until each has had all of
 * them; waiting blocks in the kernel. No marks. Rank 0 prints "loop SECONDS".
 *
 *     fault-ring RANK N PORT ITERATIONS UNITS KB ADDRESS-OF-THE-NEXT [direct|map FILE KB]
 *
 * direct: reads KB of a file past the page cache in each iteration; map: all of a mapped file of
 * KB. It makes the file first. RING_NAP_MS: it sleeps so long in each iteration.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LIFE_S 120

static void die(const char *what) {
    fprintf(stderr, "fault-ring: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double clock_s(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int listening(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 1) < 0)
        die("listen");
    return fd;
}

/* The next process may not listen yet. */
static int connected(const char *address, int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        die(address);
    for (int attempt = 0; attempt < 500; attempt++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            return fd;
        close(fd);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    die(address);
    return -1;
}

/* A fixed amount of arithmetic: `units` of about 0.4 ms on a present-day core. */
static double compute(long units) {
    double x = 1;
    for (long i = 0; i < units * 250000; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}

/* The data read in each iteration; zeros: none. */
struct load {
    int fd;
    size_t bytes;
    unsigned char *map; /* NULL: read directly */
    char *into;
};

static void load_open(struct load *l, const char *how, const char *path, const char *kb) {
    bool map = strcmp(how, "map") == 0;
    static char block[1 << 18];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    l->bytes = (size_t)atol(kb) << 10;
    for (size_t done = 0; fd >= 0 && done < l->bytes; done += sizeof block)
        if (write(fd, block, sizeof block) < 0)
            die(path);
    if (fd < 0 || fdatasync(fd) < 0)
        die(path);
    l->fd = open(path, O_RDONLY | O_CLOEXEC | (map ? 0 : O_DIRECT));
    l->into = aligned_alloc(4096, 1 << 18);
    if (map)
        l->map = mmap(NULL, l->bytes, PROT_READ, MAP_SHARED, l->fd, 0);
    if (l->fd < 0 || l->map == MAP_FAILED || !l->into)
        die(path);
    close(fd);
}

static void load_read(const struct load *l) {
    if (l->map)
        for (size_t at = 0; at < l->bytes; at += 64)
            (void)((const volatile unsigned char *)l->map)[at];
    else
        for (size_t at = 0; at < l->bytes; at += 1 << 18)
            if (pread(l->fd, l->into, 1 << 18, (off_t)at) < 0)
                die("read");
}

static void all(ssize_t (*move)(int, void *, size_t), int fd, char *buffer, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t r = move(fd, buffer + done, n - done);
        if (r <= 0 && errno != EINTR)
            die("connection");
        done += r > 0 ? (size_t)r : 0;
    }
}

static ssize_t out(int fd, void *buffer, size_t n) {
    return send(fd, buffer, n, MSG_NOSIGNAL);
}

/* Rank 0 sends first, the others pass data on: no two wait for each other. */
static void round_trip(bool first, int next, int before, char *buffer, size_t n) {
    if (first)
        all(out, next, buffer, n);
    all(read, before, buffer, n);
    if (!first)
        all(out, next, buffer, n);
}

int main(int argc, char **argv) {
    if (argc != 8 && argc != 11) {
        fprintf(stderr,
                "usage: fault-ring RANK N PORT ITERATIONS UNITS KB NEXT [direct|map FILE KB]\n");
        return 2;
    }
    int rank = atoi(argv[1]), port = atoi(argv[3]), yes = 1;
    long iterations = atol(argv[4]), units = atol(argv[5]);
    size_t n = (size_t)atol(argv[6]) << 10;
    volatile double result = 0;
    char *buffer = calloc(1, n);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIFE_S);
    struct load load = {0};
    if (argc == 11)
        load_open(&load, argv[8], argv[9], argv[10]);
    int listener = listening(port), next = connected(argv[7], port);
    int before = accept(listener, NULL, NULL);
    if (before < 0 || !buffer)
        die("accept");
    setsockopt(next, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const char *nap = getenv("RING_NAP_MS");
    double start = clock_s(CLOCK_MONOTONIC);
    for (long i = 0; i < iterations; i++) {
        result += compute(units);
        load_read(&load);
        if (nap)
            nanosleep(&(struct timespec){.tv_nsec = atol(nap) % 1000 * 1000000}, NULL);
        round_trip(rank == 0, next, before, buffer, n);
        round_trip(rank == 0, next, before, buffer, 8);
    }
    if (rank == 0)
        printf("loop %.6f\n", clock_s(CLOCK_MONOTONIC) - start);
    return result == 0;
}
