/* SPDX-License-Identifier: MIT */
/*
 * Decides which connections may stay. A connection is a stranger until it has shown the key of a
 * host of the run, which it must do within a few seconds. Strangers have slots of their own: when
 * these are full, the address that has most of them loses its oldest. So strangers, however many,
 * never keep out a host of the run, and a known host is never dropped for a stranger.
 *
 * The gate drops a connection by shutting its socket down; its owner then closes it, as if the peer
 * had. The descriptor must stay open between gate_enter and gate_leave.
 */
#ifndef CHOKEPOINT_COLLECTOR_GATE_H
#define CHOKEPOINT_COLLECTOR_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct gate;
struct visitor;

struct gate_limits {
    size_t strangers, known;    /* connections at most */
    size_t known_per_host;      /* above this a host loses its oldest connection */
    int64_t stranger_ns;        /* from accept to the proof of a key */
    int64_t request_ns;         /* from a request's header to the end of its body */
    void (*dropped)(void *ctx); /* called for each dropped connection, from any thread; or NULL */
    void (*room)(void *ctx);    /* a slot for strangers is free; from any thread; or NULL */
    void *ctx;
};

/* Begins a thread that keeps the deadlines. -ENOMEM, -EAGAIN. */
int gate_new(const struct gate_limits *limits, struct gate **ret_gate);
void gate_free(struct gate *gate); /* all visitors must have left before; takes NULL */

/* Whether a stranger from this address may enter soon: a slot is free, which is then promised to
 * it, or another address has more strangers. So a crowd behind one address enters one by one, and
 * none of its connections costs another address a handshake. */
bool gate_expect(struct gate *gate, const struct sockaddr *address);

/* NULL: out of memory; close the connection then. */
struct visitor *gate_enter(struct gate *gate, int fd, const struct sockaddr *address);
void gate_leave(struct gate *gate, struct visitor *visitor); /* takes NULL for visitor */

/* The visitor has shown the key of this host. */
void gate_know(struct gate *gate, struct visitor *visitor, const char *host);

/* Tells when the body of a request begins and ends. */
void gate_request_begins(struct gate *gate, struct visitor *visitor);
void gate_request_ends(struct gate *gate, struct visitor *visitor);

#endif
