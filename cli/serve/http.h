/* SPDX-License-Identifier: MIT */
/*
 * The HTTP side of the page; only http.c includes the HTTP library. One thread: its owner polls
 * http_fd and calls http_run, which handles requests and answers.
 *
 * Only GET and HEAD without a body are accepted; headers, connections and the time without progress
 * are limited, and a client that is not welcome yet is dropped after a few seconds
 * (collector/gate.h). Every answer has the same protecting headers.
 */
#ifndef CHOKEPOINT_CLI_SERVE_HTTP_H
#define CHOKEPOINT_CLI_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct credentials;
struct http;
struct http_request;

struct http_options {
    int listen_fd;                         /* http owns it after the start */
    const struct credentials *credentials; /* borrowed; NULL: no TLS */
    /* Judges a new connection: true if it is welcome before its first request. */
    bool (*is_reader)(void *ctx, int fd);
    /* Answers at once, or calls http_wait to answer later. */
    void (*request)(void *ctx, struct http_request *request);
    /* The request is over, answered or not, and must not be used any more. */
    void (*gone)(void *ctx, struct http_request *request);
    void *ctx;
};

/* -ENOMEM, -errno. */
int http_start(const struct http_options *options, struct http **ret_http);
int http_fd(const struct http *http);         /* readable: http_run has something to do */
int http_timeout_ms(const struct http *http); /* 0: at once; -1: never */
void http_run(struct http *http);
bool http_is_idle(const struct http *http); /* no request is in progress */
/* All waiting requests must be answered before. Takes NULL. */
void http_finish(struct http *http);

/* ---- a request ---- */

const char *http_path(const struct http_request *request); /* without arguments */
const char *http_argument(const struct http_request *request, const char *name);
/* NULL: missing, or there more than once. */
const char *http_header(const struct http_request *request, const char *name);
int http_socket(const struct http_request *request);
/* The connection may stay. */
void http_welcome(struct http_request *request);

/* ---- its answer ---- */

enum http_policy { /* rights of the page (Content-Security-Policy) */
                   HTTP_NOTHING,
                   HTTP_OWN_FILES, /* style and script from this server, data from this server */
                   HTTP_OFFLINE,   /* only inline content, in an origin of its own */
};

struct http_answer {
    unsigned status;
    enum http_policy policy;
    const char *type;                       /* Content-Type */
    const char *cookie, *location, *advice; /* Set-Cookie, Location, Retry-After; or NULL */
    const char *text;                       /* borrowed, down to the next comment */
    size_t size;                            /* size of the text or the file */
    int fd;                                 /* if text is NULL: a file, which http then owns */
};

void http_answer(struct http_request *request, const struct http_answer *answer);

/* The answer comes later. */
void http_wait(struct http_request *request);

/* Answers in pieces: next() fills at most size bytes and returns their number; 0: nothing now,
 * http_wake will tell; -1: that was all. */
typedef int http_next(void *ctx, struct http_request *request, char *to, size_t size);
void http_stream(struct http_request *request, const char *type, http_next *next);
void http_wake(struct http_request *request);

#endif
