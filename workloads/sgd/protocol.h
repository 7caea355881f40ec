/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks, the same in all modes. A worker, for each iteration:
 *
 *     PULL (+ features, sparse)  ->  GO or STOP  <-  weights  ->  PUSH (+ features, dense-down)
 *     ->  gradient
 *
 * The server answers a PULL when it is willing to: at once (async) or when all have pushed (sync).
 * A worker that prefetches sends its next PULL right after PUSH and takes in the answer while it
 * sends its gradient.
 * Messages are structs as they lie in memory: all ranks run the same binary on the same kind of
 * machine.
 */
#ifndef CHOKEPOINT_WORKLOADS_SGD_PROTOCOL_H
#define CHOKEPOINT_WORKLOADS_SGD_PROTOCOL_H

#include <stdint.h>

enum message_kind {
    MESSAGE_PULL = 1, /* n features follow (sparse) */
    MESSAGE_PUSH,     /* n features (dense-down) and the gradient follow; loss is the batch's */
    MESSAGE_FAILED,   /* the worker cannot go on, has said why, and ends */
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
