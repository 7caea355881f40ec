/* SPDX-License-Identifier: MIT */
#include "cli/serve/http_private.h"

#include <unistd.h>

#define PIECE_SIZE (16u << 10)

static const char *policy_text(enum http_policy policy) {
    switch (policy) {
    case HTTP_OWN_FILES:
        return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
               "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
    case HTTP_OFFLINE:
        return "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
               "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
               "sandbox allow-scripts allow-downloads allow-modals";
    default:
        return "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    }
}

static void add_header(struct MHD_Response *response, const char *name, const char *value) {
    if (value)
        MHD_add_response_header(response, name, value);
}

static void protect(struct MHD_Response *response, enum http_policy policy, const char *type) {
    add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    add_header(response, "Content-Security-Policy", policy_text(policy));
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_header(response, "X-Frame-Options", "DENY");
    add_header(response, "Referrer-Policy", "no-referrer");
    add_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    add_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
}

void http_wake(struct http_request *request) {
    if (!request->suspended)
        return;
    request->suspended = false;
    MHD_resume_connection(request->connection);
}

static void give(struct http_request *request, unsigned status, struct MHD_Response *response) {
    request->status = status;
    request->response = response;
    request->answered = true;
    http_wake(request);
}

void http_answer(struct http_request *request, const struct http_answer *answer) {
    struct MHD_Response *response =
        answer->text ? MHD_create_response_from_buffer(answer->size, (void *)answer->text,
                                                       MHD_RESPMEM_MUST_COPY)
                     : MHD_create_response_from_fd(answer->size, answer->fd);
    if (response) {
        protect(response, answer->policy, answer->type);
        add_header(response, MHD_HTTP_HEADER_SET_COOKIE, answer->cookie);
        add_header(response, MHD_HTTP_HEADER_LOCATION, answer->location);
        add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, answer->advice);
        if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
            add_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    } else if (!answer->text) {
        close(answer->fd);
    }
    give(request, answer->status, response);
}

static void suspend(struct http_request *request) {
    request->suspended = true;
    MHD_suspend_connection(request->connection);
}

void http_wait(struct http_request *request) {
    suspend(request);
}

static ssize_t read_stream(void *ctx, uint64_t position, char *to, size_t size) {
    struct http_request *request = ctx;
    (void)position;
    int n = request->next(request->ctx, request, to, size);
    if (n == 0)
        suspend(request);
    return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

void http_stream(struct http_request *request, const char *type, http_next *next) {
    request->next = next;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE_SIZE, read_stream, request, NULL);
    if (response)
        protect(response, HTTP_NOTHING, type);
    give(request, MHD_HTTP_OK, response);
}
