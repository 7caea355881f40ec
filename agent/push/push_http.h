/* SPDX-License-Identifier: MIT */
/*
 * One connection to the collector, one POST at a time. push_http.c is the only file of the agent
 * that uses libcurl; a delivered agent has push_pipe.c instead.
 */
#ifndef CHOKEPOINT_AGENT_PUSH_HTTP_H
#define CHOKEPOINT_AGENT_PUSH_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

struct push_config;
struct push_http;

#define PUSH_ANSWER_MAX 1024 /* bytes; no collector sends a longer answer */

struct push_request {
    const struct buffer *body; /* borrowed during the call */
    const char *clock;         /* value of Chokepoint-Clock, or NULL */
    bool final;
    /* Asked whenever the transfer was woken, and a few times a second; true aborts it. */
    bool (*give_up)(void *ctx);
    void *ctx;
};

struct push_answer {
    long status;               /* HTTP status */
    int64_t sent_ns, heard_ns; /* CLOCK_MONOTONIC: request, first byte of answer */
    char address[64];          /* numeric address of the collector */
    uint16_t port;
    char text[PUSH_ANSWER_MAX + 1];
    char why[128]; /* on failure, one line */
};

/* Opens a connection to the collector with this url, pin, token and host. A server whose public key
 * has another hash gets no byte of a request. -EINVAL, -ENOMEM. */
int push_http_open(const struct push_config *config, struct push_http **ret_http);
void push_http_close(struct push_http *http); /* wipes the token; takes NULL */

/* From any thread: ends the current wait, or the next one. */
void push_http_wake(struct push_http *http);

/* Waits until CLOCK_MONOTONIC is until_ns, or it is woken, or fd (-1: none) is readable. */
void push_http_wait(struct push_http *http, int64_t until_ns, int fd);

/* 0 when an answer came, whatever its status; -ECANCELED when aborted; -EIO: `why` has the reason;
 * -EPIPE: as -EIO, and no later try can succeed. */
int push_http_post(struct push_http *http, const struct push_request *request,
                   struct push_answer *ret_answer);

#endif
