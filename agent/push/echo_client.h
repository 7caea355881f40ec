/* SPDX-License-Identifier: MIT */
/*
 * Asks the collector for the time by datagrams (common/echo.h). It never waits for an answer: it
 * sends questions, and a later call takes the answers. The answer with the least error since the
 * last call counts.
 */
#ifndef CHOKEPOINT_AGENT_ECHO_CLIENT_H
#define CHOKEPOINT_AGENT_ECHO_CLIENT_H

#include "agent/push/exchange.h"
#include "common/echo.h"

#define ECHO_PENDING 8 /* questions on their way */

struct echo_client {
    int fd; /* -1: none */
    uint64_t key, next_id;
    char address[64];
    uint16_t port;
    struct echo_arrival arrival;
    struct {
        uint64_t id; /* 0: free */
        int64_t sent_ns;
    } pending[ECHO_PENDING];
};

void echo_client_init(struct echo_client *client);
void echo_client_release(struct echo_client *client);

/* Sets the server to ask, from the answer to the last push; an unchanged server changes nothing.
 * key 0: none. -errno; then none is asked. */
int echo_client_point(struct echo_client *client, const char *address, uint16_t port, uint64_t key);

/* Sends n questions. */
void echo_client_ask(struct echo_client *client, unsigned n);

struct echo_heard {
    bool exchanged; /* an answer came: result has the least error, received at heard_ns */
    struct exchange_result result;
    int64_t heard_ns;
    bool called; /* the collector calls: push now */
};

/* Takes the answers so far. */
void echo_client_hear(struct echo_client *client, struct echo_heard *ret_heard);

#endif
