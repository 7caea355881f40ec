/* SPDX-License-Identifier: MIT */
/* Answers the agents' datagrams (common/echo.h) on the addresses of the HTTP server. */
#ifndef CHOKEPOINT_COLLECTOR_ECHO_SERVER_H
#define CHOKEPOINT_COLLECTOR_ECHO_SERVER_H

#include <stdint.h>

#define ECHO_LISTENERS_MAX 16

struct echo_server;

/* -ENOMEM, -errno. */
int echo_server_new(struct echo_server **ret_server);

/* Also takes datagrams at the address and port of a listening socket; call it before the start.
 * -errno if the port cannot be had; agents then work without. */
int echo_server_listen(struct echo_server *server, int beside_fd);

/* Waits at most so long (-1: for ever) for a datagram, and answers it. The server's thread calls
 * it, or the caller if no thread was started. */
void echo_server_hear(struct echo_server *server, int timeout_ms);

/* Starts the thread. -errno. */
int echo_server_start(struct echo_server *server);

/* The key that agents must show. 0: the server does not listen. */
uint64_t echo_server_key(const struct echo_server *server);

/* Asks all known agents to push now. From any thread. */
void echo_server_call(struct echo_server *server);

void echo_server_free(struct echo_server *server); /* ends the thread; takes NULL */

#endif
