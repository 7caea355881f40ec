/* SPDX-License-Identifier: MIT */
/*
 * Bytes over links. A sender counts acknowledged bytes, not bytes that its kernel took, so that no
 * buffer counts as bandwidth. It also counts segments acknowledged out of order: after a loss the
 * bytes before them come in one burst. A receiver discards data inside the kernel (MSG_TRUNC), so
 * that copying does not compete with the link on a small machine.
 */
#include <errno.h>
#include <linux/tcp.h> /* struct tcp_info with bytes_acked */
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/calibrate/link.h"

#define CHUNK (256 << 10)
#define SINK (1 << 20)
#define READINGS 40
#define GRACE_S 3.0
#define READING_S 0.0005 /* a longer reading was interrupted */
#define READING_TRIES 5

/* Counts whole segments: a stream that never waits for its writer has no others. Kernels before
 * Linux 4.18 do not report them. */
static double acknowledged_by(const struct tcp_info *info) {
    return info->tcpi_delivered ? (double)info->tcpi_delivered * info->tcpi_snd_mss
                                : (double)info->tcpi_bytes_acked;
}

static double acknowledged(const int *fds, int n) {
    double bytes = 0;
    for (int i = 0; i < n; i++) {
        struct tcp_info info = {0};
        socklen_t size = sizeof info;
        if (getsockopt(fds[i], IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
            bytes += acknowledged_by(&info);
    }
    return bytes;
}

/* The counters that the meters read. */
struct counter {
    const int *fds; /* sockets of a sender; NULL: `bytes` of a receiver */
    int n;
    double bytes;
    const char *interface;
    bool sending;
};

static double read_payload(const struct counter *c) {
    return c->fds ? acknowledged(c->fds, c->n) : c->bytes;
}
static double read_wire(const struct counter *c) {
    return link_interface_bytes(c->interface, c->sending);
}

/* Time and bytes of a reading must belong together: an interrupted reading is repeated. */
static void take_reading(struct meter *meter, double (*read_bytes)(const struct counter *),
                         const struct counter *counter) {
    double before, bytes, after;
    for (int i = 0; i < READING_TRIES; i++) {
        before = now_s();
        bytes = read_bytes(counter);
        after = now_s();
        if (after - before < READING_S)
            break;
    }
    if (bytes >= 0)
        meter_read(meter, (before + after) / 2, bytes);
}

static void take_readings(struct link_meters *meters, struct counter counter) {
    take_reading(&meters->payload, read_payload, &counter);
    counter.interface = meters->interface;
    if (meters->interface)
        take_reading(&meters->wire, read_wire, &counter);
}

/* Sends as much as the kernel takes; -errno if the link broke. */
static int push(int fd, const char *chunk) {
    ssize_t n;
    while ((n = send(fd, chunk, CHUNK, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0 ||
           (n < 0 && errno == EINTR))
        if (n > 0 && n < CHUNK)
            return 0;
    return errno == EAGAIN ? 0 : -errno;
}

static int push_all(struct pollfd *polled, int n, const char *chunk) {
    for (int i = 0; i < n; i++) {
        int r = polled[i].revents ? push(polled[i].fd, chunk) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

int link_send(const int *fds, int n, double seconds, struct link_meters *meters) {
    static char chunk[CHUNK];
    struct pollfd polled[LINKS_MAX];
    double start = now_s(), next = start;
    int r = 0;
    if (getrandom(chunk, sizeof chunk, 0) != sizeof chunk) /* incompressible data */
        return -EIO;
    for (int i = 0; i < n; i++)
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLOUT};
    while (r == 0 && now_s() < start + seconds) {
        if (meters && now_s() >= next) {
            take_readings(meters, (struct counter){.fds = fds, .n = n, .sending = true});
            next += seconds / READINGS;
        }
        int ready = poll(polled, (nfds_t)n, (int)(seconds * 1e3 / READINGS) + 1);
        if (ready < 0 && errno != EINTR)
            return -errno;
        r = ready > 0 ? push_all(polled, n, chunk) : 0;
    }
    if (meters)
        take_readings(meters, (struct counter){.fds = fds, .n = n, .sending = true});
    return r;
}

/* Number of discarded bytes; -1 at the end of the stream. */
static long drain(int fd) {
    static char sink[SINK]; /* the kernel never writes to it */
    long bytes = 0;
    for (int i = 0; i < 4; i++) {
        ssize_t n = recv(fd, sink, SINK, MSG_TRUNC | MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return bytes ? bytes : -1;
        if (n < 0)
            break;
        bytes += n;
    }
    return bytes;
}

int link_receive(const int *fds, int n, double seconds, struct link_meters *meters) {
    struct pollfd polled[LINKS_MAX];
    double start = now_s(), next = start, bytes = 0;
    int open = n;
    for (int i = 0; i < n; i++)
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    while (open) {
        if (now_s() > start + seconds + GRACE_S)
            return -ETIME;
        /* when one has ended, the sum lacks its share */
        if (meters && open == n && now_s() >= next) {
            take_readings(meters, (struct counter){.bytes = bytes});
            next += seconds / READINGS;
        }
        if (poll(polled, (nfds_t)n, (int)(seconds * 1e3 / READINGS) + 1) < 0 && errno != EINTR)
            return -errno;
        for (int i = 0; i < n; i++) {
            long got = polled[i].fd >= 0 && polled[i].revents ? drain(polled[i].fd) : 0;
            bytes += got > 0 ? (double)got : 0;
            if (got < 0) {
                polled[i].fd = -1;
                polled[i].revents = 0;
                open--;
            }
        }
    }
    return 0;
}

/* ---- round trips ---- */

static int wait_readable(int fd, double deadline) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    double left = deadline - now_s();
    int n = left > 0 ? poll(&p, 1, (int)(left * 1e3) + 1) : 0;
    return n > 0 ? 0 : n == 0 ? -ETIME : errno == EINTR ? 0 : -errno;
}

/* 1: a byte came; 0: the end; or negative. */
static int receive_byte(int fd, double deadline) {
    for (;;) {
        char byte;
        ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
        if (n >= 0 || errno == ECONNRESET)
            return n > 0;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        int r = wait_readable(fd, deadline);
        if (r < 0)
            return r;
    }
}

int link_ping(int fd, double seconds, double *ret_times_s, int max) {
    double end = now_s() + seconds;
    int n = 0;
    for (int i = 0; n < max && (i < 3 || now_s() < end); i++) {
        double before = now_s();
        if (send(fd, "p", 1, MSG_NOSIGNAL) != 1)
            return -errno;
        int r = receive_byte(fd, before + GRACE_S);
        if (r <= 0)
            return r < 0 ? r : -ECONNRESET;
        if (i > 0) /* the first one meets cold caches */
            ret_times_s[n++] = now_s() - before;
    }
    return n;
}

int link_echo(int fd, double seconds) {
    double deadline = now_s() + seconds + GRACE_S;
    int r;
    while ((r = receive_byte(fd, deadline)) > 0)
        if (send(fd, "p", 1, MSG_NOSIGNAL) != 1)
            return -errno;
    return r;
}
