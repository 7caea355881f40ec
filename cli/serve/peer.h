/* SPDX-License-Identifier: MIT */
/* The owner of the other end of a connection on loopback, told by the kernel. */
#ifndef CHOKEPOINT_CLI_SERVE_PEER_H
#define CHOKEPOINT_CLI_SERVE_PEER_H

#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>

/* fd: our end. -ENOENT: there is no such connection any more, or it is not of this host; -errno. */
int peer_uid(int fd, uid_t *ret_uid);

/* Asks the kernel for the socket from `theirs` to `ours`. -ENOENT: there is none that is
 * established; another negative errno: it cannot be asked. */
int peer_ask(const struct sockaddr_storage *theirs, const struct sockaddr_storage *ours,
             uid_t *ret_uid);

/* Looks in a table as /proc/net/tcp and tcp6 are for the socket from `theirs` to `ours`. */
int peer_find(FILE *table, const struct sockaddr_storage *theirs,
              const struct sockaddr_storage *ours, uid_t *ret_uid);

#endif
