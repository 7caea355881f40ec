/* SPDX-License-Identifier: MIT */
/*
 * State of a request from its start to its completion: the message it belongs to, as a wait gets
 * only a handle. The table has a fixed size; when there is no room, a request is forgotten and
 * counted.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_REQUEST_H
#define CHOKEPOINT_AGENT_SHIM_REQUEST_H

#include "agent/shim/shim.h"

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_OTHER, /* of collectives and one-sided: their bytes were counted at the start */
    REQUEST_READ,
    REQUEST_WRITE,
    REQUEST_COMM,    /* a communicator that is not there yet */
    REQUEST_MATCHED, /* no request: a message found by mprobe */
};

struct request {
    enum call_function function;        /* that made it */
    uint8_t kind;                       /* enum request_kind */
    bool persistent, active, cancelled; /* asked to be */
    uint16_t flags;                     /* CALL_WILDCARD, CALL_UNKNOWN_PEER */
    uint32_t comm;
    int32_t peer, tag;
    uint64_t bytes;    /* sent, or room for */
    int64_t start_ns;  /* when the call that started it was entered */
    int64_t since_ns;  /* when that call had returned: a handle looked up earlier was another */
    void *comm_handle; /* to translate where a message came from; may be freed by now */
    void *new_comm;    /* REQUEST_COMM: where its handle will be */
};

/*
 * Remembers it under its handle, in place of whatever had that before. False if there is no room;
 * NULL needs none.
 */
bool request_put(void *handle, const struct request *request);

/* Takes out what was there before `before_ns`; whether there was something. */
bool request_take(void *handle, int64_t before_ns, struct request *ret_request);

#endif
