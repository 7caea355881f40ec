/* SPDX-License-Identifier: MIT */
/*
 * A known TCP transfer, for tests and benchmarks of what is seen of it.
 *
 *     tcp-transfer sink ADDRESS PORT [BYTES_PER_S]
 *         listens, says "ready", reads all that comes, no faster than told; ends when the last of
 *         its connections has ended, and says "received N"
 *     tcp-transfer send ADDRESS PORT BYTES [SNDBUF [PACING_BYTES_PER_S]]
 *         one connection, so many bytes; SNDBUF 0: the kernel's choice; says "sent N" once the
 *         other end has closed
 *     tcp-transfer hold ADDRESS PORT CONNECTIONS BYTES EVERY_MS
 *         as many connections; so many bytes on one after the other, until its standard input ends
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define PIECE 65536

static char piece[PIECE];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t number(const char *text) {
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (!*text || *end) {
        fprintf(stderr, "not a number: %s\n", text);
        exit(2);
    }
    return value;
}

static struct sockaddr_in address_of(const char *address, const char *port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number(port))};
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
        die(address);
    return to;
}

static int listen_at(const char *address, const char *port) {
    struct sockaddr_in at = address_of(address, port);
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 512) < 0)
        die("listen");
    return fd;
}

static int connect_to(const char *address, const char *port, int sndbuf) {
    struct sockaddr_in to = address_of(address, port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (sndbuf)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof sndbuf);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        die("connect");
    return fd;
}

/* Sleeps as long as the bytes should have taken. */
static void keep_pace(uint64_t bytes, uint64_t bytes_per_s) {
    uint64_t ns = bytes * 1000000000 / bytes_per_s;
    struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&pause, NULL);
}

static int sink(const char *address, const char *port, uint64_t bytes_per_s) {
    static struct pollfd fds[CONNECTIONS_MAX + 1];
    nfds_t n = 1, open = 0;
    uint64_t received = 0;
    bool began = false;
    fds[0] = (struct pollfd){.fd = listen_at(address, port), .events = POLLIN};
    puts("ready");
    fflush(stdout);
    while (!began || open) {
        if (poll(fds, n, -1) < 0)
            die("poll");
        for (nfds_t i = 1; i < n; i++) {
            if (!fds[i].revents)
                continue;
            ssize_t got = read(fds[i].fd, piece, sizeof piece);
            if (got <= 0) {
                close(fds[i].fd);
                fds[i].fd = -1;
                open--;
                continue;
            }
            received += (uint64_t)got;
            if (bytes_per_s)
                keep_pace((uint64_t)got, bytes_per_s);
        }
        if (fds[0].revents && n <= CONNECTIONS_MAX) {
            fds[n++] = (struct pollfd){.fd = accept(fds[0].fd, NULL, NULL), .events = POLLIN};
            began = true;
            open++;
        }
    }
    printf("received %llu\n", (unsigned long long)received);
    return 0;
}

static int send_bytes(const char *address, const char *port, uint64_t bytes, int sndbuf,
                      unsigned pacing) {
    int fd = connect_to(address, port, sndbuf);
    uint64_t left = bytes;
    if (pacing && setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pacing, sizeof pacing) < 0)
        die("SO_MAX_PACING_RATE");
    while (left) {
        ssize_t n = write(fd, piece, left < sizeof piece ? left : sizeof piece);
        if (n <= 0)
            die("write");
        left -= (uint64_t)n;
    }
    shutdown(fd, SHUT_WR);
    while (read(fd, piece, sizeof piece) > 0)
        ;
    printf("sent %llu\n", (unsigned long long)bytes);
    return 0;
}

static int hold(const char *address, const char *port, size_t n, size_t bytes, int every_ms) {
    static int fds[CONNECTIONS_MAX];
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t sent = 0;
    if (n > CONNECTIONS_MAX || bytes > sizeof piece)
        return 2;
    for (size_t i = 0; i < n; i++)
        fds[i] = connect_to(address, port, 0);
    puts("connected");
    fflush(stdout);
    for (size_t i = 0; poll(&input, 1, every_ms) == 0 && n; i = (i + 1) % n) {
        if (write(fds[i], piece, bytes) != (ssize_t)bytes)
            die("write");
        sent += bytes;
    }
    printf("sent %llu\n", (unsigned long long)sent);
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 3 ? argv[1] : "";
    if (strcmp(mode, "sink") == 0)
        return sink(argv[2], argv[3], argc > 4 ? number(argv[4]) : 0);
    if (strcmp(mode, "send") == 0 && argc > 4)
        return send_bytes(argv[2], argv[3], number(argv[4]), argc > 5 ? (int)number(argv[5]) : 0,
                          argc > 6 ? (unsigned)number(argv[6]) : 0);
    if (strcmp(mode, "hold") == 0 && argc == 7)
        return hold(argv[2], argv[3], number(argv[4]), number(argv[5]), (int)number(argv[6]));
    fprintf(stderr, "usage: tcp-transfer sink|send|hold ADDRESS PORT ...\n");
    return 2;
}
