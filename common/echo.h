/* SPDX-License-Identifier: MIT */
/*
 * Datagrams between agent and collector besides the pushes: exchanges of time, and "push now".
 *
 * A push asks for the time, too, but its packets wait behind its own body, and both ends see when a
 * thread woke up instead of when a packet came. A datagram, stamped by the kernel on arrival,
 * leaves only the network's delay uncertain, even on busy hosts.
 *
 * 48 bytes, numbers big-endian: magic, kind, zero, id, received_ns, replied_ns, and a code over all
 * of these (SipHash). An answer is as long as a question, so forged questions gain nothing. The
 * collector gives agents the key of the code in its answers to their pushes; the key is never in a
 * datagram. Datagrams with a wrong code are ignored.
 */
#ifndef CHOKEPOINT_COMMON_ECHO_H
#define CHOKEPOINT_COMMON_ECHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define ECHO_SIZE 48
#define ECHO_MAGIC 0x43484b45 /* "CHKE" */

enum echo_kind {
    ECHO_ASK = 1,  /* agent: what time is it? */
    ECHO_TELL = 2, /* collector: this time */
    ECHO_CALL = 3, /* collector: push now */
};

struct echo {
    enum echo_kind kind;
    uint64_t key;                    /* echo_put authenticates with it; not sent */
    uint64_t id;                     /* of the question; the agent chooses it */
    int64_t received_ns, replied_ns; /* collector's CLOCK_MONOTONIC; in a TELL */
};

void echo_put(unsigned char bytes[ECHO_SIZE], const struct echo *echo);

/* Whether the code of the datagram matches this key. */
bool echo_is_authentic(const unsigned char bytes[ECHO_SIZE], uint64_t key);

/* False if the bytes are no such datagram. ret_echo->key is 0, since the key is not in the
 * bytes. */
bool echo_get(const unsigned char *bytes, size_t size, struct echo *ret_echo);

/* A non-blocking socket for these datagrams, which are stamped on arrival and sent ahead of bulk
 * traffic as far as kernel and network grant it. -errno. */
int echo_socket(int family);

/* The last offset between the wall clock and the monotonic clock. Begins zeroed. */
struct echo_arrival {
    int64_t mono_ns, wall_minus_mono_ns;
};

/* Receives a datagram. *ret_arrived_ns: its arrival on CLOCK_MONOTONIC, never before the real one.
 * Returns its size; -EAGAIN, another negative errno. `from` may be NULL. */
int echo_receive(int fd, struct echo_arrival *arrival, unsigned char *bytes, size_t size,
                 struct sockaddr_storage *from, socklen_t *from_size, int64_t *ret_arrived_ns);

#endif
