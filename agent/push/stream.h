/* SPDX-License-Identifier: MIT */
/*
 * The byte form of pushes between a delivered agent and the relay that started it: requests on the
 * agent's standard output, answers on its standard input. Each has the content of its HTTP
 * counterpart: a push's body with the values of its headers, and the collector's answer.
 *
 * A record is a head of fixed size, little endian, its parts, and a checksum in the head over all
 * of it. Lengths are checked before they are used. Either side ends the stream at the first invalid
 * record: foreign bytes come from a launcher that writes to the stream.
 */
#ifndef CHOKEPOINT_AGENT_STREAM_H
#define CHOKEPOINT_AGENT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/push/push_http.h"
#include "agent/spool/spool.h"
#include "common/buffer.h"

#define STREAM_MORE 1       /* the record is not complete yet */
#define STREAM_HEAD_SIZE 24 /* of either kind of record */
#define STREAM_CLOCK_MAX 72 /* characters of a clock estimate */
#define STREAM_REQUEST_MAX (STREAM_HEAD_SIZE + STREAM_CLOCK_MAX + SPOOL_BODY_MAX)

struct stream_request {
    uint64_t number; /* its answer has the same number */
    bool final;
    char clock[STREAM_CLOCK_MAX + 1]; /* digits, signs and spaces; "": none */
    const uint8_t *body;              /* in the received bytes */
    size_t body_size;
};

/* Appends the record without its body, which the caller sends next. -EMSGSIZE, -EINVAL, -ENOMEM. */
int stream_put_request(struct buffer *to, uint64_t number, const struct push_request *request);

/* The record at the start of `data`. 0: *ret_size is its size; STREAM_MORE: *ret_size bytes are
 * needed, more than `size`; -EBADMSG. */
int stream_read_request(const uint8_t *data, size_t size, struct stream_request *ret_request,
                        size_t *ret_size);

/* status 0: no answer came, and answer->why is the reason. */
int stream_put_answer(struct buffer *to, uint64_t number, const struct push_answer *answer);
int stream_read_answer(const uint8_t *data, size_t size, uint64_t *ret_number,
                       struct push_answer *ret_answer, size_t *ret_size);

#endif
