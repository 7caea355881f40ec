/* SPDX-License-Identifier: MIT */
/*
 * Decides which connections may stay. A connection is a stranger until it has shown the key of a
 * host of the run, and must do so within a few seconds of being accepted. Strangers have slots of
 * their own: when these are full, the address that has most of them loses its oldest. So strangers,
 * however many, never keep out a host of the run, and a known host is never dropped for a stranger.
 *
 * A connection is dropped by shutting its socket down; its owner then closes it, as when the other
 * side had. Between gate_enter and gate_leave the descriptor must stay open.
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
    size_t known_per_host;      /* a host that has more loses its oldest */
    int64_t stranger_ns;        /* from being accepted to having shown a key */
    int64_t request_ns;         /* from a request's header to the end of its body */
    void (*dropped)(void *ctx); /* called for each that is dropped, from any thread; or NULL */
    void (*room)(void *ctx);    /* a slot for strangers is free; from any thread; or NULL */
    void *ctx;
};

/* Begins a thread that keeps the deadlines. -ENOMEM, -EAGAIN. */
int gate_new(const struct gate_limits *limits, struct gate **ret_gate);
void gate_free(struct gate *gate); /* all visitors must have left; takes NULL */

/* Whether a stranger from there may enter soon: there is a free slot, kept for it from now on, or
 * another address has more. So a crowd behind one address comes in one after the other, and none of
 * it costs another its handshake. */
bool gate_expect(struct gate *gate, const struct sockaddr *address);

/* NULL: out of memory; the connection is then not to be kept. */
struct visitor *gate_enter(struct gate *gate, int fd, const struct sockaddr *address);
void gate_leave(struct gate *gate, struct visitor *visitor); /* takes NULL for visitor */

/* It has shown the key of this host. */
void gate_know(struct gate *gate, struct visitor *visitor, const char *host);

/* The body of its request is being read, or has been. */
void gate_request_begins(struct gate *gate, struct visitor *visitor);
void gate_request_ends(struct gate *gate, struct visitor *visitor);

#endif
