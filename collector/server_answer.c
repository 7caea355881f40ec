/* SPDX-License-Identifier: MIT */
/* Status and text of an answer. They decide what the agent does next (agent/push/push.c). */
#include "collector/server_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/error.h"
#include "common/push_interval.h"

#define SPREAD_HOSTS 64 /* so many pushes are written within some hundredths of a second */

/* The agent discards frames after a 400, so 400 is only for bytes that no retry can make good. All
 * other failures, also a full run, are states of the collector: the agent retries. */
static unsigned status_of(const struct request *q) {
    if (q->status)
        return q->status;
    if (q->job.result == 0)
        return MHD_HTTP_OK;
    if (q->job.result == -ENODATA)
        return MHD_HTTP_CONFLICT;
    return q->job.result == -EBADMSG ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_SERVICE_UNAVAILABLE;
}

int64_t server_next_push_ns(const struct ingest_push *push, int64_t now_ns) {
    if (push->n_hosts <= SPREAD_HOSTS)
        return 0;
    int64_t interval_ns = push_interval_s(push->n_hosts) * NS_PER_S;
    uint64_t turn = push->host_number * UINT64_C(0x9e3779b97f4a7c15) >> 32; /* in units of 2^-32 */
    int64_t at_ns = (int64_t)(turn * (uint64_t)interval_ns >> 32);
    int64_t left_ns = (at_ns - now_ns % interval_ns + interval_ns) % interval_ns;
    return left_ns < NS_PER_S / 2 ? left_ns + interval_ns : left_ns;
}

static int format_answer(const struct request *q, unsigned status, char *text, size_t size) {
    if (status != MHD_HTTP_OK) {
        const char *why = q->why ? q->why : q->job.push.why;
        return snprintf(text, size, "%s\n", why[0] ? why : STORE_NO_REASON);
    }
    uint64_t key = atomic_load(&q->server->echo_key);
    int stop = atomic_load(&q->server->stop);
    int64_t now_ns = clock_monotonic_ns();
    return snprintf(text, size,
                    "committed %" PRIu64 "\nreceived_ns %" PRId64 "\nreplied_ns %" PRId64
                    "\nstop %d\necho %" PRIu64 "\ntables %" PRIu64 "\nnext_ns %" PRId64 "\n",
                    q->job.push.committed, q->received_ns, now_ns, stop, key, q->job.push.tables,
                    server_next_push_ns(&q->job.push, now_ns));
}

enum MHD_Result request_answer(struct request *q) {
    char text[256];
    unsigned status = status_of(q);
    int size = format_answer(q, status, text, sizeof text);
    struct MHD_Response *response =
        MHD_create_response_from_buffer((size_t)size, text, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_POST);
    enum MHD_Result queued = MHD_queue_response(q->connection, status, response);
    MHD_destroy_response(response);
    return queued;
}
