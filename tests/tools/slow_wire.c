/* SPDX-License-Identifier: MIT */
/*
 * slow_wire A B DELAY_US: carries frames between two interfaces of this network namespace with that
 * delay, both ways: distance for kernels without netem. Prints "ready" and continues until it is
 * ended. Frames keep their offload header, so segments of 64 kB stay one frame. Frames without room
 * are dropped, as by a router. It runs before all other processes if it may (SCHED_FIFO), since a
 * wire does not wait for a core.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX (66 * 1024)
#define FRAMES 1024 /* a power of two */

struct frame {
    int64_t due_ns;
    size_t size;
    char bytes[FRAME_MAX];
};

struct direction {
    int from, to;
    struct frame *frames;
    size_t first, end; /* of the frames under way; modulo FRAMES */
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int open_interface(const char *name) {
    int on = 1, room = 16 << 20;
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(ETH_P_ALL),
                             .sll_ifindex = (int)if_nametoindex(name)};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || at.sll_ifindex == 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) < 0 ||
        bind(fd, (struct sockaddr *)&at, sizeof at) < 0) {
        perror(name);
        exit(1);
    }
    return fd;
}

static void take(struct direction *d, int64_t delay_ns) {
    while (d->end - d->first < FRAMES) {
        struct frame *f = &d->frames[d->end % FRAMES];
        ssize_t n = recv(d->from, f->bytes, sizeof f->bytes, 0);
        if (n <= 0)
            return;
        f->size = (size_t)n;
        f->due_ns = now_ns() + delay_ns;
        d->end++;
    }
}

/* When the next frame is due; INT64_MAX: none is under way. */
static int64_t deliver(struct direction *d) {
    for (; d->first < d->end; d->first++) {
        struct frame *f = &d->frames[d->first % FRAMES];
        if (f->due_ns > now_ns())
            return f->due_ns;
        if (send(d->to, f->bytes, f->size, 0) < 0 && errno == EINTR)
            return f->due_ns;
    }
    return INT64_MAX;
}

static void carry(struct direction *a, struct direction *b, int64_t delay_ns) {
    for (;;) {
        struct pollfd fds[2] = {{.fd = a->from, .events = POLLIN},
                                {.fd = b->from, .events = POLLIN}};
        int64_t due = deliver(a), other = deliver(b), left;
        due = other < due ? other : due;
        left = due == INT64_MAX ? 1000000000 : due - now_ns();
        struct timespec timeout = {0, left < 0 ? 0 : left > 999999999 ? 999999999 : left};
        if (ppoll(fds, 2, &timeout, NULL) < 0 && errno != EINTR)
            return;
        take(a, delay_ns);
        take(b, delay_ns);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: slow_wire A B DELAY_US\n");
        return 2;
    }
    int a = open_interface(argv[1]), b = open_interface(argv[2]);
    struct direction there = {.from = a, .to = b, .frames = malloc(FRAMES * sizeof(struct frame))};
    struct direction back = {.from = b, .to = a, .frames = malloc(FRAMES * sizeof(struct frame))};
    if (!there.frames || !back.frames)
        return 1;
    (void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    puts("ready");
    fflush(stdout);
    carry(&there, &back, atoll(argv[3]) * 1000);
    return 1;
}
