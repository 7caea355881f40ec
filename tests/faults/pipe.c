/* SPDX-License-Identifier: MIT */
/*
 * fault-pipe: stages of a pipeline between hosts. A shell joins them by pipes, with a compressor of
 * the distribution among them.
 *
 *     read FILE BLOCKS PACE_US   makes FILE, reads it again and again past the page cache, to its
 *                                output: a block of 256 KiB each PACE_US at most
 *     send ADDRESS PORT          its input, to a connection
 *     receive PORT               the other end, to its output
 *     write FILE NAP_US          its input, to FILE, from the beginning again each 16 MiB, asleep
 *                                for NAP_US after each 64 KiB; prints "loop SECONDS"
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LIFE_S = 150, BLOCK = 256 << 10, BLOCKS = 64, PIECE = 64 << 10, WRAP = 16 << 20 };

static _Alignas(4096) char block[BLOCK];

static void die(const char *what) {
    fprintf(stderr, "fault-pipe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap_s(double s) {
    if (s > 0)
        nanosleep(&(struct timespec){(time_t)s, (long)((s - (double)(time_t)s) * 1e9)}, NULL);
}

static void put(int fd, const char *data, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t r = write(fd, data + done, n - done);
        if (r < 0 && errno != EINTR)
            die("write");
        done += r > 0 ? (size_t)r : 0;
    }
}

/* Reads what is there, at most n bytes; 0: the end. */
static size_t get(int fd, char *data, size_t n) {
    ssize_t r;
    while ((r = read(fd, data, n)) < 0 && errno == EINTR)
        ;
    if (r < 0)
        die("read");
    return (size_t)r;
}

static void pass(int from, int to) {
    for (size_t n; (n = get(from, block, PIECE)) > 0;)
        put(to, block, n);
}

/* Bytes that compress to about a half. */
static void make(const char *path) {
    uint32_t x = 1;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (int i = 0; fd >= 0 && i < BLOCKS; i++) {
        for (size_t at = 0; at < BLOCK; at++) {
            x = x * 1664525u + 1013904223u;
            block[at] = (char)('a' + (x >> 28));
        }
        put(fd, block, BLOCK);
    }
    if (fd < 0 || fdatasync(fd) < 0 || close(fd) < 0)
        die(path);
}

static int read_blocks(const char *path, long n, double pace_s) {
    make(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (fd < 0)
        die(path);
    double due = now_s();
    for (long i = 0; i < n; i++) {
        if (pread(fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK) != BLOCK)
            die(path);
        put(STDOUT_FILENO, block, BLOCK);
        double now = now_s();
        due = due + pace_s > now ? due + pace_s : now; /* a delay is not made up for */
        nap_s(due - now);
    }
    return 0;
}

static int send_all(const char *address, int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        die(address);
    for (int attempt = 0; attempt < 500; attempt++) { /* it may not listen yet */
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            return pass(STDIN_FILENO, fd), 0;
        close(fd);
        nap_s(.02);
    }
    die(address);
    return 1;
}

static int receive(int port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 1) < 0)
        die("listen");
    int from = accept(fd, NULL, NULL);
    if (from < 0)
        die("accept");
    return pass(from, STDOUT_FILENO), 0;
}

static int write_all(const char *path, double nap) {
    double start = 0;
    size_t at = 0, total = 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        die(path);
    for (size_t n; (n = get(STDIN_FILENO, block, PIECE)) > 0; total += n) {
        if (start == 0)
            start = now_s();
        if (pwrite(fd, block, n, (off_t)at) != (ssize_t)n)
            die(path);
        at = (at + n) % WRAP;
        nap_s(nap * (double)n / PIECE);
    }
    double took = now_s() - start;
    printf("loop %.6f\nrate %.1f MB/s\n", took, (double)total / took / 1e6);
    return 0;
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "";
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIFE_S);
    if (argc == 5 && strcmp(verb, "read") == 0)
        return read_blocks(argv[2], atol(argv[3]), (double)atol(argv[4]) * 1e-6);
    if (argc == 4 && strcmp(verb, "send") == 0)
        return send_all(argv[2], atoi(argv[3]));
    if (argc == 3 && strcmp(verb, "receive") == 0)
        return receive(atoi(argv[2]));
    if (argc == 4 && strcmp(verb, "write") == 0)
        return write_all(argv[2], (double)atol(argv[3]) * 1e-6);
    fprintf(stderr, "usage: fault-pipe read FILE BLOCKS PACE_US | send ADDRESS PORT | "
                    "receive PORT | write FILE NAP_US\n");
    return 2;
}
