/* SPDX-License-Identifier: MIT */
/*
 * Admits a request, from its first line to the writer. The answer waits (the connection is
 * suspended) until the writer has committed the body.
 *
 * A refused request is still read to its end, up to the limit of a body: closing a socket with
 * unread bytes resets the connection, and the answer may be lost. Only a body that is announced as
 * too large is answered at once. A body must announce its length, so that memory is reserved before
 * its first byte.
 */
#include "collector/server_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/credentials.h"
#include "collector/gate.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

#define BODIES_MAX (256u << 20) /* bytes of all bodies in flight */
#define LARGE_BODY                                                                                 \
    (256u << 10) /* of an agent that catches up: its next body waits for the answer */

/* ---- admission ---- */

static const char *header(const struct request *q, const char *name) {
    return MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);
}

/* Whether the request has the key of the host that it names. */
static bool is_authorized(struct request *q) {
    const char *host = header(q, "Chokepoint-Host");
    const char *value = header(q, MHD_HTTP_HEADER_AUTHORIZATION);
    char key[HOST_KEY_SIZE], expected[HOST_KEY_SIZE + 8];
    if (!host || !value || strlen(host) > INSTANCE_MAX ||
        credentials_host_key(q->server->token, host, key) < 0)
        return false;
    snprintf(expected, sizeof expected, "Bearer %s", key);
    if (!credentials_match(value, strlen(value), expected))
        return false;
    snprintf(q->job.push.sender, sizeof q->job.push.sender, "%s", host);
    return true;
}

static void refuse_request(struct request *q, unsigned status, enum refusal refusal,
                           const char *why) {
    q->status = status;
    q->why = why;
    writer_refused(q->server->writer, refusal);
}

static bool is_chunked(const struct request *q) {
    return header(q, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

static void check_length(struct request *q) {
    const char *text = header(q, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t length;
    if (!text || text_parse_u64(text, &length) < 0 || is_chunked(q))
        return refuse_request(q, MHD_HTTP_LENGTH_REQUIRED, REFUSED_BAD_REQUEST,
                              "a body must announce its length");
    if (length > INGEST_BODY_MAX)
        return refuse_request(q, MHD_HTTP_CONTENT_TOO_LARGE, REFUSED_TOO_LARGE,
                              "a body may have 4 MiB at most");
    q->length = (size_t)length;
    if (atomic_fetch_add(&q->server->body_bytes, q->length) + q->length > BODIES_MAX)
        return refuse_request(q, MHD_HTTP_SERVICE_UNAVAILABLE, REFUSED_BUSY, "too much at once");
    if (buffer_reserve(&q->body, q->length) < 0)
        refuse_request(q, MHD_HTTP_SERVICE_UNAVAILABLE, REFUSED_BUSY, "out of memory");
}

/* "MONO OFFSET ERROR" in ns. Other text counts as no estimate. */
static void read_clock(struct request *q) {
    const char *text = header(q, "Chokepoint-Clock");
    if (!text)
        return;
    const char *end = text + strlen(text);
    struct clock_estimate e;
    if (text_i64(&text, end, &e.mono_ns) && text_i64(&text, end, &e.offset_ns) &&
        text_i64(&text, end, &e.error_ns) && text == end && clock_estimate_valid(&e)) {
        q->job.push.clock = e;
        q->job.push.have_clock = true;
    }
}

static void open_request(struct request *q, const char *url, const char *method) {
    q->opened = true;
    if (!is_authorized(q))
        return refuse_request(q, MHD_HTTP_UNAUTHORIZED, REFUSED_UNAUTHORIZED,
                              header(q, "Chokepoint-Host")
                                  ? "not the key of this host"
                                  : "no host is named: is this the agent of "
                                    "another version?");
    gate_know(q->server->gate, q->visitor, q->job.push.sender);
    gate_request_begins(q->server->gate, q->visitor);
    if (strcmp(url, "/v1/frames") != 0)
        return refuse_request(q, MHD_HTTP_NOT_FOUND, REFUSED_BAD_REQUEST,
                              "there is only /v1/frames");
    if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
        return refuse_request(q, MHD_HTTP_METHOD_NOT_ALLOWED, REFUSED_BAD_REQUEST,
                              "frames are POSTed");
    const char *final = header(q, "Chokepoint-Final");
    q->job.push.final = final && strcmp(final, "1") == 0;
    read_clock(q);
    check_length(q);
}

/* Whether the announced body is too large to be read to its end. */
static bool is_not_worth_reading(const struct request *q) {
    const char *text = header(q, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t length;
    if (is_chunked(q))
        return true;
    return text && (text_parse_u64(text, &length) < 0 || length > INGEST_BODY_MAX);
}

/* ---- callbacks of the library ---- */

/* On the writer's thread: resumes the connection. */
static void job_done(struct write_job *job) {
    struct request *q = (struct request *)job;
    MHD_resume_connection(q->connection);
}

static enum MHD_Result submit(struct request *q) {
    q->submitted = true;
    gate_request_ends(q->server->gate, q->visitor);
    q->job.push.body = q->body.data;
    q->job.push.size = q->body.size;
    q->job.soon = q->job.push.final || q->body.size >= LARGE_BODY;
    q->job.done = job_done;
    MHD_suspend_connection(q->connection);
    if (writer_submit(q->server->writer, &q->job) < 0) {
        refuse_request(q, MHD_HTTP_SERVICE_UNAVAILABLE, REFUSED_BUSY, "the collector is ending");
        MHD_resume_connection(q->connection);
    }
    return MHD_YES;
}

void *server_request_line(void *ctx, const char *uri, struct MHD_Connection *connection) {
    (void)uri;
    struct request *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->server = ctx;
    q->connection = connection;
    q->visitor =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    q->received_ns = clock_monotonic_ns();
    buffer_init(&q->body);
    atomic_fetch_add(&q->server->requests, 1);
    return q;
}

enum MHD_Result server_request(void *ctx, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *size, void **request) {
    (void)ctx, (void)connection, (void)version;
    struct request *q = *request;
    if (!q || !q->visitor)
        return MHD_NO;
    if (!q->opened) {
        open_request(q, url, method);
        return q->status && is_not_worth_reading(q) ? request_answer(q) : MHD_YES;
    }
    if (*size > 0) {
        if (*size > q->length - q->body.size && !q->status)
            return MHD_NO;
        if (!q->status)
            buffer_put(&q->body, data, *size);
        *size = 0;
        return MHD_YES;
    }
    return q->status || q->submitted ? request_answer(q) : submit(q);
}

void server_completed(void *ctx, struct MHD_Connection *connection, void **request,
                      enum MHD_RequestTerminationCode code) {
    (void)ctx, (void)connection, (void)code;
    struct request *q = *request;
    if (!q)
        return;
    if (q->visitor)
        gate_request_ends(q->server->gate, q->visitor);
    atomic_fetch_sub(&q->server->body_bytes, q->length);
    atomic_fetch_sub(&q->server->requests, 1);
    buffer_release(&q->body);
    free(q);
    *request = NULL;
}
