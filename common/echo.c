/* SPDX-License-Identifier: MIT */
/*
 * The kernel stamps packets by the wall clock. The age of a packet by the wall clock converts the
 * stamp to the monotonic clock, if the wall clock was not set meanwhile. If it may have been set,
 * the packet counts as just arrived: that is too late, which widens the bound of an exchange and
 * never breaks it.
 */
#include "common/echo.h"

#include <endian.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/siphash.h"

#define EXPEDITED 0xb8 /* DSCP EF, for switches that support it */
#define PRIORITY 6     /* interactive, for queues on this host */
#define AGE_MAX_NS NS_PER_S
#define SET_NS (20 * NS_PER_US) /* a larger change means that the clock was set */
#define DRIFT_PPM 500

/* ---- the form ---- */

static uint64_t code_of(const uint64_t words[5], uint64_t key) {
    const uint64_t both[2] = {key, ECHO_MAGIC};
    return htobe64(siphash(both, words, 5 * sizeof *words));
}

void echo_put(unsigned char bytes[ECHO_SIZE], const struct echo *echo) {
    uint64_t words[6] = {htobe64((uint64_t)ECHO_MAGIC << 32 | (uint32_t)echo->kind), 0,
                         htobe64(echo->id), htobe64((uint64_t)echo->received_ns),
                         htobe64((uint64_t)echo->replied_ns)};
    words[5] = code_of(words, echo->key);
    memcpy(bytes, words, ECHO_SIZE);
}

bool echo_is_authentic(const unsigned char bytes[ECHO_SIZE], uint64_t key) {
    uint64_t words[6];
    memcpy(words, bytes, ECHO_SIZE);
    return words[5] == code_of(words, key);
}

bool echo_get(const unsigned char *bytes, size_t size, struct echo *ret_echo) {
    uint64_t words[6];
    if (size != ECHO_SIZE)
        return false;
    memcpy(words, bytes, ECHO_SIZE);
    uint64_t head = be64toh(words[0]), kind = head & UINT32_MAX;
    if (head >> 32 != ECHO_MAGIC || kind < ECHO_ASK || kind > ECHO_CALL || words[1])
        return false;
    *ret_echo = (struct echo){(enum echo_kind)kind, 0, be64toh(words[2]),
                              (int64_t)be64toh(words[3]), (int64_t)be64toh(words[4])};
    return true;
}

/* ---- the socket ---- */

int echo_socket(int family) {
    const int tos = EXPEDITED, priority = PRIORITY, on = 1;
    int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return negative_errno();
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof tos);
    else
        setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos);
    setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority);
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    return fd;
}

/* The wall clock, and the monotonic clock a moment later; of a few tries the closest pair. */
static int64_t read_both(int64_t *ret_mono_ns) {
    int64_t wall = 0, shortest = INT64_MAX;
    for (int i = 0; i < 3 && shortest > NS_PER_US; i++) {
        int64_t before = clock_monotonic_ns(), w = clock_wall_ns(), after = clock_monotonic_ns();
        if (after - before < shortest) {
            shortest = after - before;
            wall = w;
            *ret_mono_ns = after;
        }
    }
    return wall;
}

static bool was_set(struct echo_arrival *arrival, int64_t wall_ns, int64_t mono_ns) {
    const struct echo_arrival before = *arrival;
    *arrival = (struct echo_arrival){mono_ns, wall_ns - mono_ns};
    int64_t change = llabs(arrival->wall_minus_mono_ns - before.wall_minus_mono_ns);
    return before.mono_ns == 0 ||
           change > SET_NS + (mono_ns - before.mono_ns) / (1000000 / DRIFT_PPM);
}

static int64_t stamp_of(struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct timespec ts;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS ||
            c->cmsg_len < CMSG_LEN(sizeof ts))
            continue;
        memcpy(&ts, CMSG_DATA(c), sizeof ts);
        return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
    }
    return 0;
}

static int64_t arrival_of(struct echo_arrival *arrival, int64_t stamp_ns) {
    int64_t mono_ns = 0, wall_ns = read_both(&mono_ns), age_ns = wall_ns - stamp_ns;
    bool set = was_set(arrival, wall_ns, mono_ns);
    if (set || stamp_ns == 0 || age_ns < 0 || age_ns > AGE_MAX_NS)
        return mono_ns;
    return mono_ns - age_ns + age_ns / (1000000 / DRIFT_PPM);
}

int echo_receive(int fd, struct echo_arrival *arrival, unsigned char *bytes, size_t size,
                 struct sockaddr_storage *from, socklen_t *from_size, int64_t *ret_arrived_ns) {
    char control[CMSG_SPACE(sizeof(struct timespec)) + 64]
        __attribute__((aligned(sizeof(struct cmsghdr))));
    struct iovec part = {bytes, size};
    struct msghdr message = {.msg_name = from,
                             .msg_namelen = from ? sizeof *from : 0,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &message, 0);
    if (n < 0)
        return negative_errno();
    if (from_size)
        *from_size = message.msg_namelen;
    *ret_arrived_ns = arrival_of(arrival, stamp_of(&message));
    return (int)n;
}
