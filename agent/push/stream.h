/* SPDX-License-Identifier: MIT */
/*
 * The byte form of pushes between an agent that was delivered to its host and the relay that
 * started it: requests on the agent's standard output, answers on its standard input. Each is what
 * HTTP would carry: the body of a push with what its headers say, and what the collector answers.
 *
 * A record is a head of fixed size, little endian, its parts, and a checksum in the head over all
 * of it. Lengths are bounded before anything is read by them. Either side ends the stream at the
 * first record that is none: bytes in it that nobody sent come from a launcher that writes there.
 */
#ifndef CHOKEPOINT_AGENT_STREAM_H
#define CHOKEPOINT_AGENT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/push/push_http.h"
#include "agent/spool/spool.h"
#include "common/buffer.h"

#define STREAM_MORE 1       /* the record is not there yet as a whole */
#define STREAM_HEAD_SIZE 24 /* of either record */
#define STREAM_CLOCK_MAX 72 /* characters of an estimate of the clock */
#define STREAM_REQUEST_MAX (STREAM_HEAD_SIZE + STREAM_CLOCK_MAX + SPOOL_BODY_MAX)

struct stream_request {
    uint64_t number; /* its answer has the same */
    bool final;
    char clock[STREAM_CLOCK_MAX + 1]; /* digits, signs and spaces; "": none */
    const uint8_t *body;              /* in the bytes that were read */
    size_t body_size;
};

/* Appends the record without its body, which follows as it lies. -EMSGSIZE, -EINVAL, -ENOMEM. */
int stream_put_request(struct buffer *to, uint64_t number, const struct push_request *request);

/* The record at the start of `data`. 0: *ret_size is its size; STREAM_MORE: *ret_size is how many
 * bytes are needed to know more, and more than `size`; -EBADMSG. */
int stream_read_request(const uint8_t *data, size_t size, struct stream_request *ret_request,
                        size_t *ret_size);

/* status 0: no answer came, and answer->why says the reason. */
int stream_put_answer(struct buffer *to, uint64_t number, const struct push_answer *answer);
int stream_read_answer(const uint8_t *data, size_t size, uint64_t *ret_number,
                       struct push_answer *ret_answer, size_t *ret_size);

#endif
