/* SPDX-License-Identifier: MIT */
/*
 * The HTTP side of the collector; server*.c are the only files that know the HTTP library.
 *
 * It speaks TLS. It reads no body before the sender has shown the key of the host that it names
 * (credentials.h). Everything has a limit: the bytes of a body and of all bodies together, headers,
 * connections (gate.h), the time of a request. An answer is sent after the commit of the data that
 * it acknowledges.
 */
#ifndef CHOKEPOINT_COLLECTOR_SERVER_H
#define CHOKEPOINT_COLLECTOR_SERVER_H

#include <stddef.h>

#include "collector/writer.h"

#define SERVER_ADDRESSES_MAX 16
#define SERVER_ADDRESS_TEXT_MAX 64
#define SERVER_TOKEN_MIN 16 /* characters */
#define SERVER_TOKEN_MAX 128

struct credentials;
struct server;

struct server_options {
    const char *listen;    /* ADDR:PORT[,ADDR:PORT...], numeric; IPv6 in brackets; port 0: any */
    const char *token;     /* the run's secret, from which hosts' keys are derived; copied */
    struct writer *writer; /* borrowed; drained before server_finish, freed after it */
    /* Borrowed until server_finish. NULL: no TLS, for tests and measurements. */
    const struct credentials *credentials;
};

/* Listens on all of the given addresses, or on none. -EINVAL (a bad list or token), or the errno of
 * the address that failed; `why` gets one line. */
int server_start(const struct server_options *options, struct server **ret_server, char *why,
                 size_t why_size);

/* The i-th address with its actual port, or NULL after the last. Borrowed. */
const char *server_address(const struct server *server, size_t i);

/* From now on every answer asks its agent to stop; agents are called to push at once. */
void server_ask_stop(struct server *server);

/* Takes no more connections, commits what has arrived (writer_drain), waits at most a second for
 * the answers to be sent, and frees everything but the writer. Takes NULL. */
void server_finish(struct server *server);

#endif
