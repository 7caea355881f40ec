/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks, the same in all modes. A worker, for each iteration:
 *
 *     PULL (+ features, sparse)  ->  GO or STOP  <-  weights  ->  PUSH (+ features, dense-down)
 *     ->  gradient
 *
 * The server answers a PULL at once (async) or when all have pushed (sync). A worker that
 * prefetches sends its next PULL right after PUSH and receives the answer while it sends its
 * gradient. Messages are plain structs: all ranks run the same binary on the same kind of machine.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_PROTOCOL_H
#define CHOKEPOINT_WORKLOADS_SGD_PROTOCOL_H

#include <stdint.h>

enum message_kind {
    MESSAGE_PULL = 1, /* n features follow (sparse) */
    MESSAGE_PUSH,     /* n features (dense-down) and the gradient follow; loss is of the batch */
    MESSAGE_FAILED,   /* the worker has failed, has reported it, and ends */
    MESSAGE_GO,       /* the weights follow */
    MESSAGE_STOP,     /* the end */
    MESSAGE_GIVE_UP,  /* the end, because another rank has failed */
};

struct message {
    int32_t kind;
    uint32_t n;
    double loss;
};

enum { TAG_REQUEST = 1, TAG_REPLY, TAG_FEATURES, TAG_WEIGHTS, TAG_GRADIENT };

#endif
