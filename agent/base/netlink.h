/* SPDX-License-Identifier: MIT */
/*
 * Netlink: dumps and notifications of the kernel, message by message, with their attributes.
 * Nothing is allocated once a socket is open.
 */
#ifndef CHOKEPOINT_AGENT_NETLINK_H
#define CHOKEPOINT_AGENT_NETLINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed piece of bytes. */
struct bytes {
    const void *data;
    size_t size;
};

struct netlink {  /* all zero: closed */
    int fd;       /* owned once there is a buffer */
    void *buffer; /* owned */
    uint32_t sequence;
};

/* Called for a message: its type, and its payload without the header. */
typedef void netlink_take(void *ctx, unsigned type, struct bytes payload);

/* bus: NETLINK_SOCK_DIAG, NETLINK_ROUTE ... Negative errno. */
int netlink_open(struct netlink *ret_netlink, int bus);

/* Opens a socket that also receives the notifications of a group (numbered from 1; 0: none). Up to
 * `room` bytes of them wait to be read, within the caller's limit. */
int netlink_open_group(struct netlink *ret_netlink, int bus, unsigned group, size_t room);

void netlink_close(struct netlink *netlink);

/* Requests a dump; `request` follows the header. Passes on every message of the answer. Negative
 * errno; -EINTR: the table changed meanwhile, and the messages may lack or repeat entries. */
int netlink_dump(struct netlink *netlink, unsigned type, const void *request, size_t size,
                 netlink_take *take, void *ctx);

/* Sends a request that is not a dump, and passes on the answer. Negative errno of the kernel. */
int netlink_ask(struct netlink *netlink, unsigned type, const void *request, size_t size,
                netlink_take *take, void *ctx);

/* Called with the answer to the question at that place. */
typedef void netlink_answer(void *ctx, size_t at, unsigned type, struct bytes payload);

/* Asks the n questions of `size` bytes each that lie one after the other in `requests`, with few
 * system calls. Passes on the answers, but not for questions that the kernel refuses or answers
 * with more than NETLINK_ANSWER bytes. Negative errno: the other questions were not asked. */
#define NETLINK_ANSWER 1024
int netlink_ask_many(struct netlink *netlink, unsigned type, const void *requests, size_t size,
                     size_t n, netlink_answer *answer, void *ctx);

/* Passes on the notifications so far. -ENOBUFS: there were more than room allows. */
int netlink_drain(struct netlink *netlink, netlink_take *take, void *ctx);

/* Passes on the messages in the kernel's bytes. 1: more follow; 0: end of the dump; or a negative
 * errno (the kernel's, or -EBADMSG). Skips messages that answer another request than `sequence`; 0:
 * skips none. *interrupted becomes true if the kernel says that the table changed during the
 * dump. */
int netlink_read(struct bytes bytes, uint32_t sequence, bool *interrupted, netlink_take *take,
                 void *ctx);

/* The attribute of a type in `attributes`; false if there is none. Flag bits of the type (nested,
 * byte order) are ignored. */
bool netlink_find(struct bytes attributes, unsigned type, struct bytes *ret_value);

/* The part after a fixed head of that size, where attributes begin; empty if the payload is
 * shorter. */
struct bytes netlink_after(struct bytes payload, size_t head);

/* Numbers in the kernel's byte order; false if the attribute has another size. */
bool netlink_u32(struct bytes value, uint32_t *ret_number);
bool netlink_u64(struct bytes value, uint64_t *ret_number);

/* Distance to the next message or attribute; the last one may lack its padding. */
static inline size_t netlink_step(size_t size, size_t left) {
    size_t aligned = (size + 3) & ~(size_t)3; /* value of NLMSG_ALIGN and NLA_ALIGN */
    return aligned < left ? aligned : left;
}

#endif
