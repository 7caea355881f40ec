/* SPDX-License-Identifier: MIT */
/*
 * TCP between two hosts, on plain sockets between the hosts' own addresses, so that the link is
 * measured and not a transport of MPI. A host listens only on this address, and only while links
 * are measured. A peer that connects must begin with the token, which it got over MPI; other peers
 * are disconnected.
 *
 * The peer that connects sends. All waits have a limit. Negative errno; -ETIME: a wait ended.
 * Nothing here needs MPI.
 */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_LINK_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_LINK_H

#include <net/if.h>
#include <stdint.h>

#include "workloads/calibrate/figure.h"

#define LINK_TOKEN_SIZE 16
#define LINKS_MAX 64

struct link_address {
    uint32_t ipv4; /* network order; 0: none */
    uint16_t port; /* network order */
};

/* This host's address for `own_name`; else the one towards the first of the others that is another
 * machine. 0 if there is only loopback. */
uint32_t link_own_address(const char *own_name, const char *const *names, int n);

/* The name of the interface with the address. False if there is none. */
bool link_interface(uint32_t ipv4, char ret_name[IF_NAMESIZE]);
/* Bytes that the interface has sent or received so far, from /proc/net/dev; -1: not known. */
double link_interface_bytes(const char *interface, bool sent);

/* A socket that listens on the address, at a port that the kernel chooses. */
int link_listen(struct link_address *address);

/* Connects, sends the token, and waits until the other side is ready. Returns a socket. */
int link_connect(const struct link_address *to, const uint8_t token[LINK_TOKEN_SIZE]);
/* Accepts n peers with the token, then tells all of them that it is ready. On failure all are
 * closed. */
int link_accept(int listener, const uint8_t token[LINK_TOKEN_SIZE], int *ret_fds, int n);

/* Closes them without sending queued data. */
void link_close(int *fds, int n);

/* Bytes of all links together that were acknowledged (sender) or have arrived (receiver), and the
 * bytes that the interface counted meanwhile, unless interface is NULL. */
struct link_meters {
    struct meter payload, wire;
    const char *interface;
};

/* Sends as fast as possible for so long. meters may be NULL. */
int link_send(const int *fds, int n, double seconds, struct link_meters *meters);
/* Receives until all senders have closed, at most 3 s longer than `seconds`. */
int link_receive(const int *fds, int n, double seconds, struct link_meters *meters);

/* Round-trip times of one byte in s. Returns their number, at most max; or negative. */
int link_ping(int fd, double seconds, double *ret_times_s, int max);
int link_echo(int fd, double seconds);

#endif
