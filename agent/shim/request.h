/* SPDX-License-Identifier: MIT */
/*
 * State of a request from its start to its completion: its message, since a wait gets only the
 * handle. The table has a fixed size; without room a request is forgotten and counted.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_REQUEST_H
#define CHOKEPOINT_AGENT_SHIM_REQUEST_H

#include "agent/shim/shim.h"

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_OTHER, /* collectives and one-sided: their bytes were counted at the start */
    REQUEST_READ,
    REQUEST_WRITE,
    REQUEST_COMM,    /* a communicator that does not exist yet */
    REQUEST_MATCHED, /* a message found by mprobe, not a request */
};

struct request {
    enum call_function function;        /* the function that made it */
    uint8_t kind;                       /* enum request_kind */
    bool persistent, active, cancelled; /* cancelled: asked to be */
    uint16_t flags;                     /* CALL_WILDCARD, CALL_UNKNOWN_PEER */
    uint32_t comm;
    int32_t peer, tag;
    uint64_t bytes;    /* sent, or size of the buffer */
    int64_t start_ns;  /* entry of the call that started it */
    int64_t since_ns;  /* exit of that call; handles looked up earlier were others */
    void *comm_handle; /* translates the sender's rank; may be freed by now */
    void *new_comm;    /* REQUEST_COMM: address of the new handle */
};

/*
 * Stores the request under its handle and replaces an older one. False without room; NULL needs
 * none.
 */
bool request_put(void *handle, const struct request *request);

/* Takes out the request that was stored before `before_ns`; false: there was none. */
bool request_take(void *handle, int64_t before_ns, struct request *ret_request);

#endif
