/* SPDX-License-Identifier: MIT */
/*
 * The only thread drives the library's loop. An answer may only be queued in the library's handler:
 * a late answer is kept with the request, whose connection is woken, and the handler finds it when
 * it is called again.
 */
#include "cli/serve/http_private.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "collector/credentials.h"
#include "collector/gate.h"
#include "common/clock.h"
#include "common/error.h"

#define STRANGERS_MAX 64u
#define KNOWN_MAX 192u
#define DROPPED_SLACK 32u /* dropped connections that are not closed yet */
#define STRANGER_NS (10 * NS_PER_S)
#define REQUEST_NS (30 * NS_PER_S)
#define CONNECTION_MEMORY (32u << 10) /* for headers, and a piece of an answer */
#define UNSENT_MAX (64 << 10) /* bytes in the kernel for a slow client; may be outdated by then */
#define IDLE_S 30u            /* without progress */

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    struct gate *gate;
    int fd;
    size_t n_requests;
};

/* ---- a request ---- */

const char *http_path(const struct http_request *request) {
    return request->path;
}

const char *http_argument(const struct http_request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct header_search {
    const char *name, *value;
    size_t n;
};

static enum MHD_Result look_at_header(void *ctx, enum MHD_ValueKind kind, const char *key,
                                      const char *value) {
    struct header_search *search = ctx;
    (void)kind;
    if (strcasecmp(key, search->name) == 0) {
        search->value = value;
        search->n++;
    }
    return MHD_YES;
}

const char *http_header(const struct http_request *request, const char *name) {
    struct header_search search = {.name = name};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, look_at_header, &search);
    return search.n == 1 ? search.value : NULL;
}

int http_socket(const struct http_request *request) {
    return MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
        ->connect_fd;
}

void http_welcome(struct http_request *request) {
    gate_know(request->http->gate, request->visitor, "reader");
}

/* ---- callbacks of the library ---- */

/* No path here needs escapes, and an unescaped one may contain a NUL. */
static size_t leave_escapes(void *ctx, struct MHD_Connection *connection, char *text) {
    (void)ctx, (void)connection;
    return strlen(text);
}

static void *on_request_line(void *ctx, const char *uri, struct MHD_Connection *connection) {
    (void)uri;
    struct http_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;
    request->http = ctx;
    request->ctx = request->http->options.ctx;
    request->connection = connection;
    request->visitor =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    request->http->n_requests++;
    gate_request_begins(request->http->gate, request->visitor);
    return request;
}

static bool has_body(const struct http_request *request) {
    const char *length = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (length && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                       MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static void refuse_request(struct http_request *request, unsigned status, const char *text) {
    http_answer(request, &(struct http_answer){.status = status,
                                               .type = "text/plain; charset=utf-8",
                                               .text = text,
                                               .size = strlen(text)});
}

static enum MHD_Result queue(struct http_request *request) {
    struct MHD_Response *response = request->response;
    if (!response)
        return MHD_NO;
    request->response = NULL;
    enum MHD_Result queued = MHD_queue_response(request->connection, request->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* A refused request with a body is answered before the body is read, which also ends its
 * connection. */
static void hear(struct http_request *request, const char *method) {
    request->heard = true;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        refuse_request(request, MHD_HTTP_METHOD_NOT_ALLOWED, "this page is only read\n");
    else if (has_body(request))
        refuse_request(request, MHD_HTTP_CONTENT_TOO_LARGE, "a request here has no body\n");
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **context) {
    struct http *http = ctx;
    struct http_request *request = *context;
    (void)connection, (void)version, (void)data;
    if (!request || !request->visitor || *size > 0)
        return MHD_NO;
    request->path = url;
    if (!request->heard) {
        hear(request, method);
        return request->answered ? queue(request) : MHD_YES;
    }
    if (!request->asked) {
        request->asked = true;
        gate_request_ends(http->gate, request->visitor);
        http->options.request(http->options.ctx, request);
    }
    return request->answered ? queue(request) : MHD_YES;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code) {
    struct http *http = ctx;
    struct http_request *request = *context;
    (void)connection, (void)code;
    if (!request)
        return;
    if (request->asked)
        http->options.gone(http->options.ctx, request);
    if (request->response)
        MHD_destroy_response(request->response);
    http->n_requests--;
    free(request);
    *context = NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **visitor,
                          enum MHD_ConnectionNotificationCode code) {
    struct http *http = ctx;
    int unsent = UNSENT_MAX;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        gate_leave(http->gate, *visitor);
        *visitor = NULL;
        return;
    }
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
    *visitor = gate_enter(
        http->gate, fd,
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
    if (*visitor && http->options.is_reader(http->options.ctx, fd))
        gate_know(http->gate, *visitor, "reader"); /* one stays free for new ones */
}

/* ---- life ---- */

static int start_daemon(struct http *http) {
    static char priorities[] = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    const struct credentials *own = http->options.credentials;
    struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_KEY, 0, own ? own->key : NULL},
                                   {MHD_OPTION_HTTPS_MEM_CERT, 0, own ? own->certificate : NULL},
                                   {MHD_OPTION_HTTPS_PRIORITIES, 0, priorities},
                                   {MHD_OPTION_END, 0, NULL}};
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (own ? MHD_USE_TLS : 0), 0, NULL, NULL,
        on_request, http, MHD_OPTION_LISTEN_SOCKET, http->options.listen_fd,
        MHD_OPTION_URI_LOG_CALLBACK, on_request_line, http, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
        MHD_OPTION_CONNECTION_LIMIT, STRANGERS_MAX + KNOWN_MAX + DROPPED_SLACK,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL,
        MHD_OPTION_ARRAY, own ? tls : tls + 3, MHD_OPTION_END);
    if (!http->daemon)
        return -ENOMEM;
    http->fd = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return 0;
}

int http_start(const struct http_options *options, struct http **ret_http) {
    const struct gate_limits limits = {.strangers = STRANGERS_MAX,
                                       .known = KNOWN_MAX,
                                       .known_per_host = KNOWN_MAX - 1, /* drops the oldest */
                                       .stranger_ns = STRANGER_NS,
                                       .request_ns = REQUEST_NS};
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return -ENOMEM;
    http->options = *options;
    int r = gate_new(&limits, &http->gate);
    if (r == 0)
        r = start_daemon(http);
    if (r < 0) {
        gate_free(http->gate);
        free(http);
        return r;
    }
    *ret_http = http;
    return 0;
}

int http_fd(const struct http *http) {
    return http->fd;
}

int http_timeout_ms(const struct http *http) {
    MHD_UNSIGNED_LONG_LONG timeout;
    if (MHD_get_timeout(http->daemon, &timeout) != MHD_YES)
        return -1;
    return timeout > 60000 ? 60000 : (int)timeout;
}

void http_run(struct http *http) {
    MHD_run(http->daemon);
}

bool http_is_idle(const struct http *http) {
    return http->n_requests == 0;
}

void http_finish(struct http *http) {
    if (!http)
        return;
    MHD_stop_daemon(http->daemon);
    gate_free(http->gate);
    free(http);
}
