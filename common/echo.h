/* SPDX-License-Identifier: MIT */
/*
 * Datagrams between agent and collector, beside the pushes: what time it is, and "push now".
 *
 * A push asks the time, too, but its packets wait behind its own body, and both ends note when a
 * thread woke up rather than when a packet came. A datagram of its own, stamped by the kernel on
 * arrival, leaves only the way through the network in doubt, also on hosts whose cores are busy.
 *
 * 48 bytes, numbers big-endian: magic, kind, zero, id, received_ns, replied_ns, and a code over all
 * of that (SipHash). An answer is as long as a question, so nobody gains from asking in another's
 * name. The key of the code is told to agents in the answers to their pushes and never sent here:
 * without it nothing is answered, and nothing is believed.
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
    ECHO_TELL = 2, /* collector: this */
    ECHO_CALL = 3, /* collector: push now, there is something to hear */
};

struct echo {
    enum echo_kind kind;
    uint64_t key;                    /* echo_put authenticates with it; not sent */
    uint64_t id;                     /* of the question, chosen by who asks */
    int64_t received_ns, replied_ns; /* collector's CLOCK_MONOTONIC; of a TELL */
};

void echo_put(unsigned char bytes[ECHO_SIZE], const struct echo *echo);

/* Whether they were authenticated with this key. */
bool echo_is_authentic(const unsigned char bytes[ECHO_SIZE], uint64_t key);

/* False if it is none. Does not know the key: ret_echo->key is 0. */
bool echo_get(const unsigned char *bytes, size_t size, struct echo *ret_echo);

/* A socket for such datagrams: stamped on arrival and ahead of bulk traffic, as far as the kernel
 * and the network grant it; not blocking. -errno. */
int echo_socket(int family);

/* How the wall clock stood against the monotonic one when last looked at. Begins zeroed. */
struct echo_arrival {
    int64_t mono_ns, wall_minus_mono_ns;
};

/* Receives one; *ret_arrived_ns: when it came, by CLOCK_MONOTONIC, never before it came in truth.
 * The size; -EAGAIN, another negative errno. from may be NULL. */
int echo_receive(int fd, struct echo_arrival *arrival, unsigned char *bytes, size_t size,
                 struct sockaddr_storage *from, socklen_t *from_size, int64_t *ret_arrived_ns);

#endif
