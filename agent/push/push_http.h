/* SPDX-License-Identifier: MIT */
/*
 * One connection to the collector, one POST at a time. push_http.c is the only file of the agent
 * that knows libcurl; an agent that was delivered to its host has push_pipe.c instead of it.
 */
#ifndef CHOKEPOINT_AGENT_PUSH_HTTP_H
#define CHOKEPOINT_AGENT_PUSH_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

struct push_config;
struct push_http;

#define PUSH_ANSWER_MAX 1024 /* bytes; a longer answer is not one of a collector */

struct push_request {
    const struct buffer *body; /* borrowed during the call */
    const char *clock;         /* value of Chokepoint-Clock, or NULL */
    bool final;
    /* Asked whenever the transfer was woken, and a few times a second: true gives it up. */
    bool (*give_up)(void *ctx);
    void *ctx;
};

struct push_answer {
    long status;               /* of HTTP */
    int64_t sent_ns, heard_ns; /* CLOCK_MONOTONIC: request about to leave, first byte of answer */
    char address[64];          /* numeric, of who answered */
    uint16_t port;
    char text[PUSH_ANSWER_MAX + 1];
    char why[128]; /* on failure, one line */
};

/* To the collector whose url, pin, token and host these are. Nothing of a request is sent to one
 * whose public key has another hash. -EINVAL, -ENOMEM. */
int push_http_open(const struct push_config *config, struct push_http **ret_http);
void push_http_close(struct push_http *http); /* wipes the token; takes NULL */

/* From any thread: ends the wait going on, or the next. */
void push_http_wake(struct push_http *http);

/* Until CLOCK_MONOTONIC is until_ns, or woken, or fd (-1: none) can be read. */
void push_http_wait(struct push_http *http, int64_t until_ns, int fd);

/* 0 when an answer came, whatever it says; -ECANCELED when given up; -EIO: why says what happened;
 * -EPIPE: the same, and no later try can be better. */
int push_http_post(struct push_http *http, const struct push_request *request,
                   struct push_answer *ret_answer);

#endif
