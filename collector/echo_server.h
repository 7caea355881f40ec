/* SPDX-License-Identifier: MIT */
/* Answers the agents' datagrams (common/echo.h) on the addresses where pushes are taken. */
#ifndef CHOKEPOINT_COLLECTOR_ECHO_SERVER_H
#define CHOKEPOINT_COLLECTOR_ECHO_SERVER_H

#include <stdint.h>

#define ECHO_LISTENERS_MAX 16

struct echo_server;

/* -ENOMEM, -errno. */
int echo_server_new(struct echo_server **ret_server);

/* Before the start: datagrams, too, at the address and number of a listening socket. -errno when
 * there are none to be had; agents then do without. */
int echo_server_listen(struct echo_server *server, int beside_fd);

/* Waits until something comes, at most so long (-1: for ever), and answers it. For the thread, and
 * for who has started none. */
void echo_server_hear(struct echo_server *server, int timeout_ms);

/* Starts the thread. -errno. */
int echo_server_start(struct echo_server *server);

/* The key that agents must show. 0: the server does not listen. */
uint64_t echo_server_key(const struct echo_server *server);

/* Tells all agents that have asked to push now. From any thread. */
void echo_server_call(struct echo_server *server);

void echo_server_free(struct echo_server *server); /* ends the thread; takes NULL */

#endif
