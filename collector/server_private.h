/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the server share: server.c opens, server_request.c reads,
 * server_answer.c replies. */
#ifndef CHOKEPOINT_COLLECTOR_SERVER_PRIVATE_H
#define CHOKEPOINT_COLLECTOR_SERVER_PRIVATE_H

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "collector/server.h"
#include "common/buffer.h"

struct listener {
    struct MHD_Daemon *daemon; /* does not listen: the door hands it connections */
    char address[SERVER_ADDRESS_TEXT_MAX];
};

struct server {
    char token[SERVER_TOKEN_MAX + 1];
    const struct credentials *credentials;
    struct writer *writer;
    struct gate *gate; /* owned */
    struct door *door; /* owned */
    unsigned connections_max;
    struct listener listeners[SERVER_ADDRESSES_MAX];
    size_t n_listeners;
    struct echo_server *echo;      /* owned */
    atomic_uint_fast64_t echo_key; /* 0 until the echo server runs */
    atomic_bool stop;
    atomic_size_t body_bytes; /* bytes of all requests */
    atomic_size_t requests;   /* requests that have begun and are not answered */
};

/* Lives from the request line to the end of the answer. */
struct request {
    struct write_job job; /* must be first: done() gets its address */
    struct server *server;
    struct MHD_Connection *connection;
    struct visitor *visitor;
    int64_t received_ns;
    struct buffer body;
    size_t length;   /* announced length, counted in body_bytes */
    unsigned status; /* HTTP status of a refusal; 0: not refused */
    const char *why;
    bool opened, submitted;
};

/* Callbacks of the HTTP library; ctx is the server (server_request.c). */
void *server_request_line(void *ctx, const char *uri, struct MHD_Connection *connection);
enum MHD_Result server_request(void *ctx, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *size, void **request);
void server_completed(void *ctx, struct MHD_Connection *connection, void **request,
                      enum MHD_RequestTerminationCode code);

/*
 * The delay in ns after which the host of this push should push again; 0: as it likes, since there
 * are few hosts.
 *
 * All hosts sample at the same instant, and would all push then. With many hosts each gets a time
 * of its own within an interval: multiples of the golden ratio are spread evenly for any number of
 * hosts, and a host keeps its time when others join. Very many hosts push larger bodies less often
 * (common/push_interval.h). now_ns: monotonic clock.
 */
int64_t server_next_push_ns(const struct ingest_push *push, int64_t now_ns);

/* Queues the answer to the request (server_answer.c). */
enum MHD_Result request_answer(struct request *request);

#endif
