/* SPDX-License-Identifier: MIT */
/* A request, which http.c receives and http_answer.c answers. */
#ifndef CHOKEPOINT_CLI_SERVE_HTTP_PRIVATE_H
#define CHOKEPOINT_CLI_SERVE_HTTP_PRIVATE_H

#include <microhttpd.h>

#include "cli/serve/http.h"

struct visitor;

struct http_request {
    struct http *http;
    struct MHD_Connection *connection;
    struct visitor *visitor;
    const char *path;
    struct MHD_Response *response; /* owned until it is queued */
    unsigned status;
    http_next *next; /* of a stream */
    void *ctx;       /* context of next */
    bool heard, asked, answered, suspended;
};

#endif
