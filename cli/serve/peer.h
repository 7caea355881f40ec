/* SPDX-License-Identifier: MIT */
/* The owner of the other end of a loopback connection, as the kernel knows it. */
#ifndef CHOKEPOINT_CLI_SERVE_PEER_H
#define CHOKEPOINT_CLI_SERVE_PEER_H

#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

/* fd: own end. -ENOENT: the connection is closed, or not from this host; -errno. */
int peer_uid(int fd, uid_t *ret_uid);

/* Asks the kernel for the socket from `theirs` to `ours`. -ENOENT: none is established; another
 * negative errno: the kernel cannot be asked. */
int peer_ask(const struct sockaddr_storage *theirs, const struct sockaddr_storage *ours,
             uid_t *ret_uid);

/* Finds the socket from `theirs` to `ours` in a table like /proc/net/tcp and tcp6. */
int peer_find(FILE *table, const struct sockaddr_storage *theirs,
              const struct sockaddr_storage *ours, uid_t *ret_uid);

#endif
