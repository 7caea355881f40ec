/* SPDX-License-Identifier: MIT */
/*
 * Netlink: dumps and notifications of the kernel, message by message, and what lies in their
 * attributes. Nothing is allocated once a socket is open.
 */
#ifndef CHOKEPOINT_AGENT_NETLINK_H
#define CHOKEPOINT_AGENT_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of somebody else's bytes. */
struct bytes {
    const void *data;
    size_t size;
};

struct netlink {  /* all zero: closed */
    int fd;       /* owned, once there is a buffer */
    void *buffer; /* owned */
    uint32_t sequence;
};

/* Takes a message: its type and payload, without the header. */
typedef void netlink_take(void *ctx, unsigned type, struct bytes payload);

/* bus: NETLINK_SOCK_DIAG, NETLINK_ROUTE ... Negative errno. */
int netlink_open(struct netlink *ret_netlink, int bus);

/* As above, to receive what the kernel tells that group (numbered from 1; 0: none) from now on; up
 * to `room` bytes of it wait until they are read, as far as the caller may take so much. */
int netlink_open_group(struct netlink *ret_netlink, int bus, unsigned group, size_t room);

void netlink_close(struct netlink *netlink);

/* Asks for a dump; `request` follows the header. Hands on every message of the answer. Negative
 * errno; -EINTR: the table changed meanwhile, and what was handed on may lack or repeat some. */
int netlink_dump(struct netlink *netlink, unsigned type, const void *request, size_t size,
                 netlink_take *take, void *ctx);

/* Asks for something else than a dump; hands on what is answered. Negative errno: the kernel's. */
int netlink_ask(struct netlink *netlink, unsigned type, const void *request, size_t size,
                netlink_take *take, void *ctx);

/* Takes the answer to the question at that place. */
typedef void netlink_answer(void *ctx, size_t at, unsigned type, struct bytes payload);

/* Asks n questions of `size` bytes, one after the other in `requests`, with few system calls. Hands
 * on an answer for each; none for what the kernel refuses or answers with more than NETLINK_ANSWER
 * bytes. Negative errno: the rest was not asked. */
#define NETLINK_ANSWER 1024
int netlink_ask_many(struct netlink *netlink, unsigned type, const void *requests, size_t size,
                     size_t n, netlink_answer *answer, void *ctx);

/* Hands on what has been told so far. -ENOBUFS: there was more than room for it. */
int netlink_drain(struct netlink *netlink, netlink_take *take, void *ctx);

/* Hands on the messages in bytes as the kernel sends them: 1 there is more to come, 0 that was the
 * end of the dump, or a negative errno (the kernel's, or -EBADMSG). Messages that answer another
 * request than `sequence` are skipped; sequence 0: none are. *interrupted becomes true when the
 * kernel says that the table changed during the dump. */
int netlink_read(struct bytes bytes, uint32_t sequence, bool *interrupted, netlink_take *take,
                 void *ctx);

/* The attribute of that type in `attributes`; false if there is none. Bits that only say what the
 * type is (nested, byte order) do not count. */
bool netlink_find(struct bytes attributes, unsigned type, struct bytes *ret_value);

/* The part after a fixed head of that size, where attributes begin; empty if there is not so
 * much. */
struct bytes netlink_after(struct bytes payload, size_t head);

/* Numbers of the kernel's own byte order; false if the attribute has not got that many bytes. */
bool netlink_u32(struct bytes value, uint32_t *ret_number);
bool netlink_u64(struct bytes value, uint64_t *ret_number);

/* How far the next message or attribute is; the last one need not be filled up. */
static inline size_t netlink_step(size_t size, size_t left) {
    size_t aligned = (size + 3) & ~(size_t)3; /* NLMSG_ALIGN and NLA_ALIGN */
    return aligned < left ? aligned : left;
}

#endif
