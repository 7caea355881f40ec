/* SPDX-License-Identifier: MIT */
/*
 * Netlink by the kernel's headers: the static agent for other hosts would need a library as an
 * archive.
 *
 * Sockets are non-blocking: the kernel fills the first piece of a dump during the request, and each
 * further piece while the one before is read.
 */
#include "agent/base/netlink.h"

#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"

#define BUFFER_SIZE ((size_t)32 << 10) /* the largest piece that the kernel makes */
#define REQUEST_MAX 128

/* ---- sockets ---- */

void netlink_close(struct netlink *netlink) {
    if (netlink->buffer && netlink->fd >= 0)
        close(netlink->fd);
    free(netlink->buffer);
    *netlink = (struct netlink){0};
}

static int open_socket(struct netlink *netlink, int bus, unsigned group) {
    const struct sockaddr_nl any = {.nl_family = AF_NETLINK};
    netlink->fd = -1;
    netlink->buffer = malloc(BUFFER_SIZE);
    if (!netlink->buffer)
        return -ENOMEM;
    netlink->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, bus);
    if (netlink->fd < 0 || bind(netlink->fd, (const struct sockaddr *)&any, sizeof any) < 0)
        return negative_errno();
    int joined = (int)group;
    if (group &&
        setsockopt(netlink->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &joined, sizeof joined) < 0)
        return negative_errno();
    return 0;
}

static int open_any(struct netlink *ret_netlink, int bus, unsigned group) {
    struct netlink netlink = {0};
    int r = open_socket(&netlink, bus, group);
    if (r < 0)
        netlink_close(&netlink);
    else
        *ret_netlink = netlink;
    return r;
}

int netlink_open(struct netlink *ret_netlink, int bus) {
    return open_any(ret_netlink, bus, 0);
}

int netlink_open_group(struct netlink *ret_netlink, int bus, unsigned group, size_t room) {
    int size = (int)room, r = open_any(ret_netlink, bus, group);
    if (r < 0)
        return r;
    int fd = ret_netlink->fd;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    return 0;
}

static struct bytes payload_of(const struct nlmsghdr *message) {
    return (struct bytes){(const char *)message + NLMSG_HDRLEN, message->nlmsg_len - NLMSG_HDRLEN};
}

/* The error of an NLMSG_ERROR or NLMSG_DONE message; both begin with it. */
static int message_error(const struct nlmsghdr *message) {
    int error = 0;
    struct bytes payload = payload_of(message);
    if (payload.size >= sizeof error)
        memcpy(&error, payload.data, sizeof error);
    else if (message->nlmsg_type == NLMSG_ERROR)
        return -EBADMSG;
    return error < 0 ? error : 0;
}

static bool is_whole(const struct nlmsghdr *message, size_t left) {
    return left >= sizeof *message && message->nlmsg_len >= sizeof *message &&
           message->nlmsg_len <= left;
}

int netlink_read(struct bytes bytes, uint32_t sequence, bool *interrupted, netlink_take *take,
                 void *ctx) {
    const struct nlmsghdr *message = bytes.data;
    size_t left = bytes.size < INT32_MAX ? bytes.size : 0, size;
    for (; is_whole(message, left); left -= size) {
        const struct nlmsghdr *this = message;
        size = netlink_step(this->nlmsg_len, left);
        message = (const void *)((const char *)message + size);
        if (sequence && this->nlmsg_seq != sequence)
            continue;
        *interrupted |= (this->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
        if (this->nlmsg_type == NLMSG_DONE || this->nlmsg_type == NLMSG_ERROR)
            return message_error(this);
        if (this->nlmsg_type >= NLMSG_MIN_TYPE)
            take(ctx, this->nlmsg_type, payload_of(this));
    }
    return left > 0 ? -EBADMSG : 1;
}

static bool is_kernel(const struct msghdr *message) {
    const struct sockaddr_nl *from = message->msg_name;
    return message->msg_namelen == sizeof *from && from->nl_pid == 0;
}

/* Ignores a piece that was cut short, and one that the kernel did not send. */
static ssize_t receive(struct netlink *netlink) {
    struct sockaddr_nl from;
    struct iovec room = {netlink->buffer, BUFFER_SIZE};
    struct msghdr message = {
        .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &room, .msg_iovlen = 1};
    ssize_t n;
    do
        n = recvmsg(netlink->fd, &message, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return negative_errno();
    if (message.msg_flags & MSG_TRUNC)
        return -ENOSPC;
    return is_kernel(&message) ? n : -EINVAL;
}

static int send_text(const struct netlink *netlink, const void *text, size_t size) {
    const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    return sendto(netlink->fd, text, size, 0, (const struct sockaddr *)&kernel, sizeof kernel) < 0
               ? negative_errno()
               : 0;
}

static int send_request(struct netlink *netlink, unsigned type, unsigned flags, const void *request,
                        size_t size) {
    struct {
        struct nlmsghdr header;
        char request[REQUEST_MAX];
    } message = {
        .header = {.nlmsg_type = (uint16_t)type, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)}};
    if (size > REQUEST_MAX)
        return -EINVAL;
    netlink->sequence += netlink->sequence == UINT32_MAX ? 2 : 1; /* 0: any */
    message.header.nlmsg_seq = netlink->sequence;
    message.header.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + NLMSG_ALIGN(size));
    memcpy(message.request, request, size);
    return send_text(netlink, &message, message.header.nlmsg_len);
}

static int converse(struct netlink *netlink, unsigned type, unsigned flags, const void *request,
                    size_t size, netlink_take *take, void *ctx) {
    bool interrupted = false;
    int r = send_request(netlink, type, flags, request, size);
    for (r = r == 0 ? 1 : r; r > 0;) {
        ssize_t n = receive(netlink);
        r = n < 0 ? (int)n
                  : netlink_read((struct bytes){netlink->buffer, (size_t)n}, netlink->sequence,
                                 &interrupted, take, ctx);
    }
    return r == 0 && interrupted ? -EINTR : r;
}

int netlink_dump(struct netlink *netlink, unsigned type, const void *request, size_t size,
                 netlink_take *take, void *ctx) {
    return converse(netlink, type, NLM_F_DUMP, request, size, take, ctx);
}

int netlink_ask(struct netlink *netlink, unsigned type, const void *request, size_t size,
                netlink_take *take, void *ctx) {
    return converse(netlink, type, NLM_F_ACK, request, size, take, ctx);
}

/* ---- many questions in one call ---- */

#define TOGETHER (BUFFER_SIZE / NETLINK_ANSWER)

static int send_together(struct netlink *netlink, unsigned type, const char *requests, size_t size,
                         size_t n) {
    _Alignas(struct nlmsghdr) char text[TOGETHER * (NLMSG_HDRLEN + REQUEST_MAX)] = {0};
    size_t step = NLMSG_ALIGN(NLMSG_HDRLEN + size);
    for (size_t i = 0; i < n; i++) {
        struct nlmsghdr *header = (struct nlmsghdr *)(text + i * step);
        *header = (struct nlmsghdr){.nlmsg_len = (uint32_t)step,
                                    .nlmsg_type = (uint16_t)type,
                                    .nlmsg_flags = NLM_F_REQUEST,
                                    .nlmsg_seq = netlink->sequence + 1 + (uint32_t)i};
        memcpy((char *)header + NLMSG_HDRLEN, requests + i * size, size);
    }
    return send_text(netlink, text, n * step);
}

static char *piece(const struct netlink *netlink, size_t at) {
    return (char *)netlink->buffer + at * NETLINK_ANSWER;
}

/* The number of messages received; each is in its own part of the buffer. */
static int receive_together(struct netlink *netlink, struct sockaddr_nl from[TOGETHER],
                            struct mmsghdr messages[TOGETHER]) {
    struct iovec pieces[TOGETHER];
    for (size_t i = 0; i < TOGETHER; i++) {
        pieces[i] = (struct iovec){piece(netlink, i), NETLINK_ANSWER};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &from[i],
                                                   .msg_namelen = sizeof from[i],
                                                   .msg_iov = &pieces[i],
                                                   .msg_iovlen = 1}};
    }
    int n;
    do
        n = recvmmsg(netlink->fd, messages, TOGETHER, MSG_DONTWAIT, NULL);
    while (n < 0 && errno == EINTR);
    return n;
}

/* A refused question has one answer, too; messages that answer none of these n are not counted. */
static bool take_answer(struct bytes message, uint32_t first, size_t n, netlink_answer *answer,
                        void *ctx) {
    const struct nlmsghdr *header = message.data;
    if (message.size < sizeof *header || header->nlmsg_seq - first >= n)
        return false;
    if (is_whole(header, message.size) && header->nlmsg_type >= NLMSG_MIN_TYPE)
        answer(ctx, header->nlmsg_seq - first, header->nlmsg_type, payload_of(header));
    return true;
}

static int ask_together(struct netlink *netlink, unsigned type, const char *requests, size_t size,
                        size_t n, netlink_answer *answer, void *ctx) {
    struct sockaddr_nl from[TOGETHER];
    struct mmsghdr messages[TOGETHER];
    if (netlink->sequence >= UINT32_MAX - TOGETHER)
        netlink->sequence = 0;
    uint32_t first = netlink->sequence + 1;
    int r = send_together(netlink, type, requests, size, n);
    netlink->sequence += (uint32_t)n;
    for (size_t left = n; r == 0 && left > 0;) { /* the kernel has answered already */
        int came = receive_together(netlink, from, messages);
        if (came <= 0)
            break;
        for (int i = 0; i < came && left > 0; i++)
            left -= is_kernel(&messages[i].msg_hdr) &&
                    take_answer((struct bytes){piece(netlink, (size_t)i), messages[i].msg_len},
                                first, n, answer, ctx);
    }
    return r;
}

struct shifted {
    netlink_answer *answer;
    void *ctx;
    size_t by;
};

static void answer_shifted(void *ctx, size_t at, unsigned type, struct bytes payload) {
    const struct shifted *shifted = ctx;
    shifted->answer(shifted->ctx, shifted->by + at, type, payload);
}

int netlink_ask_many(struct netlink *netlink, unsigned type, const void *requests, size_t size,
                     size_t n, netlink_answer *answer, void *ctx) {
    struct shifted shifted = {answer, ctx, 0};
    int r = size <= REQUEST_MAX ? 0 : -EINVAL;
    for (; r == 0 && shifted.by < n; shifted.by += TOGETHER) {
        size_t some = n - shifted.by < TOGETHER ? n - shifted.by : TOGETHER;
        r = ask_together(netlink, type, (const char *)requests + shifted.by * size, size, some,
                         answer_shifted, &shifted);
    }
    return r;
}

int netlink_drain(struct netlink *netlink, netlink_take *take, void *ctx) {
    bool interrupted = false;
    int lost = 0;
    for (;;) {
        ssize_t n = receive(netlink);
        if (n == -EAGAIN)
            return lost;
        if (n == -ENOBUFS)
            lost = -ENOBUFS; /* received answers are still there */
        else if (n < 0)
            return (int)n;
        else
            netlink_read((struct bytes){netlink->buffer, (size_t)n}, 0, &interrupted, take, ctx);
    }
}
