/* SPDX-License-Identifier: MIT */
/*
 * The HTTP side of the page; http.c is the only file here that knows the HTTP library. One thread:
 * its owner polls http_fd and calls http_run, in which requests are heard and answered.
 *
 * Only GET and HEAD without a body are let through; headers, connections and the time without a
 * byte moving are bounded, and a client that has not been welcomed is dropped after a few seconds
 * (collector/gate.h). Every answer carries the same protecting headers.
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
    int listen_fd;                         /* owned by http from the start on */
    const struct credentials *credentials; /* borrowed; NULL: clear text */
    /* Judges a connection as it comes: true for one that is welcome before its first request. */
    bool (*is_reader)(void *ctx, int fd);
    /* Answers at once, or says that it will later (http_wait). */
    void (*request)(void *ctx, struct http_request *request);
    /* It is over, answered or not, and must not be spoken of any more. */
    void (*gone)(void *ctx, struct http_request *request);
    void *ctx;
};

/* -ENOMEM, -errno. */
int http_start(const struct http_options *options, struct http **ret_http);
int http_fd(const struct http *http);         /* readable: http_run has something to do */
int http_timeout_ms(const struct http *http); /* after which it has, too; -1: never */
void http_run(struct http *http);
bool http_is_idle(const struct http *http); /* no request is on its way */
/* All who wait must have been answered. Takes NULL. */
void http_finish(struct http *http);

/* ---- a request ---- */

const char *http_path(const struct http_request *request); /* without arguments */
const char *http_argument(const struct http_request *request, const char *name);
/* NULL: it is not there, or more than once. */
const char *http_header(const struct http_request *request, const char *name);
int http_socket(const struct http_request *request);
/* Its connection may stay. */
void http_welcome(struct http_request *request);

/* ---- its answer ---- */

enum http_policy { /* what the page may do (Content-Security-Policy) */
                   HTTP_NOTHING,
                   HTTP_OWN_FILES, /* style and script from here, data from here */
                   HTTP_OFFLINE,   /* what stands in it, in an origin of its own */
};

struct http_answer {
    unsigned status;
    enum http_policy policy;
    const char *type;                       /* Content-Type */
    const char *cookie, *location, *advice; /* Set-Cookie, Location, Retry-After; or NULL */
    const char *text;                       /* borrowed until the next line */
    size_t size;                            /* of the text, or of the file */
    int fd;                                 /* with text NULL: a file, from then on http's */
};

void http_answer(struct http_request *request, const struct http_answer *answer);

/* The answer comes later. */
void http_wait(struct http_request *request);

/* Answers with pieces as they come: next() fills at most size bytes and returns how many; 0: there
 * is nothing now, and http_wake will say when there is; -1: that was all. */
typedef int http_next(void *ctx, struct http_request *request, char *to, size_t size);
void http_stream(struct http_request *request, const char *type, http_next *next);
void http_wake(struct http_request *request);

#endif
