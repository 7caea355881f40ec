/* SPDX-License-Identifier: MIT */
/*
 * TCP between two hosts, on plain sockets between their own addresses, so that the link is measured
 * and not a transport of MPI. A host listens on that one address, and only while links are
 * measured; a peer that connects must begin with the token, which went over MPI, or is shown out.
 *
 * The peer that connects sends. All waits are bounded; negative errno, -ETIME when a wait was.
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

/* The address of ours that `own_name` stands for, else the one towards the first of the others
 * that is not this machine. 0 when there is none but loopback. */
uint32_t link_own_address(const char *own_name, const char *const *names, int n);

/* The interface that has the address: its name. False if there is none. */
bool link_interface(uint32_t ipv4, char ret_name[IF_NAMESIZE]);
/* Bytes it has sent or received so far, from /proc/net/dev; -1 when not known. */
double link_interface_bytes(const char *interface, bool sent);

/* A socket that listens on the address, at a port of the kernel's choice. */
int link_listen(struct link_address *address);

/* Connects, shows the token, and waits until the other side is ready. Returns a socket. */
int link_connect(const struct link_address *to, const uint8_t token[LINK_TOKEN_SIZE]);
/* Lets in n who show the token, then tells all of them that it is ready. On failure none is open.
 */
int link_accept(int listener, const uint8_t token[LINK_TOKEN_SIZE], int *ret_fds, int n);

/* Closes them without sending what is still queued. */
void link_close(int *fds, int n);

/* Bytes of all links together that were acknowledged (sender) or have arrived (receiver); and those
 * that an interface counted meanwhile, unless interface is NULL. */
struct link_meters {
    struct meter payload, wire;
    const char *interface;
};

/* Sends as fast as it goes for so long. meters may be NULL. */
int link_send(const int *fds, int n, double seconds, struct link_meters *meters);
/* Takes what comes until all senders have closed, 3 s longer than `seconds` at most. */
int link_receive(const int *fds, int n, double seconds, struct link_meters *meters);

/* Times of one byte there and back, s. Returns how many, at most max; or negative. */
int link_ping(int fd, double seconds, double *ret_times_s, int max);
int link_echo(int fd, double seconds);

#endif
